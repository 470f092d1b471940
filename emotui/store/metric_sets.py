"""Which metrics the values of a score are of, in their order. On an open connection.

Scores of a run nearly always have the same metrics, so a score keeps the number of their set and the bare values: the
first few in columns of their own, which are read and written faster than a list (docs/store.md), the others in a list.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Names = tuple[str, ...]

_COLUMNS = 4

VALUES = "value_1, value_2, value_3, value_4, further"
"""The columns of `scores` that hold the values of a score."""


def metric_sets(connection: "DuckDBPyConnection") -> dict[int, Names]:
    """The names of each set, by its number."""
    found = connection.execute("select metric_set, names from metric_sets")
    return {number: tuple(names) for number, names in found.fetchall()}


def numbers_of(connection: "DuckDBPyConnection", wanted: Iterable[Names]) -> dict[Names, int]:
    """The number of each of these sets; one that is not there yet is added."""
    known = {names: number for number, names in metric_sets(connection).items()}
    for names in dict.fromkeys(wanted):
        if names not in known:
            known[names] = max(known.values(), default=0) + 1
            connection.execute("insert into metric_sets values (?, ?::varchar[])", [known[names], list(names)])
    return known


def split(values: Mapping[str, float | None]) -> list[float | list[float | None] | None]:
    """Values as they stand in the columns `VALUES`."""
    found = list(values.values())
    missing = [None] * (_COLUMNS - len(found))
    return [*found[:_COLUMNS], *missing, found[_COLUMNS:] or None]


def joined(names: Names, columns: Sequence[Any]) -> dict[str, float | None]:
    """Values by name, from what stands in the columns `VALUES`."""
    if len(names) <= _COLUMNS:
        return dict(zip(names, columns, strict=False))
    return dict(zip(names, [*columns[:_COLUMNS], *columns[_COLUMNS]], strict=True))


def value_of(sets: dict[int, Names], metric: str) -> str | None:
    """An SQL expression for the value of this metric in a row of `scores`; None where no set has it."""
    places = {number: names.index(metric) + 1 for number, names in sets.items() if metric in names}
    if not places:
        return None
    if len(places) == len(sets) and len(set(places.values())) == 1:
        return _column(min(places.values()))
    cases = " ".join(f"when {number} then {_column(place)}" for number, place in places.items())
    return f"case metric_set {cases} end"


def _column(place: int) -> str:
    """Where the value at this place, from 1, stands."""
    return f"value_{place}" if place <= _COLUMNS else f"further[{place - _COLUMNS}]"
