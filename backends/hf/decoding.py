"""The loop that writes: one batch of requests, each sampled by its own draws, and left out when it is done.

A request may have a grammar (GBNF), which llguidance holds where it is installed.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from emotui.backends import stopping
from emotui.backends.base import Generate, Generation, Refused
from emotui.backends.hf.loading import Loaded
from emotui.backends.sampling import LIKELIEST, Draws
from emotui.errors import ModelError
from emotui.installing import install

_TAIL = 32
"""Tokens at the end of a text in which a stop string is looked for: it cannot have begun earlier and ended now."""


# Grammars that an answer keeps to.

_AS_LLAMA_CPP = '%llguidance {"no_forcing": true}'
"""Where only one text can follow, any tokens that spell it are allowed, as llama.cpp does."""

_BOUNDS: NDArray[np.float32] = np.where(
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"), np.inf, -np.inf
).astype(np.float32)
"""(256, 8): for each byte of bits the most that a logit may be. Taking the lesser of both is quicker than filling where
a bit is 0, of which a processor guesses wrong again and again (benchmarks/models/masks.py)."""

_KEPT = 64
"""Grammars that are read once: a task has one or a few, unless each text has its own."""


class Grammars:
    """Makes grammars for one model's vocabulary, which is read when the first is asked for.

    Args:
        ends: tokens that end a text; allowed where the grammar is at an end.
    """

    def __init__(self, loaded: Loaded, ends: frozenset[int]) -> None:
        self._loaded, self._ends = loaded, ends
        self._vocabulary: Any = None
        self._read: dict[str, Any] = {}

    def check(self, texts: Iterable[str | None]) -> None:
        """Raises ModelError where one of these grammars cannot be followed."""
        for text in texts:
            if text is not None:
                self._matcher(text)

    def begin(self, requests: Sequence[Generate]) -> "list[Grammar | None]":
        """Each request's grammar at its beginning; its rule `root` is the whole answer.

        Raises:
            ModelError: llguidance is missing, or cannot read the grammar or this tokeniser.
        """
        return [None if each.grammar is None else Grammar(self._matcher(each.grammar).deep_copy()) for each in requests]

    def _matcher(self, text: str) -> Any:
        if text in self._read:
            return self._read[text]
        if find_spec("llguidance") is None:
            raise ModelError(
                f"hf: models follow a grammar with llguidance: {install('constrain')}, or run without --constrain"
            )
        import llguidance
        from llguidance.gbnf_to_lark import any_to_lark

        if self._vocabulary is None:
            self._vocabulary = self._read_vocabulary()
        try:
            lark = any_to_lark(text).replace("%llguidance {}", _AS_LLAMA_CPP, 1)
        except Exception as error:  # it raises nothing more precise
            raise ModelError(f"the grammar cannot be read: {error}") from None
        matcher = llguidance.LLMatcher(self._vocabulary, lark, log_level=0)
        if matcher.is_error():
            raise ModelError(f"the grammar cannot be read: {matcher.get_error().splitlines()[0]}")
        if len(self._read) >= _KEPT:
            self._read.clear()
        self._read[text] = matcher
        return matcher

    def _read_vocabulary(self) -> Any:
        from llguidance.hf import from_tokenizer

        try:
            return from_tokenizer(self._loaded.tokenizer, eos_token=sorted(self._ends))
        except ValueError as error:
            raise ModelError(f"llguidance cannot read this model's tokeniser: {error}") from None


class Grammar:
    """Where one answer stands in its grammar."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def narrow(self, logits: torch.Tensor) -> None:
        """Make the logits minus infinity where a token may not come next. Args: logits: (vocabulary,), changed.

        Raises:
            ModelError: nothing may.
        """
        bits = self._bits(len(logits))
        if logits.device.type == "cpu":
            bounds = torch.from_numpy(_BOUNDS.take(bits, axis=0)).view(-1)[: len(logits)]
            torch.minimum(logits, bounds.to(logits.dtype), out=logits)
        else:
            # A device is sent the bits, an eighth of what they are unpacked.
            outside = unpacked(torch.from_numpy(bits).to(logits.device))[: len(logits)] == 0
            logits.masked_fill_(outside, float("-inf"))

    def _bits(self, tokens: int) -> NDArray[np.uint8]:
        """Which of so many tokens may come next, the lowest bit first; tokens that the tokeniser has not may never."""
        told = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        bits = np.zeros(-(-tokens // 8), np.uint8)
        bits[: len(told)] = told[: len(bits)]
        if tokens % 8:
            bits[-1] &= (1 << tokens % 8) - 1
        if self._matcher.is_error() or not bits.any():
            raise ModelError("the grammar leaves no token that could follow")
        return bits

    def accept(self, token: int) -> None:
        """Go on behind this token, which must be allowed."""
        self._matcher.consume_token(token)


def unpacked(held: torch.Tensor) -> torch.Tensor:
    """The bits of some bytes, each byte's lowest first, on their device."""
    places = torch.arange(8, dtype=torch.uint8, device=held.device)
    return ((held[:, None] >> places) & 1).view(-1)


# Writing, token by token.


class Past(Protocol):
    """The model's state for the rows that still write."""

    def advance(self, tokens: torch.Tensor) -> torch.Tensor:
        """Take one token a row. Returns: (rows, vocabulary) logits of the next."""

    def keep(self, rows: torch.Tensor) -> None:
        """Only these rows go on."""


@dataclass(frozen=True, slots=True)
class Thoughts:
    """What a model writes before its answer: how they end, and how many tokens they may have."""

    ends: str
    room: int


@dataclass(slots=True)
class Writing:
    """`answer`: at which token the answer begins, behind thoughts; None while the model thinks."""

    request: Generate
    prompt_tokens: int
    room: int
    forced: list[int]
    draws: Draws
    grammar: Grammar | None
    thoughts: Thoughts | None = None
    answer: int | None = 0
    tokens: list[int] = field(default_factory=list)
    finish: str = ""

    def take(self, token: int, ends: frozenset[int], tokenizer: Any) -> None:
        """Add a token, and see whether it is the last."""
        if token in ends:
            self.finish = "stop"
            return
        if self.grammar is not None and self.answer is not None:
            self.grammar.accept(token)
        self.tokens.append(token)
        if self.answer is None:
            self._think(tokenizer)
            return
        if self.request.stop:
            tail = tokenizer.decode(self.tokens[self.answer :][-_TAIL:], skip_special_tokens=True)
            if any(stop in tail for stop in self.request.stop):
                self.finish = "stop"
                return
        if len(self.tokens) - self.answer >= self.request.max_tokens or len(self.tokens) >= self.room:
            self.finish = "length"

    def _think(self, tokenizer: Any) -> None:
        """See whether the last token ended the thoughts, or their room."""
        assert self.thoughts is not None
        if self.thoughts.ends in tokenizer.decode(self.tokens[-_TAIL:], skip_special_tokens=False):
            self.answer = len(self.tokens)
            if len(self.tokens) >= self.room:
                self.finish = "length"
        elif len(self.tokens) >= min(self.thoughts.room, self.room):
            self.finish = "length"

    def result(self, tokenizer: Any) -> Generation:
        """The whole text; thoughts with the control tokens that part them from the answer."""
        begins = self.answer or 0
        text = tokenizer.decode(self.tokens[begins:], skip_special_tokens=True)
        for stop in self.request.stop:
            text = text.split(stop, 1)[0]
        thought = tokenizer.decode(self.tokens[:begins], skip_special_tokens=False) if begins else ""
        return Generation(thought + text, self.prompt_tokens, len(self.tokens), self.finish)


def write(
    requests: Sequence[Generate],
    lengths: Sequence[int],
    rooms: Sequence[int],
    logits: torch.Tensor,
    past: Past,
    tokenizer: Any,
    ends: frozenset[int],
    forced: Sequence[list[int]] | None = None,
    grammars: Sequence[Grammar | None] | None = None,
    thoughts: Thoughts | None = None,
) -> list[Generation]:
    """Write until every request has ended.

    Args:
        lengths: tokens of each prompt.
        rooms: how many tokens each may write, 1 or more.
        logits: (requests, vocabulary), of the first token.
        past: the state after the prompts.
        ends: tokens that end a text.
        forced: tokens that each text begins with, not counted as written (a decoder's opening).
        grammars: what each text keeps to, at its beginning, behind thoughts; None for nothing.
        thoughts: what the model may write before each answer, which stops and grammars leave alone.

    Raises:
        ModelError: a grammar leaves nothing that could follow.
    """
    none = [None] * len(requests)
    writings = [
        Writing(
            request, length, room, list(begin), Draws(request.seed), grammar, thoughts, 0 if thoughts is None else None
        )
        for request, length, room, begin, grammar in zip(
            requests, lengths, rooms, forced or [[] for _ in requests], grammars or none, strict=True
        )
    ]
    active = writings
    while True:
        stopping.check()
        for row, each in enumerate(active):
            if each.grammar is not None and not each.forced and each.answer is not None:
                each.grammar.narrow(logits[row])
        chosen = choose(
            logits,
            [each.request.temperature for each in active],
            [each.request.top_p for each in active],
            # A forced token takes no draw: what follows is the same as if the opening were part of the prompt.
            [0.0 if each.forced or each.request.temperature <= 0 else each.draws.next() for each in active],
        )
        tokens = chosen.tolist()
        for row, each in enumerate(active):
            if each.forced:
                tokens[row] = each.forced.pop(0)
            else:
                each.take(tokens[row], ends, tokenizer)
        going = [row for row, each in enumerate(active) if not each.finish]
        if not going:
            return [each.result(tokenizer) for each in writings]
        following = torch.tensor(tokens, device=logits.device)
        if len(going) < len(active):
            rows = torch.tensor(going, device=logits.device)
            past.keep(rows)
            following = following[rows]
            active = [active[row] for row in going]
        logits = past.advance(following)


def choose(
    logits: torch.Tensor, temperatures: Sequence[float], top_ps: Sequence[float], draws: Sequence[float]
) -> torch.Tensor:
    """The next token of each row: `emotui.backends.sampling.pick` for a whole batch, on the model's device.

    Args: logits: (rows, vocabulary); the others have one entry a row. Returns: (rows,) token ids.
    """
    chosen = logits.float().argmax(-1)
    hot = [row for row, temperature in enumerate(temperatures) if temperature > 0]
    if not hot:
        return chosen
    rows = torch.tensor(hot, device=logits.device)
    exact = torch.float32 if logits.device.type == "mps" else torch.float64
    heat = torch.tensor([temperatures[row] for row in hot], dtype=exact, device=logits.device)
    nucleus = torch.tensor([top_ps[row] for row in hot], dtype=exact, device=logits.device)[:, None]
    draw = torch.tensor([draws[row] for row in hot], dtype=exact, device=logits.device)[:, None]
    values = logits[rows].to(exact)
    probabilities = ((values - values.amax(-1, keepdim=True)) / heat[:, None]).softmax(-1)
    chosen[rows] = _picked(logits[rows], probabilities, nucleus, draw)
    return chosen


def _picked(
    logits: torch.Tensor, probabilities: torch.Tensor, nucleus: torch.Tensor, draw: torch.Tensor
) -> torch.Tensor:
    """The token that each row's draw falls on. Args: (rows, vocabulary) twice, (rows, 1) twice. Returns: (rows,)."""
    vocabulary = probabilities.shape[1]
    if vocabulary > LIKELIEST and bool((nucleus < 1).all()):
        indices = logits.topk(LIKELIEST + 1, sorted=True).indices
        kept = probabilities.gather(-1, indices)
        # Of what ties with the first token beyond, some is beyond too: the nucleus has to end before.
        likelier = kept > kept[:, -1:]
        together = (kept.cumsum(-1) * likelier).amax(-1, keepdim=True)
        if bool((together >= nucleus).all()):
            tokens, places = indices.masked_fill(~likelier, vocabulary).sort(-1)
            found = _fallen(_narrowed((kept * likelier).gather(-1, places), nucleus), draw)
            return tokens.gather(-1, found[:, None])[:, 0]
    if bool((nucleus < 1).any()):
        probabilities = _narrowed(probabilities, nucleus)
    return _fallen(probabilities, draw)


def _narrowed(probabilities: torch.Tensor, nucleus: torch.Tensor) -> torch.Tensor:
    """Probabilities with 0 for all but the fewest likeliest that together have so much; of equals the first."""
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered
    outside = (before >= nucleus) & (nucleus < 1)
    return probabilities.scatter(-1, order, ordered.masked_fill(outside, 0.0))


def _fallen(probabilities: torch.Tensor, draw: torch.Tensor) -> torch.Tensor:
    """Where each row's draw falls in its cumulated probabilities; never on one of 0."""
    cumulated = probabilities.cumsum(-1)
    place = torch.searchsorted(cumulated, draw * cumulated[:, -1:], right=True)[:, 0]
    places = torch.arange(probabilities.shape[1], device=probabilities.device)
    last = torch.where(probabilities > 0, places, 0).amax(-1)
    return torch.minimum(place, last)


# Greedy answers by transformers' continuous batching: a place that one answer leaves is taken by the next at once,
# keys and values stand in pages, and a GPU replays its graphs.

_PAGE = 256
_WAIT = 0.5
"""Seconds between looks at whether what writes is still there."""


def _paged_settings(num_blocks: int, max_batch_tokens: int) -> Any:
    """The settings of continuous batching, under the names that this version of transformers has for them."""
    known = inspect.signature(transformers.ContinuousBatchingConfig).parameters
    settings: dict[str, Any] = {"page_size" if "page_size" in known else "block_size": _PAGE}
    if "auto_switch_to_flash" in known:
        settings["auto_switch_to_flash"] = False
    return transformers.ContinuousBatchingConfig(num_blocks=num_blocks, max_batch_tokens=max_batch_tokens, **settings)


@contextmanager
def _attention_as_it_is(model: Any) -> Iterator[None]:
    """What attention is computed by is part of a model's identity: versions without a setting for it would switch to
    flash attention where that is installed, but for models whose attention is paged already.
    """
    before = getattr(model.config, "_attn_implementation", None)
    if "auto_switch_to_flash" not in inspect.signature(transformers.ContinuousBatchingConfig).parameters:
        model.set_attn_implementation(f"paged|{before}")
    try:
        yield
    finally:
        if getattr(model.config, "_attn_implementation", None) != before:
            model.set_attn_implementation(before)


def can_page(request: Generate) -> bool:
    """Whether continuous batching gives what a request asks for: draws and grammars are not its own."""
    return request.temperature <= 0 and request.grammar is None


def write_paged(
    loaded: Loaded,
    prompts: Sequence[list[int]],
    rooms: Sequence[int],
    begin: Callable[[int], Writing],
    ends: frozenset[int],
    *,
    tokens: int,
    together: int,
) -> list[Generation | Refused]:
    """Write until every answer has ended.

    Args:
        prompts: tokens of each.
        rooms: how many tokens each may write, 1 or more.
        begin: makes the answer to a prompt, by its place.
        ends: tokens that end a text.
        tokens: whose keys and values may be held.
        together: tokens that one forward pass may hold.

    Raises:
        ModelError: the model cannot be read so, or stopped.
    """
    pages = [-(-(len(ids) + room) // _PAGE) + 1 for ids, room in zip(prompts, rooms, strict=True)]
    end = sorted(ends) or [-1]
    generation = transformers.GenerationConfig(
        do_sample=False, max_new_tokens=max(rooms), eos_token_id=end, pad_token_id=loaded.tokenizer.pad_token_id or 0
    )
    how = _paged_settings(
        num_blocks=max(max(pages), min(sum(pages), tokens // _PAGE)), max_batch_tokens=max(together, _PAGE)
    )
    writings = [begin(place) for place in range(len(prompts))]
    taken = [0] * len(prompts)
    refused: dict[int, Refused] = {}
    open_ones = set(range(len(prompts)))
    try:
        with (
            _attention_as_it_is(loaded.model),
            loaded.model.continuous_batching_context_manager(
                generation_config=generation, continuous_batching_config=how, warmup=False
            ) as manager,
        ):
            for place, (ids, room) in enumerate(zip(prompts, rooms, strict=True)):
                manager.add_request(ids, str(place), max_new_tokens=room, streaming=True, eos_token_id=end)
            while open_ones:
                stopping.check()
                found = manager.get_result(timeout=_WAIT)
                if found is None:
                    if not manager.is_running():
                        why = manager.background_thread_status.fatal_error
                        raise ModelError(f"continuous batching stopped: {why or 'nobody says why'}")
                    continue
                place = int(found.request_id)
                if place not in open_ones:
                    continue
                if found.error is not None:
                    refused[place] = Refused(" ".join(str(found.error).split()))
                    open_ones.discard(place)
                    continue
                writing = writings[place]
                for token in found.generated_tokens[taken[place] :]:
                    taken[place] += 1
                    writing.take(token, ends, loaded.tokenizer)
                    if writing.finish:
                        break
                if writing.finish or found.is_finished():
                    open_ones.discard(place)
                    if not found.is_finished():
                        manager.cancel_request(found.request_id)
    except ModelError:
        raise
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise ModelError(f"this model cannot be read by continuous batching ({why}): leave batching out") from None
    return [refused.get(place) or writing.result(loaded.tokenizer) for place, writing in enumerate(writings)]
