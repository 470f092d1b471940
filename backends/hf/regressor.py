"""Sequence classifiers whose head gives numbers: valence, arousal, a scale of the model's own."""

from collections.abc import Sequence

from emotui.backends.base import ModelCard, Refused, Regress, Regressed
from emotui.backends.hf.classifier import labels_of
from emotui.backends.hf.encoders import Encoder
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.settings import Settings

NAMES = "values"
"""Under which name a card has what the numbers are called."""


class Regressor:
    """A regression head behind the protocol: `regress`."""

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 1)
        self._limit = loaded.context
        self._names = labels_of(loaded.config)

    def regress(self, requests: Sequence[Regress]) -> list[Regressed | Refused]:
        """The head's outputs as they are, without a softmax or sigmoid. Long texts are cut."""
        room = None if self._limit is None else max(0, self._limit - self._frame.extra)
        ids = [self._prompts.text(request.text) for request in requests]
        framed = [self._frame.ids(each[:room]) for each in ids]
        rows = self._encoder.run(framed, lambda out, mask, indices: list(out.logits.double().cpu()))
        return [
            Regressed(dict(zip(self._names, row.tolist(), strict=True)), room is not None and len(each) > room)
            for row, each in zip(rows, ids, strict=True)
        ]
