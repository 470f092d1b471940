"""How samples come into the store: from files of the person's, and from the sample data of this package."""

from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TypeVar

import msgspec

from emotui.errors import BadInput
from emotui.formats import capped, fingerprint, read
from emotui.formats.reading import Warn, warn_skipped
from emotui.records import Chain, ClassGold, MaskedGold, ScenesGold, SpanSample
from emotui.store.query import Dataset
from emotui.store.rows import SampleRow
from emotui.store.store import Store
from emotui.tasks.masked import task as masked_task
from emotui.tasks.scenes.task import vector_letters

SAMPLE_DATASET = "sample"
"""The dataset that a new workspace begins with; illustration, not benchmark."""

SAMPLE_SCENES = "scenes"
"""The same for the scenes task."""

SAMPLE_MASKED = "masked"
"""The same for the masked task."""

SAMPLE_REPHRASINGS = "rephrase"
"""The same for the rephrase task."""

_SAMPLE_FILES = ("spans_passages.jsonl", "spans_sentences.jsonl")
_ILLUSTRATION = "written for emotui; illustration, not benchmark"

LABELS_ONLY = "labels only: "
"""Begins the source of a dataset whose texts are not at hand."""

Sample = TypeVar("Sample", SpanSample, ScenesGold, MaskedGold, ClassGold)


def import_spans(
    store: Store, paths: Sequence[str], name: str | None = None, *, skip_bad: bool = False, warn: Warn
) -> Dataset:
    """Add the samples of one or several files as one dataset; the same samples under the same name are added once.

    Raises:
        BadInput: a file cannot be read, an id occurs in two of the files, or the name belongs to other samples.
    """
    samples = _read(paths, SpanSample, lambda sample, first: None, skip_bad=skip_bad, warn=warn)
    return add_spans(store, _name(paths, name), samples, ", ".join(paths))


def import_scenes(
    store: Store, paths: Sequence[str], name: str | None = None, *, skip_bad: bool = False, warn: Warn
) -> Dataset:
    """Add scenarios with their gold vectors as one dataset, as `import_spans`.

    Raises:
        BadInput: as `import_spans`; a scenario without a text, or with other labels than the first one.
    """
    samples = _read(paths, ScenesGold, _scene_problem, skip_bad=skip_bad, warn=warn)
    return add_scenes(store, _name(paths, name), samples, ", ".join(paths))


def import_masked(
    store: Store, paths: Sequence[str], name: str | None = None, *, skip_bad: bool = False, warn: Warn
) -> Dataset:
    """Add texts with masked emotion words as one dataset, as `import_spans`.

    Raises:
        BadInput: as `import_spans`; a record without a text, or with another number of words than masks.
    """
    samples = _read(paths, MaskedGold, lambda sample, first: masked_task.problem(sample), skip_bad=skip_bad, warn=warn)
    return add_masked(store, _name(paths, name), samples, ", ".join(paths))


def import_texts(
    store: Store, paths: Sequence[str], name: str | None = None, *, skip_bad: bool = False, warn: Warn
) -> Dataset:
    """Add texts with one gold label each (of chains: their originals) as one dataset, as `import_spans`.

    Raises:
        BadInput: as `import_spans`; a record without a text.
    """
    samples = _read(paths, ClassGold, _text_problem, skip_bad=skip_bad, warn=warn)
    return add_texts(store, _name(paths, name), samples, ", ".join(paths))


def add_sample_data(store: Store) -> Dataset:
    """Add this package's own samples of the spans task, where they are not there yet."""
    samples = [sample for file in _SAMPLE_FILES for sample in _own(file, SpanSample)]
    return add_spans(store, SAMPLE_DATASET, samples, _ILLUSTRATION)


def add_sample_scenes(store: Store) -> Dataset:
    """Add this package's own scenarios, where they are not there yet."""
    return add_scenes(store, SAMPLE_SCENES, _own("scenes.jsonl", ScenesGold), _ILLUSTRATION)


def add_sample_masked(store: Store) -> Dataset:
    """Add this package's own texts with masked emotion words, where they are not there yet."""
    return add_masked(store, SAMPLE_MASKED, _own("masked.jsonl", MaskedGold), _ILLUSTRATION)


def add_sample_texts(store: Store) -> Dataset:
    """Add this package's own texts to rephrase, where they are not there yet (`rephrasing_chains` adds the chains)."""
    with as_file(files("emotui.sample_data") / "rephrasings.jsonl") as path:
        chains = read(str(path), Chain).records
    samples = [ClassGold(id=chain.id, text=chain.text, label=chain.label) for chain in chains]
    return add_texts(store, SAMPLE_REPHRASINGS, samples, _ILLUSTRATION)


def has_texts(dataset: Dataset) -> bool:
    """Whether its samples have their texts, and not only labels."""
    return not dataset.source.startswith(LABELS_ONLY)


def is_sample_data(dataset: Dataset) -> bool:
    """Whether it is this package's own illustration."""
    return dataset.source == _ILLUSTRATION


def add_spans(store: Store, name: str, samples: Sequence[SpanSample], source: str) -> Dataset:
    """Add samples as a dataset, or return the one that holds the same under this name."""
    return _add(store, name, "spans", samples, span_row, source)


def add_scenes(store: Store, name: str, samples: Sequence[ScenesGold], source: str) -> Dataset:
    """Add scenarios as a dataset, or return the one that holds the same under this name."""
    return _add(store, name, "scenes", samples, _scene_row, source)


def add_masked(store: Store, name: str, samples: Sequence[MaskedGold], source: str) -> Dataset:
    """Add texts with masked emotion words as a dataset, or return the one that holds the same under this name."""
    return _add(store, name, "masked", samples, _masked_row, source)


def add_texts(store: Store, name: str, samples: Sequence[ClassGold], source: str) -> Dataset:
    """Add texts with one gold label each, to rephrase, as a dataset; or return the one that holds the same."""
    return _add(store, name, "rephrase", samples, _text_row, source)


def _own(file: str, kind: type[Sample]) -> list[Sample]:
    with as_file(files("emotui.sample_data") / file) as path:
        return read(str(path), kind).records


def _name(paths: Sequence[str], name: str | None) -> str:
    return name or ("stdin" if paths[0] == "-" else Path(paths[0]).stem)


def _read(
    paths: Sequence[str],
    kind: type[Sample],
    problem: Callable[[Sample, Sample], str | None],
    *,
    skip_bad: bool,
    warn: Warn,
) -> list[Sample]:
    """The records of all files. `problem` says what is wrong with a record beside the first of them, if anything."""
    samples: list[Sample] = []
    seen: dict[str, str] = {}
    problems: list[str] = []
    for path in paths:
        got = read(path, kind, skip_bad=skip_bad)
        warn_skipped(got, warn)
        for sample, line in zip(got.records, got.lines, strict=True):
            if sample.id in seen:
                raise BadInput(f"{path}:{line}: the id {sample.id!r} stands in {seen[sample.id]} too")
            why = problem(sample, samples[0] if samples else sample)
            if why is not None:
                problems.append(f"{path}:{line}: {why}")
                continue
            seen[sample.id] = path
            samples.append(sample)
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for skipped in problems:
        warn(f"skipped {skipped}")
    return samples


def _scene_problem(sample: ScenesGold, first: ScenesGold) -> str | None:
    if not sample.text:
        return "a scenario needs its text"
    if set(sample.labels) != set(first.labels):
        return f"its labels are not those of the first scenario: {', '.join(first.labels)}"
    return None


def _text_problem(sample: ClassGold, first: ClassGold) -> str | None:
    return None if sample.text.strip() else "the text is empty"


def _add(
    store: Store,
    name: str,
    task: str,
    samples: Sequence[Sample],
    row: Callable[[Sample], SampleRow],
    source: str,
) -> Dataset:
    mark = fingerprint(samples)
    there = store.dataset(name)
    if there is not None:
        if there.fingerprint == mark and there.task == task:
            return there
        raise BadInput(f"the store has other samples under the name {name!r}: choose another with --name")
    return store.add_dataset(name, task, [row(sample) for sample in samples], source, mark)


def _scene_row(sample: ScenesGold) -> SampleRow:
    """A scenario as the store lists it: its vector stands where other samples have their emotion."""
    there = tuple(name for name, value in sample.labels.items() if value)
    return SampleRow(
        id=sample.id,
        text=sample.text or "",
        emotion=vector_letters(list(sample.labels), list(sample.labels.values())),
        valence=None,
        emotions=there,
        valences=(),
        record=msgspec.json.encode(sample),
    )


def _masked_row(sample: MaskedGold) -> SampleRow:
    """A text as the store lists it: its masked words stand where other samples have their emotion."""
    words = tuple(word.strip().lower() for word in sample.labels)
    return SampleRow(
        id=sample.id,
        text=sample.text or "",
        emotion=", ".join(words),
        valence=None,
        emotions=tuple(dict.fromkeys(words)),
        valences=(),
        record=msgspec.json.encode(sample),
    )


def _text_row(sample: ClassGold) -> SampleRow:
    """A text as the store lists it, with its gold label."""
    return SampleRow(
        id=sample.id,
        text=sample.text,
        emotion=sample.label,
        valence=None,
        emotions=(sample.label,),
        valences=(),
        record=msgspec.json.encode(sample),
    )


def span_row(sample: SpanSample) -> SampleRow:
    """A sample as the store lists it. A passage has the emotions and valences of all its sentences."""
    emotions = [sample.emotion, *(sentence.emotion for sentence in sample.sentences)]
    valences = [sample.valence, *(sentence.valence for sentence in sample.sentences)]
    return SampleRow(
        id=sample.id,
        text=sample.text,
        emotion=sample.emotion,
        valence=sample.valence,
        emotions=tuple(dict.fromkeys(e for e in emotions if e)),
        valences=tuple(dict.fromkeys(v for v in valences if v)),
        record=msgspec.json.encode(sample),
    )
