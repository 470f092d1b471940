"""What a reader of any format gives: where a row starts, and the row or what is wrong with it."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO, cast

import msgspec

from emotui import bounded

MOST_LINE = 32 * 2**20
"""Bytes of a line: a novel has a tenth of that, and a line takes up to fifty times its length while it is read."""


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

    Raises:
        UnreadableFile: the file says of itself that it is UTF-16, or a line has more than `MOST_LINE` bytes.
        OSError: it is no file on a disk, and longer than is read of such (`bounded.check_streamed`).
    """
    read: Callable[[int], bytes] | None = getattr(lines, "readline", None)
    ends, length = bounded.has_an_end(cast(BinaryIO, lines)), 0
    for number, line in enumerate(lines if read is None else iter(partial(read, MOST_LINE + 1), b""), start=1):
        if len(line) > MOST_LINE:
            raise UnreadableFile(too_long(), number)
        if not ends:
            length += len(line)
            bounded.check_streamed(length, number)
        if number == 1:
            if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise UnreadableFile("not UTF-8 but UTF-16: save the file as UTF-8", 1)
            line = line.removeprefix(codecs.BOM_UTF8)
        yield number, line


def too_long() -> str:
    """What is said of a line that is longer than `MOST_LINE`."""
    return f"a line of more than {MOST_LINE // 2**20} MB, which no record has"


def literal(text: str) -> str:
    """`text` on one line, with whatever a terminal would act on escaped."""
    return text if text.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def shown(value: object, width: int = 40) -> str:
    """`value` as a person may see it in a message: on one line, control characters escaped, cut at `width`.

    Returns: for a string its Python literal, which escapes whatever a terminal would act on.
    """
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def said_by_library(error: Exception, width: int = 200) -> str:
    """The first line of what a library says, with the kind of error where the words alone name nothing in the file.

    `list index out of range` and the like are of the library's own code: they stand behind `IndexError`.
    """
    words, kind = literal(str(error).strip().split("\n", 1)[0])[:width], type(error).__name__
    if not words:
        return kind
    return (
        f"{kind}: {words}" if isinstance(error, LookupError | TypeError | AttributeError | ArithmeticError) else words
    )
