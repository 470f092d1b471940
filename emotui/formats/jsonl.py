"""JSON Lines: one object a line, UTF-8, a byte order mark accepted."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, Protocol

import msgspec

from emotui.formats.rows import Flaw, Rows, UnreadableFile, numbered

_decode = msgspec.json.Decoder().decode
_CUT_SHORT = Flaw("not JSON: it ends too early")


_AT_ONCE = 256 << 10
"""Bytes of lines that are looked through together."""


class AtOnce(Protocol):
    """Makes a record of a line, which stands in place of the row (`conversion.LineDecoder`)."""

    def plain(self, text: bytes) -> bool:
        """Whether lines may be decoded at once."""

    def decode(self, line: bytes) -> object | None:
        """The record of such a line; None where its row stands."""


def rows(lines: Iterable[bytes], at_once: AtOnce | None = None) -> Rows:
    """The rows of JSONL; blank lines are passed over but count.

    Args:
        lines: as they stand in the file, each with its line ending.
    """
    if at_once is None:
        for number, line in numbered(lines):
            if line and not line.isspace():
                yield number, _row(line)
        return
    for together in _together(numbered(lines)):
        plain = at_once.plain(b"".join([line for _, line in together]))
        for number, line in together:
            if not line or line.isspace():
                continue
            # In lines that are not all plain, each is looked at by itself.
            record = at_once.decode(line) if plain or at_once.plain(line) else None
            yield number, _row(line) if record is None else record


def _together(lines: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Lines by the batch: the first one alone, so that who wants few of a pipe waits for no more, then ever more."""
    batch: list[tuple[int, bytes]] = []
    size, most = 0, 1
    try:
        for pair in lines:
            batch.append(pair)
            size += len(pair[1])
            if size >= most:
                yield batch
                batch, size, most = [], 0, min(2 * size, _AT_ONCE)
    except (UnreadableFile, OSError):
        yield batch  # what stands before the fault comes before it
        raise
    yield batch


def _row(line: bytes) -> Any:
    value = decode(line)
    if value == _CUT_SHORT:
        return Flaw(f"{_CUT_SHORT.reason} (each line must hold one whole object)")
    return value


def decode(text: bytes) -> Any:
    """One JSON value of plain Python, or the `Flaw` that says why it is none."""
    try:
        return _decode(text)
    except RecursionError:
        return Flaw("nested too deeply")
    except UnicodeDecodeError:
        return Flaw(why_not_utf8(text))
    except msgspec.MsgspecError as error:
        return Flaw(_why_not_json(text, str(error)))


def why_not_utf8(text: bytes) -> str:
    """Names the first byte that is not UTF-8, counted from 1 within `text`."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte 0x{text[error.start]:02x} at byte {error.start + 1}"
    return "not UTF-8"


class _Constant(ValueError):
    """A NaN or an infinity, which Python writes but JSON does not have."""


def _refuse_constant(name: str) -> NoReturn:
    raise _Constant(name)


def _why_not_json(text: bytes, complaint: str) -> str:
    """Rewords msgspec's `complaint` about `text`."""
    if "out of range" in complaint:
        return "holds a number that is out of range"
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except _Constant as constant:
        return f"not JSON: {constant} is no number there (write null, or leave the record out)"
    except UnicodeDecodeError:
        return why_not_utf8(text)
    except (ValueError, RecursionError):
        pass
    else:
        # Python's parser lets pass what msgspec does not: an escape such as \ud800 without its other half.
        return "holds half of a surrogate pair (an escape such as \\ud800), which is no character"
    if "truncated" in complaint:
        return _CUT_SHORT.reason
    malformed = re.fullmatch(r"JSON is malformed: (.*) \(byte (\d+)\)", complaint)
    if malformed is None:
        return "not JSON"
    return f"not JSON: {malformed[1]} at byte {int(malformed[2]) + 1}"
