"""What people did in several stores in one: annotations, notes, and ratings of versions."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.store.beside import NoteEntry
from emotui.store.query import Dataset
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import KIND as ANNOTATED
from emotui.workbench.annotate.fitted import is_fitted
from emotui.workbench.annotate.log_files import Taken, kept_log, take_in
from emotui.workbench.annotate.projects import annotators_of, dataset_of_texts, identity_of_texts
from emotui.workbench.generation.rating_batches import (
    BATCH,
    KINDS,
    RATING,
    UNDO,
    Batch,
    Rated,
    RatingEntry,
    read_rating_log,
)
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.runs.states import with_state
from emotui.workbench.shards.merge import Merged, dataset_in


class MergedLog(msgspec.Struct, frozen=True):
    """What was new in the log of an annotator of a dataset."""

    dataset: str
    log: Taken


class MergedBeside(msgspec.Struct, frozen=True):
    """What was new of a dataset beside its annotations: entries of notes and codes, and ratings of versions.

    `twice`: ratings of one person at one place, made on two machines: the newer counts. `strangers`: of how many
    ratings the store does not have the run whose versions they are about.
    """

    dataset: str
    notes: int = 0
    ratings: int = 0
    twice: int = 0
    strangers: int = 0


class MergedFile(msgspec.Struct, frozen=True):
    """Predictions that came from a file, as a source of a dataset. `there`: the target had the same already."""

    dataset: str
    source: str
    n: int
    there: bool


class MergedPeople(msgspec.Struct, frozen=True):
    """What was new of what people did, and of files of predictions. `left`: the kinds of entries that are not brought
    along, with their counts.
    """

    files: tuple[MergedFile, ...] = ()
    logs: tuple[MergedLog, ...] = ()
    beside: tuple[MergedBeside, ...] = ()
    left: Mapping[str, int] = {}


def merge_people(target: Store, sources: Sequence[Store], runs: Sequence[Merged] = ()) -> MergedPeople:
    """Bring what people annotated, noted and rated in the stores, and files of predictions, into the target, with the
    datasets of it.

    In any order and twice without harm. A scheme comes along where the target has none of its own; assignments do not.

    Args:
        runs: what `merge` kept of the same stores, so that ratings of versions find the run that these are of now.

    Raises:
        BadInput: an annotator's name or a dataset of a store cannot be, or its entries cannot be read.
    """
    logs: list[MergedLog] = []
    beside: list[MergedBeside] = []
    files: list[MergedFile] = []
    left: Counter[str] = Counter()
    with target.alone():
        for store in sources:
            with store.together():
                every, datasets = store.annotations.entries(), store.datasets.all()
            left.update(one.kind for one in every if not one.kind.startswith((ANNOTATED, KINDS)))
            names = {
                path_and_run[1]: one.run.run for one in runs for path_and_run in one.of if path_and_run[0] == store.path
            }
            for own in datasets:
                files += _take_files(target, store, own)
                with store.together():
                    annotators, notes = annotators_of(store, own), store.notes.entries(own.dataset)
                rated = any(one.kind == BATCH and _batch(store, one).dataset == own.dataset for one in every)
                if not (annotators or notes or rated):
                    continue
                dataset = _there(target, store, own)
                if annotators:
                    Desk(target).take_scheme(dataset, store, own)
                for name in annotators:
                    taken = take_in(target, dataset, name, kept_log(store, own, name).entries)
                    logs.append(MergedLog(dataset.name, taken))
                    Desk(target).begin(dataset.dataset, name).publish()
                if notes or rated:
                    new = _take_notes(target, dataset, store, own)
                    more = _take_ratings(target, dataset, store, own, names) if rated else MergedBeside("")
                    beside.append(replace(more, dataset=dataset.name, notes=new))
    return MergedPeople(tuple(files), tuple(logs), tuple(beside), dict(left))


# Predictions from files.


def _take_files(target: Store, store: Store, own: Dataset) -> Iterator[MergedFile]:
    """Bring along the sources of a dataset that are from files, but not those fitted to somebody's answers there.

    One whose name another source has in the target goes by its store's name too.
    """
    for run in store.runs.all(own.dataset):
        if run.source != FILE or is_fitted(run) or with_state(run).state != "done":
            continue
        here = dataset_in(target, store, own).read_as(run.task)
        offset = target.samples.file_order(here.dataset).start - store.samples.file_order(own.dataset).start
        said = [
            Said(row.sample + offset, row.repeat, (row.raw or "{}").encode())
            for row in last_attempts(store.results.of_run(run.run))
        ]
        known = {one.identity for one in target.runs.all(here.dataset)}
        for name in (run.model, f"{run.model} of {Path(store.path).stem}"):
            try:
                kept = keep_said(target, here, name, FILE, said)
            except BadInput:
                continue
            yield MergedFile(here.name, kept.model, kept.n, kept.identity in known)
            break
        else:
            raise BadInput(
                f"{literal(str(store.path))}: {literal(own.name)} has predictions {literal(run.model)}, and so have"
                f" {literal(str(target.path))} and another store: emotui delete those that are not wanted"
            )


def _there(target: Store, store: Store, own: Dataset) -> Dataset:
    """The dataset of another store in the target: that of the same records, else of the same texts, else a new one."""
    same = any((one.task, one.fingerprint) == (own.task, own.fingerprint) for one in target.datasets.all())
    texts = None if same else dataset_of_texts(target, own.n, identity_of_texts(store, own))
    return texts or dataset_in(target, store, own)


def _ids(store: Store, dataset: Dataset) -> dict[int, str]:
    return {number: id for id, number in store.samples.numbers_by_id(dataset.dataset).items()}


class _Keys:
    """Names for entries by what they say: the same in every store. Of several that say the same each has its own."""

    def __init__(self) -> None:
        self._alike: Counter[Hashable] = Counter()

    def of(self, *content: Hashable) -> Hashable:
        self._alike[content] += 1
        return content, self._alike[content]


# Notes.


def _take_notes(target: Store, dataset: Dataset, store: Store, own: Dataset) -> int:
    """Keep the entries of notes and codes that the target lacks; how many."""
    # One turn each, one after the other: who held one store while it waits for another could be waited for in turn.
    with target.together():
        there = {key: entry.entry for key, entry in _keyed_notes(target, dataset)}
        numbers = target.samples.numbers_by_id(dataset.dataset)
    with store.together():
        ids, keyed = _ids(store, own), list(_keyed_notes(store, own))
    keys = dict[int, Hashable]()
    new = list[NoteEntry]()
    for key, entry in keyed:
        keys[entry.entry] = key
        if key in there:
            continue
        there[key] = -1 - len(new)
        sample = None if entry.sample is None else numbers[ids[entry.sample]]
        undoes = None if entry.undoes is None else there[keys[entry.undoes]]
        new.append(replace(entry, entry=there[key], dataset=dataset.dataset, sample=sample, undoes=undoes))
    target.notes.take_over(new)
    return len(new)


def _keyed_notes(store: Store, dataset: Dataset) -> Iterator[tuple[Hashable, NoteEntry]]:
    """Entries with a name each. An undo of what is not there is left out."""
    ids, keys, key_of = {0: None, **_ids(store, dataset)}, _Keys(), dict[int, Hashable]()
    for entry in sorted(store.notes.entries(dataset.dataset), key=lambda one: one.entry):
        if (entry.undoes is not None and entry.undoes not in key_of) or (entry.sample or 0) not in ids:
            continue
        undoes = None if entry.undoes is None else key_of[entry.undoes]
        sample = ids[entry.sample or 0]
        key = keys.of(entry.kind, sample, entry.annotator, entry.text, entry.codes, undoes, entry.at)
        key_of[entry.entry] = key
        yield key, entry


# Ratings of versions.


class _RatingLine(msgspec.Struct, frozen=True):
    """An entry of the rating log with its name, and the names of the batch that it belongs to and of what it undoes."""

    key: Hashable
    entry: Annotation
    batch: Hashable = None
    undoes: Hashable = None


def _take_ratings(
    target: Store, dataset: Dataset, store: Store, own: Dataset, names: Mapping[str, str]
) -> MergedBeside:
    """Keep the batches and ratings that the target lacks; of two ratings at one place of a batch the newer counts."""
    held = {line.key: line.entry.annotation for line in _rating_lines(target, dataset, {})}
    new = [line for line in _rating_lines(store, own, names) if line.key not in held]
    numbers, ids = target.samples.numbers_by_id(dataset.dataset), _ids(store, own)

    def numbered(given: Sequence[int]) -> list[Annotation]:
        number = held | {line.key: at for line, at in zip(new, given, strict=True)}
        return [_rating_entry(line, number, dataset, numbers, ids, names) for line in new]

    target.annotations.take_over(len(new), numbered)
    twice = _settle(target, dataset)
    runs = target.runs.names()
    given = [msgspec.json.decode(line.entry.payload, type=RatingEntry) for line in new if line.entry.kind == RATING]
    strangers = sum(bool(one.run) and names.get(one.run, one.run) not in runs for one in given)
    return MergedBeside(dataset.name, ratings=len(given), twice=twice, strangers=strangers)


def _rating_lines(store: Store, dataset: Dataset, names: Mapping[str, str]) -> Iterator[_RatingLine]:
    ids, keys = {0: None, **_ids(store, dataset)}, _Keys()
    key_of = dict[int, Hashable]()
    for one in store.annotations.entries(kind=KINDS):
        if one.kind == BATCH:
            batch = _batch(store, one)
            if batch.dataset != dataset.dataset or not ids.keys() >= {it.sample or 0 for it in batch.items}:
                continue
            items = tuple((it.version, ids[it.sample or 0], names.get(it.run, it.run), it.asked) for it in batch.items)
            line = _RatingLine(keys.of(BATCH, one.annotator, one.at, items, batch.allowed), one)
        elif one.kind == RATING:
            said = _decoded(store, one, RatingEntry)
            if said.batch not in key_of:
                continue
            of = key_of[said.batch]
            line = _RatingLine(keys.of(RATING, of, said.at, said.emotion, said.seconds, one.at), one, batch=of)
        elif one.kind == UNDO and one.undoes in key_of:
            of = key_of[one.undoes]
            line = _RatingLine(keys.of(UNDO, of, one.at), one, undoes=of)
        else:
            continue
        key_of[one.annotation] = line.key
        yield line


def _rating_entry(
    line: _RatingLine,
    number: Mapping[Hashable, int],
    dataset: Dataset,
    numbers: Mapping[str, int],
    ids: Mapping[int, str],
    names: Mapping[str, str],
) -> Annotation:
    """An entry of another store as the target has it."""
    one, payload = line.entry, line.entry.payload
    if one.kind == BATCH:
        batch = msgspec.json.decode(payload, type=Batch)
        items = tuple(
            replace(it, sample=None if it.sample is None else numbers[ids[it.sample]], run=names.get(it.run, it.run))
            for it in batch.items
        )
        payload = msgspec.json.encode(replace(batch, dataset=dataset.dataset, items=items))
    elif one.kind == RATING:
        said = msgspec.json.decode(payload, type=RatingEntry)
        payload = msgspec.json.encode(replace(said, batch=number[line.batch], run=names.get(said.run, said.run)))
    return replace(
        one,
        annotation=number[line.key],
        sample=numbers.get(ids.get(one.sample or 0, "")),
        payload=payload,
        undoes=None if one.undoes is None else number[line.undoes],
    )


def _settle(target: Store, dataset: Dataset) -> int:
    """Take back all but the newest of the ratings at one place of a batch; how many. The same on every machine."""
    places = dict[tuple[int, int], list[Rated]]()
    for rated in read_rating_log(target.annotations.entries(kind=KINDS), dataset.dataset).ratings:
        places.setdefault((rated.batch, rated.at), []).append(rated)
    old = [
        Annotation(0, UNDO, one.item.sample, one.rater, b"{}", one.number, last.made)
        for *before, last in places.values()
        for one in before
    ]
    target.annotations.take_over(
        len(old), lambda given: [replace(o, annotation=n) for o, n in zip(old, given, strict=True)]
    )
    return len(old)


def _batch(store: Store, entry: Annotation) -> Batch:
    return _decoded(store, entry, Batch)


T = TypeVar("T")


def _decoded(store: Store, entry: Annotation, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(entry.payload, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        where = f"{store.path}: entry {entry.annotation}"
        raise BadInput(f"{literal(where)}: no rating: {literal(str(error))}") from None
