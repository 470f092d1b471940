"""What is kept of the score of one text with several labels, and by which rules it was scored."""

from collections.abc import Mapping, Sequence

import msgspec

from emotui.metrics.labels import label_names

CONVENTION = "labels 1: F1 and Jaccard of the two sets of labels, 1 where both are empty"


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The gold labels of one text (None: it is unlabelled), those given, and the probabilities.

    `astray`: of some label yes and no together have little probability.
    """

    id: str
    repeat: int
    gold: tuple[str, ...] | None
    predicted: tuple[str, ...]
    probs: Mapping[str, float] = {}
    astray: bool = False


def named_in(given: Sequence[str] | None, details: Sequence[Detail]) -> list[str]:
    """All labels that are named anywhere: given to the model, in gold, in answers, or with a probability alone."""
    said = (names for one in details for names in (one.gold or (), one.predicted, one.probs))
    return label_names([given or (), *said])


def with_probabilities(details: Sequence[Detail]) -> bool:
    """Whether there are probabilities. An answer that failed says nothing: no label, and 0 for each."""
    return any(one.probs for one in details) and all(one.probs or not one.predicted for one in details)
