"""What is kept of a scored text of the masked task, and under which convention it is scored."""

import msgspec

CONVENTION = (
    "masked 2: mean over a text's masks of the F1 of the two words' EmoLex vectors, emotui's supplement for words that "
    "EmoLex lacks; a pair with a word outside both counts 1 if the words are equal, else 0"
)


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One text's gold words and the model's; `f1`: of the two vectors, a value a mask. `topic`: the record's own."""

    id: str
    repeat: int
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    f1: tuple[float, ...]
    topic: str = ""
