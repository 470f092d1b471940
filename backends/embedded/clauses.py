"""Clauses: the phrases that SEER-like evidence is made of, cut at punctuation and at words that begin a clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from emotui.backends.embedded.words import ends_sentence

OPENERS = frozenset(
    {
        "and", "but", "or", "because", "so", "while", "when", "as", "which", "who", "if", "until", "before", "after",
        "since", "though", "although", "where",
    }
)  # fmt: skip
"""Words that begin a clause without a comma before them."""

_BREAK = re.compile(r'[,;:—–…()"“”!?.]|\s-\s|\n')


@dataclass(frozen=True, slots=True)
class Clause:
    """Words `first` to `last`; `apart`: punctuation stands before it; and where in its sentence it stands."""

    first: int
    last: int
    apart: bool
    place: int
    siblings: int
    loud: bool
    alone: bool

    @property
    def structure(self) -> tuple[float, ...]:
        """What a head is told beside the words: length, place among the sentence's clauses, marks around."""
        words = self.last - self.first + 1
        return (
            words / 10,
            1 / words,
            self.place / max(1, self.siblings - 1),
            float(self.place == 0),
            float(self.place == self.siblings - 1),
            float(self.apart),
            self.siblings / 4,
            float(self.loud),
            float(self.alone),
        )


STRUCTURE = 9


def clauses(text: str, places: Sequence[tuple[int, int]]) -> list[Clause]:
    """The clauses of a text in order; every word belongs to one. Args: places: its words."""
    sentences: list[list[list[int]]] = []
    apart = []
    for word, (start, end) in enumerate(places):
        before = places[word - 1][1] if word else 0
        marked = word == 0 or _BREAK.search(text, before, start) is not None
        if word == 0 or ends_sentence(text, before, start):
            sentences.append([])
        if not sentences[-1] or marked or text[start:end].lower() in OPENERS:
            sentences[-1].append([word, word])
            apart.append(marked)
        else:
            sentences[-1][-1][1] = word
    marks = iter(apart)
    return [
        Clause(
            first,
            last,
            next(marks),
            place,
            len(sentence),
            any(mark in text[places[last][1] : places[last][1] + 2] for mark in "!?"),
            len(sentences) == 1,
        )
        for sentence in sentences
        for place, (first, last) in enumerate(sentence)
    ]
