"""The sample list: which samples, in which order.

Filters on samples are SQL. Scores are joined with numpy: sample numbers of a data set are dense, so means over repeats
are sums by position, which takes a third of the time of a GROUP BY and a join (docs/store.md).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from emotui.store import access, datasets
from emotui.store.query import SORTS, ListQuery, marks_to_bits
from emotui.store.results import metric_sets, value_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

_SORT_COLUMNS = ("id", "emotion", "length")


class Listing:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def order(self, query: ListQuery) -> "Numbers":
        """(n,) int64: numbers of the samples asked for, in the order asked for.

        Ties stand in file order; samples without the value sorted by stand last, both ways. Text is looked for
        literally, without regard to case; where no text holds it, the sample of that id is found. Raises ValueError for
        an unknown mark, or a sort by a metric where there is no run.
        """
        with self._turns.reading() as connection:
            if query.sort not in SORTS and query.run is None:
                raise ValueError(f"cannot sort by {query.sort!r} without a run: use one of {', '.join(SORTS)}")
            first, n = datasets.first_of(connection, query.dataset)
            found = _filtered(connection, query, first, n)
            if query.text and not len(found):
                found = _filtered(connection, query, first, n, by_id=True)
            by_score = query.sort not in SORTS
            if by_score or query.marks or query.bounds:
                scores = _Scores(connection, query.run, first, n)
                found = found[scores.keeps(query)[found - first]]
                if by_score:
                    return _by_value(found, scores.mean(query.sort)[found - first], query.descending)
            if query.sort == "file" and query.descending:
                return found[::-1].copy()
            return found

    def metric_means(self, dataset: int, run: str, metric: str) -> "Floats":
        """(n,) by the place of the sample: what a run scored, the mean over repeats; NaN where it has no value."""
        with self._turns.reading() as connection:
            first, n = datasets.first_of(connection, dataset)
            return _Scores(connection, run, first, n).mean(metric)

    def marks(self, dataset: int, run: str) -> "Numbers":
        """(n,) by the place of the sample: a run's errors over its repeats (`query.marks_to_bits`); -1: no score."""
        with self._turns.reading() as connection:
            first, n = datasets.first_of(connection, dataset)
            place, bits = _Scores(connection, run, first, n).marks()
            found = np.full(n, -1, dtype=np.int64)
            found[place] = 0
            np.bitwise_or.at(found, place, bits)
            return found


def _filtered(
    connection: "DuckDBPyConnection", query: ListQuery, first: int, n: int, *, by_id: bool = False
) -> "Numbers":
    """What the query asks of the samples themselves, sorted by `query.sort` where that is a column of theirs.

    Args:
        by_id: its text is a sample's id.
    """
    where, values = ["sample between ? and ?"], [first, first + n - 1]
    parameters: list[Any] = list(values)
    if query.text:
        where.append("lower(id) = lower(?)" if by_id else "contains(lower(text), lower(?))")
        parameters.append(query.text)
    for column, wanted in (("emotions", query.emotions), ("valences", query.valences)):
        if wanted:
            where.append(
                "label_set in (select label_set from label_sets"
                f" where dataset = ? and list_has_any({column}, ?::varchar[]))"
            )
            parameters += [query.dataset, list(wanted)]
    if query.column is not None:
        name, said = query.column
        where.append("lower(coalesce(try(json_extract_string(record, ?)), '')) = lower(?)")
        parameters += ["/meta/" + name.replace("~", "~0").replace("/", "~1"), said]
    by_column = query.sort in _SORT_COLUMNS
    if not by_column and len(where) == 1:
        return np.arange(first, first + n, dtype=np.int64)
    direction = "desc" if query.descending else "asc"
    by = f"{query.sort} {direction} nulls last, sample" if by_column else "sample"
    found = connection.execute(f"select sample from samples where {' and '.join(where)} order by {by}", parameters)
    return np.asarray(found.fetchnumpy()["sample"], dtype=np.int64)


def _by_value(found: "Numbers", values: "Floats", descending: bool) -> "Numbers":
    """`found` (n,) sorted by `values` (n,), ties in their order, NaN last both ways."""
    key = -values if descending else values
    if not np.nanmax(np.abs(key), initial=0.0) <= 1.0:
        return found[np.argsort(key, kind="stable")]
    # Most metrics lie between -1 and 1: value and place in one integer sort in an eighth of the time (docs/store.md).
    # Values less than 2e-12 apart count as equal.
    bits = len(key).bit_length()
    packed = ((np.where(np.isnan(key), 2.0, key) + 1.0) * 2.0 ** (61 - bits)).astype(np.int64) << bits
    packed |= np.arange(len(key), dtype=np.int64)
    packed.sort()
    places: Numbers = packed & ((1 << bits) - 1)
    return found[places]


class _Scores:
    """A run's current scores by position in its data set: means of a metric, union of marks."""

    def __init__(self, connection: "DuckDBPyConnection", run: str | None, first: int, n: int) -> None:
        self._connection, self._run, self._first, self._n = connection, run, first, n

    def _column(self, value: str) -> tuple["Numbers", "np.ndarray[Any, Any]"]:
        """(m,) places and (m,) values, by an SQL expression, of the scores that have one."""
        got = self._connection.execute(
            f"select sample - ? as place, {value} as value from scores"
            " where run = (select number from runs where run = ?) and current and sample between ? and ?",
            [self._first, self._run, self._first, self._first + self._n - 1],
        ).fetchnumpy()
        place, values = np.asarray(got["place"], dtype=np.int64), got["value"]
        if not np.ma.is_masked(values):
            return place, np.asarray(values)
        there = ~np.ma.getmaskarray(values)
        return place[there], np.asarray(values[there])

    def marks(self) -> tuple["Numbers", "Numbers"]:
        """(m,) places and (m,) bits of what is wrong, one a score."""
        place, bits = self._column("marks")
        return place, np.asarray(bits, dtype=np.int64)

    def mean(self, metric: str) -> "Floats":
        """(n,) means over the repeats that have a value; NaN where none has."""
        value_there = value_of(metric_sets(self._connection), metric)
        if value_there is None:
            return np.full(self._n, np.nan)
        place, value = self._column(value_there)
        with np.errstate(invalid="ignore"):
            return np.bincount(place, value, self._n) / np.bincount(place, minlength=self._n)

    def keeps(self, query: ListQuery) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """(n,) whether the sample has one of the marks asked for and lies between the bounds."""
        kept = np.ones(self._n, dtype=np.bool_)
        if query.marks:
            place, bits = self._column("marks")
            marked = place[bits & marks_to_bits(query.marks) != 0]
            kept &= np.bincount(marked, minlength=self._n) > 0
        for bounds in query.bounds:
            value = self.mean(bounds.metric)
            kept &= value >= (-np.inf if bounds.low is None else bounds.low)
            kept &= value <= (np.inf if bounds.high is None else bounds.high)
        return kept
