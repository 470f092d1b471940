"""What a reader of any format gives: where a row starts, and the row or what is wrong with it."""

import codecs
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec


class Flaw(msgspec.Struct, frozen=True):
    """Why a line cannot be read as a row, in words for a person."""

    reason: str


Row = tuple[int, Any]
"""`(line, value)`: the value is a dict of plain JSON values by field, or a `Flaw`; a JSONL line may hold anything."""

Rows = Iterator[Row]


class UnreadableFile(Exception):
    """Nothing of a file can be read; the message says why, without the file's name.

    Args:
        reason: in words for a person.
        line: where, if the fault has a place (1 is the first).
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of a text file with their numbers, from 1, without a byte order mark.

    Raises: UnreadableFile where the file says of itself that it is UTF-16.
    """
    for number, line in enumerate(lines, start=1):
        if number == 1:
            if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise UnreadableFile("not UTF-8 but UTF-16: save the file as UTF-8", 1)
            line = line.removeprefix(codecs.BOM_UTF8)
        yield number, line


def literal(text: str) -> str:
    """`text` on one line, with whatever a terminal would act on escaped."""
    return text if text.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def shown(value: object, width: int = 40) -> str:
    """`value` as a person may see it in a message: on one line, control characters escaped, cut at `width`.

    Returns: for a string its Python literal, which escapes whatever a terminal would act on.
    """
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"
