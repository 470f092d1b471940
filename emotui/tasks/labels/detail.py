"""What is kept of the score of one text with several labels, and by which rules it was scored."""

from collections.abc import Mapping

import msgspec

CONVENTION = "labels 1: F1 and Jaccard of the two sets of labels, 1 where both are empty"


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The gold labels of one text (None: it is unlabelled), those given, and the probabilities."""

    id: str
    repeat: int
    gold: tuple[str, ...] | None
    predicted: tuple[str, ...]
    probs: Mapping[str, float] = {}
