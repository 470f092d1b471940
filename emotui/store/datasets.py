"""Data sets: names for sets of samples, which are added all or none."""

import shutil
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from emotui import scratch
from emotui.controls import as_unicode
from emotui.errors import BadInput, StoreError
from emotui.store import access, refusals
from emotui.store.query import Dataset
from emotui.store.rows import SampleRow, now

if TYPE_CHECKING:
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


class DatasetTable:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def all(self, *, trash: bool = False) -> list[Dataset]:
        """All data sets, in the order in which they came: those in use, or those in the trash."""

        def read() -> list[Dataset]:
            with self._turns.reading() as connection:
                return listed(connection, trash)

        return list(self._turns.once(("datasets", trash), read))

    def get(self, key: str | int) -> Dataset | None:
        """The data set of that name, which is not in the trash, or of that number."""
        name = as_unicode(key) if isinstance(key, str) else key

        def read() -> Dataset | None:
            with self._turns.reading() as connection:
                return find(connection, name)

        return self._turns.once(("dataset", name), read)

    def of_sample(self, sample: int) -> Dataset:
        """The data set that a sample is of. Raises BadInput where there is no such sample."""
        with self._turns.reading() as connection:
            row = connection.execute(f"{_DATASET} where first <= ? and ? < first + n", [sample, sample]).fetchone()
        if row is None:
            raise BadInput(f"there is no sample {sample}")
        return Dataset(*row)

    def add(
        self,
        name: str,
        task: str,
        rows: Iterable[SampleRow],
        source: str,
        fingerprint: str,
        *,
        room: int | None = None,
        asked: str | None = None,
    ) -> Dataset:
        """Add samples under a name, all or none. The same name with the same fingerprint gives what is there.

        What is no Unicode in a name, as names of files need not be, stands in it as U+FFFD.

        Args:
            room: how many samples it may grow to by `extend`; None: it stays as it is.
            asked: the fingerprint of what of them can change a model's answers; None: it is set later.

        Raises:
            StoreError: the name is taken by other samples, two samples have one id, or the disk is too full.
        """
        name, source = as_unicode(name), as_unicode(source)
        if (known := self.get(name)) is not None:
            return _same(known, fingerprint)
        with staging_folder() as folder:
            staged = Staged(folder)
            staged.fill(rows)
            check_room(self._turns.path, staged)
            with self._turns.writing(beside=staged.file, memory=staged.memory) as connection:
                if (known := find(connection, name)) is not None:
                    return _same(known, fingerprint)
                return _add(connection, name, task, staged, source, fingerprint, room, asked)

    def extend(self, dataset: int, rows: Sequence[SampleRow], after: str, fingerprint: str) -> Dataset:
        """Add a few samples behind the last one of a data set that was added with room for them, all or none.

        Those that are there keep their numbers. Runs over it stay what they were: over its first samples, under the
        fingerprint that these had.

        Args:
            after: the fingerprint that it has until now.
            fingerprint: that of all its samples with the new ones.

        Raises:
            StoreError: it has no room, it has changed meanwhile, or an id is taken.
        """
        with self._turns.writing() as connection:
            there = connection.execute(
                "select first, n, coalesce(room, 0), fingerprint, name from datasets where dataset = ?", [dataset]
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
                        *(_label_set(connection, dataset, row), row.record.decode()),
                    ],
                )
            connection.execute(
                "update datasets set n = ?, fingerprint = ?, asked = null where dataset = ?",
                [n + len(rows), fingerprint, dataset],
            )
            return known(connection, dataset)

    def shorten(self, dataset: int, after: str, fingerprint: str) -> Dataset:
        """Take the last sample of a data set that grows out of it again.

        Args:
            after: the fingerprint that it has until now.
            fingerprint: that of all its samples without the last one.

        Raises:
            StoreError: it does not grow, it has changed meanwhile, it has one sample alone, or something was said about
                that sample.
        """
        with self._turns.writing() as connection:
            there = connection.execute(
                "select first, n, coalesce(room, 0), fingerprint from datasets where dataset = ?", [dataset]
            ).fetchone()
            if there is None or there[3] != after:
                raise StoreError("the data set has changed meanwhile: try again")
            first, n, room, _ = there
            if not room or n < 2:
                raise StoreError("no sample can be taken out of this data set")
            last = first + n - 1
            asked = connection.execute(
                "select 1 from runs where dataset = ? and n >= ? limit 1", [dataset, n]
            ).fetchone()
            said = connection.execute(
                "select 1 where exists (from outputs where sample = $1) or exists (from annotations where sample = $1)"
                " or exists (from notes where sample = $1)",
                [last],
            ).fetchone()
            if asked is not None or said is not None:
                raise StoreError("there is a run, an answer or a note about it already: it stays")
            connection.execute("delete from samples where sample = ?", [last])
            connection.execute(
                "update datasets set n = ?, fingerprint = ?, asked = null where dataset = ?",
                [n - 1, fingerprint, dataset],
            )
            return known(connection, dataset)

    def set_asked(self, dataset: Dataset, asked: str) -> None:
        """Keep the fingerprint of what of a data set can change a model's answers, unless it has changed since."""
        with self._turns.writing(shown=False) as connection:
            connection.execute(
                "update datasets set asked = ? where dataset = ? and fingerprint = ?",
                [asked, dataset.dataset, dataset.fingerprint],
            )


def _same(known: Dataset, fingerprint: str) -> Dataset:
    if known.fingerprint != fingerprint:
        raise StoreError(f"there is a data set {known.name!r} already, with other samples: choose another name")
    return known


def _add(
    connection: "DuckDBPyConnection",
    name: str,
    task: str,
    staged: Staged,
    source: str,
    fingerprint: str,
    room: int | None,
    asked: str | None,
) -> Dataset:
    """Copy staged samples, attached as `staged`, into the store as a new data set, in their order."""
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


def listed(connection: "DuckDBPyConnection", trash: bool = False) -> list[Dataset]:
    """All data sets, in the order in which they came: those in use, or those in the trash."""
    which = "is not null" if trash else "is null"
    return [
        Dataset(*row) for row in connection.execute(f"{_DATASET} where deleted {which} order by dataset").fetchall()
    ]


def find(connection: "DuckDBPyConnection", key: str | int) -> Dataset | None:
    """The data set of that name, which is not in the trash, or of that number."""
    where = "name = ? and deleted is null" if isinstance(key, str) else "dataset = ?"
    row = connection.execute(f"{_DATASET} where {where}", [key]).fetchone()
    return Dataset(*row) if row else None


def known(connection: "DuckDBPyConnection", number: int) -> Dataset:
    """The data set of a number that is in the store."""
    found = find(connection, number)
    assert found is not None
    return found


def first_of(connection: "DuckDBPyConnection", dataset: int) -> tuple[int, int]:
    """The number of its first sample, and how many there are; (0, 0) for an unknown data set."""
    row = connection.execute("select first, n from datasets where dataset = ?", [dataset]).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)
