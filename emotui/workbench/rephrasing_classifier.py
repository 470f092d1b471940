"""A model as the classifier of a round of rephrasing: one label of a fixed set for a text, with probabilities.

Three ways, by what the model can do: its own labels (`classify`), the likeliest of the labels as a continuation
(`rank`), or yes against no for each label (`score`).
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from emotui.backends.base import (
    Classify,
    Embed,
    Message,
    ModelCard,
    Rank,
    Refused,
    Request,
    Score,
)
from emotui.backends.host import IsCancelled, ModelProcess, lacks
from emotui.errors import BadInput, ModelError
from emotui.formats import capped
from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK
from emotui.records import PLUTCHIK

Way = Literal["classify", "rank", "score"]

SYSTEM = "You read short texts and name the one emotion that the writer of each shows."
QUESTION = "Text:\n{text}\n\nWhich emotion does its writer show? Choose one of: {labels}. Answer with that word alone."
YES_OR_NO = "Does its writer show {label}? Answer with one word, Yes or No."
"""What a model without labels of its own is asked. A change of these words changes the identity of its rounds."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the classifier says to a text: a probability for each label, and the one it gives."""

    probs: Mapping[str, float]
    label: str


@dataclass(frozen=True, slots=True)
class Labelling:
    """How one model is asked for one of `labels`; `label_set` names them where they are the model's own."""

    way: Way
    labels: tuple[str, ...]
    label_set: str | None = None

    def request(self, text: str) -> Request:
        """The question about a text."""
        if self.way == "classify":
            return Classify(text, self.label_set, None if self.label_set else self.labels)
        named = ", ".join(self.labels)
        system = Message("system", SYSTEM)
        if self.way == "rank":
            asked = QUESTION.replace("{labels}", named).replace("{text}", text)
            return Rank("", self.labels, (system, Message("user", asked)))
        questions = tuple(YES_OR_NO.format(label=label) for label in self.labels)
        return Score(text, questions, (system, Message("user", f"Text:\n{text}\n\n")))

    def verdict(self, answer: Any) -> Verdict:
        """From the model's answer. Labels that are equally likely go to the first.

        Raises:
            ModelError: the model refused, or its answer is no number.
        """
        if isinstance(answer, Refused):
            raise ModelError(answer.why)
        if self.way == "classify":
            return Verdict(dict(answer.probs), answer.label)
        odds = answer.logprobs if self.way == "rank" else [y - n for y, n in zip(answer.yes, answer.no, strict=True)]
        if any(math.isnan(value) for value in odds) or all(value == -math.inf for value in odds):
            raise ModelError("the model gives no probability to any of the labels")
        probs = dict(zip(self.labels, _softmax(odds), strict=True))
        return Verdict(probs, max(probs, key=lambda label: probs[label]))

    def known(self, label: str) -> str | None:
        """The label as the classifier writes it; None for one that it does not know. Case and ends do not matter."""
        name = label.strip().casefold()
        return next((own for own in self.labels if own.casefold() == name), None)


def _softmax(values: Sequence[float]) -> list[float]:
    top = max(values)
    if top == math.inf:
        values, top = [0.0 if value == math.inf else -math.inf for value in values], 0.0
    weights = [math.exp(value - top) for value in values]
    return [weight / sum(weights) for weight in weights]


def labelling(card: ModelCard, golds: Iterable[tuple[str, str]]) -> Labelling:
    """How this model is asked about texts with these gold labels.

    Of several label sets of its own: `plutchik` where all gold labels are of Plutchik's eight, else the first that
    holds them all. A model without labels chooses among Plutchik's eight where that holds all gold labels, else among
    GoEmotions' 28, else among the gold labels themselves.

    Args:
        golds: (id, label) of every text.

    Raises:
        BadInput: gold labels that the classifier does not know, a line for each text up to 20.
        ModelError: the model can give no label at all.
    """
    pairs = list(golds)
    names = list(dict.fromkeys(label.strip().casefold() for _, label in pairs))
    all_plutchik = set(names) <= set(PLUTCHIK)
    able = card.capabilities
    if "classify" in able and card.labels:
        own = {name: labels for name, labels in card.labels.items() if name != "score"}
        order = ["plutchik", *own] if all_plutchik and "plutchik" in own else list(own)
        fitting = [name for name in order if set(names) <= {label.casefold() for label in own[name]}]
        counts = Counter({name: len(set(names) & {label.casefold() for label in own[name]}) for name in own})
        chosen = fitting[0] if fitting else counts.most_common(1)[0][0]
        found = Labelling("classify", tuple(own[chosen]), chosen)
    else:
        way = next((way for way in ("classify", "rank", "score") if way in able), None)
        if way is None:
            raise ModelError(f"{lacks(card.spec, 'classify')}; any model that ranks or scores labels will do too")
        found = Labelling(way, _choices(names, pairs, all_plutchik=all_plutchik))  # type: ignore[arg-type]
    strange = [
        f"{key}: {card.spec} does not know the label {label!r}; it knows: {', '.join(found.labels)}"
        for key, label in pairs
        if found.known(label) is None
    ]
    if strange:
        raise BadInput(*capped(strange))
    return found


def _choices(names: Sequence[str], pairs: Sequence[tuple[str, str]], *, all_plutchik: bool) -> tuple[str, ...]:
    if all_plutchik:
        return PLUTCHIK
    goemotions = (*GOEMOTIONS_TO_PLUTCHIK, "neutral")
    if set(names) <= set(goemotions):
        return tuple(sorted(goemotions))
    return tuple(sorted({label.strip() for _, label in pairs}))


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
class Frozen:
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
