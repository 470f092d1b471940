"""A dataset with its gold and what chosen sources say, as rows for any layout that writes."""

import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats import check_not_over, jsonl, write
from emotui.formats.beside import OF_PEOPLE
from emotui.formats.json_document import present
from emotui.formats.layouts.layout import Layout, TextRow
from emotui.formats.layouts.registry import LAYOUTS, layout_named
from emotui.formats.rows import literal
from emotui.metrics.locating import locate
from emotui.metrics.span_output import parse_output
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.texts import RENAMED, SAID, own_fields, said_of_text
from emotui.workbench.annotate.events import SKIP
from emotui.workbench.annotate.others import PERSON, names_of, skipped_texts
from emotui.workbench.datasets.samples import check_not_over_origin

# Runs out of the store, as files that other commands and programs read.

More = Callable[[int, msgspec.Struct], msgspec.Struct]
"""From a sample's number and a run's record of it to the record with what was said of the answer since."""


def _labelled(store: Store, run: Run) -> More:
    from emotui.workbench.generation.ratings import labelled  # needed by one task alone

    return labelled(store, run)


_WITH_MORE: Mapping[str, Callable[[Store, Run], More]] = {"generation": _labelled}


def export_run(store: Store, run: str, path: str) -> int:
    """Write a run's predictions, format by ending. An answer that failed is written as an empty one.

    Of a run with repeats the first is written, where the task's records have no place for repeats.

    Returns:
        How many records were written.

    Raises:
        BadInput: no such run, an ending that no format has, the store itself, or a file that the samples came from.
    """
    check_not_over(path, store.path)
    found = store.runs.get(run)
    if (dataset := store.datasets.get(found.dataset)) is not None:
        check_not_over_origin(path, dataset)
    written = run_records(store, found)
    if not written:
        raise BadInput(f"run {found.run} has no results yet")
    write(path, written)
    return len(written)


def run_records(store: Store, run: Run, numbers: Sequence[int] | None = None) -> list[msgspec.Struct]:
    """A run's answers as records in files, of these samples in this order; read from the store at once.

    Args:
        numbers: of samples; None: all that it was asked about.
    """
    task = task_named(run.task)
    decode, named = msgspec.json.Decoder(task.prediction).decode, msgspec.json.Decoder(_Named).decode
    whole, sample = task.files.whole, msgspec.json.Decoder(task.sample).decode
    found: list[tuple[int, int, msgspec.Struct]] = []
    more = _WITH_MORE[task.name](store, run) if task.name in _WITH_MORE else None
    wanted = None if numbers is None else {number: at for at, number in enumerate(numbers)}
    for one in store.results.outcomes(run.run):
        if (task.files.repeats or one.repeat == 0) and (wanted is None or one.sample in wanted):
            prediction = None if one.prediction is None else decode(one.prediction)
            if whole is not None:
                record = whole.joined(sample(one.record), prediction, run.model)
                record = record if more is None else more(one.sample, record)
            else:
                record = task.record(named(one.record).id, prediction, one.repeat)
            found.append((one.sample if wanted is None else wanted[one.sample], one.repeat, record))
    return [record for _, _, record in sorted(found, key=lambda one: one[:2])]


def gold_records(store: Store, dataset: str | int, numbers: Iterable[int]) -> list[Any]:
    """The records of samples of a dataset in this order, read from the store at once.

    Raises:
        BadInput: there is no such dataset.
    """
    found = store.datasets.get(dataset)
    if found is None:
        raise BadInput(f"there is no dataset {dataset!r}")
    decode = msgspec.json.Decoder(task_named(found.task).sample).decode
    return [decode(record) for _, record in store.samples.records(list(numbers))]


class _Named(msgspec.Struct):
    id: str


PARTS = ("text", "gold", "scores", "marks")
"""What `--with` may name, beside what the chosen sources say."""

_BY_ENDING = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "table",
    ".tsv": "table",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".txt": "text",
}
_GOLD = tuple(key for key in SAID if key != "annotators")
_KNOWN = {*SAID, "id", "text", "subject", "meta"}
_OF_SPANS = ("start", "end", "label", "score", "attributes")
_SAID = ("spans", "label", "labels", "values", "sentences")
_OF_SENTENCES = ("emotion", "valence")


@dataclass(frozen=True, slots=True)
class Sources:
    """What is to be written: a dataset, and runs and annotators of it by their names."""

    dataset: Dataset
    runs: tuple[Run, ...]
    annotators: tuple[str, ...]


def found_sources(store: Store, names: Sequence[str]) -> Sources:
    """What names mean: datasets by name, runs by id, annotators in gold; beside a dataset also runs by their source.

    Raises:
        BadInput: nothing has such a name, or they are of several datasets.
    """
    dataset = next((found for name in names if (found := store.datasets.get(name)) is not None), None)
    runs: list[Run] = []
    others: list[str] = []
    for name in names:
        found, run = store.datasets.get(name), None
        if found is None and (run := _run(store, name)) is None:
            others.append(name)
            continue
        if run is not None and dataset is not None and run.dataset != dataset.dataset and _called(store, dataset, name):
            others.append(name)  # somebody who annotates several datasets: here their answers to this one
            continue
        if run is not None:
            runs.append(run)
            found = store.datasets.get(run.dataset)
        if found is None or (dataset is not None and found.dataset != dataset.dataset):
            raise BadInput(f"{literal(name)} is of another dataset than {dataset.name if dataset else 'the others'}")
        dataset = found
    annotators: list[str] = []
    for name in others:
        called = [] if dataset is None else _called(store, dataset, name)
        if len(called) > 1:
            raise BadInput(f"{literal(name)} may be any of {', '.join(literal(run.run) for run in called)}")
        if called:
            runs.append(called[0])
            continue
        annotators.append(name)
        there = [
            one for one in (store.datasets.all() if dataset is None else [dataset]) if _annotates(store, one, name)
        ]
        if len(there) != 1:
            many = f"annotates {', '.join(one.name for one in there)}: name the dataset too"
            raise BadInput(f"{literal(name)} {many}" if there else f"there is no dataset, run or annotator {name!r}")
        dataset = there[0]
    if dataset is None:
        raise BadInput("name a dataset, a run or an annotator")
    return Sources(dataset, tuple(runs), tuple(annotators))


def export_rows(
    store: Store, sources: Sources, parts: Collection[str], numbers: Sequence[int] | None = None
) -> list[TextRow]:
    """A row a sample; each of its runs is read from the store once.

    What sources say stands under `annotators` by their names; where gold is not asked for and there is one source, it
    stands in gold's place.

    Args:
        numbers: the samples, in this order; None: all, in the order of the dataset.
    """
    task = task_named(sources.dataset.kept_as)
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    wanted = store.samples.file_order(sources.dataset.dataset) if numbers is None else list(numbers)
    samples = [(number, said_of_text(task, decode(record))) for number, record in store.samples.records(wanted)]
    if any("id" not in record for _, record in samples):
        raise BadInput(f"{sources.dataset.name} has texts without an id, as no emotui keeps them")
    names = {ours: theirs for theirs, ours in RENAMED.get(task.files.kind, {}).items()}
    own_keys = own_fields(task)
    texts = {number: record.get("text") or "" for number, record in samples}
    scored = bool({"scores", "marks"} & set(parts))
    by_run = {name: _answers(store, run, texts, scored=scored) for name, run in _named(sources.runs).items()}
    for name, run in _named(sources.runs).items():
        if run.source == PERSON:
            by_run[name] |= _skipped(store, sources.dataset, run)
    alone = "gold" not in parts and len(by_run) + len(sources.annotators) == 1
    rows = []
    for number, record in samples:
        row: TextRow = {"id": record["id"]}
        meta = record.get("meta", {})
        row |= {key: record[key] for key in ("text", "subject") if "text" in parts and key in record}
        if "text" in parts and (columns := {key: value for key, value in meta.items() if key not in own_keys}):
            row["meta"] = columns
        people = {
            name: {**said, "spans": _objects(said["spans"])} if said.get("spans") is not None else said
            for name, said in record.get("annotators", {}).items()
        }
        if "gold" in parts:
            row |= {names.get(key, key): record[key] for key in _GOLD if key in record}
            # What the records of another package's task say under names of their own goes out as they have it.
            own = {key: value for key, value in record.items() if key not in _KNOWN}
            own |= {key: meta[key] for key in own_keys if key in meta}
            row |= {key: value for key, value in own.items() if value not in ({}, [], "")}
            if row.get("spans") is not None:
                row["spans"] = _objects(row["spans"])
        asked = sources.annotators or (people if "gold" in parts else ())
        said = {name: people[name] for name in asked if name in people}
        more: dict[str, Any] = {}
        for name, answers in by_run.items():
            if (answer := answers.get(number)) is None:
                continue
            said[name] = _of_text(answer.said, record)
            more |= {f"{name}: {metric}": value for metric, value in answer.values.items()} if "scores" in parts else {}
            more |= {f"{name}: marks": answer.marks} if "marks" in parts else {}
        if alone:
            row |= next(iter(said.values()), {})
        elif said:
            row["annotators"] = said
        if more:
            row["meta"] = {**row.get("meta", {}), **more}
        rows.append(row)
    return rows


def layout_to_write(path: str, name: str | None) -> Layout:
    """The layout of that name, or that of a file's ending. Raises BadInput where there is none that writes."""
    named = name or _BY_ENDING.get(Path(path).suffix.lower())
    layout = None if named is None else layout_named(named)
    if layout is None or layout.write is None:
        writing = ", ".join(one.name for one in LAYOUTS if one.write is not None)
        why = f"--format {name} cannot be written" if name else "its ending does not say how to write it"
        raise BadInput(f"{literal(path)}: {why}: name one of {writing} by --format")
    return layout


def write_rows(path: str, layout: Layout, rows: Sequence[TextRow], *, force: bool = False) -> Sequence[str]:
    """Write rows, whole or not at all; a line for each kind of thing that the layout cannot hold.

    Args:
        force: replace files that the layout writes beside `path`, such as a list of labels, where others are there.

    Raises:
        BadInput: it cannot be written there, or a row cannot be written so.
    """
    assert layout.write is not None
    place = literal(path)
    try:
        with _beside(Path(path), force=force) as fresh:
            return layout.write(fresh, rows)
    except UnicodeEncodeError:
        raise BadInput(f"{place}: a text holds half of a surrogate pair, which is no character") from None
    except OSError as error:
        raise BadInput(f"{place}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise BadInput(f"{place}: {error}") from None


@contextmanager
def _beside(target: Path, *, force: bool) -> Iterator[Path]:
    """A path of the same name in a new folder beside it; what is there in the end takes its place."""
    folder = target.parent / f".{secrets.token_hex(4)}.part"
    folder.mkdir()
    try:
        yield folder / target.name
        places = {written: target.parent / written.name for written in sorted(folder.iterdir())}
        for written, there in places.items():
            if there.is_dir():
                raise IsADirectoryError(0, f"there is a folder {there.name} already")
            if there.is_file() and there != target and not force and there.read_bytes() != written.read_bytes():
                raise FileExistsError(
                    0, f"{literal(there.name)} is there already beside it: name another folder, or say --force"
                )
        for written, there in places.items():
            written.replace(there)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Answer:
    said: dict[str, Any]
    values: Mapping[str, float | None]
    marks: str


_UNSCORED: tuple[Mapping[str, float | None], str] = ({}, "")


def _answers(store: Store, run: Run, texts: Mapping[int, str], *, scored: bool) -> dict[int, _Answer]:
    """What a run says by the number of the sample; of several repeats the first, with the scores of all.

    What a person says beside what the task asks, such as a label of the whole text beside spans, is in the raw answer.
    """
    task = task_named(run.task)
    decode = msgspec.json.Decoder(task.prediction).decode
    scores = store.list_rows.values_and_marks(list(texts), run.run) if scored else {}
    found = {}
    beside = {} if run.source == "model" else _said_beside(store, run, RENAMED.get(task.files.kind, {}))
    for one in store.results.outcomes(run.run):
        if one.repeat == 0 and one.sample in texts:
            record = present(task.record("", None if one.prediction is None else decode(one.prediction)))
            values, marks = scores.get(one.sample, _UNSCORED)
            more = {} if one.prediction is None else beside.get(one.sample, {})
            said = {**more, **_said(record, texts[one.sample])}
            found[one.sample] = _Answer(said, values, marks)
    return found


def _skipped(store: Store, dataset: Dataset, run: Run) -> dict[int, _Answer]:
    """The texts that somebody who annotates here passed over: True, or why they cannot be judged."""
    whose = (texts for name, texts in skipped_texts(store, dataset).items() if run.model in names_of(name))
    return {
        number: _Answer({"skipped": True if why == SKIP else why}, *_UNSCORED)
        for texts in whose
        for number, why in texts.items()
    }


def _said_beside(store: Store, run: Run, renamed: Mapping[str, str]) -> dict[int, dict[str, Any]]:
    """What the raw answers of a person or a file say by a sample's number, but for what the task reads otherwise."""
    keys = set(OF_PEOPLE) - set(renamed)
    found = {}
    for row in store.results.of_run(run.run):
        raw = jsonl.decode((row.raw or "").encode(errors="replace")) if row.repeat == 0 else None
        if isinstance(raw, dict):
            found[row.sample] = {key: value for key, value in raw.items() if key in keys and value is not None}
    return found


def _said(record: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What a predicted record says, with the places of the spans that a model wrote; those that stand nowhere go."""
    said = {key: record[key] for key in _SAID if record.get(key) is not None}
    if "probs" in record and "labels" not in said:
        said["labels"] = record["probs"]
    if "scores" in record and "labels" not in said:
        said["labels"] = {name: int(yes > no) for name, (yes, no) in record["scores"].items()}
    if "output" in record:
        parsed = parse_output(record["output"], record.get("style"), record.get("cot", False), text)
        said["spans"] = parsed.spans
    if "spans" in said:
        written = [one for one in said["spans"] if isinstance(one, str)]
        marked = [one for one in said["spans"] if not isinstance(one, str)]
        places = [place for place in locate(text, written) if place is not None] if written else []
        said["spans"] = [*({"start": start, "end": end} for start, end in places), *_objects(marked)]
    # An answer that these keys have no form for, such as of another package's task, goes out under its own.
    return said or {key: value for key, value in record.items() if key not in ("id", "repeat")}


def _of_text(said: dict[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of the only sentence of a text is said of the text."""
    if "sentences" not in said or record.get("sentences"):
        return said
    of_it: Mapping[str, Any] = next(iter(said["sentences"]), {})
    rest = {key: value for key, value in said.items() if key != "sentences"}
    return rest | {key: of_it[key] for key in _OF_SENTENCES if of_it.get(key) is not None}


def _objects(marks: Iterable[Any]) -> list[dict[str, Any]]:
    """Spans of records, which are lists or objects, as objects with what they have."""
    found = []
    for mark in marks:
        if isinstance(mark, Mapping):
            found.append({key: mark[key] for key in _OF_SPANS if mark.get(key) not in (None, {})})
        else:
            found.append(dict(zip(_OF_SPANS, mark, strict=False)))
    return found


def _named(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by the name of what was asked; of one that was asked several times, with the run's id."""
    models = [run.model for run in runs]
    return {run.model if models.count(run.model) == 1 else f"{run.model} ({run.run})": run for run in runs}


def _run(store: Store, name: str) -> Run | None:
    people = [run for run in store.runs.all() if run.model == name and run.source != "model"]
    if len(people) == 1:
        return people[0]
    try:
        return store.runs.get(name)
    except BadInput:
        return None


def _called(store: Store, dataset: Dataset, name: str) -> list[Run]:
    """The runs over a dataset whose source has this name: those of its own task, if there are any."""
    called = [run for run in store.runs.all(dataset.dataset) if run.model == name]
    return [run for run in called if run.task == dataset.task] or called


def _annotates(store: Store, dataset: Dataset, name: str) -> bool:
    quoted = msgspec.json.encode(name).decode()
    return bool(store.samples.holding(dataset.dataset, f"{quoted}:")) and bool(
        store.samples.holding(dataset.dataset, '"annotators"')
    )
