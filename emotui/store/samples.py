"""Data sets and their samples, on an open connection."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from emotui import scratch
from emotui.controls import as_unicode
from emotui.errors import StoreError
from emotui.store import access, refusals
from emotui.store.query import Dataset
from emotui.store.rows import SampleRow, now

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection

_FLUSH = 10_000
_FLUSH_BYTES = 8 << 20
"""Samples, and bytes of their records, that wait in memory before they are laid out."""

_LONG = 1 << 16
"""Bytes from which a record is long: DuckDB holds thousands of them at once."""

_DATASET = "select dataset, name, task, n, fingerprint, source, added, gold, asked, deleted from datasets"


class Staged:
    """Samples laid out in a file of their own, so that the store is held only while they are copied over."""

    def __init__(self, folder: str) -> None:
        self.file = Path(folder) / "staged.duckdb"
        self.n = 0
        self.label_sets: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self.memory = access.WIDE
        """What DuckDB may use at most for samples as long as these."""

    def fill(self, rows: Iterable[SampleRow]) -> None:
        """Take in all samples. Raises StoreError where two have one id, or where there is no room for them."""
        from emotui.store import duckdb_core

        if as_unicode(str(self.file)) != str(self.file):
            raise StoreError(f"{str(self.file.parent)!r} is not UTF-8: name another temporary folder by TMPDIR")
        try:
            self._fill(rows)
        except (duckdb_core.OperationalError, OSError) as error:
            raise refusals.refusal(self.file, error) from error

    def _fill(self, rows: Iterable[SampleRow]) -> None:
        with access.new_file(self.file) as connection:
            connection.execute(
                "create table samples(position bigint, id varchar, text varchar using compression uncompressed,"
                " length integer, emotion varchar, valence varchar, label_set integer, record varchar)"
            )
            connection.execute(f"set memory_limit = '{self.memory}'")
            appender = connection.appender("samples")
            waiting, size = 0, 0
            for row in rows:
                labels = (tuple(sorted(set(row.emotions))), tuple(sorted(set(row.valences))))
                label_set = self.label_sets.setdefault(labels, len(self.label_sets))
                appender.append_row(
                    self.n, row.id, row.text, len(row.text), row.emotion, row.valence, label_set, row.record.decode()
                )
                self.n += 1
                if self.memory != access.ROOMY and len(row.record) >= _LONG:
                    self.memory = access.ROOMY
                    connection.execute(f"set memory_limit = '{self.memory}'")
                waiting, size = waiting + 1, size + len(row.record)
                if waiting == _FLUSH or size > _FLUSH_BYTES:
                    appender.flush()
                    waiting, size = 0, 0
            appender.flush()
            twice = connection.execute("select id from samples group by id having count(*) > 1 limit 1").fetchone()
            if twice:
                raise StoreError(f"two samples have the id {twice[0]!r}: every sample of a data set needs its own")


def check_room(path: Path, staged: Staged) -> None:
    """Raises StoreError where the disk cannot take the samples.

    Asked first, because a store that grew to the end of its disk does not shrink when the transaction fails.
    """
    need, free = staged.file.stat().st_size * 1.2 + 2**20, shutil.disk_usage(path.parent).free
    if need > free:
        raise StoreError(
            f"{path}: the disk has {free / 2**20:.0f} MB left and {staged.n} samples need about {need / 2**20:.0f} MB: "
            "free some space, then try again"
        )


def staging_folder() -> AbstractContextManager[str]:
    """Where `Staged` puts its file."""
    return scratch.folder()


def add(
    connection: "DuckDBPyConnection",
    name: str,
    task: str,
    staged: Staged,
    source: str,
    fingerprint: str,
    room: int | None = None,
    asked: str | None = None,
) -> Dataset:
    """Copy staged samples, attached as `staged`, into the store as a new data set, in their order.

    Args:
        room: how many samples it may grow to (`extend`); None: it never grows.
        asked: the fingerprint of what of them can change a model's answers, where it is known.
    """
    added = now()
    number, first = connection.execute(
        "select coalesce(max(dataset) + 1, 1), coalesce(max(first + greatest(n, coalesce(room, 0))), 1) from datasets"
    ).fetchone() or (1, 1)
    connection.execute(
        "insert into samples select position + ?, id, text, length, emotion, valence, label_set, record"
        " from staged.samples order by position",
        [first],
    )
    for (emotions, valences), label_set in staged.label_sets.items():
        connection.execute(
            "insert into label_sets values (?, ?, ?, ?)", [number, label_set, list(emotions), list(valences)]
        )
    connection.execute(
        "insert into datasets(dataset, name, task, n, fingerprint, source, first, added, room, asked)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [number, name, task, staged.n, fingerprint, source, first, added, room, asked],
    )
    connection.execute("insert into gold_versions values (?, 1, ?, ?, ?)", [number, fingerprint, source, added])
    return Dataset(number, name, task, staged.n, fingerprint, source, added, asked=asked)


def extend(
    connection: "DuckDBPyConnection", number: int, rows: Sequence[SampleRow], after: str, fingerprint: str
) -> Dataset:
    """Add samples behind the last one of a data set that has room for them; those that are there keep their numbers.

    Runs over it stay what they were: over its first samples, under the fingerprint that these had.

    Args:
        after: its fingerprint until now.
        fingerprint: that of all its samples with the new ones.

    Raises:
        StoreError: it has no room, it is not what it was, or one of the ids is taken.
    """
    there = connection.execute(
        "select first, n, coalesce(room, 0), fingerprint, name from datasets where dataset = ?", [number]
    ).fetchone()
    if there is None or there[3] != after:
        raise StoreError("the data set has changed meanwhile: try again")
    first, n, room, _, name = there
    if n + len(rows) > room:
        grows = f"is full with its {n} samples" if room else "does not grow"
        raise StoreError(f"the data set {name!r} {grows}: put further samples into another one")
    taken = connection.execute(
        "select id from samples where sample between ? and ? and id in (select unnest(?::varchar[])) limit 1",
        [first, first + n - 1, [row.id for row in rows]],
    ).fetchone()
    if taken is not None or len({row.id for row in rows}) < len(rows):
        twice = "" if taken is None else f" {taken[0]!r}"
        raise StoreError(f"two samples have the id{twice}: every sample of a data set needs its own")
    for place, row in enumerate(rows):
        connection.execute(
            "insert into samples values (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(first + n + place, row.id, row.text, len(row.text), row.emotion, row.valence),
                *(_label_set(connection, number, row), row.record.decode()),
            ],
        )
    connection.execute(
        "update datasets set n = ?, fingerprint = ?, asked = null where dataset = ?",
        [n + len(rows), fingerprint, number],
    )
    found = dataset(connection, number)
    assert found is not None
    return found


def shorten(connection: "DuckDBPyConnection", number: int, after: str, fingerprint: str) -> Dataset:
    """Take the last sample of a data set that grows out of it again, as long as nobody has said anything about it.

    Args:
        after: its fingerprint until now.
        fingerprint: that of all its samples without the last one.

    Raises:
        StoreError: it does not grow, it is not what it was, it has one sample alone, or somebody has said something.
    """
    there = connection.execute(
        "select first, n, coalesce(room, 0), fingerprint from datasets where dataset = ?", [number]
    ).fetchone()
    if there is None or there[3] != after:
        raise StoreError("the data set has changed meanwhile: try again")
    first, n, room, _ = there
    if not room or n < 2:
        raise StoreError("no sample can be taken out of this data set")
    last = first + n - 1
    asked = connection.execute("select 1 from runs where dataset = ? and n >= ? limit 1", [number, n]).fetchone()
    said = connection.execute(
        "select 1 where exists (from outputs where sample = $1) or exists (from annotations where sample = $1)"
        " or exists (from notes where sample = $1)",
        [last],
    ).fetchone()
    if asked is not None or said is not None:
        raise StoreError("there is a run, an answer or a note about it already: it stays")
    connection.execute("delete from samples where sample = ?", [last])
    connection.execute(
        "update datasets set n = ?, fingerprint = ?, asked = null where dataset = ?", [n - 1, fingerprint, number]
    )
    found = dataset(connection, number)
    assert found is not None
    return found


def _label_set(connection: "DuckDBPyConnection", number: int, row: SampleRow) -> int:
    """The number of the sample's combination of labels in its data set, which is added where it is new."""
    labels = [sorted(set(row.emotions)), sorted(set(row.valences))]
    known = connection.execute(
        "select label_set from label_sets where dataset = ? and emotions = ?::varchar[] and valences = ?::varchar[]",
        [number, *labels],
    ).fetchone()
    if known is not None:
        return int(known[0])
    fresh = connection.execute(
        "insert into label_sets select ?, coalesce(max(label_set) + 1, 0), ?::varchar[], ?::varchar[] from label_sets"
        " where dataset = ? returning label_set",
        [number, *labels, number],
    ).fetchone()
    assert fresh is not None
    return int(fresh[0])


def datasets(connection: "DuckDBPyConnection", trash: bool = False) -> list[Dataset]:
    """All data sets, in the order in which they came: those in use, or those in the trash."""
    which = "is not null" if trash else "is null"
    return [
        Dataset(*row) for row in connection.execute(f"{_DATASET} where deleted {which} order by dataset").fetchall()
    ]


def dataset(connection: "DuckDBPyConnection", key: str | int) -> Dataset | None:
    """The data set of that name, which is not in the trash, or of that number."""
    where = "name = ? and deleted is null" if isinstance(key, str) else "dataset = ?"
    row = connection.execute(f"{_DATASET} where {where}", [key]).fetchone()
    return Dataset(*row) if row else None


def dataset_of(connection: "DuckDBPyConnection", sample: int) -> Dataset | None:
    """The data set that a sample is of; None: there is no such sample."""
    row = connection.execute(f"{_DATASET} where first <= ? and ? < first + n", [sample, sample]).fetchone()
    return Dataset(*row) if row else None


def first_of(connection: "DuckDBPyConnection", dataset: int) -> tuple[int, int]:
    """The number of its first sample, and how many there are; (0, 0) for an unknown data set."""
    row = connection.execute("select first, n from datasets where dataset = ?", [dataset]).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def emotions(connection: "DuckDBPyConnection", dataset: int) -> list[str]:
    """Every emotion that some sample of it has, sorted."""
    found = connection.execute(
        "select distinct unnest(emotions) as emotion from label_sets where dataset = ? order by emotion", [dataset]
    )
    return [row[0] for row in found.fetchall()]


def label_counts(connection: "DuckDBPyConnection", dataset: int) -> dict[str, dict[str, int]]:
    """How many samples have each emotion, and each valence: by `emotions` and `valences`, then by name."""
    first, n = first_of(connection, dataset)
    found: dict[str, dict[str, int]] = {}
    for column in ("emotions", "valences"):
        rows = connection.execute(
            f"select name, sum(n)::bigint from (select distinct label_set, unnest({column}) as name from label_sets"
            " where dataset = ?) join (select label_set, count(*) as n from samples where sample between ? and ?"
            " group by label_set) using (label_set) group by name",
            [dataset, first, first + n - 1],
        )
        found[column] = dict(rows.fetchall())
    return found


def set_asked(connection: "DuckDBPyConnection", dataset: int, fingerprint: str, asked: str) -> None:
    """Keep the fingerprint of what is asked about, unless the samples have changed since `fingerprint`."""
    connection.execute(
        "update datasets set asked = ? where dataset = ? and fingerprint = ?", [asked, dataset, fingerprint]
    )


def numbers_by_id(connection: "DuckDBPyConnection", dataset: int) -> dict[str, int]:
    """The number of each sample of a data set, by its id, in their order."""
    first, n = first_of(connection, dataset)
    found = connection.execute(
        "select id, sample from samples where sample between ? and ? order by sample", [first, first + n - 1]
    )
    return dict(found.fetchall())


def annotators(connection: "DuckDBPyConnection", dataset: int) -> list[tuple[str, int]]:
    """(name, how many samples they say something about) of those whose word stands inside the gold records."""
    first, n = first_of(connection, dataset)
    found = connection.execute(
        "select name, count(*) from (select unnest(try(json_keys(record, '$.annotators'))) as name from samples"
        " where sample between ? and ? and contains(record, '\"annotators\"')) group by name order by name",
        [first, first + n - 1],
    )
    return found.fetchall()


_SAID = {"spans": "ARRAY", "labels": "%", "label": "VARCHAR", "values": "OBJECT", "sentences": "ARRAY"}
"""Keys under which gold says something, with the JSON type that their values have."""


def _is(path: str, kind: str) -> str:
    empty = f" and json_extract(record, '{path}')::varchar != '{{}}'" if path == "$.annotators" else ""
    return f"json_type(record, '{path}') like '{kind}' and json_type(record, '{path}') != 'NULL'{empty}"


def said_counts(
    connection: "DuckDBPyConnection", dataset: int, names: Mapping[str, str], own: Sequence[str] = ()
) -> dict[str, int]:
    """How many samples of a data set gold says something of, by the key of records; those of none are left out.

    Args:
        names: what a key of these records is called instead, such as `words` for the `labels` of a masked text.
        own: further keys of them, under which anything may be said.
    """
    first, n = first_of(connection, dataset)
    kinds = {**_SAID, "annotators": "OBJECT", **dict.fromkeys(own, "%")}
    places = {key: [f"$.{key}", *([] if key in names else [f"$.meta.{key}"])] for key in kinds}
    there = [f"count(*) filter (where {' or '.join(_is(at, kinds[key]) for at in places[key])})" for key in kinds]
    row = connection.execute(
        f"select {', '.join(there)} from (select case when json_valid(record) then record end as record"
        " from samples where sample between ? and ?)",
        [first, first + n - 1],
    ).fetchone()
    counts = dict(zip(kinds, row or (), strict=False))
    return {names.get(key, key): count for key, count in counts.items() if count}


def neighbours(connection: "DuckDBPyConnection", number: int, reach: int) -> list[tuple[int, bytes]]:
    """A sample and those of its data set that stand at most so far from it in the file, each with its record."""
    found = connection.execute(
        "select s.sample, s.record from samples s, datasets d where d.first <= ? and ? < d.first + d.n"
        " and s.sample between greatest(d.first, ?) and least(d.first + d.n - 1, ?) order by s.sample",
        [number, number, number - reach, number + reach],
    )
    return [(sample, record.encode()) for sample, record in found.fetchall()]


def range_of(connection: "DuckDBPyConnection", number: int) -> tuple[int, int] | None:
    """The number of the first sample of a sample's data set, and how many it has; None: there is no such sample."""
    found = connection.execute(
        "select first, n from datasets where first <= ? and ? < first + n", [number, number]
    ).fetchone()
    return None if found is None else (int(found[0]), int(found[1]))


_LOOKED_AT = 500
"""Samples whose own columns are looked at: those of one file mostly have the same."""


def hashes(connection: "DuckDBPyConnection", first: int, n: int, column: str) -> "np.ndarray":
    """A hash of what each sample's column of this name among its own says, in the order of the file (n,), uint64."""
    found = connection.execute(
        "select hash(try(json_extract_string(record, ?))) as said from samples where sample between ? and ?"
        " order by sample",
        [f'$.meta."{column}"', first, first + n - 1],
    )
    said: np.ndarray = found.fetchnumpy()["said"]
    return said


def own_columns(connection: "DuckDBPyConnection", first: int, n: int) -> list[str]:
    """The names of columns of the data's own, of the first few hundred samples, in the order in which they come."""
    found = connection.execute(
        "select unnest(try(json_keys(record, '$.meta'))) from samples where sample between ? and ? order by sample",
        [first, first + min(n, _LOOKED_AT) - 1],
    )
    return list(dict.fromkeys(name for (name,) in found.fetchall()))


def said_in(connection: "DuckDBPyConnection", first: int, n: int, column: str) -> list[str | None]:
    """What each sample says in a column of its own, in the order of the file; None where it says nothing."""
    path = "/meta/" + column.replace("~", "~0").replace("/", "~1")
    found = connection.execute(
        "select try(json_extract_string(record, ?)) from samples where sample between ? and ? order by sample",
        [path, first, first + n - 1],
    )
    return [said for (said,) in found.fetchall()]


def record_range(connection: "DuckDBPyConnection", start: int, stop: int) -> list[tuple[int, bytes]]:
    """(number, record) of the samples with numbers from `start` up to but without `stop`, in their order."""
    found = connection.execute(
        "select sample, record from samples where sample >= ? and sample < ? order by sample", [start, stop]
    )
    return [(number, record.encode()) for number, record in found.fetchall()]


def records(connection: "DuckDBPyConnection", numbers: Sequence[int]) -> list[tuple[int, bytes]]:
    """Each sample's record, in the order asked for; unknown numbers are left out."""
    if not numbers:
        return []
    found = connection.execute(
        "select sample, record from samples where sample between ? and ? and sample in (select unnest(?::bigint[]))",
        [min(numbers), max(numbers), list(numbers)],
    )
    record_of = {number: record.encode() for number, record in found.fetchall()}
    return [(number, record_of[number]) for number in numbers if number in record_of]
