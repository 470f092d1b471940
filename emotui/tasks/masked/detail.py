"""What is kept of a scored text of the masked task, and under which convention it is scored."""

import msgspec

from emotui.metrics.masked import EXPRESS
from emotui.tasks.masked.lexicon import EMOTUI, WordVectors

_LEXICON = "; lexicon "
"""In a convention, before the mark of the lexicon that scores were computed by."""


def convention_of(words: WordVectors) -> str:
    """How scores by a lexicon are computed; `lexicon_in` finds the lexicon in it again."""
    vectors = "EmoLex vectors, emotui's supplement 2 for words that EmoLex lacks" if words.key == EMOTUI else words.name
    files = "".join(f", sha256 {one[:12]}" for one in words.sha256)
    rule = (
        "a word outside counts as ten zeros (express)"
        if words.outside == EXPRESS
        else "a pair with a word outside counts 1 if the words are equal, else 0"
    )
    return (
        f"masked 3: mean over a text's masks of the F1 of the two words' vectors ({vectors}; {len(words.table)} "
        f"words{files}); {rule}{_LEXICON}{words.mark}"
    )


def lexicon_in(convention: str) -> str:
    """The mark of the lexicon that a convention names; that of the usual one where it names none."""
    return convention.partition(_LEXICON)[2] or EMOTUI


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One text's gold words and the model's; `f1`: of the two vectors, a value a mask. `topic`: the record's own."""

    id: str
    repeat: int
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    f1: tuple[float, ...]
    topic: str = ""
