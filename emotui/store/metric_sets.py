"""Which metrics the values of a score are of, in their order. On an open connection.

Scores of a run nearly always have the same metrics, so a score keeps a list of values and the number of their set.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Names = tuple[str, ...]


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


def value_of(sets: dict[int, Names], metric: str) -> str | None:
    """An SQL expression for the value of this metric in a row of `scores`; None where no set has it."""
    places = {number: names.index(metric) + 1 for number, names in sets.items() if metric in names}
    if not places:
        return None
    if len(places) == len(sets) and len(set(places.values())) == 1:
        return f"figures[{min(places.values())}]"
    cases = " ".join(f"when {number} then figures[{place}]" for number, place in places.items())
    return f"case metric_set {cases} end"
