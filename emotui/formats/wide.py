"""Tables with a column a label: which columns those are, and what a cell says of its label."""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from emotui.formats.columns import cell_kinds
from emotui.formats.rows import Flaw, UnreadableFile, shown
from emotui.records import LabelsGold, LabelsPrediction, ScenesGold, ScenesPrediction, ValuesGold, ValuesPrediction

_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_WORDS = {"true": 1.0, "false": 0.0}
_SAID = ("labels", "scores", "label", "values")
"""The fields that say a record's labels in one cell."""


class LabelColumns(msgspec.Struct, frozen=True):
    """How a table with a column a label is read.

    Attributes:
        names: the columns that are labels; None for all that hold numbers (or true and false) and are no field of the
            record.
        threshold: a label is there where its number is at least this; None where numbers must be 0 or 1 (of a
            prediction: from 0 to 1).
    """

    names: tuple[str, ...] | None = None
    threshold: float | None = None


_OF_VALUES = (ValuesGold, ValuesPrediction)

FOUND = LabelColumns()
"""As a table is read where nothing is said about it."""


def said_in_columns(kind: type[msgspec.Struct]) -> str:
    """The field that columns of numbers stand for."""
    return "values" if kind in _OF_VALUES else "labels"


def takes_columns(kind: type[msgspec.Struct], header: Sequence[str], columns: LabelColumns) -> bool:
    """Whether labels of this kind of record are to be found in columns of their own.

    Raises:
        UnreadableFile: a named column is not there, or comes twice, or the labels stand in one cell already.
    """
    if kind not in (ScenesGold, ScenesPrediction, LabelsGold, LabelsPrediction, *_OF_VALUES):
        return False
    if columns.threshold is not None and kind in _OF_VALUES:
        raise UnreadableFile("numbers are kept as they are: leave --label-threshold out", 1)
    said = [name for name in _SAID if name in header and name in cell_kinds(kind)]
    if columns.names is None:
        return not said
    if said:
        raise UnreadableFile(f"column `{said[0]}` has the {said_in_columns(kind)}: leave --labels out", 1)
    for name in columns.names:
        if name not in header:
            raise UnreadableFile(f"there is no column {shown(name)} to take for a label", 1)
        if name in cell_kinds(kind):
            raise UnreadableFile(f"column `{name}` cannot be a label: it is a field of the record", 1)
        if header.count(name) > 1:
            raise UnreadableFile(f"column {shown(name)} comes twice", 1)
    return True


def found_columns(
    kind: type[msgspec.Struct], header: Sequence[str], rows: Iterable[Sequence[str]], line: int
) -> tuple[str, ...]:
    """The columns whose first cell with something in it is a number, or true or false.

    Args:
        header: the names of the columns.
        rows: cells; as many rows are looked at as it takes to see something in every column.
        line: of the header.

    Raises:
        UnreadableFile: one of them comes twice.
    """
    unseen = {place for place, name in enumerate(header) if name and name not in cell_kinds(kind)}
    numbers: set[int] = set()
    for cells in rows:
        for place in [place for place in unseen if place < len(cells) and cells[place].strip()]:
            unseen.discard(place)
            if number_in(cells[place]) is not None:
                numbers.add(place)
        if not unseen:
            break
    names = [header[place] for place in sorted(numbers)]
    for name in names:
        if header.count(name) > 1:
            raise UnreadableFile(f"column {shown(name)} comes twice", line)
    return tuple(names)


def number_in(cell: str) -> float | None:
    """The number in a cell, 1 and 0 for true and false; None where there is neither."""
    stripped = cell.strip()
    if _NUMBER.fullmatch(stripped):
        return float(stripped)
    return _WORDS.get(stripped.lower())


def labels_of(
    kind: type[msgspec.Struct], numbers: Mapping[str, float | None], columns: LabelColumns
) -> dict[str, float] | Flaw:
    """`labels` from the numbers of a row's label columns; None says nothing of its label.

    Of a prediction without a threshold they are kept as they are; else they become 0 and 1.
    """
    found: dict[str, float] = {}
    for name, number in numbers.items():
        if number is None:
            continue
        if kind in _OF_VALUES:
            found[name] = number
        elif columns.threshold is not None:
            found[name] = int(number >= columns.threshold)
        elif kind is LabelsPrediction and 0 <= number <= 1:
            found[name] = number
        elif number in (0, 1):
            found[name] = int(number)
        else:
            asked = "from 0 to 1" if kind is LabelsPrediction else "0 or 1"
            return Flaw(
                f"{shown(name)} is {shown(number)}, and a label is {asked}: name the columns that are labels by "
                "--labels, or give the number from which one is there by --label-threshold"
            )
    return found
