"""Ratings as people have them in tables: one a row under names of their own, or a column for each rater."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

import msgspec

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats.reading import capped
from emotui.formats.rows import literal, shown

ENDINGS = (".csv", ".tsv", ".txt")

_NAMES: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "id", "item_id", "text_id", "unit", "unit_id", "sample", "sample_id", "document", "doc_id"),
    "rater": ("rater", "annotator", "coder", "judge", "worker", "rater_id", "annotator_id", "coder_id", "worker_id"),
    "label": ("label", "rating", "code", "answer", "category", "emotion", "value", "annotation"),
}
"""What columns of ratings are called, the first that is there."""

_BESIDE = ("text", "note", "comment", "subject", "gold")
"""Columns beside the item that are no rater's."""

_PROMISED = ("item", "rater", "label")


class TableRating(msgspec.Struct, frozen=True):
    """One rating, and the line it stands on."""

    item: str
    rater: str
    label: str
    line: int


class Ratings(msgspec.Struct, frozen=True):
    """Ratings of a table, what was taken for what, and a line for each row that is left out."""

    ratings: Sequence[TableRating]
    taken: str
    problems: Sequence[str] = ()


def read_ratings(path: str, *, skip_bad: bool = False) -> Ratings | None:
    """The ratings of a table; None where it is none, or has the columns `item`, `rater` and `label` as they are.

    Cells may be separated by commas, semicolons or tabs. With a column for each rater an empty cell is no rating.

    Raises:
        BadInput: a row has more or fewer cells than the header, or lacks its item; no column is a rater's.
    """
    if Path(path).suffix.lower() not in ENDINGS:
        return None
    try:
        text = read_text(path, data=True)
    except (OSError, UnicodeDecodeError):
        return None  # what is wrong with it, its reader says
    head = text.split("\n", 1)[0]
    separator = max(",;\t", key=head.count)
    rows = _rows(text, separator)
    header = [name.strip() for name in next(rows, (1, []))[1]]
    known = {name.lower(): at for at, name in enumerate(header)}
    if separator != ";" and all(name in header for name in _PROMISED):
        return None
    column = {field: next((known[name] for name in names if name in known), None) for field, names in _NAMES.items()}
    item = column["item"] if column["item"] is not None else 0
    place = literal(path)
    if len(header) < 3 or len(set(known)) < len(header):
        return None
    long = column["rater"], column["label"]
    if long[0] is not None and long[1] is not None:
        raters: dict[int, str] = {}
        taken = f"a rating a row: {header[item]}, {header[long[0]]}, {header[long[1]]}"
    elif long[0] is not None or long[1] is not None:
        return None  # a rater without labels, or labels without a rater: the reader says what is missing
    else:
        raters = {at: name for at, name in enumerate(header) if at != item and name.lower() not in _BESIDE}
        if len(raters) < 2:
            return None
        taken = f"a column a rater: {', '.join(raters.values())}; items by {header[item]}"
    found: list[TableRating] = []
    problems: list[str] = []
    for line, cells in rows:
        if len(cells) != len(header):
            problems.append(f"{place}:{line}: {len(cells)} cells, and the header has {len(header)}")
        elif not cells[item].strip():
            problems.append(f"{place}:{line}: {shown(header[item])} is empty")
        elif raters:
            said = {name: cells[at].strip() for at, name in raters.items()}
            found += [TableRating(cells[item].strip(), name, label, line) for name, label in said.items() if label]
        else:
            assert long[0] is not None
            assert long[1] is not None
            rater, label = cells[long[0]].strip(), cells[long[1]].strip()
            if rater and label:
                found.append(TableRating(cells[item].strip(), rater, label, line))
            else:
                empty = header[long[0]] if not rater else header[long[1]]
                problems.append(f"{place}:{line}: {shown(empty)} is empty")
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    if not found:
        raise BadInput(f"{place}:1: there is no rating in the file")
    return Ratings(found, taken, problems)


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line on which it ends."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells
