"""One JSON document that is a list of objects, read an item at a time."""

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.layouts.opening import whole
from emotui.formats.rows import Flaw, UnreadableFile

_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_PLACE = re.compile(r"at byte (\d+)$")

Items = list[tuple[int, bytes | memoryview]]
"""The items of a list, not yet read, each with the line on which it begins."""


def items(path: Path, encoding: str | None = None) -> Items:
    """The items of the list in a file; an object alone counts as a list of one.

    Raises:
        UnreadableFile: the document is no JSON, or neither a list nor an object.
    """
    document = whole(path, encoding).removeprefix(codecs.BOM_UTF8)
    if document.lstrip()[:1] == b"{":
        _check(document)
        return [(1, document)]
    try:
        parts = _split(document)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        _check(document)
        raise UnreadableFile("must be a list of objects", 1) from None
    return list(_placed(document, parts))


def _placed(document: bytes, parts: Iterable[msgspec.Raw]) -> Iterator[tuple[int, memoryview]]:
    line, counted, at = 1, 0, 0
    view = memoryview(document)
    for part in parts:
        item = bytes(part)
        start = document.index(item, at)
        at = start + len(item)
        line += document.count(b"\n", counted, start)
        counted = start
        yield line, view[start:at]


def read_item(item: bytes | memoryview) -> Any:
    """One item as plain Python, or the `Flaw` that says why it cannot be read."""
    return jsonl.decode(bytes(item))


def _check(document: bytes) -> None:
    value = jsonl.decode(document)
    if isinstance(value, Flaw):
        found = _PLACE.search(value.reason)
        raise UnreadableFile(value.reason, document.count(b"\n", 0, int(found[1]) - 1) + 1 if found else 1)
