"""Versions of gold: what a data set's records said before, and which of them scores were computed under.

On an open connection. The texts of a data set never change, and neither do the numbers of its samples.
"""

from typing import TYPE_CHECKING

from emotui.errors import BadInput, StoreError
from emotui.store import samples
from emotui.store.query import Dataset
from emotui.store.rows import now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NAMED = 3
"""Ids that a refusal names."""


def replace(
    connection: "DuckDBPyConnection", number: int, staged: samples.Staged, source: str, after: str, fingerprint: str
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
    there = samples.dataset(connection, number)
    if there is None or there.fingerprint != after:
        raise StoreError("the data set has changed meanwhile: try again")
    first, n = samples.first_of(connection, number)
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
    found = samples.dataset(connection, number)
    assert found is not None
    return found


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


def fingerprints(connection: "DuckDBPyConnection", dataset: int) -> list[str]:
    """The fingerprint of each version, today's first."""
    found = connection.execute(
        "select fingerprint from datasets where dataset = ? union all"
        " (select fingerprint from gold_versions where dataset = ? order by version desc)",
        [dataset, dataset],
    )
    return list(dict.fromkeys(mark for (mark,) in found.fetchall()))


def versions(connection: "DuckDBPyConnection", dataset: int) -> list[tuple[int, str, str | None]]:
    """(version, where it is from, when it was made) of each, the first version first."""
    found = connection.execute(
        "select version, source, made from gold_versions where dataset = ? order by version", [dataset]
    )
    return found.fetchall()


def former(connection: "DuckDBPyConnection", dataset: int, version: int) -> dict[int, bytes]:
    """The records of a version, by the number of the sample, where they are not today's."""
    found = connection.execute(
        "select sample, arg_min(record, version) from former_gold where dataset = ? and version >= ? group by sample",
        [dataset, version],
    )
    return {sample: record.encode() for sample, record in found.fetchall()}


def golds_of(connection: "DuckDBPyConnection", run: str) -> tuple[int, ...]:
    """The versions of gold that current scores of the run were computed under, the oldest first."""
    found = connection.execute(
        "select distinct gold from scores where current and gold is not null"
        " and run = (select number from runs where run = ?) order by gold",
        [run],
    )
    return tuple(int(version) for (version,) in found.fetchall())


def move_what_is_said(connection: "DuckDBPyConnection", old: int, new: int, moved: dict[int, int]) -> None:
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
