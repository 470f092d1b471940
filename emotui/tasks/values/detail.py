"""What is kept of the score of one text with numbers, and by which rules it was scored."""

from collections.abc import Mapping

import msgspec

CONVENTION = "values 1: mean absolute difference over the names that both gold and the answer give"


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The gold numbers of one text (None: it is unlabelled), and those given."""

    id: str
    repeat: int
    gold: Mapping[str, float] | None
    predicted: Mapping[str, float]
