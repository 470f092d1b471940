"""The loop that writes: one batch of requests, each sampled by its own draws, and left out when it is done."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from emotui.backends import stopping
from emotui.backends.base import Generate, Generation
from emotui.backends.hf.grammar import Grammar
from emotui.backends.sampling import LIKELIEST, Draws

_TAIL = 32
"""Tokens at the end of a text in which a stop string is looked for: it cannot have begun earlier and ended now."""


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
