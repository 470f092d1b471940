"""Which passage of a text comes nearest to a string that is not in it: what a hallucinated span may have meant.

The measure is the token F1 that spans are scored by (`emotui.metrics.spans.token_f1`), so the figure beside a passage
means what it means everywhere else.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from emotui.metrics.tokens import tokens
from emotui.records import Span

MOST_STEPS = 200_000
"""Stretches that are tried for one string, at most: about a tenth of a second."""

MOST_WORDS = 50_000
"""Words of the text that are looked at, from its first: some two hundred pages."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The stretch `[start, end)` of the text, and its token F1 with the string, above 0."""

    start: int
    end: int
    f1: float


def nearest(text: str, strings: Sequence[str]) -> list[Nearest | None]:
    """For each string the contiguous stretch of whole words with the highest token F1; None where no word is shared.

    Of equally good stretches the one of fewest words, of those the leftmost. It begins and ends with a shared word,
    since any other at its edge could only lower the figure. A string of no tokens (articles, punctuation) has none.

    Exact within the first `MOST_WORDS` words as long as `MOST_STEPS` suffice, which they do where the string or the
    text is of the length of a passage. Beyond, the best of what was tried: first stretches as long as the string, then
    all others from the left.
    """
    found = list(islice(_WORD.finditer(text), MOST_WORDS))
    places = [one.span() for one in found]
    taken_apart = {word: tokens(word) for word in {one.group() for one in found}}
    words = [taken_apart[one.group()] for one in found]
    before = [0]
    for word in words:
        before.append(before[-1] + len(word))
    taken = _Text(places, words, before)
    return [_nearest(taken, tokens(string)) for string in strings]


@dataclass(frozen=True, slots=True)
class _Text:
    """Words by place: their offsets and tokens, and how many tokens stand before each."""

    places: list[Span]
    words: list[list[str]]
    before: list[int]

    def size(self, first: int, last: int) -> int:
        """Tokens in the words `first` to `last`, both included."""
        return self.before[last + 1] - self.before[first]


class _Best:
    """The best stretch so far: shared tokens over tokens on both sides, compared exactly."""

    __slots__ = ("below", "first", "last", "shared")

    def __init__(self) -> None:
        self.shared, self.below, self.first, self.last = 0, 1, 0, -1

    def offer(self, shared: int, below: int, first: int, last: int) -> None:
        mine, its = shared * self.below, self.shared * below
        if mine > its or (mine == its and (last - first, first) < (self.last - self.first, self.first)):
            self.shared, self.below, self.first, self.last = shared, below, first, last

    def beyond(self, shared: int, below: int) -> bool:
        """Is every stretch of this figure or a lower one worse than what is here already?"""
        return shared * self.below < self.shared * below


def _nearest(text: _Text, wanted: list[str]) -> Nearest | None:
    counts, m = Counter(wanted), len(wanted)
    hits = [place for place, word in enumerate(text.words) if not counts.keys().isdisjoint(word)]
    if not hits:
        return None
    best = _Best()
    _try_as_long(text, counts, m, hits, best)
    _try_all(text, counts, m, hits, best)
    start, end = text.places[best.first][0], text.places[best.last][1]
    return Nearest(start, end, 2 * best.shared / best.below)


def _try_as_long(text: _Text, counts: Counter[str], m: int, hits: list[int], best: _Best) -> None:
    """Stretches of up to m tokens, one for each shared word that ends one: few, and good enough to rule out most."""
    inside: Counter[str] = Counter()
    shared = first = 0
    for place in hits:
        for token in text.words[place]:
            inside[token] += 1
            shared += inside[token] <= counts[token]
        while first < len(hits) and hits[first] < place and text.size(hits[first], place) > m:
            for token in text.words[hits[first]]:
                shared -= inside[token] <= counts[token]
                inside[token] -= 1
            first += 1
        best.offer(shared, text.size(hits[first], place) + m, hits[first], place)


def _try_all(text: _Text, counts: Counter[str], m: int, hits: list[int], best: _Best) -> None:
    steps = 0
    for number, first in enumerate(hits):
        inside: Counter[str] = Counter()
        shared = 0
        for last in hits[number:]:
            size = text.size(first, last)
            if steps >= MOST_STEPS:
                return
            if best.beyond(m, size + m):
                break
            steps += 1
            for token in text.words[last]:
                inside[token] += 1
                shared += inside[token] <= counts[token]
            best.offer(shared, size + m, first, last)
            if shared == m:
                break
