"""Which texts to have rated, where not all can be: the subset of section 6.1 of the emotion generation paper."""

from collections.abc import Sequence

import msgspec

from emotui.metrics.human_labels import majority_share
from emotui.metrics.values import pearson

LEAST_AGREEMENT = 0.6
"""An agreement has to be above this."""


class Candidate(msgspec.Struct, frozen=True):
    """A text that may be rated. `source`: the video or document it is of; `order`: where it stands there.

    `gold`: labels that several annotators gave the original, where there are several.
    """

    id: str
    emotion: str
    source: str
    order: float
    gold: tuple[str, ...] = ()


def chosen(candidates: Sequence[Candidate], least: float = LEAST_AGREEMENT) -> list[str]:
    """Ids in their order: of each source and emotion the first and the last text, and those agreed upon.

    Agreed upon are texts of two annotations or more whose majority share (equation 6) is above `least`.

    Source: section 6.1. The paper's two criteria give 277 of 964 texts; its 55 texts of high agreement are of the two
    videos that three annotators labelled.
    """
    ends: dict[tuple[str, str], tuple[Candidate, Candidate]] = {}
    for one in candidates:
        key = one.source, one.emotion
        first, last = ends.get(key, (one, one))
        ends[key] = (one if one.order < first.order else first, one if one.order >= last.order else last)
    kept = {one.id for pair in ends.values() for one in pair}
    kept |= {one.id for one in candidates if len(one.gold) > 1 and (majority_share(one.gold) or 0.0) > least}
    return [one.id for one in candidates if one.id in kept]


def agreed_upon(candidates: Sequence[Candidate], least: float = LEAST_AGREEMENT) -> list[str]:
    """Ids of the texts of high agreement alone (the columns `55` of Table 8)."""
    return [one.id for one in candidates if len(one.gold) > 1 and (majority_share(one.gold) or 0.0) > least]


def representative(subset: Sequence[float], whole: Sequence[float]) -> float | None:
    """Pearson's r over models between a metric on the subset and on all texts (Table 5); None as `pearson`."""
    return pearson(subset, whole)
