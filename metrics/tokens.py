"""Words of a text: SQuAD's tokens, the folded form in which spans are looked up, and the way back to the offsets.

Two foldings of one base. The base drops punctuation and lower-cases character by character. Tokens also lose articles
and white space; the folded text keeps its words in order with one blank between them, and knows where each character
came from.

Lower-casing is by character and treats the two small sigmas as one, because `str.lower` picks the sigma by what stands
around it: a span cut out of a word would then not be found in the very text that it was cut from.
"""

import re
import string
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Protocol

import msgspec

ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


class _Base(dict[int, str | None]):
    """`str.translate` table that fills itself: a whole one would need a scan of all of Unicode at import."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        # SQuAD removes ASCII punctuation, which holds symbols ($+<=>^`|~) that Unicode does not call punctuation.
        if character in string.punctuation or unicodedata.category(character).startswith("P"):
            base = None
        else:
            base = character.lower().replace("ς", "σ")
        self[code] = base
        return base


_BASE = _Base()
# The same for ASCII alone, where bytes are several times as quick.
_ASCII_LOWER = bytes(ord(" ") if chr(code).isspace() else code for code in range(128)).lower() + bytes(range(128, 256))
_ASCII_DROPPED = string.punctuation.encode()
_ASCII_DROPS = bytes(ord(".") if code in _ASCII_DROPPED else 0 for code in range(256))
_ASCII_FILLED = bytes(range(256)).replace(b" ", b"x")


def _base(text: str) -> str:
    if text.isascii():
        return text.encode().translate(_ASCII_LOWER, _ASCII_DROPPED).decode()
    return text.translate(_BASE)


def tokens(text: str) -> list[str]:
    """SQuAD's tokens: lower case, without punctuation (Unicode's too), without articles, split at white space.

    Source: Rajpurkar et al. 2016, the evaluation script's answer normalisation; used by SEER, section 6.
    """
    return _tokens(_base(text))


def cuts_no_word(folded: str) -> bool:
    """Whether a folded text is letters, digits and blanks alone: between two blanks stands one token at most."""
    if folded.isascii():
        return folded.encode().translate(_ASCII_FILLED).isalnum()
    return folded.replace(" ", "").isalnum()


def _tokens(base: str) -> list[str]:
    if base.isascii() and base.isprintable():
        return [word for word in base.split() if word not in ARTICLES]
    # Beside symbols and combining marks SQuAD's word boundary also cuts articles out of what has no blank around them.
    return _ARTICLE.sub(" ", base).split()


def normalise(text: str) -> str:
    """The folded text: lower case, without punctuation, white space folded to single blanks, trimmed.

    Source: SEER, section 10.2 (what a hallucinated span is compared in).
    """
    return " ".join(_base(text).split())


class Origins(Protocol):
    """For each character of a folded text the offset of the one that it came from."""

    def __getitem__(self, at: int, /) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    def __len__(self) -> int: ...


class _Kept:
    """The origins in a text of which characters were dropped, and nothing else was done to it."""

    __slots__ = ("_edges", "_length")

    def __init__(self, edges: list[int], length: int) -> None:
        """`edges`: of each dropped character, how many were kept before it. `length`: how many were kept."""
        self._edges = edges
        self._length = length

    def __getitem__(self, at: int) -> int:
        return at + bisect_right(self._edges, at)

    def __iter__(self) -> Iterator[int]:
        return map(self.__getitem__, range(self._length))

    def __len__(self) -> int:
        return self._length


def fold(text: str) -> tuple[str, Origins]:
    """`normalise(text)` with the way back.

    Returns:
        the folded text, and for each of its characters the offset in `text` of the character that it came from. A
        character that lower-cases to two ('İ') gives its offset twice; a blank has that of the first white space.
    """
    if text.isascii():
        raw = text.encode()
        folded = raw.translate(_ASCII_LOWER, _ASCII_DROPPED).decode()
        if "  " not in folded and folded[:1] != " " and folded[-1:] != " ":
            kept = map(len, raw.translate(_ASCII_DROPS).split(b"."))
            return folded, _Kept([*accumulate(kept)], len(folded))
    characters: list[str] = []
    origins: list[int] = []
    for offset, character in enumerate(text):
        if character.isspace():
            if characters and characters[-1] != " ":
                characters.append(" ")
                origins.append(offset)
            continue
        for part in _BASE[ord(character)] or "":
            characters.append(part)
            origins.append(offset)
    if characters and characters[-1] == " ":
        characters.pop()
        origins.pop()
    return "".join(characters), origins


def token_places(folded: str, origins: Origins) -> tuple[list[int], list[int]]:
    """Where the tokens of a text begin, and where they end, as offsets into it: `tokens`, by place.

    Args:
        folded, origins: what `fold` gives for the text.
    """
    if not (folded.isascii() and folded.isprintable()):
        folded = _ARTICLE.sub(lambda article: " " * len(article[0]), folded)
    starts, ends, at = [], [], 0
    for word in folded.split(" "):
        if word and word not in ARTICLES:
            starts.append(origins[at])
            ends.append(origins[at + len(word) - 1] + 1)
        at += len(word) + 1
    return starts, ends


class Words(msgspec.Struct, frozen=True, gc=False):
    """A span's words, taken apart once: its folded text for looking it up, its tokens for F1.

    `counts` is there only where a token comes twice. (`gc=False`: nothing in it can point back at it.)
    """

    text: str
    folded: str
    count: int
    unique: frozenset[str]
    counts: Counter[str] | None

    def shared(self, other: "Words") -> int:
        """How many tokens the two have in common, as multisets."""
        if self.counts is None or other.counts is None:  # no token twice on one side: sets tell the same
            return len(self.unique & other.unique)
        return (self.counts & other.counts).total()


def take_apart(text: str) -> Words:
    """The words of a span."""
    base = _base(text)
    found = base.split()
    folded = " ".join(found)
    if not (folded.isascii() and folded.isprintable()):
        found = _tokens(base)
    elif not ARTICLES.isdisjoint(found):
        found = [word for word in found if word not in ARTICLES]
    unique = frozenset(found)
    count = len(found)
    return Words(text, folded, count, unique, None if len(unique) == count else Counter(found))


class WordsBySpan(dict[str, Words]):
    """Words by span, each taken apart when it is first asked for: the same spans come back with every repeat."""

    def __missing__(self, text: str) -> Words:
        found = self[text] = take_apart(text)
        return found
