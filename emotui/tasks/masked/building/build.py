"""Masked records from raw posts: decide about each emotion word, mask the writer's own, and cut long posts."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from emotui.records import MaskedGold, Text
from emotui.tasks.masked.building.protocol import Decision, Words, decisions
from emotui.tasks.masked.building.segments import Place, segments
from emotui.tasks.masked.building.tagging import Tag
from emotui.tasks.masked.lexicon import emotion_words

MASK = "<mask>"


class BuiltPost(msgspec.Struct, frozen=True):
    """What became of one post: its emotion words, and its records; none where no word of it is the writer's own."""

    post: str
    decisions: tuple[Decision, ...]
    records: tuple[MaskedGold, ...]


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
    decided: Mapping[Place, bool] | None = None,
) -> BuiltPost:
    """Mask a post.

    Args:
        tokens: where tokens stand, for segments; None: posts stay whole.
        decided: what a person said about words by their place, in place of the protocol.
    """
    found = [_as_decided(one, decided or {}) for one in decisions(post.text, words, tag)]
    chosen = [one for one in found if one.masked]
    if not chosen:
        return BuiltPost(post.id, tuple(found), ())
    text, masks = _masked(post.text, chosen)
    labels = [one.word.lower() for one in chosen]
    cut = segments(text, masks, tokens(text)) if tokens is not None else []
    if len(cut) < 2:
        start, end = (cut[0].start, cut[0].end) if cut else (0, len(text))
        whole = MaskedGold(id=post.id, labels=tuple(labels), text=text[start:end], subject=post.subject, meta=post.meta)
        return BuiltPost(post.id, tuple(found), (whole,))
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
    return BuiltPost(post.id, tuple(found), tuple(records))


def _as_decided(one: Decision, decided: Mapping[Place, bool]) -> Decision:
    said = decided.get((one.start, one.end), one.masked)
    return one if said == one.masked else msgspec.structs.replace(one, masked=said, why="decided by a person")


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
