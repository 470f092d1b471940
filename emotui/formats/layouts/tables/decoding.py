"""From the bytes of a text file to its text: in which encoding it is."""

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from emotui.bounded import read_bytes
from emotui.formats.layouts.layout import HEAD
from emotui.formats.rows import Flaw, UnreadableFile, shown

UTF_8 = "utf-8"
WINDOWS = "cp1252"

_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; those of UTF-32 begin as those of UTF-16, so they come first."""

_BROKEN = re.compile("[\udc80-\udcff]")
_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and the encoding that it was in. A byte that is not of that encoding is half of a surrogate pair."""

    text: str
    encoding: str


def decoded(data: bytes, encoding: str | None = None) -> Decoded:
    """The text of a file, without a byte order mark.

    UTF-8 is tried strictly before Windows-1252, in which almost anything is a text. UTF-8 with a few broken bytes
    stays UTF-8, and the bytes are found by `broken`.

    Args:
        encoding: as the person names it; None: it is found out.

    Raises:
        UnreadableFile: it is not in that encoding, or in none of those that are tried.
    """
    if encoding is not None:
        return _named(data, encoding)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _named(data, name)
    for name, zeros in (("utf-16-le", data[1:512:2]), ("utf-16-be", data[0:512:2])):
        if len(zeros) > 1 and zeros.count(0) > 0.6 * len(zeros):
            return _named(data, name)
    try:
        return Decoded(data.decode(), UTF_8)
    except UnicodeDecodeError:
        pass
    text = data.decode(errors="surrogateescape")
    if len(_MULTIBYTE.findall(data)) > len(_BROKEN.findall(text)):
        return Decoded(text, UTF_8)
    try:
        return Decoded(data.decode(WINDOWS), WINDOWS)
    except UnicodeDecodeError:
        raise UnreadableFile("it is neither UTF-8 nor Windows-1252: name its encoding by --encoding") from None


def decoded_file(path: Path, encoding: str | None = None) -> Decoded:
    """The text of a file. Raises UnreadableFile as `decoded`, or where the file cannot be read."""
    try:
        return decoded(read_bytes(path, data=True), encoding)
    except FileNotFoundError:
        raise UnreadableFile("there is no such file") from None
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {(error.strerror or str(error)).lower()}") from None


def decoded_head(head: bytes) -> Decoded:
    """The whole lines among the first bytes of a file. Raises UnreadableFile as `decoded`."""
    if len(head) < HEAD:
        return decoded(head)
    if b"\0" not in head:
        return decoded(head[: head.rfind(b"\n") + 1] or head)
    cut = head[: len(head) // 4 * 4]
    try:
        found = decoded(cut)
    except UnreadableFile:
        found = decoded(cut[:-2])  # half of a pair was cut off
    return Decoded(found.text[: found.text.rfind("\n") + 1] or found.text, found.encoding)


def broken(text: str) -> Flaw | None:
    """Names the first byte of a text that is not of its encoding; None where there is none."""
    found = _BROKEN.search(text)
    if found is None:
        return None
    return Flaw(f"not UTF-8: byte 0x{ord(found[0]) - 0xDC00:02x} behind {shown(text[: found.start()][-20:])}")


def _named(data: bytes, encoding: str) -> Decoded:
    try:
        if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
            text = data.removeprefix(codecs.BOM_UTF8).decode(errors="surrogateescape")
            return Decoded(text, UTF_8)
        return Decoded(data.decode(encoding), encoding)
    except LookupError:
        raise UnreadableFile(
            f"there is no encoding {shown(encoding)}: write utf-8, cp1252, utf-16 or the like"
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UnreadableFile(f"it is not in {encoding}: {error.reason}", line) from None
    except (UnicodeError, ValueError, TypeError) as error:
        raise UnreadableFile(f"it is not in {encoding}: {error}") from None
