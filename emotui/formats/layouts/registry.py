"""Every layout by name, in the order in which a file is tried: what is told apart most surely comes first."""

from dataclasses import dataclass
from pathlib import Path

from emotui.bounded import opened
from emotui.errors import BadInput
from emotui.formats.layouts.corpora.related import DIMABSA, ECF, REMAN
from emotui.formats.layouts.corpora.released import (
    BRIGHTER,
    EMOBANK,
    GOEMOTIONS,
    GOEMOTIONS_RATERS,
    ISEAR,
    MELD,
    SEMEVAL_2018,
    XED,
)
from emotui.formats.layouts.layout import HEAD, Layout, ReadOptions
from emotui.formats.layouts.tables.excel import EXCEL
from emotui.formats.layouts.tables.json_records import JSON_LINES, JSON_LIST, PLAIN_TEXT
from emotui.formats.layouts.tables.layouts import LONG, TABLE, WIDE
from emotui.formats.layouts.tables.parquet_files import DATASETS, PARQUET
from emotui.formats.layouts.tools import brat, cas_xmi, conll, doccano, label_studio, prodigy
from emotui.formats.layouts.tools.webanno import layout as webanno
from emotui.formats.rows import Rows, UnreadableFile, literal, shown

LAYOUTS: tuple[Layout, ...] = (
    PARQUET,
    EXCEL,
    webanno.LAYOUT,
    label_studio.LAYOUT,
    label_studio.MINIMAL,
    prodigy.LAYOUT,
    REMAN,
    doccano.LAYOUT,
    cas_xmi.LAYOUT,
    brat.LAYOUT,
    conll.LAYOUT,
    DATASETS,
    GOEMOTIONS,
    XED,
    GOEMOTIONS_RATERS,
    SEMEVAL_2018,
    BRIGHTER,
    EMOBANK,
    ISEAR,
    MELD,
    ECF,
    DIMABSA,
    JSON_LINES,
    JSON_LIST,
    LONG,
    WIDE,
    TABLE,
    PLAIN_TEXT,
)


def layout_named(name: str) -> Layout | None:
    """The layout of that name, None where there is none."""
    return next((layout for layout in LAYOUTS if layout.name == name), None)


# From a path to rows: what it is taken for, and why.


@dataclass(frozen=True, slots=True)
class Taken:
    """What a file or folder was taken for.

    Attributes:
        place: the path as messages have it.
        why: in words after "because".
        options: with what was found out about it.
    """

    path: Path
    place: str
    layout: Layout
    why: str
    options: ReadOptions


_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""What packed a file, by its first bytes."""


def take(name: str, layout: str | None, options: ReadOptions) -> Taken:
    """Look at a file or folder.

    Args:
        layout: the name of its layout; None: the first that recognises it.

    Raises:
        BadInput: it is not there or nothing is known of it, there is no such layout, or a column is not there.
    """
    path, place = Path(name), literal(name)
    try:
        found, why = _found(path, layout)
        settled = options if found.settled is None else found.settled(path, options)
    except UnreadableFile as error:
        raise BadInput(_at(place, error)) from None
    return Taken(path, place, found, why, settled)


def recognised(name: str) -> Layout | None:
    """The layout that a file or folder is taken for where nobody names one; None where that is none."""
    try:
        return _found(Path(name), None)[0]
    except UnreadableFile:
        return None


def rows(taken: Taken) -> Rows:
    """Its rows by line, and a `Flaw` for each that is wrong. Raises BadInput where nothing can be read."""
    try:
        yield from taken.layout.rows(taken.path, taken.options)
    except UnreadableFile as error:
        raise BadInput(_at(taken.place, error)) from None
    except OSError as error:
        raise BadInput(f"{taken.place}: {_why(error)}") from None


def _found(path: Path, wanted: str | None) -> tuple[Layout, str]:
    try:
        folder = path.is_dir()
        head, empty = b"", folder and not any(path.iterdir())
        if not folder:
            with opened(path) as stream:
                head = stream.read(HEAD)
    except (OSError, ValueError) as error:
        raise UnreadableFile(_why(error)) from None
    if wanted is not None:
        named = layout_named(wanted)
        if named is None:
            raise UnreadableFile(f"there is no format {shown(wanted)}: name one of {_names()}")
        return named, "--format says so"
    if empty:
        raise UnreadableFile("there is no file in the folder")
    if not folder and not head.strip():
        raise UnreadableFile("there is nothing in the file", 1)
    for layout in LAYOUTS:
        if (why := layout.recognise(path, head)) is not None:
            return layout, why
    if packed := next((by for begins, by in _PACKED.items() if head.startswith(begins)), None):
        raise UnreadableFile(f"is packed by {packed}: unpack it, and name what was in it")
    raise UnreadableFile(f"nothing is known that writes such a file: name it by --format ({_names()})")


def _names() -> str:
    return ", ".join(layout.name for layout in LAYOUTS)


def _at(place: str, error: UnreadableFile) -> str:
    return f"{place}: {error}" if error.line is None else f"{place}:{error.line}: {error}"


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError) or not isinstance(error, OSError):
        return "there is no such file"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"
