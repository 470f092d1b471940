"""A small real workspace for the tests of the screens: sample data, and a run whose errors are known."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from emotui.formats import fingerprint
from emotui.metrics.span_scoring import score_samples
from emotui.records import SpanPrediction, SpanSample
from emotui.store.query import Dataset, ListQuery
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.spans import task as spans_task
from emotui.tasks.spans.task import score_row
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.source import BrowseSource
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.paths import CHECKOUT
from tests.templates import copy_of

SAMPLE_DATA = CHECKOUT / "sample_data"
NOT_IN_TEXT = "a deep sense of loneliness"


def sample_records(passages: int = 12, sentences: int = 18) -> list[SpanSample]:
    """The first samples of this package's own data."""
    found: list[SpanSample] = []
    for name, number in (("spans_passages.jsonl", passages), ("spans_sentences.jsonl", sentences)):
        lines = (SAMPLE_DATA / name).read_bytes().splitlines()[:number]
        found += [msgspec.json.decode(line, type=SpanSample) for line in lines]
    return found


def said(place: int, sample: SpanSample) -> tuple[str, ...]:
    """What the run says about a sample, by its place: exact, half, too much, made up, nothing, an annotator's."""
    gold = [sample.text[start:end] for start, end in sample.places]
    match place % 6:
        case 0:
            return tuple(gold)
        case 1:
            return tuple(" ".join(text.split()[: max(len(text.split()) // 2, 1)]) for text in gold)
        case 2:
            return (*gold, " ".join(sample.text.split()[:3]))
        case 3:
            return (*gold[:1], NOT_IN_TEXT)
        case 4:
            return ()
        case _:
            first = next(iter(sample.annotators.values()), ())
            return tuple(sample.text[mark.start : mark.end] for mark in first)


def embed(texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Bags of words, hashed: (n, 64), of unit length. Enough for Sim to differ from F1."""
    vectors = np.full((len(texts), 64), 1e-3)
    for row, text in zip(vectors, texts, strict=True):
        for word in text.lower().split():
            row[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def add_run(
    store: Store,
    dataset: Dataset,
    samples: Sequence[SpanSample],
    *,
    done: int | None = None,
    name: str = "rule-1",
    model: str = "rule",
    way: str = "",
    shift: int = 0,
    repeats: int = 1,
) -> str:
    """A run over the dataset's first `done` samples, committed as runs are; `shift` makes it say other things."""
    part = samples[:done]
    predictions = [
        SpanPrediction(id=sample.id, spans=said(place + shift + repeat, sample), repeat=repeat)
        for repeat in range(repeats)
        for place, sample in enumerate(part)
    ]
    details = score_samples(part, predictions, embed, frozenset({"happy", "sad", "afraid", "cried"}))
    numbers = [number for number, _ in store.samples.of_dataset(dataset.dataset, 0, len(samples))]
    run = store.runs.start(
        run=name,
        identity=name,
        task="spans",
        model=model,
        dataset=dataset.dataset,
        config={"seed": 0, "repeats": repeats, "pid": 0, "host": "elsewhere", "way": way},
        n=len(samples) * repeats,
    )
    rows = [
        ResultRow(
            sample=number,
            repeat=prediction.repeat,
            attempt=0,
            prompt=f"Mark what shows an emotion:\n{sample.text}",
            raw=" | ".join(prediction.spans or ()),
            error=None,
            seconds=0.0,
            prediction=msgspec.json.encode(spans_task.Prediction(spans=prediction.spans or ())),
            score=score_row(detail),
        )
        for number, sample, prediction, detail in zip(
            numbers[: len(part)] * repeats, list(part) * repeats, predictions, details, strict=True
        )
    ]
    store.results.commit(run.run, rows)
    store.runs.set_state(run.run, "done" if done is None else "running")
    return run.run


def workspace(path: Path, *, samples: Sequence[SpanSample] | None = None, run: bool = True) -> Workspace:
    """A workspace in a new file, past its first start."""
    if samples is not None:
        return make_workspace(path, samples, run=run)
    copy_of(path, ("browse", run), lambda template: make_workspace(template, sample_records(), run=run))
    return Workspace.open(path)


def make_workspace(path: Path, records: Sequence[SpanSample], *, run: bool = True) -> Workspace:
    """The same from the ground up."""
    opened = Workspace.open(path)
    opened.set_setting(FIRST_START, "done")
    if records:
        dataset = add_samples(opened.store, "spans", "sample", records, "sample data")
        assert dataset.fingerprint == fingerprint(records)
        if run:
            add_run(opened.store, dataset, records)
    return opened


def list_query(source: BrowseSource) -> ListQuery:
    """The whole list over the run `rule-1`, as Browse asks for it first."""
    return ListQuery(dataset=source.datasets()[0].dataset, run="rule-1")
