"""Labels that a model is asked about: which they are, the question, how answers are read, and what masks a word.

Shared by all that asks for labels: the labels task, and what looks into why a label is given.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from emotui.backends.base import Classification, Message, ModelCard, Refused, Scores
from emotui.errors import BadInput
from emotui.metrics.evidence import FILLER
from emotui.metrics.labels import label_names
from emotui.metrics.thresholds import USUAL
from emotui.records import LabelsGold
from emotui.tasks.parts import LITTLE_MASS, matched, matched_all
from emotui.tasks.prompting.settings import InWords
from emotui.tasks.task import Asked, unanswered

SYSTEM = "You read short texts and find every emotion that the writer of each shows: one, several, or none."
YES_OR_NO = "Does its writer show {label}? Answer with one word, Yes or No."
"""What a model that scores is asked, once for each label, behind the text."""


def yes_or_no(text: str, label: str) -> tuple[tuple[Message, ...], str]:
    """What a model that scores is asked about one text and one label: a chat, and the question at its end."""
    return chat_about(f"Text:\n{text}\n\n"), YES_OR_NO.format(label=label)


def chat_about(about: str) -> tuple[Message, ...]:
    """The chat whose end such a question is. Args: about: the text, and what stands before it."""
    return Message("system", SYSTEM), Message("user", about)


# Which labels a text may have: those of the dataset, as the model knows them.

CLASSIFY, HEADS, SCORE = "classify", "heads", "score"
"""Ways of asking that give probabilities: a classifier's own labels, heads for yes and no, the words Yes and No."""

OF_HEADS = "score"
"""Under which name a card has the labels that its heads are for."""


class LabelSets:
    """The labels that are asked about."""

    always = True

    def of_file(self, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
        """The given ones, else the model's first label set, if it has any.

        Raises:
            BadInput: the model has labels of its own and not a given one.
        """
        own = own_sets(card)
        if given is None:
            return next(iter(own.values()), ())
        if own:
            _fitting(card, own | _heads(card), given)
        return tuple(given)

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[LabelsGold]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """With `labels` (those that the samples name), and of a classifier its `label_set` and own `thresholds`.

        Where no sample names any, the labels are the model's first set.

        Raises:
            BadInput: the model lacks one of them, or there are none.
        """
        chosen: Any = options.get("labels")
        labels = tuple(chosen or label_names(sample.said or () for sample in samples()))
        labels = labels or next(iter((_heads(card) if way == HEADS else own_sets(card)).values()), ())
        if not labels:
            raise BadInput(
                f"there are no labels to choose from: no text has one, and {card.spec} has none of its own "
                "(--labels FILE gives them, one a line)"
            )
        found: dict[str, object] = {**options, "labels": list(labels)}
        if way == HEADS:
            _fitting(card, _heads(card), labels)
        elif way == CLASSIFY and (own := own_sets(card)):
            name = _fitting(card, own, labels)
            found["label_set"] = name
            own_thresholds = card.thresholds.get(name, {})
            if "thresholds" not in options and own_thresholds:
                found["thresholds"] = {
                    label: own_thresholds[known] for label in labels if (known := matched(label, own_thresholds))
                }
        return found


def known_labels(card: ModelCard, way: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of these labels that a model with labels of its own has, in the set that has the most of them."""
    sets = own_sets(card) if way == CLASSIFY else _heads(card) if way == HEADS else {}
    known = [tuple(name for name in names if matched(name, own) is not None) for own in sets.values()]
    return max(known, key=len, default=())


def own_sets(card: ModelCard) -> dict[str, tuple[str, ...]]:
    """The label sets of a classifier, by name."""
    return {name: tuple(labels) for name, labels in card.labels.items() if name != OF_HEADS}


def _heads(card: ModelCard) -> dict[str, tuple[str, ...]]:
    return {OF_HEADS: tuple(card.labels[OF_HEADS])} if OF_HEADS in card.labels else {}


def _fitting(card: ModelCard, sets: Mapping[str, Sequence[str]], labels: Sequence[str]) -> str:
    """The first set that holds all these labels (`emotui.tasks.parts`).

    Raises:
        BadInput: none does; one line that names what the nearest one lacks.
    """
    lacks = {name: sum(matched(label, own) is None for label in labels) for name, own in sets.items()}
    nearest = min(lacks, key=lambda name: lacks[name])
    matched_all(labels, sets[nearest], card.spec)
    return nearest


# What a model says about the labels of a text: as it is kept, and as it is read.


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The labels given, and a probability for each label where the model gives any.

    `form`: how a written answer was to be read (`emotui.tasks.labels.task.read_list`). `little_mass`: labels
    of which a model's first token is likelier something else than yes or no (`emotui.tasks.parts`). `unanswered`: why
    there is neither yes nor no in words about a label, which is not given then.
    """

    labels: tuple[str, ...]
    probs: Mapping[str, float] = {}
    form: str = ""
    little_mass: tuple[str, ...] = ()
    unanswered: Mapping[str, str] = {}


class _Classified(msgspec.Struct, frozen=True):
    """`several`: the probabilities are independent of each other; if not, `label` is the one that is given."""

    probs: Mapping[str, float]
    label: str
    several: bool


class _Scored(msgspec.Struct, frozen=True, omit_defaults=True):
    """Logits of yes and of no by label, and the probability of both together where that is little."""

    scores: Mapping[str, tuple[float, float]]
    little_mass: Mapping[str, float] = {}


def kept_classification(answer: Classification | Refused) -> Asked:
    """A classifier's answer as it is kept."""
    if isinstance(answer, Refused):
        return unanswered(answer)
    probs = {label: round(p, 9) for label, p in answer.probs.items()}
    return Asked(msgspec.json.encode(_Classified(probs, answer.label, answer.multi_label)).decode())


def kept_scores(answer: Scores | Refused, labels: Sequence[str], prompt: str | None) -> Asked:
    """Yes against no for each label as it is kept."""
    if isinstance(answer, Refused):
        return unanswered(answer, prompt)
    pairs = dict(zip(labels, zip(answer.yes, answer.no, strict=True), strict=True))
    little = {label: mass for label, mass in zip(labels, answer.mass, strict=True) if mass < LITTLE_MASS}
    return Asked(msgspec.json.encode(_Scored(pairs, little)).decode(), prompt=prompt)


def read_classification(raw: str, labels: Sequence[str], thresholds: Mapping[str, float]) -> Prediction:
    """The labels whose probability reaches their threshold; without any, 0.5, or the one label of a classifier of one.

    Raises:
        ValueError: there is no probability for a label.
    """
    kept = msgspec.json.decode(raw, type=_Classified)
    probs = {}
    for label in labels:
        name = matched(label, kept.probs)
        if name is None:
            raise ValueError(f"there is no probability for {label!r}")
        probs[label] = kept.probs[name]
    if thresholds or kept.several:
        return Prediction(decided(probs, thresholds), probs)
    given = tuple(label for label in labels if matched(label, kept.probs) == kept.label)
    return Prediction(given[:1], probs)


def read_scores(raw: str, labels: Sequence[str], thresholds: Mapping[str, float]) -> Prediction:
    """The probability of yes against no for each label, and the labels that reach their threshold.

    Raises:
        ValueError: a label has no two finite logits.
    """
    kept = msgspec.json.decode(raw, type=_Scored)
    probs = {}
    for label in labels:
        yes, no = kept.scores.get(label, (math.nan, math.nan))
        if not (math.isfinite(yes) and math.isfinite(no)):
            raise ValueError(f"there are no two finite logits for {label!r}")
        probs[label] = round(1 / (1 + math.exp(min(no - yes, 700.0))), 9)
    return Prediction(decided(probs, thresholds), probs, little_mass=tuple(kept.little_mass))


def kept_words(answer: InWords | Refused, prompt: str) -> Asked:
    """What was written of each label as it is kept."""
    if isinstance(answer, Refused):
        return unanswered(answer, prompt)
    return Asked(msgspec.json.encode(answer).decode(), prompt=prompt)


def read_words(raw: str, labels: Sequence[str]) -> Prediction:
    """The labels of which a model says yes. Raises ValueError as `InWords.read`."""
    said, lost = msgspec.json.decode(raw, type=InWords).read(labels)
    return Prediction(tuple(label for label in labels if said.get(label)), unanswered=lost)


def decided(probs: Mapping[str, float], thresholds: Mapping[str, float]) -> tuple[str, ...]:
    """The labels whose probability is at least their threshold."""
    return tuple(label for label, p in probs.items() if p >= thresholds.get(label, USUAL))


# What stands for a word that is taken away from a text.

OWN_MASK, NEUTRAL = "own", "neutral"
"""What a masked word may be to a model: its own mask token, or `FILLER`."""

_UNUSED = 0xE000, 0xF8FF
"""Code points that no writing has."""


def filler_of(card: ModelCard, way: str, wanted: object = None) -> str:
    """What a masked word is to the model: the name of its own mask token where it has one, else `FILLER`.

    Args:
        wanted: `own`, `neutral`, or what this gave for the same model; None: what there is.

    Raises:
        BadInput: the model has no such token.
    """
    own = None if way == SCORE else card.mask
    if wanted in (NEUTRAL, FILLER) or (own is None and wanted is None):
        return FILLER
    if own is None:
        raise BadInput(f"{card.spec} has no mask token of its own: leave --filler out, or --filler {NEUTRAL}")
    if wanted not in (None, OWN_MASK, own):
        raise BadInput(f"--filler is {OWN_MASK} or {NEUTRAL}, not {wanted!r}")
    return own


def mark_for(texts: Iterable[str]) -> str:
    """A sign that none of these texts has, to stand for the model's mask token in what is asked."""
    there = set().union(*texts)
    return next(sign for sign in map(chr, range(*_UNUSED)) if sign not in there)
