"""The two ways in which SEER's release writes spans: ranges of words, and `**` around them in the text."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from emotui.metrics.span_output import MARKER
from emotui.records import Span

Range = tuple[int, int]
"""Half-open, numbers of words from 0."""

_WORD = re.compile(r"\S+")


def words(text: str, *, readable: bool = False) -> list[Span]:
    """Where the words of a text stand that white space parts.

    Args:
        readable: only those that hold a letter or digit of ASCII, or an apostrophe. So the release's own program
            counts; its description counts all.
    """
    found = [match.span() for match in _WORD.finditer(text)]
    return (
        [(start, end) for start, end in found if re.search(r"[a-z0-9']", text[start:end].lower())]
        if readable
        else found
    )


def to_spans(ranges: Sequence[Range], places: Sequence[Span]) -> tuple[Span, ...]:
    """From ranges of words to spans of characters, in the order of the text.

    Args:
        places: as `words`.

    Raises:
        ValueError: a range is empty, ends before it starts, or goes past the last word.
    """
    for start, end in ranges:
        if not 0 <= start < end:
            raise ValueError(f"the range {[start, end]} holds no word")
        if end > len(places):
            raise ValueError(f"the range {[start, end]} goes past the last of {len(places)} words")
    return tuple((places[start][0], places[end - 1][1]) for start, end in sorted(ranges))


def to_ranges(spans: Sequence[Span], places: Sequence[Span]) -> tuple[Range, ...]:
    """From spans to the ranges of all words that they touch; spans that touch none are left out."""
    starts, ends = [start for start, _ in places], [end for _, end in places]
    found = ((bisect_right(ends, start), bisect_left(starts, end)) for start, end in sorted(spans))
    return tuple((start, end) for start, end in found if start < end)


def unmarked(marked: str) -> tuple[str, tuple[Span, ...]]:
    """A text without its markers, and the spans that stood between pairs of them; white space at their ends is none.

    Raises:
        ValueError: a marker has no partner.
    """
    pieces = marked.split(MARKER)
    if len(pieces) % 2 == 0:
        raise ValueError(f"a marker has no partner: there are {len(pieces) - 1}")
    spans, at = [], 0
    for number, piece in enumerate(pieces):
        inner = piece.strip()
        if number % 2 and inner:
            start = at + piece.index(inner)
            spans.append((start, start + len(inner)))
        at += len(piece)
    return "".join(pieces), tuple(spans)


def moved(spans: Sequence[Span], source: str, target: str) -> tuple[Span, ...]:
    """The spans of one text in another that differs from it in white space alone.

    Raises:
        ValueError: they differ in more than that; where they begin to.
    """
    if source == target:
        return tuple(spans)
    there = [place for place, sign in enumerate(target) if not sign.isspace()]
    signs = "".join(source.split())
    others = "".join(target.split())
    if signs != others:
        same = next(
            (at for at, (a, b) in enumerate(zip(signs, others, strict=False)) if a != b), min(len(signs), len(others))
        )
        raise ValueError(f"without its markers it is not the text: they part after {signs[:same][-20:]!r}")
    rank = [0]
    for sign in source:
        rank.append(rank[-1] + (not sign.isspace()))
    found = ((rank[start], rank[end]) for start, end in spans)
    return tuple((there[start], there[end - 1] + 1) for start, end in found if start < end)
