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
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress

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
_ASCII_LOWER = bytes(range(256)).lower()
_ASCII_DROPPED = string.punctuation.encode()
_ASCII_DROPPED_PLAIN = _ASCII_DROPPED.replace(b"|", b"")
_ASCII_KEPT = bytes(0 if code in _ASCII_DROPPED else 1 for code in range(256))


def _base(text: str) -> str:
    if text.isascii():
        return text.encode().translate(_ASCII_LOWER, _ASCII_DROPPED).decode()
    return text.translate(_BASE)


def tokens(text: str) -> list[str]:
    """SQuAD's tokens: lower case, without punctuation (Unicode's too), without articles, split at white space.

    Source: Rajpurkar et al. 2016, the evaluation script's answer normalisation; used by SEER, section 6.
    """
    return _tokens(_base(text))


def _tokens(base: str) -> list[str]:
    if base.isascii() and base.isprintable():
        return [word for word in base.split() if word not in ARTICLES]
    # Beside symbols and combining marks SQuAD's word boundary also cuts articles out of what has no blank around them.
    return _ARTICLE.sub(" ", base).split()


PLAIN_BREAK = "|"
"""What stands between the spans in `plain_tokens`."""


def hard_places(spans: Sequence[str]) -> set[int]:
    """Which spans are not printable ASCII, or hold a `PLAIN_BREAK`: not for `plain_tokens`."""
    joined = PLAIN_BREAK.join(spans)
    if joined.isascii() and joined.isprintable() and joined.count(PLAIN_BREAK) < max(1, len(spans)):
        return set()
    return {i for i, text in enumerate(spans) if not text.isascii() or not text.isprintable() or PLAIN_BREAK in text}


def plain_tokens(spans: Iterable[str]) -> list[str]:
    """The words of many spans in one list, `PLAIN_BREAK` between one span's and the next's; articles are still there.

    Args:
        spans: printable ASCII without `PLAIN_BREAK`.
    """
    joined = f" {PLAIN_BREAK} ".join(spans)
    return joined.encode().translate(_ASCII_LOWER, _ASCII_DROPPED_PLAIN).decode().split()


def normalise(text: str) -> str:
    """The folded text: lower case, without punctuation, white space folded to single blanks, trimmed.

    Source: SEER, section 10.2 (what a hallucinated span is compared in).
    """
    return " ".join(_base(text).split())


def fold(text: str) -> tuple[str, list[int]]:
    """`normalise(text)` with the way back.

    Returns:
        the folded text, and for each of its characters the offset in `text` of the character that it came from. A
        character that lower-cases to two ('İ') gives its offset twice; a blank has that of the first white space.
    """
    if text.isascii():
        raw = text.encode()
        base = raw.translate(_ASCII_LOWER, _ASCII_DROPPED).decode()
        folded = " ".join(base.split())
        if len(folded) == len(base):
            return folded, list(compress(range(len(raw)), raw.translate(_ASCII_KEPT)))
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


def token_places(folded: str, origins: Sequence[int]) -> tuple[list[int], list[int]]:
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
