"""Tokens with a tag each, as spans of the text that the tokens make."""

from collections.abc import Iterable, Sequence
from typing import Any

from emotui.formats.layouts.tables.values import number, parsed
from emotui.formats.rows import Flaw, UnreadableFile, shown

_BEGINS, _INSIDE = ("B", "U", "S"), ("I", "L", "E", "M")
_OUTSIDE = ("O", "", "_")


def text_and_spans(tokens: Sequence[str], tags: Sequence[str]) -> tuple[str, list[dict[str, Any]]] | Flaw:
    """The tokens with a space between them, and the spans that BIO, BILOU or plain tags say."""
    if len(tokens) != len(tags):
        return Flaw(f"{len(tokens)} tokens have {len(tags)} tags")
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token) + 1
    found: list[dict[str, Any]] = []
    open_label: str | None = None
    for token, start, tag in zip(tokens, starts, tags, strict=True):
        place, label = _split(tag)
        if place in _OUTSIDE:
            open_label = None
            continue
        if not token:
            return Flaw(f"an empty token has the tag {shown(tag)}")
        if place in _INSIDE and open_label == label:
            found[-1]["end"] = start + len(token)
        else:
            found.append({"start": start, "end": start + len(token)} | ({"label": label} if label else {}))
        open_label = None if place in ("L", "E", "U", "S") else label
    return " ".join(tokens), found


def check_named(column: str, cells: Iterable[object]) -> None:
    """Refuse tags that are numbers of names which nobody has told: which of them is outside cannot be known.

    Raises:
        UnreadableFile: all that stand in the cells are numbers.
    """
    read = (parsed(cell) for cell in cells)
    tags = [tag for row in read if isinstance(row, list | tuple) for tag in row if tag is not None]
    if tags and all(number(tag) is not None for tag in tags):
        raise UnreadableFile(
            f"the tags in {shown(column)} are numbers without names: name them in their order, from 0, by "
            "--labels O,B-joy,I-joy, or leave them out by --map tokens=,tags=",
            1,
        )


def _split(tag: str) -> tuple[str, str]:
    """Where a token stands in its span, and the span's label; a tag that says no place is inside one of its label."""
    place, dash, label = tag.partition("-")
    if dash and place in (*_BEGINS, *_INSIDE):
        return place, label
    return (tag, "") if tag in (*_OUTSIDE, *_BEGINS, "I") else ("I", tag)
