"""Question answering: one span, the passage that answers (`RobertaForQuestionAnswering` and its like)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from emotui.backends.base import Evidence, Extract, ModelCard, Refused
from emotui.backends.hf.encoders import Encoder, Framed
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.settings import Settings
from emotui.backends.hf.spans.tokens import Token, needs_offsets, read_tokens, windows, word_places

LONGEST = 64
"""Tokens of the longest answer."""

_NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class _Found:
    """Of one window: its best span by the places of its first and last token, the span's logits, that of no answer."""

    first: int
    last: int
    logit: float
    strength: float
    none: float


class Reader:
    """A question-answering model behind the protocol: `extract`, one question, at most one span a text.

    The span whose first and last token have the greatest sum of logits, of at most `LONGEST` tokens, over all windows
    of the text, widened to whole words. There is none where the logits of no answer (at the token that stands for the
    whole text; the least over the windows) are greater, unless `no_answer=false`. The strength is the probability of
    its beginning times that of its end, each among the tokens of its window and no answer.

    Source: Devlin et al. 2019, section 4.3 (SQuAD 2.0), with the windows of their run_squad.py.
    """

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        needs_offsets(loaded.tokenizer, card.name)
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 2)
        self._question = prompts.text(settings.question)
        self._room = None
        if loaded.context is not None:
            self._room = loaded.context - self._frame.extra - len(self._question)
        self._none = loaded.tokenizer.cls_token_id if settings.no_answer else None

    def extract(self, requests: Sequence[Extract]) -> list[list[Evidence] | Refused]:
        """The passage of each text that answers the question, if any."""
        if self._room is not None and self._room < 1:
            return [Refused("the question leaves no room for a text: ask a shorter one")] * len(requests)
        texts = [read_tokens(self._prompts, request.text) for request in requests]
        asked = [
            (place, window.start, window.stop)
            for place, tokens in enumerate(texts)
            if word_places(tokens)
            for window in windows(len(tokens), self._room)
        ]
        framed: list[Framed] = [
            self._frame.ids(self._question, [token.id for token in texts[place][start:stop]])
            for place, start, stop in asked
        ]

        def read(out: Any, mask: torch.Tensor, indices: list[int]) -> list[torch.Tensor]:
            logits, kept = torch.stack([out.start_logits, out.end_logits], -1).double().cpu(), mask.bool().cpu()
            return [logits[row][kept[row]] for row in range(len(indices))]

        found: list[list[_Found]] = [[] for _ in texts]
        for (place, start, stop), (ids, _), logits in zip(asked, framed, self._encoder.run(framed, read), strict=True):
            if (best := self._best(texts[place][start:stop], ids, logits)) is not None:
                found[place].append(_moved(best, start))
        return [self._evidence(tokens, each) for tokens, each in zip(texts, found, strict=True)]

    def _best(self, tokens: Sequence[Token], ids: Sequence[int], logits: torch.Tensor) -> _Found | None:
        """Args: logits: (tokens, 2) of beginning and end, over question, text and what stands around them."""
        behind = len(self._frame.around[2])
        inner = logits[len(ids) - behind - len(tokens) : len(ids) - behind].clone()
        inner[torch.tensor([token.start == token.end for token in tokens])] = _NEVER
        starts, ends = inner[:, 0], inner[:, 1]
        best, first, last = _NEVER, 0, 0
        for more in range(min(LONGEST, len(tokens))):
            sums = starts[: len(tokens) - more] + ends[more:]
            place = int(sums.argmax())
            if float(sums[place]) > best:
                best, first, last = float(sums[place]), place, place + more
        if best == _NEVER:
            return None
        none = logits[ids.index(self._none)] if self._none in ids else torch.full((2,), _NEVER, dtype=logits.dtype)
        among = torch.cat([inner, none[None]]).softmax(0)
        return _Found(first, last, best, float(among[first, 0] * among[last, 1]), float(none.sum()))

    def _evidence(self, tokens: Sequence[Token], found: Sequence[_Found]) -> list[Evidence]:
        if not found:
            return []
        best = max(found, key=lambda each: each.logit)
        if min(each.none for each in found) >= best.logit:
            return []
        words = word_places(tokens)
        start = next(word[0] for word in words if best.first in word)
        end = next(word[-1] for word in words if best.last in word)
        return [Evidence(tokens[start].start, tokens[end].end, "", best.strength)]


def _moved(found: _Found, by: int) -> _Found:
    return _Found(found.first + by, found.last + by, found.logit, found.strength, found.none)
