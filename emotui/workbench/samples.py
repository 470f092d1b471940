"""How samples come into the store: from files of the person's, and from the sample data of this package."""

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from emotui.errors import BadInput
from emotui.formats import fingerprint, read
from emotui.records import SpanSample
from emotui.store.query import Dataset
from emotui.store.rows import SampleRow
from emotui.store.store import Store
from emotui.workbench.scoring import Warn, warn_skipped

SAMPLE_DATASET = "sample"
"""The dataset that a new workspace begins with; illustration, not benchmark."""

_SAMPLE_FILES = ("spans_passages.jsonl", "spans_sentences.jsonl")


def import_spans(
    store: Store, paths: Sequence[str], name: str | None = None, *, skip_bad: bool = False, warn: Warn
) -> Dataset:
    """Add the samples of one or several files as one dataset; the same samples under the same name are added once.

    Raises:
        BadInput: a file cannot be read, an id occurs in two of the files, or the name belongs to other samples.
    """
    samples: list[SpanSample] = []
    seen: dict[str, str] = {}
    for path in paths:
        got = read(path, SpanSample, skip_bad=skip_bad)
        warn_skipped(got, warn)
        for sample, line in zip(got.records, got.lines, strict=True):
            if sample.id in seen:
                raise BadInput(f"{path}:{line}: the id {sample.id!r} stands in {seen[sample.id]} too")
            seen[sample.id] = path
            samples.append(sample)
    name = name or ("stdin" if paths[0] == "-" else Path(paths[0]).stem)
    return add_spans(store, name, samples, ", ".join(paths))


def add_sample_data(store: Store) -> Dataset:
    """Add this package's own samples of the spans task, where they are not there yet."""
    samples: list[SpanSample] = []
    for file in _SAMPLE_FILES:
        with as_file(files("emotui.sample_data") / file) as path:
            samples += read(str(path), SpanSample).records
    return add_spans(store, SAMPLE_DATASET, samples, "written for emotui; illustration, not benchmark")


def add_spans(store: Store, name: str, samples: Sequence[SpanSample], source: str) -> Dataset:
    """Add samples as a dataset, or return the one that holds the same under this name."""
    mark = fingerprint(samples)
    there = store.dataset(name)
    if there is not None:
        if there.fingerprint == mark and there.task == "spans":
            return there
        raise BadInput(f"the store has other samples under the name {name!r}: choose another with --name")
    return store.add_dataset(name, "spans", [_row(sample) for sample in samples], source, mark)


def _row(sample: SpanSample) -> SampleRow:
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
