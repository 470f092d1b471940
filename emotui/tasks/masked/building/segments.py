"""Long posts as segments around their masks (EXPRESS, Table A.1), so that models of every context length read the same.

Masks at most 235 tokens apart are grouped; around the centroid of a group stands a window of 510 tokens, clipped to
sentences. What the table leaves open is settled so that each mask stands in exactly one segment: a window ends before
the mask of another group, and a mask that its own group's window does not reach is grouped anew.
"""

import re
from collections.abc import Sequence

import msgspec

WINDOW, NEAR = 510, 235
"""Tokens of a segment, and between two masks of one group (Table A.1)."""

_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|\n+")

Place = tuple[int, int]


class Segment(msgspec.Struct, frozen=True):
    """A stretch `[start, end)` of a post, and which of its masks stand in it, by number."""

    start: int
    end: int
    masks: tuple[int, ...]


def segments(
    text: str, masks: Sequence[Place], tokens: Sequence[Place], window: int = WINDOW, near: int = NEAR
) -> list[Segment]:
    """The segments of a post; the whole of it where it has no more tokens than a window.

    Args:
        masks: where they stand in the text, in order.
        tokens: where they stand, in order; those that overlap a mask count as one.
    """
    places = _one_a_mask(tokens, masks)
    if len(places) <= window:
        return [Segment(0, len(text), tuple(range(len(masks))))]
    at = {place: number for number, place in enumerate(places)}
    numbers = [at[mask] for mask in masks]
    sentences = [end.end() for end in _SENTENCE_END.finditer(text)]
    found, left = [], list(range(len(masks)))
    while left:
        reached: set[int] = set()
        for group in _groups(left, numbers, near):
            low, high = _window(group, numbers, window, len(places))
            inside = [mask for mask in group if low <= numbers[mask] < high] or [group[0]]
            first, last = numbers[inside[0]], numbers[inside[-1]]
            low, high = min(low, first), max(high, last + 1)
            if inside[0] > 0:
                low = max(low, numbers[inside[0] - 1] + 1)
            if inside[-1] + 1 < len(masks):
                high = min(high, numbers[inside[-1] + 1])
            start, end = _clipped(text, places, (low, high), (places[first][0], places[last][1]), sentences)
            found.append(Segment(start, end, tuple(inside)))
            reached |= set(inside)
        left = [mask for mask in left if mask not in reached]
    return sorted(found, key=lambda segment: segment.start)


def _one_a_mask(tokens: Sequence[Place], masks: Sequence[Place]) -> list[Place]:
    found: list[Place] = []
    next_mask = 0
    for token in tokens:
        while next_mask < len(masks) and masks[next_mask][0] < token[1]:
            found.append(masks[next_mask])
            next_mask += 1
        if not (found and token[0] < found[-1][1]):
            found.append(token)
    return [*found, *masks[next_mask:]]


def _groups(left: Sequence[int], numbers: Sequence[int], near: int) -> list[list[int]]:
    groups = [[left[0]]]
    for mask in left[1:]:
        if numbers[mask] - numbers[groups[-1][-1]] <= near:
            groups[-1].append(mask)
        else:
            groups.append([mask])
    return groups


def _window(group: Sequence[int], numbers: Sequence[int], window: int, length: int) -> Place:
    centroid = round(sum(numbers[mask] for mask in group) / len(group))
    return max(0, centroid - window // 2), min(length, centroid + window // 2)


def _clipped(text: str, places: Sequence[Place], window: Place, masks: Place, sentences: Sequence[int]) -> Place:
    """A window of tokens as a stretch of text, on the nearest ends of sentences inside it that keep all its masks."""
    low, high = window
    start = 0 if low == 0 else places[low][0]
    end = len(text) if high == len(places) else places[high - 1][1]
    if start:
        start = next((place for place in sentences if start <= place <= masks[0]), start)
    if end < len(text):
        end = next((place for place in reversed(sentences) if masks[1] <= place <= end), end)
    while start < masks[0] and text[start].isspace():
        start += 1
    while end > masks[1] and text[end - 1].isspace():
        end -= 1
    return start, end
