"""How a model is asked which one label of a fixed set a text has: the same for runs, files, and rounds of rephrasing.

Three ways that give a probability for each label, by what the model can do:

- `classify`: its own labels, or the given ones where it judges any (NLI).
- `rank`: the labels as continuations of one prompt that names them all. Their odds are the sums of their tokens'
  log-probabilities, and the probabilities a softmax over the labels. Sums are not divided by a label's length: the
  prompt names the labels, so what follows a label's first tokens is nearly certain, and a mean over its tokens would
  favour long ones.
- `score`: yes against no for each label; the odds are the differences of both logits, the probabilities a softmax.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from emotui.backends.base import Classify, Message, ModelCard, Rank, Refused, Request, Score
from emotui.backends.host import lacks
from emotui.errors import BadInput, ModelError
from emotui.formats import capped
from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK
from emotui.records import PLUTCHIK
from emotui.tasks.parts import LITTLE_MASS, to_map
from emotui.tasks.prompting.files import Prompt, as_chat, filled

Way = Literal["classify", "rank", "score"]
WAYS: tuple[Way, ...] = ("classify", "rank", "score")
"""In the order of preference."""

SYSTEM = "You read short texts and name the one emotion that the writer of each shows."
QUESTION = "Text:\n{text}\n\nWhich emotion does its writer show? Choose one of: {labels}. Answer with that word alone."
YES_OR_NO = "Does its writer show {label}? Answer with one word, Yes or No."
"""What a model without labels of its own is asked. A change of these words changes the identity of its rounds."""

ASKED = Prompt(QUESTION, SYSTEM)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the classifier says to a text: a probability for each label, and the one it gives.

    `little_mass`: the probability of yes and no together, of labels of which it is little (`emotui.tasks.parts`).
    """

    probs: Mapping[str, float]
    label: str
    little_mass: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Labelling:
    """How one model is asked for one of `labels`; `label_set` names them where they are the model's own.

    `prompt`: what a model that ranks is asked.
    """

    way: Way
    labels: tuple[str, ...]
    label_set: str | None = None
    prompt: Prompt = ASKED

    def request(self, text: str) -> Request:
        """The question about a text."""
        if self.way == "classify":
            return Classify(text, self.label_set, None if self.label_set else self.labels or None)
        if self.way == "rank":
            asked = filled(self.prompt.user, {"text": text, "labels": ", ".join(self.labels)})
            return Rank("", self.labels, as_chat(self.prompt, asked))
        questions = tuple(YES_OR_NO.format(label=label) for label in self.labels)
        return Score(text, questions, (Message("system", SYSTEM), Message("user", f"Text:\n{text}\n\n")))

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
        masses = answer.mass if self.way == "score" else ()
        little = {label: mass for label, mass in zip(self.labels, masses, strict=False) if mass < LITTLE_MASS}
        return Verdict(probs, max(probs, key=lambda label: probs[label]), little)

    def known(self, label: str) -> str | None:
        """The label as the classifier writes it; None for one that it does not know. Case and ends do not matter."""
        return known_label(label, self.labels)


def _softmax(values: Sequence[float]) -> list[float]:
    top = max(values)
    if top == math.inf:
        values, top = [0.0 if value == math.inf else -math.inf for value in values], 0.0
    weights = [math.exp(value - top) for value in values]
    return [weight / sum(weights) for weight in weights]


def known_label(label: str, labels: Iterable[str]) -> str | None:
    """The one of `labels` that this is, case and ends apart; None where it is none of them."""
    name = label.strip().casefold()
    return next((own for own in labels if own.casefold() == name), None)


def labelling(card: ModelCard, golds: Iterable[tuple[str, str]]) -> Labelling:
    """How this model is asked about texts with these gold labels.

    Of several label sets of its own: `plutchik` where all gold labels are of Plutchik's eight, else the first that
    holds them all. A model without labels chooses among `choices`.

    Args:
        golds: (id, label) of every text.

    Raises:
        BadInput: gold labels that the classifier does not know, a line for each text up to 20.
        ModelError: the model can give no label at all.
    """
    pairs = list(golds)
    if "classify" in card.capabilities and card.labels:
        found = _own_labels(card, pairs)
    else:
        way = next((way for way in WAYS if way in card.capabilities), None)
        if way is None:
            told = f"{lacks(card.spec, 'classify')}; any model that ranks or scores labels will do too"
            if "generate" in card.capabilities:
                told += ", such as gguf: or a server with log-probabilities: labels in words alone have no probability"
            raise ModelError(told)
        found = Labelling(way, choices(pairs))
    check_known(card.spec, found.labels, pairs)
    return found


def check_known(spec: str, labels: Sequence[str], golds: Iterable[tuple[str, str]]) -> None:
    """Raises BadInput for gold labels that are none of `labels`: a line for each text, up to 20 and then a count."""
    pairs = list(golds)
    strange = [
        f"{key}: {spec} does not know the label {label!r}; it knows: {', '.join(labels)}"
        for key, label in pairs
        if known_label(label, labels) is None
    ]
    if strange:
        first = next(label for _, label in pairs if known_label(label, labels) is None)
        raise BadInput(strange[0] + to_map(first, labels), *capped(strange)[1:])


def choices(golds: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The labels among which a model without labels of its own chooses.

    Plutchik's eight where they hold all gold labels, else GoEmotions' 28, else the gold labels themselves.
    """
    given = sorted({label.strip() for _, label in golds})
    names = {label.casefold() for label in given}
    if names <= set(PLUTCHIK):
        return PLUTCHIK
    goemotions = (*GOEMOTIONS_TO_PLUTCHIK, "neutral")
    return tuple(sorted(goemotions)) if names <= set(goemotions) else tuple(given)


def _own_labels(card: ModelCard, golds: Sequence[tuple[str, str]]) -> Labelling:
    names = {label.strip().casefold() for _, label in golds}
    own = {name: labels for name, labels in card.labels.items() if name != "score"}
    order = ["plutchik", *own] if names <= set(PLUTCHIK) and "plutchik" in own else list(own)
    fitting = [name for name in order if names <= {label.casefold() for label in own[name]}]
    counts = Counter({name: len(names & {label.casefold() for label in own[name]}) for name in own})
    chosen = fitting[0] if fitting else counts.most_common(1)[0][0]
    return Labelling("classify", tuple(own[chosen]), chosen)
