"""Texts of any length as words and word pieces, and the encoder's states for every piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from emotui.backends.embedded.encoder import Encoder, Floats
from emotui.backends.embedded.inference import hidden_states
from emotui.backends.embedded.tokens import END, START, WordPieces
from emotui.backends.embedded.words import pieces_of_words, words

WINDOW = 158
CONTEXT = 24


@dataclass(frozen=True)
class Reading:
    """A text, the places of its words, each word's pieces (never none), and the ids of all pieces."""

    text: str
    places: list[tuple[int, int]]
    owned: list[list[int]]
    ids: list[int]


def read(pieces: WordPieces, texts: Sequence[str]) -> list[Reading]:
    """Words and word pieces of each text; a word that the tokenizer sees nothing of (a lone joiner) is left out."""
    readings = []
    for text, encoding in zip(texts, pieces.encode(texts), strict=True):
        places = words(text)
        owned = pieces_of_words(encoding.offsets, places)
        kept = [index for index, parts in enumerate(owned) if parts]
        readings.append(Reading(text, [places[i] for i in kept], [owned[i] for i in kept], encoding.ids))
    return readings


def windows(length: int) -> list[tuple[int, int, int, int]]:
    """Cuts of a long text: `(start, end, kept start, kept end)` in word pieces.

    Windows overlap; each piece is kept from one window, in which it has at least CONTEXT neighbours on either side
    (fewer only where the text begins or ends).
    """
    cuts = []
    start = kept = 0
    while True:
        end = min(start + WINDOW, length)
        keep_to = length if end == length else end - CONTEXT
        cuts.append((start, end, kept, keep_to))
        if end == length:
            return cuts
        kept, start = keep_to, keep_to - CONTEXT


def piece_states(encoder: Encoder, readings: Sequence[Reading]) -> Iterator[tuple[int, int, Floats]]:
    """Yields (number of the text, first piece, (pieces, 384)), each piece of each text once, in no set order."""
    cuts = [(number, cut) for number, reading in enumerate(readings) for cut in windows(len(reading.ids))]
    rows = [[START, *readings[number].ids[start:end], END] for number, (start, end, _, _) in cuts]
    for index, states in hidden_states(encoder, rows):
        number, (start, _, keep_from, keep_to) = cuts[index]
        yield number, keep_from, states[1 + keep_from - start : 1 + keep_to - start]
