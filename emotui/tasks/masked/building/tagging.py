"""Words of a post with their places, and their parts of speech by HanTa, a tagger whose model comes with its package.

Tags are those of the BNC (C5): `AJ0` adjective, `NN1` noun, `PNP` personal pronoun, `VVB` verb, `AVQ` wh-adverb.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from emotui.errors import EmotuiError
from emotui.installing import install

_PIECES = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d[\d.,]*|[^\w\s]|\n", re.UNICODE)
_CONTRACTED = re.compile(r"(?i)^(.+?)(n['’]t|['’](?:m|ve|d|ll|re|s))$")
_BARE = {
    "im": ("I", "'m"),
    "ive": ("I", "'ve"),
    "dont": ("do", "n't"),
    "didnt": ("did", "n't"),
    "wasnt": ("was", "n't"),
}
"""Contractions that people write without the apostrophe; "ill" and "id" are left as they stand."""

_ENDS = frozenset('.!?;:\n()[]"“”—–…')

Tag = Callable[[Sequence[str]], list[str]]
"""The tag of each word of a sentence."""


class Token(msgspec.Struct, frozen=True):
    """A word or a sign: `form`, what the tagger reads ("I" and "'m" of "Im"); `[start, end)` in the text."""

    form: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """The form in lower case."""
        return self.form.lower()

    @property
    def is_word(self) -> bool:
        """Whether there is a letter or digit in it."""
        return any(map(str.isalnum, self.form))


def sentences(text: str) -> list[list[Token]]:
    """The tokens of each stretch between signs that no pattern reaches across: ends of sentences, quotes, brackets."""
    found: list[list[Token]] = [[]]
    for piece in _PIECES.finditer(text):
        if piece[0] in _ENDS:
            found.append([])
        else:
            found[-1].extend(_tokens(piece[0], piece.start()))
    return [sentence for sentence in found if sentence]


def _tokens(word: str, start: int) -> list[Token]:
    end = start + len(word)
    if (parts := _BARE.get(word.lower())) is not None:
        return [Token(part, start, end) for part in parts]
    if (split := _CONTRACTED.match(word)) is None:
        return [Token(word, start, end)]
    place = start + split.end(1)
    return [Token(split[1], start, place), Token(split[2].replace("’", "'"), place, end)]


@cache
def hanta() -> Tag:
    """HanTa's tagger of English.

    Raises:
        EmotuiError: the package `HanTa` is not installed.
    """
    try:
        from HanTa import HanoverTagger
    except ImportError:
        raise EmotuiError(f"parts of speech are told by HanTa: {install('masking')}") from None
    # By its whole path: HanTa would take a file of that name in the working directory, and unpickle it.
    tagger = HanoverTagger.HanoverTagger(str(Path(HanoverTagger.__file__).with_name("morphmodel_en.pgz")))

    def tag(words: Sequence[str]) -> list[str]:
        return list(tagger.tag_sent(list(words), taglevel=0))

    return tag
