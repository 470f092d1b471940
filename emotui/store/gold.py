"""Versions of gold: what a data set's records said before, and which of them scores were computed under.

The texts of a data set never change, and neither do the numbers of its samples.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from emotui.controls import as_unicode
from emotui.errors import BadInput, StoreError
from emotui.store import access, datasets, runs
from emotui.store.query import Dataset, Run
from emotui.store.rows import SampleRow, now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NAMED = 3
"""Ids that a refusal names."""


class GoldTable:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def replace(
        self,
        dataset: Dataset,
        rows: Iterable[SampleRow],
        source: str,
        fingerprint: str,
        *,
        check: Callable[[Sequence[Run]], None] = lambda runs: None,
    ) -> Dataset:
        """Make these the next version of a data set's gold, all or none; the former records are kept.

        Args:
            check: looks at the runs over the data set, none of which begins or ends meanwhile; what it raises leaves
                gold as it is.

        Raises:
            BadInput: their ids or texts are not those of the data set.
            StoreError: it has changed meanwhile.
        """
        with datasets.staging_folder() as folder:
            staged = datasets.Staged(folder)
            staged.fill(rows)
            datasets.check_room(self._turns.path, staged)
            with self._turns.writing(beside=staged.file, memory=staged.memory) as connection:
                check(runs.listed(connection, dataset.dataset))
                return _replace(
                    connection, dataset.dataset, staged, as_unicode(source), dataset.fingerprint, fingerprint
                )

    def move_what_is_said(
        self, old: int, new: int, moved: dict[int, int], *, check: Callable[[Sequence[Run]], None] = lambda runs: None
    ) -> None:
        """Move all that is said about samples of a data set, its runs and slices to another; `moved`: old to new.

        Args:
            check: looks at the runs over the data set, none of which begins meanwhile; what it raises moves nothing.
        """
        with self._turns.writing() as connection:
            check(runs.listed(connection, old))
            _move_what_is_said(connection, old, new, moved)

    def fingerprints(self, dataset: int) -> list[str]:
        """The fingerprint of each version of a data set's gold, today's first."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select fingerprint from datasets where dataset = ? union all"
                " (select fingerprint from gold_versions where dataset = ? order by version desc)",
                [dataset, dataset],
            )
            return list(dict.fromkeys(mark for (mark,) in found.fetchall()))

    def versions(self, dataset: int) -> list[tuple[int, str, str | None]]:
        """(version, where it is from, when it was made) of each version of a data set's gold, the first one first."""

        def read() -> list[tuple[int, str, str | None]]:
            with self._turns.reading() as connection:
                found = connection.execute(
                    "select version, source, made from gold_versions where dataset = ? order by version", [dataset]
                )
                return found.fetchall()

        return list(self._turns.once(("gold versions", dataset), read))

    def former(self, dataset: int, version: int) -> dict[int, bytes]:
        """The records of a former version, by the number of the sample, where they are not today's."""
        with self._turns.reading(access.ROOMY) as connection:
            found = connection.execute(
                "select sample, arg_min(record, version) from former_gold where dataset = ? and version >= ?"
                " group by sample",
                [dataset, version],
            )
            return {sample: record.encode() for sample, record in found.fetchall()}

    def scored_under(self, run: str) -> int | None:
        """The oldest version of gold that a current score of the run was computed under; None: it has no score."""
        return min(self.all_scored_under(run), default=None)

    def each_scored_under(self, dataset: int) -> dict[str, int]:
        """`scored_under` of each run over a data set whose scores are of any version."""

        def read() -> dict[str, int]:
            with self._turns.reading() as connection:
                found = connection.execute(
                    "select r.run, min(s.gold) from runs r join scores s on s.run = r.number"
                    " where r.dataset = ? and s.current and s.gold is not null group by r.run",
                    [dataset],
                )
                return {run: int(version) for run, version in found.fetchall()}

        return dict(self._turns.once(("scored under", dataset), read))

    def all_scored_under(self, run: str) -> tuple[int, ...]:
        """The versions of gold that current scores of the run were computed under, the oldest first."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select distinct gold from scores where current and gold is not null"
                " and run = (select number from runs where run = ?) order by gold",
                [run],
            )
            return tuple(int(version) for (version,) in found.fetchall())


def _replace(
    connection: "DuckDBPyConnection", number: int, staged: datasets.Staged, source: str, after: str, fingerprint: str
) -> Dataset:
    """Make staged samples, attached as `staged`, the next version of a data set's gold; the former one is kept.

    Args:
        source: where the new version is from.
        after: the fingerprint that the data set has until now.
        fingerprint: that of the new records.

    Raises:
        BadInput: the ids are not those of the data set, or a text is another one.
        StoreError: the data set has changed meanwhile.
    """
    there = datasets.find(connection, number)
    if there is None or there.fingerprint != after:
        raise StoreError("the data set has changed meanwhile: try again")
    first, n = datasets.first_of(connection, number)
    bounds = [first, first + n - 1]
    _check(connection, there.name, bounds)
    changed = "s.sample between ? and ? and s.id = n.id and s.record != n.record"
    connection.execute(
        "insert into former_gold select ?, ?, s.sample, s.record from samples s, staged.samples n"
        f" where {changed} order by s.sample",
        [number, there.gold, *bounds],
    )
    connection.execute("delete from label_sets where dataset = ?", [number])
    for (emotions, valences), label_set in staged.label_sets.items():
        connection.execute(
            "insert into label_sets values (?, ?, ?, ?)", [number, label_set, list(emotions), list(valences)]
        )
    connection.execute(
        "update samples set emotion = n.emotion, valence = n.valence, label_set = n.label_set, record = n.record"
        " from staged.samples n where samples.sample between ? and ? and samples.id = n.id"
        " and (samples.record != n.record or samples.label_set != n.label_set)",
        bounds,
    )
    connection.execute(
        "insert into gold_versions values (?, ?, ?, ?, ?)", [number, there.gold + 1, fingerprint, source, now()]
    )
    connection.execute(
        "update datasets set gold = gold + 1, fingerprint = ?, asked = null where dataset = ?", [fingerprint, number]
    )
    return datasets.known(connection, number)


def _check(connection: "DuckDBPyConnection", name: str, bounds: list[int]) -> None:
    """Raises BadInput unless the staged samples have the ids and texts of the samples with numbers in `bounds`."""
    problems = []
    for what, question in (
        ("samples without a new record: {n} (", "from s anti join staged.samples using (id)"),
        ("records with an id that it has not: {n} (", "from staged.samples anti join s using (id)"),
        (
            "records with another text than it has under their id: {n} (",
            "from s join staged.samples n using (id) where s.text != n.text",
        ),
    ):
        row = connection.execute(
            "with s as (select id, text from samples where sample between ? and ?)"
            f" select count(*), (min(id, {NAMED})) {question}",
            bounds,
        ).fetchone()
        if row is not None and row[0]:
            problems.append(f"{name}: {what.format(n=row[0])}{', '.join(row[1])}{', …' if row[0] > NAMED else ''})")
    if problems:
        raise BadInput(*problems)


def _move_what_is_said(connection: "DuckDBPyConnection", old: int, new: int, moved: dict[int, int]) -> None:
    """Move all that is said about the samples of one data set to the samples of another, with its runs and slices.

    Their scores stay, and are of version 0 of the other one's gold until they are computed anew.

    Args:
        moved: by the number of each old sample that of the new one.
    """
    connection.execute("create temp table moved(old bigint, new bigint)")
    try:
        connection.execute(
            "insert into moved select unnest(?::bigint[]), unnest(?::bigint[])", [list(moved), list(moved.values())]
        )
        for table in ("outputs", "predictions", "scores", "annotations", "notes"):
            connection.execute(f"update {table} set sample = m.new from moved m where {table}.sample = m.old")
        connection.execute("update notes set dataset = ? where dataset = ?", [new, old])
        connection.execute("update scores set gold = 0 where run in (select number from runs where dataset = ?)", [old])
        connection.execute("update runs set dataset = ? where dataset = ?", [new, old])
        connection.execute(
            "update slices set dataset = ? where dataset = ?"
            " and name not in (select name from slices where dataset = ?)",
            [new, old, new],
        )
    finally:
        connection.execute("drop table moved")
