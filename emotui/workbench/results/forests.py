"""Tables of results turned round: every source of one figure, a row each, so that all stand on one axis."""

from collections.abc import Collection, Sequence

import msgspec

from emotui.tables import FINE, Cell, Column, ResultsTable, Row

KINDS = ("run", "baseline", "people", "published")
"""The kinds of rows that are sources, own ones first."""

_DRAWN = ("share", "cosine", FINE)
"""The units whose figures stand on an axis."""


class Point(msgspec.Struct, frozen=True):
    """A source: its name, what else tells it from others (a setting), and its cell with the row and column of that.

    `kind`: one of `KINDS`. `person`: a person said it, in the workbench or in a file. `reach`: what the axis holds room
    for, before its interval is known and then.
    """

    label: str
    told: str
    kind: str
    cell: Cell
    row: int
    column: int
    person: bool = False
    reach: tuple[float, float] | None = None


class Forest(msgspec.Struct, frozen=True):
    """All sources of one figure of a table; those of a kind together, the best first, undefined ones last.

    `figure`: what is drawn; `lower`: is less of it better? `shaded`: the least and the greatest figure of people, where
    there are any. `note`: what has to be known wherever it is drawn; empty where there is no such thing.
    """

    key: str
    figure: str
    unit: str
    points: tuple[Point, ...]
    shaded: tuple[float, float] | None = None
    lower: bool = False
    note: str = ""


def figures_of(table: ResultsTable) -> tuple[str, ...]:
    """What of a table can be drawn with sources on an axis; empty where its rows are no sources."""
    sourced = table.settings or any(
        row.source and (row.kind == "run" or (row.kind == "people" and row.of_runs)) for row in table.rows
    )
    if table.heat or table.plane or not sourced:
        return ()
    there = {_figure(table, at) for at, _ in _drawn(table)}
    named = dict.fromkeys(_figure(table, at) for at in range(len(table.columns)))
    return tuple(name for name in named if name in there)


def lower_of(table: ResultsTable) -> frozenset[str]:
    """Of which of its figures less is better."""
    return frozenset(_figure(table, at) for at, column in enumerate(table.columns) if column.lower_is_better)


def forest_of(table: ResultsTable, figure: str, people: Collection[str] = ()) -> Forest:
    """The sources of a table by one of `figures_of`.

    Args:
        people: the ids of runs that are people's.
    """
    columns = [(at, column) for at, column in _drawn(table) if _figure(table, at) == figure]
    points = [
        Point(row.label, _told(table, row, column), row.kind, row.cells[at], number, at, row.source in people)
        for number, row in enumerate(table.rows)
        if row.kind in KINDS
        for at, column in columns
        if row.cells[at].asked
    ]
    points = [point for at, point in enumerate(points) if not _said_before(points[:at], point)]
    keys = {column.key for _, column in columns}
    said = [point.cell.value for point in points if point.person]
    ends = [value for value in said if isinstance(value, int | float)]
    ends += [value for key, low, high in table.ranges if key in keys for value in (low, high)]
    unit = columns[0][1].unit if columns else "share"
    shaded = (float(min(ends)), float(max(ends))) if ends else None
    lower = any(column.lower_is_better for _, column in columns)
    best = sorted(points, key=lambda point: _place(point, lower=lower))
    return Forest(
        f"{table.key}/{figure}", figure, unit, tuple(best), shaded, lower, dict(table.cautions).get(figure, "")
    )


def _drawn(table: ResultsTable) -> list[tuple[int, Column]]:
    """The columns whose figures stand on an axis, with their places."""
    return [
        (at, column)
        for at, column in enumerate(table.columns)
        if column.unit in _DRAWN
        and any(isinstance(row.cells[at].value, float | int) for row in table.rows if row.kind in KINDS)
    ]


def _figure(table: ResultsTable, at: int) -> str:
    column = table.columns[at]
    if table.settings or not column.group:
        return column.group if table.settings == "titles" else column.title
    return f"{column.group}: {column.title}"


def _told(table: ResultsTable, row: Row, column: Column) -> str:
    """The setting of a figure, by its column or by what stands in the row's columns of words."""
    if table.settings:
        return column.title if table.settings == "titles" else column.group
    words = (cell.value for cell, one in zip(row.cells, table.columns, strict=True) if one.unit == "words")
    return " ".join(str(word) for word in words if word)


def _said_before(points: Sequence[Point], point: Point) -> bool:
    """Do the baselines stand there already? It is the same under every setting."""
    same = (one for one in points if (one.kind, one.row) == (point.kind, point.row))
    return point.kind == "baseline" and any(one.cell.value == point.cell.value for one in same)


def _place(point: Point, *, lower: bool) -> tuple[int, bool, float]:
    value = point.cell.value
    if not isinstance(value, int | float):
        return KINDS.index(point.kind), True, 0.0
    return KINDS.index(point.kind), False, float(value) if lower else -float(value)
