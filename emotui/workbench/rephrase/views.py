"""What the service of rephrasing takes and gives: plain values, for any face."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from emotui.backends.base import Embed, ModelCard
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import ModelError
from emotui.records import ClassGold
from emotui.store.query import Dataset
from emotui.tasks.rephrase.labelling import QUESTION, SYSTEM, YES_OR_NO, Labelling, Verdict

# A model as the classifier of a round of rephrasing, frozen with the way in which it is asked.


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


ATTEMPTS = 4
"""Failed attempts after which a chain is closed (section 3, Annotation Process)."""

State = Literal["open", "succeeded", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Original:
    """A text as it was, and what the classifier says to it.

    `gold`: its label as the classifier writes it. `predicted` equal to it: the text is one of T_correct, and offered.
    """

    sample: ClassGold
    gold: str
    predicted: str
    confidence: float

    @property
    def right(self) -> bool:
        return self.predicted == self.gold


@dataclass(frozen=True)
class Round:
    """One annotator's work on a dataset against one frozen classifier.

    Attributes:
        number: 1 for the dataset's first classifier, and one more for each other one; the same classifier comes back to
            its own round.
        note: what a person should know as it begins (a new round because the classifier is another); may be empty.
        labels: all that the classifier chooses among.
        correct, incorrect: how many texts it gets right (T_correct), and wrong (T_incorrect).
    """

    dataset: Dataset
    model: str
    identity: str
    annotator: str
    number: int
    note: str
    labels: tuple[str, ...]
    correct: int
    incorrect: int
    classifier: FrozenClassifier = field(repr=False)
    originals: Mapping[int, Original] = field(repr=False)

    @property
    def card(self) -> ModelCard:
        return self.classifier.card

    @property
    def counters(self) -> bool:
        """Is it over the texts of a counter-test?"""
        return counters(self.dataset)

    def offered(self) -> list[int]:
        """Sample numbers of T_correct, in file order; of a counter-test all."""
        return [number for number, original in self.originals.items() if original.right or self.counters]


@dataclass(frozen=True, slots=True)
class Live:
    """What follows typing. `similarity`: cosine with the original's embedding, None where the text has no word.

    `label` is the classifier's answer, `gold` the label that it should not find, `seconds` what the answer took.
    """

    number: int
    generation: int
    text: str
    probs: Mapping[str, float]
    label: str
    gold: str
    gold_confidence: float
    similarity: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class CarryingWords:
    """How much each word carries a label: the drop of its log-odds without that word.

    `gold`, `top`: (start, end, drop) in text order, for the gold label and for the one that the classifier gives.
    `cut`: only the first words were tried.
    """

    number: int
    text: str
    gold_label: str
    top_label: str
    gold: tuple[tuple[int, int, float], ...]
    top: tuple[tuple[int, int, float], ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a submitted attempt. `attempt` counts from 1; `confidence` is that of the gold label."""

    state: State
    attempt: int
    predicted: str
    confidence: float
    similarity: float | None


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt of a chain, in force. `annotation`: its number in the log."""

    annotation: int
    text: str
    predicted: str
    confidence: float | None
    similarity: float | None
    suggested: bool


@dataclass(frozen=True, slots=True)
class ChainView:
    """An original with the attempts on it. `predicted`, `confidence`: the classifier on the original.

    `counters`: it is one of a counter-test, where an attempt succeeds that the classifier labels rightly.
    """

    number: int
    id: str
    original: str
    label: str
    predicted: str
    confidence: float
    attempts: tuple[AttemptView, ...]
    state: State
    counters: bool = False

    @property
    def right(self) -> bool:
        """Whether the classifier gets the original right."""
        return self.predicted == self.label

    @property
    def offered(self) -> bool:
        """Whether it is to be rephrased: originals that the classifier gets wrong are in a counter-test alone."""
        return self.right or self.counters

    def succeeds(self, predicted: str) -> bool:
        """Whether an attempt that the classifier labels so is a success."""
        return (predicted == self.label) is self.counters


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an annotator is in a round.

    `offered` texts are `done` (succeeded, failed or skipped) or `left`; `set_aside`: those of T_incorrect.
    `succeeded_at[k - 1]`: chains that succeeded at attempt k. Of a counter-test, `errors`: originals that are labelled
    wrongly and were written anew, and how many of these errors are `gone`; None of other rounds.
    """

    offered: int
    done: int
    succeeded_at: tuple[int, int, int, int]
    failed: int
    skipped: int
    left: int
    set_aside: int
    errors: int | None = None
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rephrasing that a model wrote, with the classifier's verdict. `cues`: explicit words that are still in it."""

    text: str
    predicted: str
    confidence: float
    similarity: float | None
    cues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One rephrasing to judge, without what the classifier said. `attempt`: the annotation number of the attempt."""

    attempt: int
    original: str
    rephrasing: str


COUNTER = "counter-test: "
"""Begins the source of a dataset whose texts are those of a slice, to be rid of what is suspected to mislead models."""


def counters(dataset: Dataset) -> bool:
    """Are these the texts of a counter-test?"""
    return dataset.source.startswith(COUNTER)


def state_of(label: str, predicted: tuple[str, ...], *, skipped: bool, counters: bool = False) -> State:
    """The state of a chain from what the classifier said to each attempt: wrong is success, in a counter-test right.

    A skip after some failed attempts keeps them. Source: section 3, Annotation Process.
    """
    if any((said == label) is counters for said in predicted):
        return "succeeded"
    if skipped:
        return "skipped"
    return "failed" if len(predicted) >= ATTEMPTS else "open"
