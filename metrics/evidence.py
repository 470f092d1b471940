"""Does the answer survive without its evidence? Which words are taken away, and what that does to a probability.

Comprehensiveness is the drop of the explained label's probability when the evidence is taken away, sufficiency the drop
when nothing else is left (DeYoung and others 2020, ERASER, section 4.2). Taking any words away moves an answer, so a
drop stands beside the drops of as many words elsewhere in the same text.
"""

import hashlib
from collections.abc import Sequence
from statistics import fmean

import numpy as np

Places = tuple[tuple[int, int], ...]
"""Stretches of a text, half open, in code points, in text order, none overlapping another."""

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Shares of a text's words over which the areas are taken (ERASER, section 4.2)."""

FILLER = "…"
"""Stands for each word that is masked: one mark of nearly any vocabulary, which says nothing."""

DRAWS = 20
"""Random stretches beside each piece of evidence, unless the text has fewer."""


def united(places: Sequence[tuple[int, int]]) -> Places:
    """Overlapping and adjoining stretches as one, in text order."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def deleted(text: str, places: Places) -> str:
    """The text without these stretches, and without the second of two spaces where one stood; may be empty."""
    kept, at = "", 0
    for start, end in (*places, (len(text), len(text))):
        piece = text[at:start]
        if at and (not kept or kept[-1].isspace()):
            piece = piece.lstrip()
        kept, at = kept + piece, end
    return kept.rstrip() if places and places[-1][1] == len(text) else kept


def masked(text: str, places: Places, words: Sequence[tuple[int, int]], filler: str = FILLER) -> str:
    """The text with a filler in place of each word that a stretch touches; its signs and spaces stay.

    Args:
        words: (start, end) of each word, in text order.
    """
    found, at = [], 0
    for start, end in words:
        if any(start < b and a < end for a, b in places):
            found += [text[at:start], filler]
            at = end
    return "".join((*found, text[at:]))


def kept_alone(text: str, places: Places) -> str:
    """These stretches and nothing else, a space between them."""
    return " ".join(text[start:end].strip() for start, end in places).strip()


def touched(places: Places, words: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The places among `words` of those that a stretch touches."""
    return tuple(at for at, (start, end) in enumerate(words) if any(start < b and a < end for a, b in places))


def runs_of_words(at: Sequence[int], words: Sequence[tuple[int, int]]) -> Places:
    """Stretches that hold just these words, neighbours in one. Args: at: places among `words`, ascending."""
    found: list[tuple[int, int]] = []
    before = None
    for place in at:
        start, end = words[place]
        if before is not None and place == before + 1:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
        before = place
    return tuple(found)


def random_places(places: Places, words: Sequence[tuple[int, int]], draws: int, seed: int, key: str) -> list[Places]:
    """Other places in the text for stretches of as many words each, none overlapping another.

    Each draw puts the stretches in a random order and shares the words that are left at random among the gaps, so that
    every arrangement is as likely as any other. Of one stretch all other positions are taken where there are no more
    than `draws` of them; else each draw is another position.

    Args:
        key: of the text, so that its draws are the same in every batch and store.

    Returns:
        At most `draws` of them, none equal to the evidence itself; empty where the words can stand nowhere else.
    """
    lengths = [len(touched((place,), words)) for place in places]
    lengths = [length for length in lengths if length]
    n, evidence = len(words), touched(places, words)
    free = n - sum(lengths)
    if not lengths or free <= 0:
        return []
    digest = hashlib.sha256(f"{seed}/{key}/{places}".encode()).digest()
    draw = np.random.default_rng(int.from_bytes(digest[:8]))
    if len(lengths) == 1:
        starts = [at for at in range(n - lengths[0] + 1) if at != evidence[0]]
        if len(starts) > draws:
            starts = sorted(draw.choice(starts, draws, replace=False).tolist())
        return [runs_of_words(range(at, at + lengths[0]), words) for at in starts]
    found: list[Places] = []
    for _ in range(20 * draws):
        if len(found) == draws:
            break
        # Bars among stars: which of the slots of free words and stretches are stretches.
        slots = sorted(draw.choice(free + len(lengths), len(lengths), replace=False).tolist())
        at: list[int] = []
        before = taken = 0
        for place, length in zip(slots, draw.permutation(lengths).tolist(), strict=True):
            first = place - before + taken
            at += range(first, first + length)
            before, taken = before + 1, taken + length
        if tuple(at) != evidence:
            found.append(runs_of_words(at, words))
    return found


def ranked_words(marks: Sequence[tuple[int, int, float]], n: int, draw_by: str) -> list[int]:
    """Words in the order in which an area takes them: those of the strongest evidence first, then all others at random.

    Args:
        marks: (first word, word behind the last, strength) of each piece of evidence.
        n: words of the text.
        draw_by: what the order of the others is drawn by.
    """
    order: dict[int, None] = {}
    for first, behind, _ in sorted(marks, key=lambda mark: (-mark[2], mark[0], mark[1])):
        order |= dict.fromkeys(range(first, behind))
    rest = np.array([at for at in range(n) if at not in order], dtype=np.int64)
    seed = int.from_bytes(hashlib.sha256(draw_by.encode()).digest()[:8])
    return [*order, *np.random.default_rng(seed).permutation(rest).tolist()]


def first_words(order: Sequence[int], share: float) -> list[int]:
    """The first of ranked words, a share of all of them, at least one; ascending. Empty where there is no word."""
    return sorted(order[: max(1, int(np.ceil(share * len(order) - 1e-9)))])


def area(whole: float, without: Sequence[float]) -> float:
    """The mean drop over `SHARES`: area over the perturbation curve (AOPC; ERASER, section 4.2).

    The paper's sum also begins with nothing taken away, which adds 0 to the sum and 1 to what it is divided by.

    Args:
        whole: probability of the whole text.
        without: that of each share of words taken away, or kept alone.
    """
    return fmean(whole - p for p in without)
