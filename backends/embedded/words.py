"""Words of a text with their places: where a span may begin and end."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache

# Dashes, ellipses and slashes stand between words also without a space ("came--slowly", "and/or").
_RUN = re.compile(r"(?:(?!--|\.\.)[^\s—–…/])+")
_EDGES = {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Zs", "Zl", "Zp", "Cc", "Cf"}
_SENTENCE_END = re.compile(r"[.!?…]['\"”’)\]]*\s|\n\s*\n")


@cache
def _punctuation() -> str:
    return "".join(
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) in _EDGES and character != "\u200d"
    )


def words(text: str) -> list[tuple[int, int]]:
    """Places of the words, `(start, end)` in code points, half open, in order.

    A word is a run without white space, freed of punctuation at both ends; an emoji is a word, with its joiners and
    modifiers; combining marks stay with their letters.
    """
    found = []
    edge = _punctuation()
    for run in _RUN.finditer(text):
        body = run.group()
        left = len(body) - len(body.lstrip(edge))
        right = len(body.rstrip(edge))
        if left < right:
            found.append((run.start() + left, run.start() + right))
    return found


def ends_sentence(text: str, end: int, start: int) -> bool:
    """Whether a sentence ends between a word that ends at `end` and the next, which starts at `start`."""
    return _SENTENCE_END.search(text, end, start) is not None


def pieces_of_words(pieces: Sequence[tuple[int, int]], places: Sequence[tuple[int, int]]) -> list[list[int]]:
    """For each word the indices of the word pieces that overlap it. Both are in text order."""
    owned: list[list[int]] = [[] for _ in places]
    first = 0
    for index, (start, end) in enumerate(pieces):
        while first < len(places) and places[first][1] <= start:
            first += 1
        if first < len(places) and places[first][0] < end:
            owned[first].append(index)
    return owned
