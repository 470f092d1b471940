"""The sample list: which samples, in which order, and the lines of a page. On an open connection.

Filters on samples are SQL. Scores are joined with numpy: sample numbers of a data set are dense, so means over repeats
are sums by position, which takes a third of the time of a GROUP BY and a join (docs/store.md).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from emotui.store import samples
from emotui.store.error_marks import bits_to_marks, marks_to_bits
from emotui.store.query import SORTS, ListQuery, ListRow

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

_PREVIEW = 200
"""Characters of the text that a line of the list gets."""

_SORT_COLUMNS = ("id", "emotion", "length")


def order(connection: "DuckDBPyConnection", query: ListQuery) -> "Numbers":
    """Numbers of the samples that the query asks for, in its order. Ties are in file order; what has no value is last.

    Returns: (n,) int64.
    Raises: ValueError for an unknown sort or mark.
    """
    if query.sort not in SORTS:
        raise ValueError(f"cannot sort by {query.sort!r}: use one of {', '.join(SORTS)}")
    first, n = samples.first_of(connection, query.dataset)
    found = _filtered(connection, query, first, n)
    by_score = query.sort in ("f1", "sim")
    if by_score or query.marks or query.f1_min is not None or query.f1_max is not None:
        scores = _Scores(connection, query.run, first, n)
        found = found[scores.keeps(query)[found - first]]
        if by_score:
            return _by_value(found, scores.mean(query.sort)[found - first], query.descending)
    if query.sort == "file" and query.descending:
        return found[::-1].copy()
    return found


def _filtered(connection: "DuckDBPyConnection", query: ListQuery, first: int, n: int) -> "Numbers":
    """What the query asks of the samples themselves, sorted by `query.sort` where that is a column of theirs."""
    where, values = ["sample between ? and ?"], [first, first + n - 1]
    parameters: list[Any] = list(values)
    if query.text:
        where.append("contains(lower(text), lower(?))")
        parameters.append(query.text)
    for column, wanted in (("emotions", query.emotions), ("valences", query.valences)):
        if wanted:
            where.append(
                "label_set in (select label_set from label_sets"
                f" where dataset = ? and list_has_any({column}, ?::varchar[]))"
            )
            parameters += [query.dataset, list(wanted)]
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
    # F1 and Sim lie between -1 and 1: value and place in one integer sort in an eighth of the time (docs/store.md).
    # Values less than 2e-12 apart count as equal.
    bits = len(key).bit_length()
    packed = ((np.where(np.isnan(key), 2.0, key) + 1.0) * 2.0 ** (61 - bits)).astype(np.int64) << bits
    packed |= np.arange(len(key), dtype=np.int64)
    packed.sort()
    places: Numbers = packed & ((1 << bits) - 1)
    return found[places]


class _Scores:
    """A run's current scores by position in its data set: mean F1 and Sim, union of marks."""

    def __init__(self, connection: "DuckDBPyConnection", run: str | None, first: int, n: int) -> None:
        self._connection, self._run, self._first, self._n = connection, run, first, n

    def _column(self, name: str) -> tuple["Numbers", "np.ndarray[Any, Any]"]:
        """(m,) places and (m,) values of the scores that have one."""
        got = self._connection.execute(
            f"select sample - ? as place, {name} as value from scores"
            " where run = (select number from runs where run = ?)"
            f" and current and sample between ? and ? and {name} is not null",
            [self._first, self._run, self._first, self._first + self._n - 1],
        ).fetchnumpy()
        return np.asarray(got["place"], dtype=np.int64), np.asarray(got["value"])

    def mean(self, name: str) -> "Floats":
        """(n,) means over the repeats that have a value; NaN where none has."""
        place, value = self._column(name)
        with np.errstate(invalid="ignore"):
            return np.bincount(place, value, self._n) / np.bincount(place, minlength=self._n)

    def keeps(self, query: ListQuery) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """(n,) whether the sample has one of the marks asked for and lies between the bounds."""
        kept = np.ones(self._n, dtype=np.bool_)
        if query.marks:
            place, bits = self._column("marks")
            marked = place[bits & marks_to_bits(query.marks) != 0]
            kept &= np.bincount(marked, minlength=self._n) > 0
        if query.f1_min is not None or query.f1_max is not None:
            f1 = self.mean("f1")
            kept &= f1 >= (-np.inf if query.f1_min is None else query.f1_min)
            kept &= f1 <= (np.inf if query.f1_max is None else query.f1_max)
        return kept


def page(connection: "DuckDBPyConnection", wanted: Sequence[int], run: str | None) -> list[ListRow]:
    """The lines of these samples, in their order; unknown numbers are left out."""
    if not wanted:
        return []
    bounds = [min(wanted), max(wanted), list(wanted)]
    among = "sample between ? and ? and sample in (select unnest(?::bigint[]))"
    scores: dict[int, tuple[float | None, float | None, int]] = {}
    if run is not None:
        scored = connection.execute(
            "select sample, avg(f1), avg(sim), bit_or(marks) from scores"
            f" where run = (select number from runs where run = ?) and current and {among} group by sample",
            [run, *bounds],
        )
        scores = {sample: (f1, sim, marks) for sample, f1, sim, marks in scored.fetchall()}
    found = connection.execute(
        f"select sample, id, left(text, {_PREVIEW}), emotion, valence from samples where {among}", bounds
    )
    lines: dict[int, ListRow] = {}
    for sample, id_, beginning, emotion, valence in found.fetchall():
        f1, sim, bits = scores.get(sample, (None, None, 0))
        lines[sample] = ListRow(
            sample, id_, " ".join(beginning.split()), emotion, valence, f1, sim, bits_to_marks(bits)
        )
    return [lines[number] for number in wanted if number in lines]
