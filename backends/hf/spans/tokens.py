"""A text as tokens that know where they stand in it, and the overlapping windows that a model reads it in."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from emotui.backends.hf.prompts import Prompts
from emotui.errors import ModelError

OVERLAP = 4
"""Two neighbouring windows share one part in so many of what fits into one."""


@dataclass(frozen=True, slots=True)
class Token:
    """`start` and `end`: in code points of the text, without white space at the edges; equal for white space alone.

    `word`: the number of the word that it is a piece of.
    """

    id: int
    start: int
    end: int
    word: int


def needs_offsets(tokenizer: Any, name: str) -> None:
    """Raises ModelError where a tokeniser cannot tell where its tokens stand."""
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"{name} marks words, and its tokeniser does not say where they stand: it needs tokenizer.json"
        )


def read_tokens(prompts: Prompts, text: str) -> list[Token]:
    """A text's tokens. A word is what the tokeniser takes for one, and never goes on behind white space.

    The name of a control token is read as characters; its tokens all stand where the whole name does.
    """
    tokens: list[Token] = []
    offset, word = 0, 0
    for piece in prompts.specials.pieces(text):
        word += 1
        if piece.literal:
            end = offset + len(piece.text)
            tokens += [Token(number, offset, end, word) for number in prompts.text(piece.text)]
            offset = end
            continue
        read = prompts.tokenizer(piece.text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        before: tuple[int | None, int] | None = None
        for number, place, (start, end) in zip(
            read["input_ids"], read.word_ids(0), read["offset_mapping"], strict=True
        ):
            start, end = _trimmed(piece.text, start, end)
            if start < end:
                if before is None or not (
                    goes_on(piece.text, start)
                    or (place == before[0] and not any(map(str.isspace, piece.text[before[1] : start])))
                ):
                    word += 1
                before = (place, end)
            tokens.append(Token(number, offset + start, offset + end, word))
        offset += len(piece.text)
    return tokens


def goes_on(text: str, place: int) -> bool:
    """Whether the sign at this place is part of the one before it: an accent of its own, a part of an emoji."""
    sign = text[place]
    marks = unicodedata.category(sign) in ("Mn", "Me") or "\U0001f3fb" <= sign <= "\U0001f3ff"
    return place > 0 and (marks or "\u200d" in text[place - 1 : place + 1])


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without white space at the edges, and with the marks that belong to its last letter."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end < len(text) and unicodedata.category(text[end]) in ("Mn", "Me"):
        end += 1
    return start, end


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens from `start` to `stop` are read together; those from `first` to `last` (without it) are read best here."""

    start: int
    stop: int
    first: int
    last: int


def windows(n: int, room: int | None) -> list[Window]:
    """`n` tokens in windows of at most `room`: each token is read best in one, that where it has most around it."""
    if room is None or n <= room:
        return [Window(0, n, 0, n)]
    step = max(1, room - room // OVERLAP)
    starts = [*range(0, n - room, step), n - room]
    cuts = [0, *((later + start + room) // 2 for start, later in pairwise(starts)), n]
    return [Window(start, start + room, *edges) for start, edges in zip(starts, pairwise(cuts), strict=True)]


def word_places(tokens: Sequence[Token]) -> list[list[int]]:
    """The places of each word's tokens, in text order; white space is in no word."""
    words: list[list[int]] = []
    last = None
    for place, token in enumerate(tokens):
        if token.start == token.end:
            continue
        if token.word != last:
            words.append([])
            last = token.word
        words[-1].append(place)
    return words
