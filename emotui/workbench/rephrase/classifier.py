"""A model as the classifier of a round of rephrasing, frozen with the way in which it is asked."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from emotui.backends.base import Embed, ModelCard
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import ModelError
from emotui.tasks.rephrase.labelling import QUESTION, SYSTEM, YES_OR_NO, Labelling, Verdict


def identity_of(card: ModelCard, asked: Labelling) -> str:
    """SHA-256 over everything that can change what the classifier says: it stays the same for a whole round."""
    words = () if asked.way == "classify" else (SYSTEM, QUESTION, YES_OR_NO)
    content = {
        "model": {"spec": card.spec, **card.identity},
        "way": asked.way,
        "label_set": asked.label_set,
        "labels": asked.labels,
        "words": words,
    }
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


@dataclass(frozen=True, slots=True)
class FrozenClassifier:
    """A classifier as it stays for a whole round: a model, how it is asked, and the identity of both."""

    model: ModelProcess
    card: ModelCard
    asked: Labelling
    identity: str

    def verdicts(self, texts: Sequence[str], cancelled: IsCancelled | None = None) -> list[Verdict]:
        """One for each text. Raises ModelError where one is refused, Cancelled."""
        answers = self.model.ask([self.asked.request(text) for text in texts], cancelled=cancelled)
        self._check()
        return [self.asked.verdict(answer) for answer in answers]

    def verdict_and_rows(self, text: str, embedded: Sequence[str]) -> tuple[Verdict, list[Any]]:
        """A verdict, and embeddings of texts by the same model, in one round trip."""
        answers = self.model.ask([self.asked.request(text), *(Embed(each) for each in embedded)])
        self._check()
        return self.asked.verdict(answers[0]), list(answers[1:])

    def _check(self) -> None:
        """Raises ModelError where a process that was started afresh has loaded another model than the round's."""
        card = self.model.card
        if card is not None and card is not self.card and identity_of(card, self.asked) != self.identity:
            raise ModelError(f"{self.card.spec} has changed since this round began: begin again for a new round")
