"""Token classifiers: spans from a tag a word (`BertForTokenClassification` and its like)."""

from collections.abc import Sequence
from typing import Any

import torch

from emotui.backends.base import Evidence, Extract, ModelCard, Refused
from emotui.backends.hf.classifier import labels_of
from emotui.backends.hf.encoders import Encoder, Framed
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.settings import Settings
from emotui.backends.hf.spans.tags import read_tags, tagged_spans
from emotui.backends.hf.spans.tokens import Token, Window, needs_offsets, read_tokens, windows, word_places
from emotui.errors import BadModel


def outside_of(settings: Settings, names: Sequence[str]) -> tuple[str, ...]:
    """The option `outside` as tags. Raises BadModel where the model has no such tag."""
    found = tuple(part.strip() for part in settings.outside.split(",") if part.strip())
    if strange := [name for name in found if name not in names]:
        raise BadModel(f"hf: option outside names {strange[0]!r}; the model's tags are: {', '.join(names)}")
    return found


def span_labels(config: Any, settings: Settings) -> tuple[str, ...]:
    """The labels that a token classifier's spans can have, in the order of its tags."""
    names = labels_of(config)
    tags = read_tags(names, outside_of(settings, names))
    return tuple(dict.fromkeys(tag.label for tag in tags if tag.part != "O" and tag.label))


class Tagger:
    """A token classifier behind the protocol: `extract`.

    A word has one tag: the likeliest of its first piece (`aggregation=first`, as nearly all such models are trained),
    of the mean over its pieces (`average`), or of the piece that is surest (`max`): the strategies of transformers'
    TokenClassificationPipeline. Tags become spans by `tagged_spans`. A span's strength is the mean over its words of
    the probability of their tags. A long text is read in overlapping windows, and each piece of a word counts as read
    in the window where it has most around it; spans are made of the tags of the whole text, across windows.
    """

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        needs_offsets(loaded.tokenizer, card.name)
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 1)
        self._room = None if loaded.context is None else loaded.context - self._frame.extra
        names = labels_of(loaded.config)
        self._tags = read_tags(names, outside_of(settings, names))
        self._aggregation = settings.aggregation

    def extract(self, requests: Sequence[Extract]) -> list[list[Evidence] | Refused]:
        """The spans of each text, in order."""
        if self._room is not None and self._room < 1:
            return [Refused("the model reads too few tokens for any text")] * len(requests)
        texts = [read_tokens(self._prompts, request.text) for request in requests]
        asked = [(place, window) for place, tokens in enumerate(texts) for window in windows(len(tokens), self._room)]
        probs = [torch.zeros((len(tokens), len(self._tags)), dtype=torch.float64) for tokens in texts]
        for (place, window), row in zip(asked, self._rows(texts, asked), strict=True):
            probs[place][window.first : window.last] = row[window.first - window.start : window.last - window.start]
        return [self._evidence(tokens, rows) for tokens, rows in zip(texts, probs, strict=True)]

    def _rows(self, texts: Sequence[Sequence[Token]], asked: Sequence[tuple[int, Window]]) -> list[torch.Tensor]:
        """Of each window the probabilities of its tokens' tags, (tokens, tags)."""
        framed: list[Framed] = [
            self._frame.ids([token.id for token in texts[place][window.start : window.stop]]) for place, window in asked
        ]
        head = len(self._frame.around[0])

        def read(out: Any, mask: torch.Tensor, indices: list[int]) -> list[torch.Tensor]:
            probs, kept = out.logits.double().softmax(-1).cpu(), mask.bool().cpu()
            return [probs[row][kept[row]][head:] for row in range(len(indices))]

        return self._encoder.run(framed, read)

    def _evidence(self, tokens: Sequence[Token], probs: torch.Tensor) -> list[Evidence]:
        words = word_places(tokens)
        if not words:
            return []
        tagged = torch.stack([self._of_word(probs[word]) for word in words])
        strengths, chosen = (found.tolist() for found in tagged.max(-1))
        return [
            Evidence(
                start=tokens[words[span.first][0]].start,
                end=tokens[words[span.last][-1]].end,
                label=span.label,
                strength=sum(strengths[span.first : span.last + 1]) / (span.last + 1 - span.first),
            )
            for span in tagged_spans([self._tags[tag] for tag in chosen])
        ]

    def _of_word(self, pieces: torch.Tensor) -> torch.Tensor:
        """The probabilities of a word's tags, from those of its pieces (pieces, tags)."""
        match self._aggregation:
            case "average":
                return pieces.mean(0)
            case "max":
                return pieces[int(pieces.max(-1).values.argmax())]
            case _:
                return pieces[0]
