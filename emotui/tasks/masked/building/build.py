"""Masked records from raw posts: decide about each emotion word, mask the writer's own, and cut long posts."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import msgspec

from emotui.backends.base import MASK
from emotui.errors import BadInput
from emotui.records import MaskedGold, Text
from emotui.tasks.masked.building.protocol import Decision, Tag, Words, decisions, unlisted
from emotui.tasks.masked.lexicon import emotion_words

# Long posts as segments around their masks (EXPRESS, Table A.1), so that models of every context length read the
# same.

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


BY_A_PERSON = "decided by a person"


class BuiltPost(msgspec.Struct, frozen=True):
    """What became of one post: its emotion words, and its records; none where no word of it is the writer's own.

    `places`: where its emotion words stand, in the order of `decisions`, whatever a person moved. `unlisted`: words
    that stand as an emotion word would, and are not looked for.
    """

    post: str
    decisions: tuple[Decision, ...]
    records: tuple[MaskedGold, ...]
    places: tuple[Place, ...]
    unlisted: tuple[str, ...] = ()


def own_words() -> Words:
    """This project's list of emotion words."""
    rows = emotion_words().values()
    return Words(*({row.word for row in rows if row.looked_for == where} for where in ("always", "feel")))


def problem(post: Text) -> str | None:
    """Why a post cannot be masked; None where it can."""
    if not post.text.strip():
        return "this post has no text"
    if MASK in post.text:
        return f"there is a {MASK} in the text already"
    return None


def build(
    post: Text,
    words: Words,
    tag: Tag,
    tokens: Callable[[str], Sequence[Place]] | None,
    decided: Mapping[Place, Place | None] | None = None,
) -> BuiltPost:
    """Mask a post.

    Args:
        tokens: where tokens stand, for segments; None: posts stay whole.
        decided: what a person said about words by their place, in place of the protocol: where the mask stands (there,
            or elsewhere), or None for no mask.

    Raises:
        BadInput: a mask that a person moved lies outside the text, or over another one.
    """
    by_rule = decisions(post.text, words, tag)
    places = tuple((one.start, one.end) for one in by_rule)
    found = [_as_decided(one, decided or {}, post) for one in by_rule]
    chosen = sorted((one for one in found if one.masked), key=lambda one: one.start)
    for before, one in pairwise(chosen):
        if one.start < before.end:
            raise BadInput(f"{post.id}: the masks at {before.start}-{before.end} and {one.start}-{one.end} overlap")
    others = tuple(unlisted(post.text, words, tag))
    if not chosen:
        return BuiltPost(post.id, tuple(found), (), places, others)
    text, masks = _masked(post.text, chosen)
    labels = [one.word.lower() for one in chosen]
    cut = segments(text, masks, tokens(text)) if tokens is not None else []
    if len(cut) < 2:
        start, end = (cut[0].start, cut[0].end) if cut else (0, len(text))
        whole = MaskedGold(id=post.id, labels=tuple(labels), text=text[start:end], subject=post.subject, meta=post.meta)
        return BuiltPost(post.id, tuple(found), (whole,), places, others)
    records = [
        MaskedGold(
            id=f"{post.id}-{number}",
            labels=tuple(labels[mask] for mask in part.masks),
            text=text[part.start : part.end],
            subject=post.subject,
            meta={**post.meta, "post": post.id},
        )
        for number, part in enumerate(cut, start=1)
    ]
    return BuiltPost(post.id, tuple(found), tuple(records), places, others)


def _as_decided(one: Decision, decided: Mapping[Place, Place | None], post: Text) -> Decision:
    here = (one.start, one.end)
    said = decided.get(here, here if one.masked else None)
    if said == (here if one.masked else None):
        return one
    if said is None:
        return msgspec.structs.replace(one, masked=False, why=BY_A_PERSON)
    start, end = said
    if not 0 <= start < end <= len(post.text) or not post.text[start:end].strip():
        raise BadInput(f"{post.id}: there is no word at {start}-{end} to mask")
    return msgspec.structs.replace(one, start=start, end=end, word=post.text[start:end], masked=True, why=BY_A_PERSON)


def _masked(text: str, chosen: Sequence[Decision]) -> tuple[str, list[Place]]:
    """The text with a mask for each word, and where the masks stand in it."""
    parts, masks, at, length = [], [], 0, 0
    for one in chosen:
        parts += [text[at : one.start], MASK]
        length += one.start - at
        masks.append((length, length + len(MASK)))
        length += len(MASK)
        at = one.end
    return "".join([*parts, text[at:]]), masks
