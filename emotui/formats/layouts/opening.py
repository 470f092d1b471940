"""Opening the files of a layout, with one line of words where that fails."""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from emotui.bounded import check_streamed, has_an_end, opened, read_bytes
from emotui.formats import jsonl
from emotui.formats.rows import MOST_LINE, Flaw, UnreadableFile, numbered, shown, too_long


def whole(path: Path, encoding: str | None = None) -> bytes:
    """A file as UTF-8, whatever it is encoded in.

    Raises:
        UnreadableFile: it cannot be opened, or is not in that encoding.
    """
    if encoding is not None:
        return b"".join(line for _, line in utf8_lines(path, encoding))
    try:
        return read_bytes(path, data=True)
    except (OSError, ValueError) as error:
        raise UnreadableFile(_why(error)) from None


def utf8_lines(path: Path, encoding: str | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, from 1, as UTF-8 without a byte order mark, each with its ending.

    Raises:
        UnreadableFile: it cannot be opened, or is not in that encoding.
    """
    number = 0
    try:
        if encoding is None:
            with opened(path) as plain:
                yield from numbered(plain)
        else:
            with io.TextIOWrapper(opened(path), encoding, newline="\n") as text:
                ends, length = has_an_end(text), 0
                for number, line in enumerate(iter(partial(text.readline, MOST_LINE + 1), ""), start=1):
                    if len(line) > MOST_LINE:
                        raise UnreadableFile(too_long(), number)
                    if not ends:
                        length += len(line)
                        check_streamed(length, number)
                    yield number, (line.removeprefix("\ufeff") if number == 1 else line).encode()
    except UnicodeError:
        raise UnreadableFile(f"is not in the encoding {shown(encoding)}", number + 1) from None
    except LookupError:
        raise UnreadableFile(f"there is no encoding {shown(encoding)}") from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(_why(error)) from None


def text_lines(path: Path, encoding: str | None = None, *, endings: bool = False) -> Iterator[tuple[int, str]]:
    """As `utf8_lines`, decoded, and without their endings unless these are asked for.

    Raises:
        UnreadableFile: also where a line is not UTF-8.
    """
    number, line = 0, b""
    try:
        for number, line in utf8_lines(path, encoding):
            text = line.decode()
            if not endings:
                text = text[:-2] if text.endswith("\r\n") else text[:-1] if text.endswith("\n") else text
            yield number, text
    except UnicodeDecodeError as error:
        byte = f"byte 0x{line[error.start]:02x} at byte {error.start + 1}"
        raise UnreadableFile(f"not UTF-8: {byte}; name the encoding if it is another", number) from None


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError) or not isinstance(error, OSError):
        return "there is no such file"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


# One JSON document that is a list of objects, read an item at a time.

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
