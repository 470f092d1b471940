"""Cells of one label that hold several, as `joy, sadness` in a column of joy and of sadness."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from emotui.formats.layouts.tables.names import is_emotion
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.values import is_empty
from emotui.formats.rows import Flaw, literal, shown

_BETWEEN = re.compile(r"\s*[,;|]\s*")
_WITHIN = re.compile(r"\s*[,;|/+&]\s*|\s+and\s+")
"""What may also stand within the name of a class, as in `shame/guilt`."""


@dataclass(frozen=True, slots=True)
class Several:
    """What the cells of a column of labels hold.

    Attributes:
        labels: by cell the labels in it, where there are several.
        whole: cells that stay one label, because some of their parts are no labels.
        cells: how often each cell stands.
        alike: labels that differ in nothing but case.
    """

    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    cells: Mapping[str, int] = field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()

    def lines(self, column: str) -> Iterator[str]:
        """What is to be told of a column that may be parted, a line each."""
        yield from self.parted(column)
        for line in self.kept(column):
            yield f"{line} (--map labels=COLUMN parts them)"
        for names in self.alike:
            yield f"{column}: {' and '.join(map(shown, names))} are different labels here, for their case differs"

    def parted(self, column: str) -> Iterator[str]:
        """Which cells of a column are read as several labels."""
        if self.labels:
            n = sum(self.cells[cell] for cell in self.labels)
            first = max(self.labels, key=lambda cell: self.cells[cell])
            hold = "1 cell holds" if n == 1 else f"{n:,} cells hold"
            yield f"{column}: {hold} several labels, as {shown(first)}: each is read as such"

    def kept(self, column: str) -> Iterator[str]:
        """Which cells of a column are one label though they look like several."""
        if self.whole:
            n = sum(self.cells[cell] for cell in self.whole)
            are = "is one label" if n == 1 else "are one label each"
            which = f"{n:,} cell{'s' * (n != 1)} such as {shown(self.whole[0])} {are}"
            yield f"{column}: {which}, for not all of its parts are labels elsewhere"


def several_in(cells: Iterable[str]) -> Several:
    """Which cells hold several labels: those whose parts each stand alone in another cell, or are emotions.

    Parts are what stands between commas, semicolons, bars, slashes, `+` and `&`. A slash and the like stand in names of
    classes too: between them being an emotion is not enough. A part is spelt as the label that stands alone is.
    """
    counts: Counter[str] = Counter()
    for cell, n in Counter(cells).items():
        counts[as_label(cell)] += n
    alone: dict[str, str] = {}
    for cell, _ in counts.most_common():
        if not _WITHIN.search(cell):
            alone.setdefault(cell.casefold(), cell)
    labels: dict[str, tuple[str, ...]] = {}
    whole = []
    for cell in counts:
        between = _parts(_BETWEEN, cell, alone, emotions=True)
        found = between if between is not None else _parts(_WITHIN, cell, alone, emotions=False)
        if found is not None:
            labels[cell] = found
        elif _BETWEEN.search(cell):
            whole.append(cell)
    spelt: dict[str, list[str]] = {}
    for cell in counts:
        spelt.setdefault(cell.casefold(), []).append(cell)
    alike = tuple(tuple(names) for names in spelt.values() if len(names) > 1)
    return Several(labels, tuple(whole), counts, alike)


def as_label(cell: str) -> str:
    """A cell of one label, white space folded."""
    return " ".join(cell.split())


def may_be_several(cell: str) -> bool:
    """Whether anything stands in a cell that may part labels."""
    return _WITHIN.search(cell) is not None


def _parts(between: re.Pattern[str], cell: str, alone: Mapping[str, str], *, emotions: bool) -> tuple[str, ...] | None:
    """The labels in a cell; None where it has no parts, or some that are no labels."""
    if not between.search(cell):
        return None
    parts = [part for part in between.split(cell) if part]
    found = [alone.get(part.casefold(), part if emotions and is_emotion(part) else "") for part in parts]
    return tuple(dict.fromkeys(found)) if found and all(found) else None


def several_of(table: Table, columns: Mapping[str, str]) -> dict[str, Several]:
    """What the cells of the columns of labels hold, by the key `label` or `labels`.

    Those of people, a column each, count among those of `label`; in `labels` names between commas are several anyway.
    """
    found = {}
    for key in ("label", "labels"):
        cells = [
            row.get(column)
            for column in _columns_of(key, columns)
            if column not in table.names
            for _, row in table.rows
            if not isinstance(row, Flaw)
        ]
        words = [
            cell.strip() for cell in cells if isinstance(cell, str) and not is_empty(cell) and cell[:1] not in "[{("
        ]
        if key == "labels":
            words = [part for cell in words for part in _BETWEEN.split(cell) if part]
        found[key] = several_in(words)
    return found


def _columns_of(key: str, columns: Mapping[str, str]) -> list[str]:
    people = [name for one, name in columns.items() if one.startswith("people.")]
    own = [columns[key]] if columns.get(key) else []
    return [*own, *people] if key == "label" and "about" not in columns else own


def remarks(table: Table, columns: Mapping[str, str]) -> tuple[str, ...]:
    """What is to be told of the labels in a table, a line each."""
    return tuple(
        literal(line)
        for key, several in several_of(table, columns).items()
        for line in several.lines(", ".join(_columns_of(key, columns)))
    )
