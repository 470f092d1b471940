"""What a model says about the labels of a text: as it is kept, and as it is read."""

import math
from collections.abc import Mapping, Sequence

import msgspec

from emotui.backends.base import Classification, Refused, Scores
from emotui.metrics.thresholds import USUAL
from emotui.tasks.doubts import LITTLE_MASS
from emotui.tasks.matching import matched
from emotui.tasks.task import Asked, unanswered


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The labels given, and a probability for each label where the model gives any.

    `form`: how a written answer was to be read (`emotui.tasks.labels.prompts.read_list`). `little_mass`: labels
    of which a model's first token is likelier something else than yes or no (`emotui.tasks.doubts`).
    """

    labels: tuple[str, ...]
    probs: Mapping[str, float] = {}
    form: str = ""
    little_mass: tuple[str, ...] = ()


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


def decided(probs: Mapping[str, float], thresholds: Mapping[str, float]) -> tuple[str, ...]:
    """The labels whose probability is at least their threshold."""
    return tuple(label for label, p in probs.items() if p >= thresholds.get(label, USUAL))
