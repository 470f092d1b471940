"""Models that write from left to right: generate, yes against no, and ranking, each prefix computed once."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import torch
from msgspec.structs import replace

from emotui.backends import yesno
from emotui.backends.base import (
    Generate,
    Generation,
    Message,
    ModelCard,
    Rank,
    Ranked,
    Refused,
    Score,
    Scores,
)
from emotui.backends.hf.batching import TOKENS, Batches
from emotui.backends.hf.decoding import Grammars, Thoughts, Writing, can_page, write, write_paged
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prefix import Group, Rows, keep_rows, positions, shared_prefix
from emotui.backends.hf.prompts import Prompts, TracedPrompt
from emotui.backends.hf.settings import Settings
from emotui.backends.rendering import with_question
from emotui.backends.sampling import Draws
from emotui.errors import ModelError

Asked = TypeVar("Asked")


class Causal:
    """A causal model behind the protocol.

    Args:
        card: with capabilities `generate`, `score` and `rank`.
    """

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        self.card = card
        self._loaded, self._prompts = loaded, prompts
        kind = loaded.device.type
        self._batches = Batches(settings.batch_tokens or TOKENS.get(kind, TOKENS["cpu"]))
        self._rows = Rows(loaded, share=settings.share_prefix)
        self._ends = end_tokens(loaded)
        self._grammars = Grammars(loaded, self._ends)
        self._forms: yesno.Forms | None = None
        self._thoughts = settings.thinking_room if prompts.ends_thought else 0
        self._writing = Batches(settings.batch_tokens or _writing_budget(loaded))
        self._continuous = settings.batching == "continuous"

    def generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        """Write, in batches; what a request gets depends on its prompt and seed alone, up to rounding.

        Raises:
            ModelError: a grammar cannot be followed.
        """
        prompts = [self.checked(request.messages, request.opening, room=1) for request in requests]
        self._grammars.check(request.grammar for request in requests)

        def batch(indices: list[int]) -> list[Generation | Refused]:
            accepted: list[list[int]] = [prompts[index] for index in indices]  # type: ignore[misc]
            return self._write([requests[index] for index in indices], accepted)

        paged = self._paged(requests, prompts)
        left = [paged.get(place, ids) for place, ids in enumerate(prompts)]
        sizes = [len(ids) + request.max_tokens + self._thoughts for ids, request in _accepted(left, requests)]
        return echoed(requests, prompts, answered(left, sizes, batch, self._writing), self._prompts)

    def _paged(
        self, requests: Sequence[Generate], prompts: Sequence[list[int] | Refused]
    ) -> dict[int, Generation | Refused]:
        """By place, the answers that continuous batching writes; none where it was not asked for."""
        places = [
            place
            for place, (request, ids) in enumerate(zip(requests, prompts, strict=True))
            if self._continuous and can_page(request) and request.max_tokens > 0 and not isinstance(ids, Refused)
        ]
        if not places:
            return {}
        ids: list[list[int]] = [prompts[place] for place in places]  # type: ignore[misc]
        rooms = self._rooms([requests[place] for place in places], ids)
        thoughts = self._thinking()

        def begin(at: int) -> Writing:
            request = requests[places[at]]
            begins = 0 if thoughts is None else None
            return Writing(request, len(ids[at]), rooms[at], [], Draws(request.seed), None, thoughts, begins)

        written = write_paged(
            self._loaded, ids, rooms, begin, self._ends, tokens=self._writing.tokens, together=self._batches.tokens
        )
        return dict(zip(places, written, strict=True))

    def _thinking(self) -> Thoughts | None:
        return Thoughts(self._prompts.ends_thought, self._thoughts) if self._prompts.ends_thought else None

    def _rooms(self, requests: Sequence[Generate], prompts: Sequence[list[int]]) -> list[int]:
        """How many tokens each may write, thoughts included."""
        context = self._loaded.context
        return [
            most if context is None else min(most, context - len(ids))
            for most, ids in zip((each.max_tokens + self._thoughts for each in requests), prompts, strict=True)
        ]

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Log-probabilities of yes and of no as the next token; a text's questions share its prompt up to the question.

        Raises:
            ModelError: the vocabulary has no one-token yes or no.
        """
        forms = self.yes_or_no()
        wanted = torch.tensor([*forms.yes, *forms.no], device=self._loaded.device)

        def read(logits: torch.Tensor) -> torch.Tensor:
            return (logits[:, wanted.to(logits.device)] - logits.logsumexp(-1, keepdim=True)).cpu()

        groups: list[Group | Refused] = [self._questions(request) for request in requests]

        def batch(indices: list[int]) -> list[Scores | Refused]:
            chosen: list[Group] = [groups[index] for index in indices]  # type: ignore[misc]
            found = iter(self._rows.last(chosen, read, self._batches.tokens).tolist())
            return [as_scores(forms, [next(found) for _ in group.endings]) for group in chosen]

        sizes = [self._rows.size(group) for group, _ in _accepted(groups, requests)]
        found = answered(groups, sizes, batch, self._batches)
        first = [each if isinstance(each, Refused) else [*each.prefix, *each.endings[0]] for each in groups]
        return echoed(requests, first, found, self._prompts)

    def rank(self, requests: Sequence[Rank]) -> list[Ranked | Refused]:
        """Log-probabilities of continuations; the prompt is computed once for all of a request's."""
        groups: list[Group | Refused] = [self._continuations(request) for request in requests]

        def batch(indices: list[int]) -> list[Ranked | Refused]:
            chosen: list[Group] = [groups[index] for index in indices]  # type: ignore[misc]
            logits = self._rows.each([_without_last(group) for group in chosen], self._batches.tokens)
            return [as_ranked([rank_tokens(next(logits), ending[1:]) for ending in group.endings]) for group in chosen]

        sizes = [self._rows.size(group) for group, _ in _accepted(groups, requests)]
        return answered(groups, sizes, batch, self._batches)

    def yes_or_no(self) -> yesno.Forms:
        """The tokens that say yes, and no. Raises ModelError where the vocabulary has none."""
        if self._forms is None:
            self._forms = yesno.find_forms(self._prompts.vocabulary())
        return self._forms

    def _questions(self, request: Score) -> Group | Refused:
        messages = request.messages or (Message("user", f"{request.text}\n\n"),)
        prompts = []
        for question in request.questions:
            ids = self.checked(
                with_question(messages, question), request.opening, thinking=self._prompts.thinks_in(request.opening)
            )
            if isinstance(ids, Refused):
                return ids
            prompts.append(ids)
        return shared_prefix(prompts) if prompts else Refused("no question was asked")

    def _continuations(self, request: Rank) -> Group | Refused:
        ids: list[int] | Refused
        if request.messages:
            ids = self.checked(request.messages, request.prefix, thinking=False)
        else:
            ids = self._fitting(self._prompts.start(request.prefix))
        if isinstance(ids, Refused):
            return ids
        ids = ids or [self._beginning()]
        endings = [self._prompts.text(text) for text in request.continuations]
        if not endings or not all(endings):
            return Refused("a continuation is empty" if endings else "there is no continuation to rank")
        longest = len(ids) + max(map(len, endings))
        if self._loaded.context is not None and longest > self._loaded.context:
            return Refused(too_long(longest, self._loaded.context))
        # An ending holds the prompt's last token, whose distribution is the first one to read.
        return Group(ids[:-1], [[ids[-1], *ending] for ending in endings])

    def _beginning(self) -> int:
        tokenizer = self._loaded.tokenizer
        for number in (tokenizer.bos_token_id, tokenizer.eos_token_id):
            if number is not None:
                return int(number)
        raise ModelError("This model has no token that begins a text: give a prefix")

    def checked(
        self, messages: Sequence[Message], opening: str, *, thinking: bool | None = None, room: int = 0
    ) -> list[int] | Refused:
        """The prompt's tokens, or why it cannot be asked."""
        try:
            ids = self._prompts.chat(messages, opening, thinking=thinking)
        except ModelError as error:
            return Refused(str(error))
        return self._fitting(ids, room)

    def _fitting(self, ids: list[int], room: int = 0) -> list[int] | Refused:
        context = self._loaded.context
        return Refused(too_long(len(ids), context)) if context is not None and len(ids) + room > context else ids

    def traced_prompt(self, messages: Sequence[Message]) -> TracedPrompt | Refused:
        """As `Traceable`."""
        ids = self.checked(messages, "", thinking=False)
        if isinstance(ids, Refused):
            return ids
        pieces = self._prompts.pieces(messages, thinking=False)
        return TracedPrompt(ids, pieces, self._prompts.begins_before(pieces))

    def answering(self, ids: Sequence[int]) -> Callable[[torch.Tensor], torch.Tensor]:
        """As `Traceable`."""
        model = self._loaded.model
        last: dict[str, Any] = (
            {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
        )

        def forward(read: torch.Tensor) -> torch.Tensor:
            out = model(input_ids=read, attention_mask=torch.ones_like(read), use_cache=False, **last)
            logits: torch.Tensor = out.logits[:, -1]
            return logits

        return forward

    def tracing(self) -> AbstractContextManager[Any]:
        """As `Traceable`: all that is read is one prompt."""
        return nullcontext(self._loaded.model.get_input_embeddings())

    @torch.inference_mode()
    def _write(self, requests: Sequence[Generate], prompts: Sequence[list[int]]) -> list[Generation | Refused]:
        if not self._rows.plain_cache and len(prompts) > 1:
            # A recurrent state cannot be told to look past padding by every model: one by one.
            return [self._write([each], [ids])[0] for each, ids in zip(requests, prompts, strict=True)]
        past = _CausalPast(self._loaded, self._rows)
        logits = past.begin(prompts)
        written = write(
            requests,
            [len(ids) for ids in prompts],
            self._rooms(requests, prompts),
            logits,
            past,
            self._loaded.tokenizer,
            self._ends,
            grammars=self._grammars.begin(requests),
            thoughts=self._thinking(),
        )
        return list(written)


class _CausalPast:
    """Prompts padded on the left, and what was written after them."""

    def __init__(self, loaded: Loaded, rows: Rows) -> None:
        self._model, self._device = loaded.model, loaded.device
        self._pad = loaded.tokenizer.pad_token_id or 0
        self._takes_positions, self._past_name = rows.takes_positions, rows.past_name
        # Of a prompt the last token's logits alone are read: those of all take gigabytes with a large vocabulary.
        self._last: dict[str, Any] = {"logits_to_keep": 1} if rows.keeps else {}
        self._cache: Any = None
        self._mask = torch.empty(0)

    def begin(self, prompts: Sequence[list[int]]) -> torch.Tensor:
        """Read the prompts. Returns: (prompts, vocabulary) logits of the first token."""
        width = max(map(len, prompts))
        ids = torch.full((len(prompts), width), self._pad)
        mask = torch.zeros((len(prompts), width), dtype=torch.long)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt) :] = torch.tensor(prompt)
            mask[row, width - len(prompt) :] = 1
        self._mask = mask.to(self._device)
        return self._forward(ids.to(self._device))

    def advance(self, tokens: torch.Tensor) -> torch.Tensor:
        self._mask = torch.cat([self._mask, self._mask.new_ones((len(tokens), 1))], 1)
        return self._forward(tokens[:, None].to(self._device))

    def keep(self, rows: torch.Tensor) -> None:
        rows = rows.to(self._device)
        self._mask = self._mask[rows]
        keep_rows(self._cache, rows)

    def _forward(self, ids: torch.Tensor) -> torch.Tensor:
        more: dict[str, Any] = {self._past_name: self._cache, **self._last}
        if self._takes_positions:
            more["position_ids"] = positions(self._mask)[:, -ids.shape[1] :]
        out = self._model(input_ids=ids, attention_mask=self._mask, use_cache=True, **more)
        self._cache = out[self._past_name]
        logits: torch.Tensor = out.logits[:, -1]
        return logits


def answered(
    prepared: Sequence[Any],
    sizes: Sequence[int],
    batch: Callable[[list[int]], Sequence[Any]],
    batches: Batches,
) -> list[Any]:
    """Run those that were not refused or written beforehand; every result in its request's place."""
    places = [place for place, each in enumerate(prepared) if not isinstance(each, Refused | Generation)]
    results = list(prepared)
    found = batches.run(sizes, lambda indices: batch([places[index] for index in indices]), Refused, padded=True)
    for place, result in zip(places, found, strict=True):
        results[place] = result
    return results


def echoed(
    requests: Sequence[Any], prompts: Sequence[list[int] | Refused], results: Sequence[Any], words: Prompts
) -> list[Any]:
    """The results with the prompt as the model read it, where the request asks for that."""
    return [
        replace(result, prompt=words.shown(ids))
        if request.echo and not isinstance(ids, Refused) and not isinstance(result, Refused)
        else result
        for request, ids, result in zip(requests, prompts, results, strict=True)
    ]


def as_scores(forms: yesno.Forms, rows: Sequence[Sequence[float]]) -> Scores:
    """From log-probabilities of the forms, yes before no, one row a question."""
    answers = []
    for row in rows:
        yes = list(zip(forms.yes.values(), row[: len(forms.yes)], strict=True))
        no = list(zip(forms.no.values(), row[len(forms.yes) :], strict=True))
        answers.append(yesno.combine(yes, no))
    return Scores(
        yes=tuple(answer.yes for answer in answers),
        no=tuple(answer.no for answer in answers),
        mass=tuple(answer.mass for answer in answers),
        shares=tuple(answer.shares for answer in answers),
    )


def rank_tokens(logits: torch.Tensor, tokens: Sequence[int]) -> tuple[float, int, bool]:
    """One continuation: its log-probability, its length, and whether it is the likeliest throughout.

    Args: logits: (at least len(tokens), vocabulary), the first row that of the first token.
    """
    chosen = torch.tensor(tokens, device=logits.device)[:, None]
    rows = logits[: len(tokens)]
    at = rows.gather(1, chosen)[:, 0]
    logprob = (at.double() - rows.double().logsumexp(-1)).sum()
    return float(logprob), len(tokens), bool((rows.argmax(-1) == chosen[:, 0]).all())


def as_ranked(rows: Sequence[tuple[float, int, bool]]) -> Ranked:
    """One row a continuation."""
    return Ranked(tuple(row[0] for row in rows), tuple(row[1] for row in rows), tuple(row[2] for row in rows))


def end_tokens(loaded: Loaded) -> frozenset[int]:
    """Tokens that end a text: the generation settings' (a chat model may have several) and the tokeniser's."""
    said = getattr(loaded.model, "generation_config", None)
    named = getattr(said, "eos_token_id", None)
    several = named if isinstance(named, list | tuple) else [named]
    return frozenset(int(number) for number in (*several, loaded.tokenizer.eos_token_id) if number is not None)


def too_long(tokens: int, context: int) -> str:
    """Why a prompt was refused."""
    return f"the prompt has {tokens:,} tokens, and the model's context holds {context:,}"


def _accepted(prepared: Sequence[Any], requests: Sequence[Asked]) -> list[tuple[Any, Asked]]:
    return [pair for pair in zip(prepared, requests, strict=True) if not isinstance(pair[0], Refused | Generation)]


def _without_last(group: Group) -> Group:
    """What goes in to rank a group's endings: the last token of each is read, and need not be computed from."""
    return Group(group.prefix, [ending[:-1] for ending in group.endings])


def _writing_budget(loaded: Loaded) -> int:
    """Tokens, prompts and answers together, whose keys and values fit into the free memory beside everything else."""
    if loaded.device.type != "cuda":
        return 8 * TOKENS["cpu"]
    text = loaded.config.get_text_config()
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    bytes_a_token = 2 * text.num_hidden_layers * heads * width * loaded.model.dtype.itemsize
    free, _ = torch.cuda.mem_get_info(loaded.device)
    return max(2_048, min(512 * 1_024, int(0.5 * free / bytes_a_token)))
