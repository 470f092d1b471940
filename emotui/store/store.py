"""A workspace on disk. Every method is one short transaction (long iterations: one a chunk); safe across threads."""

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from emotui import scratch
from emotui.bounded import is_there
from emotui.controls import as_unicode
from emotui.errors import BadInput, BadStore, StoreError
from emotui.store import access, annotations, gold, list_rows, refusals, runs, samples, schema, trash
from emotui.store.access import Access
from emotui.store.beside import EmbeddingTable, NoteLog, SliceTable
from emotui.store.query import Dataset, ListQuery, ListRow, Run
from emotui.store.rows import Annotation, Outcome, Outline, ResultRow, SampleRow, ValueSum
from emotui.store.upgrade import OnUpgrade, Upgraded

if TYPE_CHECKING:
    import numpy as np

    Numbers = Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]]
    """Sample numbers, such as a slice of what `Store.order` gave."""

_CHUNK = 500
"""Rows that the first transaction of a long iteration reads."""

_WIDE_CHUNK = 20_000
"""Rows that one reads at most: some tens of milliseconds, for which others wait."""

_CHUNK_BYTES = 8 << 20
"""What one may bring in, by the rows before."""


def default_path() -> Path:
    """The workspace in the platform's data folder."""
    import platformdirs

    return Path(platformdirs.user_data_dir("emotui")) / "workspace.duckdb"


class Store:
    """Made by `Store.open`. Every method raises StoreError where the file is held too long or cannot be used."""

    def __init__(self, turns: Access) -> None:
        self.path = turns.path
        self.read_only = turns.read_only
        self._turns = turns
        self.notes = NoteLog(turns)
        self.slices = SliceTable(turns)
        self.embeddings = EmbeddingTable(turns)
        self._seen: tuple[object, int] | None = None
        self.made = False
        """Whether `open` made the file."""
        self.upgraded: Upgraded | None = None
        """What `open` did to a file of an older version."""

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        create: bool = True,
        patience: float | None = None,
        on_waiting: access.OnWaiting | None = None,
        again: bool = True,
        on_upgrade: OnUpgrade | None = None,
        keep_copy: bool = False,
    ) -> Self:
        """Open a workspace, make it where it is missing (`create`), and bring an older one up to date.

        Args:
            patience, on_waiting: as of `Access`, for this and for whatever is done with the store.
            again: look for macros also in one that has not changed since it was last looked through.
            on_upgrade, keep_copy: as of `Access.bring_up_to_date`.

        Raises:
            StoreError: it is missing, no workspace, of a newer version, held, or may not be written.
        """
        file = Path(path)
        if "\0" in str(path):
            raise BadStore(f"{str(path)!r} is no file's name: choose another with --db")
        if any(as_unicode(name) != name for name in (str(file.absolute()), os.path.realpath(path))):
            raise BadStore(f"{str(file.absolute())!r} is not UTF-8, as the path of a store must be: use --db")
        made = False
        if not is_there(file):
            check_no_log(file)
            if create and not read_only:
                made = _make(file)
        store = cls(Access(file, read_only=read_only, patience=patience, on_waiting=on_waiting))
        store.made = made
        store.upgraded = store._turns.bring_up_to_date(again=again, on_upgrade=on_upgrade, keep_copy=keep_copy)
        scratch.sweep_soon(None if read_only else file)
        return store

    def leave_no_empty(self) -> None:
        """Remove the file where `open` made it, nothing has been kept in it since, and nobody else has it open."""
        if not self.made:
            return
        self._turns.patience = 0
        with contextlib.suppress(StoreError, OSError):
            with self._turns.reading() as connection:
                if not schema.is_empty(connection):
                    return
            with self._turns.writing(shown=False) as connection:
                if schema.is_empty(connection):
                    self.path.unlink()
            self._turns.close()

    def waiting(self, on_waiting: access.OnWaiting, patience: float | None = None) -> Self:
        """The same store for work that rather waits than ends while another program holds the file.

        Args:
            on_waiting: told now and then for whom it waits, and for how many seconds. What it raises ends the waiting.
        """
        turns = Access(self.path, read_only=self.read_only, patience=patience, on_waiting=on_waiting)
        turns.was_open = self._turns.was_open
        return type(self)(turns)

    def together(self) -> contextlib.AbstractContextManager[None]:
        """One transaction for all that this thread reads inside; nothing may be written there."""
        return self._turns.together()

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Nobody else brings answers together in the file meanwhile (`Access.alone`)."""
        return self._turns.alone()

    def look_through(self) -> None:
        """Remember that no macro stands in it as it is now, for who opens it next, if nobody else has it open.

        Raises:
            StoreError: it holds one, or cannot be read.
        """
        Access(self.path, read_only=True, patience=0).look_through()

    def datasets(self, *, trash: bool = False) -> list[Dataset]:
        """All data sets, in the order in which they came: those in use, or those in the trash."""
        with self._turns.reading() as connection:
            return samples.datasets(connection, trash)

    def dataset(self, key: str | int) -> Dataset | None:
        """The data set of that name, which is not in the trash, or of that number."""
        key = as_unicode(key) if isinstance(key, str) else key
        with self._turns.reading() as connection:
            return samples.dataset(connection, key)

    def dataset_of(self, sample: int) -> Dataset:
        """The data set that a sample is of. Raises BadInput where there is no such sample."""
        with self._turns.reading() as connection:
            found = samples.dataset_of(connection, sample)
        if found is None:
            raise BadInput(f"there is no sample {sample}")
        return found

    def add_dataset(
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
            room: how many samples it may grow to by `extend_dataset`; None: it stays as it is.
            asked: the fingerprint of what of them can change a model's answers; None: it is set later.

        Raises:
            StoreError: the name is taken by other samples, two samples have one id, or the disk is too full.
        """
        name, source = as_unicode(name), as_unicode(source)
        if (known := self.dataset(name)) is not None:
            return _same(known, fingerprint)
        with samples.staging_folder() as folder:
            staged = samples.Staged(folder)
            staged.fill(rows)
            samples.check_room(self.path, staged)
            with self._turns.writing(beside=staged.file, memory=staged.memory) as connection:
                if (known := samples.dataset(connection, name)) is not None:
                    return _same(known, fingerprint)
                return samples.add(connection, name, task, staged, source, fingerprint, room, asked)

    def extend_dataset(self, dataset: int, rows: Sequence[SampleRow], after: str, fingerprint: str) -> Dataset:
        """Add a few samples behind the last one of a data set that was added with room for them, all or none.

        Args:
            after: the fingerprint that it has until now.
            fingerprint: that of all its samples with the new ones.

        Raises:
            StoreError: it has no room, it has changed meanwhile, or an id is taken.
        """
        with self._turns.writing() as connection:
            return samples.extend(connection, dataset, rows, after, fingerprint)

    def shorten_dataset(self, dataset: int, after: str, fingerprint: str) -> Dataset:
        """Take the last sample of a data set that grows out of it again.

        Args:
            after: the fingerprint that it has until now.
            fingerprint: that of all its samples without the last one.

        Raises:
            StoreError: it has changed meanwhile, it has one sample alone, or something was said about that sample.
        """
        with self._turns.writing() as connection:
            return samples.shorten(connection, dataset, after, fingerprint)

    def set_asked(self, dataset: Dataset, asked: str) -> None:
        """Keep the fingerprint of what of a data set can change a model's answers."""
        with self._turns.writing(shown=False) as connection:
            samples.set_asked(connection, dataset.dataset, dataset.fingerprint, asked)

    def replace_gold(
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
        with samples.staging_folder() as folder:
            staged = samples.Staged(folder)
            staged.fill(rows)
            samples.check_room(self.path, staged)
            with self._turns.writing(beside=staged.file, memory=staged.memory) as connection:
                check(runs.runs(connection, dataset.dataset))
                return gold.replace(
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
            check(runs.runs(connection, old))
            gold.move_what_is_said(connection, old, new, moved)

    def fingerprints(self, dataset: int) -> list[str]:
        """The fingerprint of each version of a data set's gold, today's first."""
        with self._turns.reading() as connection:
            return gold.fingerprints(connection, dataset)

    def gold_versions(self, dataset: int) -> list[tuple[int, str, str | None]]:
        """(version, where it is from, when it was made) of each version of a data set's gold, the first one first."""
        with self._turns.reading() as connection:
            return gold.versions(connection, dataset)

    def former_gold(self, dataset: int, version: int) -> dict[int, bytes]:
        """The records of a former version, by the number of the sample, where they are not today's."""
        with self._turns.reading(access.ROOMY) as connection:
            return gold.former(connection, dataset, version)

    def scored_under(self, run: str) -> int | None:
        """The oldest version of gold that a current score of the run was computed under; None: it has no score."""
        return min(self.golds_of(run), default=None)

    def golds_of(self, run: str) -> tuple[int, ...]:
        """The versions of gold that current scores of the run were computed under, the oldest first."""
        with self._turns.reading() as connection:
            return gold.golds_of(connection, run)

    def rename(self, old: str, new: str) -> Dataset | Run:
        """Give a data set or run another name; what it was before. Raises BadInput: there is none, or it is taken."""
        with self._turns.writing() as connection:
            return trash.rename(connection, as_unicode(old), as_unicode(new))

    def named(self, name: str) -> Dataset | Run:
        """The data set of that name, else the run of that id or beginning of it. Raises BadInput."""
        with self._turns.reading() as connection:
            return trash.named(connection, as_unicode(name))

    def delete(self, name: str) -> Dataset | Run:
        """Put a data set, with its runs, or a run into the trash; what it was. Raises BadInput."""
        with self._turns.writing() as connection:
            return trash.delete(connection, as_unicode(name))

    def restore(self, name: str) -> Dataset | Run:
        """Bring back what was last put into the trash under this name. Raises BadInput where that cannot be."""
        with self._turns.writing() as connection:
            return trash.restore(connection, name)

    def order(self, query: ListQuery) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """(n,) int64: numbers of the samples asked for, in the order asked for.

        Ties stand in file order; samples without the value sorted by stand last, both ways. Text is looked for
        literally, without regard to case. Raises ValueError for an unknown mark, or a
        sort by a metric where there is no run.
        """
        # Imported here because it needs numpy, and the first paint does not.
        from emotui.store import listing

        with self._turns.reading() as connection:
            return listing.order(connection, query)

    def metric_means(self, dataset: int, run: str, metric: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """(n,) by the place of the sample: what a run scored, the mean over repeats; NaN where it has no value."""
        from emotui.store import listing

        with self._turns.reading() as connection:
            return listing.metric_means(connection, dataset, run, metric)

    def marks(self, dataset: int, run: str) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """(n,) by the place of the sample: a run's errors over its repeats (`query.marks_to_bits`); -1: no score."""
        from emotui.store import listing

        with self._turns.reading() as connection:
            return listing.marks(connection, dataset, run)

    def page(self, numbers: "Numbers", run: str | None) -> list[ListRow]:
        """The lines of these samples in the list, in their order; unknown numbers are left out."""
        with self._turns.reading() as connection:
            return list_rows.page(connection, _plain(numbers), run)

    def values_and_marks(self, numbers: "Numbers", run: str) -> dict[int, tuple[dict[str, float | None], str]]:
        """What a run scored at these samples, over its repeats, and its marks; those without a score are left out."""
        with self._turns.reading(access.ROOMY) as connection:
            return list_rows.values_and_marks(connection, _plain(numbers), run)

    def file_order(self, dataset: int) -> range:
        """The numbers of a data set's samples, in file order."""
        with self._turns.reading() as connection:
            first, n = samples.first_of(connection, dataset)
        return range(first, first + n)

    def emotions(self, dataset: int) -> list[str]:
        """Every emotion that some sample, or sentence of one, has; sorted."""
        with self._turns.reading() as connection:
            return samples.emotions(connection, dataset)

    def label_counts(self, dataset: int) -> dict[str, dict[str, int]]:
        """How many samples have each emotion, and each valence: by `emotions` and `valences`, then by name."""
        with self._turns.reading() as connection:
            return samples.label_counts(connection, dataset)

    def numbers_by_id(self, dataset: int) -> dict[str, int]:
        """The number of each sample of a data set, by its id, in file order."""
        with self._turns.reading(access.ROOMY) as connection:
            return samples.numbers_by_id(connection, dataset)

    def said_counts(self, dataset: int, names: Mapping[str, str], own: Sequence[str] = ()) -> dict[str, int]:
        """How many samples gold says something of, by the key of records; `names`: what keys are called instead,
        `own`: further keys.
        """
        with self._turns.reading(access.ROOMY) as connection:
            return samples.said_counts(connection, dataset, names, own)

    def annotators(self, dataset: int) -> list[tuple[str, int]]:
        """(name, how many samples they say something about) of those whose word stands inside the gold records."""
        with self._turns.reading(access.ROOMY) as connection:
            return samples.annotators(connection, dataset)

    def samples(self, numbers: "Numbers") -> list[tuple[int, bytes]]:
        """(number, record as JSON) of each, in the order asked for; unknown numbers are left out."""
        with self._turns.reading(access.ROOMY) as connection:
            return samples.records(connection, _plain(numbers))

    def neighbours(self, number: int, reach: int) -> list[tuple[int, bytes]]:
        """(number, record as JSON) of a sample and of up to `reach` on either side in its data set, in file order."""
        with self._turns.reading(access.ROOMY) as connection:
            return samples.neighbours(connection, number, reach)

    def range_of(self, number: int) -> tuple[int, int] | None:
        """The number of the first sample of a sample's data set, and how many it has; None: there is no such sample."""
        with self._turns.reading() as connection:
            return samples.range_of(connection, number)

    def hashes(self, first: int, n: int, column: str) -> "np.ndarray":
        """A hash of what each of `n` samples says in a column of its own, in the order of the file (n,), uint64."""
        with self._turns.reading(access.ROOMY) as connection:
            return samples.hashes(connection, first, n, column)

    def own_columns(self, dataset: int) -> list[str]:
        """The names of a data set's own columns, as far as its first few hundred samples have them."""
        with self._turns.reading() as connection:
            return samples.own_columns(connection, *samples.first_of(connection, dataset))

    def said_in(self, dataset: int, column: str) -> list[str | None]:
        """What each sample of a data set says in a column of its own, in file order."""
        with self._turns.reading(access.ROOMY) as connection:
            return samples.said_in(connection, *samples.first_of(connection, dataset), column)

    def dataset_samples(self, dataset: int, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, bytes]]:
        """(number, record as JSON) in file order, positions `start` up to but without `stop`."""
        begin, size = max(start, 0), _CHUNK
        with self._turns.reading(access.ROOMY) as connection:
            first, n = samples.first_of(connection, dataset)
            stop = n if stop is None else min(stop, n)
            rows = samples.record_range(connection, first + begin, first + min(begin + size, stop))
        while begin < stop:
            yield from rows
            begin += size
            size = _further_rows(size, sum(len(record) for _, record in rows))
            if begin < stop:
                with self._turns.reading(access.ROOMY) as connection:
                    rows = samples.record_range(connection, first + begin, first + min(begin + size, stop))

    def start_run(
        self,
        run: str,
        identity: str,
        task: str,
        model: str,
        dataset: int,
        config: dict[str, object],
        n: int,
        source: str = "model",
        *,
        former: str = "",
    ) -> Run:
        """Add a run in state `running`, or take one of the same id and identity up again.

        Args:
            identity: SHA-256 over all that can change its outputs.
            config: what a reader wants to know of it, any JSON.
            n: how many (sample, repeat) it will ask.
            source: one of `SOURCES`.
            former: the identity that the run of this id may have until now; empty: the same.

        Raises:
            StoreError: the id is taken by a run of another identity.
        """
        with self._turns.writing() as connection:
            return runs.start(connection, run, identity, task, model, dataset, config, n, source, former)

    def keep_run(self, run: Run, rows: Sequence[ResultRow], *, gold: int) -> None:
        """Add a run that was made elsewhere, with its id, times and state, its outputs, predictions and scores.

        Args:
            gold: the version of gold that the scores were computed under.

        Raises:
            StoreError: the id is taken.
        """
        with self._turns.writing() as connection:
            runs.keep(connection, run, rows, gold)

    def runs(self, dataset: int | None = None, *, trash: bool = False) -> list[Run]:
        """Runs, newest first: those in use, or those in the trash."""
        with self._turns.reading() as connection:
            return runs.runs(connection, dataset, trash)

    def run_names(self) -> set[str]:
        """The ids of runs that are taken, those in the trash among them."""
        with self._turns.reading() as connection:
            return runs.names(connection)

    def run(self, prefix: str) -> Run:
        """The run of that id, or the only one whose id begins so. Raises BadInput."""
        with self._turns.reading() as connection:
            return runs.one(connection, prefix)

    def commit_batch(self, run: str, rows: Sequence[ResultRow], *, gold: int | None = None) -> None:
        """Keep a finished batch: outputs, predictions and scores, all or none.

        Of several rows of one (sample, repeat) the last counts; the others stay, superseded.

        Args:
            gold: the version of gold that the scores were computed under; None: today's.
        """
        with self._turns.writing() as connection:
            runs.commit_batch(connection, run, rows, gold)

    def revise(self, run: str, rows: Sequence[ResultRow], withdrawn: Sequence[int], *, gold: int) -> None:
        """Let a person's source say these rows, and nothing of the `withdrawn` samples any more, all or none.

        Args:
            gold: the version of gold that the scores were computed under.
        """
        with self._turns.writing() as connection:
            runs.revise(connection, run, rows, withdrawn, gold)

    def set_state(self, run: str, state: str, error: str | None = None) -> None:
        """Say how a run stands: running, done, stopped or failed."""
        with self._turns.writing() as connection:
            runs.set_state(connection, run, state, error)

    def done(self, run: str, passed_over: str = "") -> set[tuple[int, int]]:
        """Each (sample, repeat) that has an output. Those that only failed are not among them: ask them again.

        Args:
            passed_over: those that failed with an error that begins so are among them; empty: none is.
        """
        with self._turns.reading() as connection:
            return runs.done(connection, run, passed_over)

    def results(self, run: str, numbers: "Numbers | None" = None) -> Iterator[ResultRow]:
        """What a run kept (of these samples only), in the order committed, with current predictions and scores."""
        if numbers is not None:
            with self._turns.reading(access.ROOMY) as connection:
                rows = runs.results_of(connection, run, _plain(numbers))
            yield from rows
            return
        size = _CHUNK
        with self._turns.reading(access.ROOMY) as connection:
            start, last = runs.output_bounds(connection, run)
            rows = runs.results(connection, run, start, start + size) if start <= last else []
        while start <= last:
            yield from rows
            start += size
            size = _further_rows(size, sum(map(_length, rows)))
            if start <= last:
                with self._turns.reading(access.ROOMY) as connection:
                    rows = runs.results(connection, run, start, start + size)

    def outcomes(self, run: str) -> Iterator[Outcome]:
        """What became of each question of a run, without the outputs themselves: for tables over all of it.

        By sample, in pieces; in each piece by repeat. Half the time of `results` and less (docs/results.md).
        """
        with self._turns.reading(access.ROOMY) as connection:
            first, end = runs.bounds(connection, run)
            rows = runs.outcomes(connection, run, first, min(first + _WIDE_CHUNK, end)) if first < end else []
        yield from rows
        for start in range(first + _WIDE_CHUNK, end, _WIDE_CHUNK):
            with self._turns.reading(access.ROOMY) as connection:
                rows = runs.outcomes(connection, run, start, min(start + _WIDE_CHUNK, end))
            yield from rows

    def metric_names(self, dataset: int, besides: Collection[str], task: str) -> list[str]:
        """Metrics, other than these, of which some run of a task has values, in the order in which they came."""
        with self._turns.reading() as connection:
            return runs.metric_names(connection, dataset, besides, task)

    def value_sums(self, run: str, part: str) -> list[ValueSum]:
        """The values of each metric of a run, added up by repeat, by whether a sample's record holds `part` letter by
        letter, and by its emotion and valence.
        """
        with self._turns.reading(access.ROOMY) as connection:
            return runs.value_sums(connection, run, part)

    def holding(self, dataset: int, part: str) -> list[int]:
        """The numbers of a data set's samples whose record, as JSON, holds this: a first sieve without decoding."""
        with self._turns.reading() as connection:
            return runs.holding(connection, dataset, part)

    def shapes(self, dataset: int, passage: str) -> tuple[int, int, int, int]:
        """How many samples are texts, of these one sentence with an emotion, passages, and of these of five sentences.

        Args:
            passage: what the record of a passage, as JSON, holds.
        """
        with self._turns.reading() as connection:
            return runs.shapes(connection, dataset, passage)

    def run_revisions(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """For each of these runs a value that changes when it has new outputs or scores."""
        with self._turns.reading() as connection:
            return runs.run_revisions(connection, names)

    def replace_scores(
        self, run: str, rows: Sequence[ResultRow], *, gold: int | None = None, of: int | None = None
    ) -> None:
        """Score a run again: `rows` are those of `results` with new `prediction` and `score`.

        All older predictions and scores of the run are superseded; its outputs stay untouched.

        Args:
            gold: the version of gold that the scores were computed under; None: today's.
            of: how many outputs the run had when they were read; None: however many it has.

        Raises:
            StoreError: the run has more outputs by now.
        """
        with self._turns.writing() as connection:
            runs.replace_scores(connection, run, rows, gold, of)

    def marker(self) -> tuple[object, int]:
        """A value that changes when there is something new to show. Costs a file stat while nothing was written."""
        stat = _stat(self.path)
        if self._seen is None or self._seen[0] != stat:
            with self._turns.reading() as connection:
                row = connection.execute("select revision from workspace").fetchone()
            self._seen = (stat, int(row[0]) if row else 0)
        return (str(self.path), self._seen[1])

    def append_annotation(
        self, kind: str, sample: int | None, annotator: str, payload: bytes, undoes: int | None = None
    ) -> int:
        """Add an entry to the log; its number, never used again. Raises BadInput where `undoes` cannot be undone."""
        with self._turns.writing() as connection:
            return annotations.append(connection, kind, sample, annotator, payload, undoes)

    def append_annotations(self, entries: Iterable[tuple[str, int | None, str, bytes]]) -> int:
        """Add entries of (kind, sample, annotator, payload), all or none; how many there were."""
        with self._turns.writing() as connection:
            return annotations.append_all(connection, entries)

    def append_entries(self, entries: Iterable[annotations.Entry]) -> list[Annotation]:
        """Add entries of (kind, sample, annotator, payload, undoes), all or none, and give them as they stand.

        Raises BadInput where one undoes what cannot be undone.
        """
        with self._turns.writing() as connection:
            return annotations.append_each(connection, entries)

    def take_over(self, n: int, numbered: Callable[[Sequence[int]], Sequence[Annotation]]) -> None:
        """Add `n` entries of another store's log with their moments, all or none; `numbered` is given the numbers that
        they have here.
        """
        with self._turns.writing() as connection:
            annotations.take_over(connection, n, numbered)

    def annotations(
        self,
        sample: int | None = None,
        annotator: str | None = None,
        *,
        after: int = 0,
        kind: str = "",
        within: range | None = None,
    ) -> list[Annotation]:
        """The log in its order, undone entries and undoings among them; `after` leaves out what is known already.

        Args:
            kind: how the kinds of the entries begin.
            within: the samples that they are about.
        """
        with self._turns.reading() as connection:
            return annotations.annotations(connection, sample, annotator, after, kind, within)

    def last_annotation(self, *, kind: str, within: range) -> int:
        """The number of the newest entry of these kinds about these samples; 0 where there is none."""
        with self._turns.reading() as connection:
            return annotations.last_annotation(connection, kind, within)

    def outlines(self, annotator: str, *, kind: str, within: range, after: int = 0) -> list[Outline]:
        """One annotator's entries about these samples without their payloads: for a long log."""
        with self._turns.reading() as connection:
            return annotations.outlines(connection, annotator, after, kind, within)

    def setting(self, key: str, default: Any = None) -> Any:
        """A JSON value kept under `key`, or `default`."""
        with self._turns.reading() as connection:
            return annotations.setting(connection, key, default)

    def settings(self, beginning: str) -> dict[str, Any]:
        """Every JSON value whose key begins so, by its key."""
        with self._turns.reading() as connection:
            return annotations.settings(connection, beginning)

    def change_settings(self, beginning: str, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        """Keep what `change` makes of the values whose keys begin so, all or none; nobody writes in between.

        Args:
            change: gives the values that are new by their keys, whatever these begin with; None: there is to be none.
        """
        with self._turns.writing(shown=False) as connection:
            annotations.change_settings(connection, change(annotations.settings(connection, beginning)))

    def change_setting(self, key: str, change: Callable[[Any], Any]) -> None:
        """Keep what `change` makes of the JSON value under `key` (None: there is none); nobody writes in between."""
        with self._turns.writing(shown=False) as connection:
            annotations.set_setting(connection, key, change(annotations.setting(connection, key, None)))

    def set_setting(self, key: str, value: Any) -> None:
        """Keep a JSON value under `key`."""
        with self._turns.writing(shown=False) as connection:
            annotations.set_setting(connection, key, value)


def _further_rows(rows: int, size: int) -> int:
    """How many rows the next transaction of an iteration reads, where one of so many brought so many bytes."""
    return max(_CHUNK, min(4 * rows, _WIDE_CHUNK, rows * _CHUNK_BYTES // max(size, 1)))


def _length(row: ResultRow) -> int:
    return len(row.prompt or "") + len(row.raw or "") + (len(row.score.detail) if row.score else 0)


def _plain(numbers: "Numbers") -> list[int]:
    """As Python integers, which is what DuckDB's parameters take."""
    return [int(number) for number in numbers]


def _same(known: Dataset, fingerprint: str) -> Dataset:
    if known.fingerprint != fingerprint:
        raise StoreError(f"there is a data set {known.name!r} already, with other samples: choose another name")
    return known


def _stat(path: Path) -> object:
    """What changes when the file, or the log file beside it, is written."""
    seen: list[tuple[int, int]] = []
    for file in (path, path.with_name(path.name + ".wal")):
        with contextlib.suppress(FileNotFoundError):
            stat = file.stat()
            seen.append((stat.st_mtime_ns, stat.st_size))
    return tuple(seen)


def check_no_log(path: Path) -> None:
    """Raises: BadStore where the log of a store lies there without it: a new one would take it for its own."""
    log = path.with_name(path.name + ".wal")
    if is_there(log):
        raise BadStore(
            f"{log} is the log of a store that is gone, and holds what was written last: bring {path} back beside it, "
            "or move the log away to begin anew"
        )


def _put_in_place(fresh: Path, path: Path) -> None:
    """Give a file its name. Raises FileExistsError where another program was quicker."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        fresh.rename(path)


def _make(path: Path) -> bool:
    """Make an empty workspace under another name and put it in place whole, so that nobody ever meets half of one.

    Returns: False where another program was quicker, whose workspace stays.
    """
    from emotui.store import duckdb_core

    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(duckdb_core.connect(fresh, config=access.settings())) as connection:
            connection.execute("begin")
            schema.create(connection)
            connection.execute("commit")
        try:
            _put_in_place(fresh, path)
        except FileExistsError:
            return False
        return True
    except (duckdb_core.Error, OSError) as error:
        raise refusals.refusal(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()
