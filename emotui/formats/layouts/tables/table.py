"""A table as every kind of file gives it: its columns, and a row an object."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emotui.bounded import read_bytes
from emotui.formats.layouts.layout import HEAD, ReadOptions
from emotui.formats.layouts.tables.names import is_header
from emotui.formats.rows import Flaw, UnreadableFile, shown
from emotui.formats.tables import counted, reworded

# From the bytes of a text file to its text: in which encoding it is.

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


DELIMITERS = ",;\t|"
_RARE = "^~¦\x1e\x1f\x01"
"""What parts cells where none of those does and it stands in all rows as often."""

_NO_SIGN = frozenset(" .,!?'\"()[]{}-_/\\@#&*\r\n\t")
"""What stands in texts, words and addresses without parting cells."""

_LOOKED_AT = 200
_LONGEST_CELL = 2**31 - 1
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
"""What Excel writes before a table to say how its cells are separated."""

Cells = list[tuple[int, "list[str] | Flaw"]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table that has been read.

    Attributes:
        header: the columns in their order, each name once.
        rows: by line the values by column: strings in a text file, any value elsewhere.
        headed: whether the names stand in the file; else they are numbers, from 1.
        names: by column its labels, in the order of their numbers, where the file itself tells them.
        remarks: lines about what was made of its values.
        worded: whether its cells can say that an answer is missing in words alone, as `NA`.
    """

    header: tuple[str, ...]
    rows: list[tuple[int, dict[str, Any] | Flaw]]
    delimiter: str | None = None
    encoding: str | None = None
    headed: bool = True
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    worded: bool = False


def read_table(path: Path, options: ReadOptions, headed: bool | None = None) -> Table:
    """A text file of cells between delimiters.

    Args:
        headed: whether its first row has names; None: it is found out.

    Raises:
        UnreadableFile: it cannot be read, or has no row.
    """
    found = decoded_file(path, options.encoding)
    return table_of(found.text, options, found.encoding, prefer_tab=path.suffix.lower() == ".tsv", headed=headed)


def table_of(
    text: str, options: ReadOptions, encoding: str = "utf-8", *, prefer_tab: bool = False, headed: bool | None = None
) -> Table:
    """The table in a text; otherwise as `read_table`."""
    skipped = 0
    delimiter = options.delimiter
    if separator := _SEPARATOR_LINE.match(text):
        delimiter, skipped = delimiter or separator[1], 1
        text = text[separator.end() :]
    delimiter = delimiter or _delimiter(text, prefer_tab)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise UnreadableFile("--delimiter must be one character, such as ; or , (a tab: $'\\t')")
    cells = [(line + skipped, row) for line, row in _best(text, delimiter)]
    good = [row for _, row in cells if not isinstance(row, Flaw)]
    if not good:
        raise UnreadableFile(cells[0][1].reason if cells and isinstance(cells[0][1], Flaw) else "it has no row", 1)
    if headed is None:
        headed = is_header(good[0], good[1:_LOOKED_AT])
    if headed:
        first = next(place for place, (_, row) in enumerate(cells) if row is good[0])
        header, cells = named_once(good[0]), cells[:first] + cells[first + 1 :]
    else:
        header = [str(number) for number in range(1, max(map(len, good)) + 1)]
    rows = list(_rows(cells, tuple(header), headed))
    return Table(tuple(name for name in header if name), rows, delimiter, encoding, headed, worded=True)


def _rows(cells: Cells, header: tuple[str, ...], headed: bool) -> Iterator[tuple[int, dict[str, Any] | Flaw]]:
    width = len(header)
    named = all(header)
    for line, row in cells:
        if isinstance(row, Flaw):
            yield line, row
        elif (len(row) != width and any(map(str.strip, row[width:]))) or (
            len(row) < width and headed and len(row) + _empty_at_end(header) < width
        ):
            yield line, Flaw(f"has {counted(len(row))} where the header has {width}")
        elif named:
            yield line, dict(zip(header, row, strict=False))
        else:
            yield line, {name: cell for name, cell in zip(header, row, strict=False) if name}


def _empty_at_end(header: Sequence[str]) -> int:
    return len(header) - max((place + 1 for place, name in enumerate(header) if name), default=0)


def _best(text: str, delimiter: str) -> Cells:
    """The cells of a table, with quotes around some, or where that does not fit and no comma parts them, without."""
    quoted = list(_quoted(text, delimiter))
    if delimiter not in "\t|" or '"' not in text:
        return quoted
    bare = list(_bare(text, delimiter))
    return bare if _misfits(bare) < _misfits(quoted) else quoted


def _misfits(cells: Cells) -> tuple[int, int]:
    """How many rows are not as wide as most, or wrong; and fewer rows are worse."""
    widths = Counter(len(row) for _, row in cells if not isinstance(row, Flaw))
    usual = widths.most_common(1)[0][1] if widths else 0
    return len(cells) - usual, -len(cells)


def _quoted(text: str, delimiter: str) -> Iterator[tuple[int, list[str] | Flaw]]:
    csv.field_size_limit(_LONGEST_CELL)
    damaged = broken(text) is not None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, Flaw(reworded(str(error)))
            continue
        if damaged and (wrong := broken(delimiter.join(row))):
            yield line, wrong
        elif any(row) and any(map(str.strip, row)):
            yield line, row


def _bare(text: str, delimiter: str) -> Iterator[tuple[int, list[str] | Flaw]]:
    """Cells without quotes around them: a line a row, and a quote is a quote."""
    damaged = broken(text) is not None
    for line, content in enumerate(text.split("\n"), start=1):
        content = content.removesuffix("\r")
        if damaged and (wrong := broken(content)):
            yield line, wrong
        elif content.strip():
            yield line, content.split(delimiter)


def _delimiter(text: str, prefer_tab: bool) -> str:
    """The delimiter that parts the first rows most evenly, of those that stand in the first."""
    head = "".join(line for _, line in zip(range(_LOOKED_AT), io.StringIO(text, newline=""), strict=False))
    first = next((line for line in head.split("\n") if line.strip()), "")
    if prefer_tab and "\t" in first:
        return "\t"
    best, most = "\t" if prefer_tab else ",", (0.0, 0)
    for delimiter in DELIMITERS:
        if delimiter not in first:
            continue
        rows = [row for _, row in _best(head, delimiter) if not isinstance(row, Flaw)]
        widths = Counter(map(len, rows))
        width, times = widths.most_common(1)[0] if widths else (1, 0)
        score = (round(times / max(len(rows), 1), 1), width)
        if width > 1 and score > most:
            best, most = delimiter, score
    even = None if most[1] > 1 else even_sign(head)
    return even if even is not None and even in _RARE else best


def even_sign(text: str, among: str = "") -> str | None:
    """The sign that stands in each line of a text that is not empty, in all of them equally often, as what parts cells
    does; None where there is none, or one line.

    Args:
        among: the signs that are looked at; empty: all that are no letters, digits, or usual in sentences.
    """
    lines = [line for _, line in zip(range(_LOOKED_AT), text.split("\n"), strict=False) if line.strip()]
    if len(lines) < 2:
        return None
    signs = {sign for sign in lines[0] if (sign in among if among else not sign.isalnum() and sign not in _NO_SIGN)}
    even = [sign for sign in signs if len({line.count(sign) for line in lines}) == 1]
    return max(even, key=lambda sign: (lines[0].count(sign), sign), default=None)


def named_once(names: Sequence[str]) -> list[str]:
    """Names of columns without white space around them; one that comes again gets its count."""
    found: list[str] = []
    for name in (" ".join(name.split()) for name in names):
        times, other = 2, name
        while name and other in found:
            times, other = times + 1, f"{name} ({times})"
        found.append(other)
    return found
