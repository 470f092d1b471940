"""Masked records from raw posts: decide about each emotion word, mask the writer's own, and cut long posts."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import msgspec

from emotui.errors import BadInput
from emotui.records import MaskedGold, Text
from emotui.tasks.masked.building.protocol import Decision, Words, decisions, unlisted
from emotui.tasks.masked.building.segments import Place, segments
from emotui.tasks.masked.building.tagging import Tag
from emotui.tasks.masked.lexicon import emotion_words

MASK = "<mask>"
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
