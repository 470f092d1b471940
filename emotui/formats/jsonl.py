"""JSON Lines: one object a line, UTF-8, a byte order mark accepted."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import msgspec

from emotui.formats.rows import Flaw, Rows, numbered

_decode = msgspec.json.Decoder().decode
_CUT_SHORT = Flaw("not JSON: it ends too early")


def rows(lines: Iterable[bytes], at_once: Callable[[bytes], object] | None = None) -> Rows:
    """The rows of JSONL; blank lines are passed over but count.

    Args:
        lines: as they stand in the file, each with its line ending.
        at_once: what makes a record of a line, which stands in place of the row; where it gives None, the row does.
    """
    for number, line in numbered(lines):
        if not line or line.isspace():
            continue
        if at_once is not None and (record := at_once(line)) is not None:
            yield number, record
            continue
        value = decode(line)
        if value == _CUT_SHORT:
            value = Flaw(f"{_CUT_SHORT.reason} (each line must hold one whole object)")
        yield number, value


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
