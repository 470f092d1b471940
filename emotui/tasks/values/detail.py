"""What is kept of the score of one text with numbers, and by which rules it was scored."""

from collections.abc import Mapping

import msgspec

CONVENTION = (
    "values 2: mean absolute difference over the names that both gold and the answer give; D where one is off by more "
    "than a quarter of its scale"
)


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The gold numbers of one text (None: it is unlabelled), and those given."""

    id: str
    repeat: int
    gold: Mapping[str, float] | None
    predicted: Mapping[str, float]
