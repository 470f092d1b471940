"""How long the tables of a run over many samples take, the first time and when nothing has changed since.

    python benchmarks/results.py [SAMPLES] [REPEATS]

The samples are this package's own, again and again under other ids; the answers are an annotator's. The store is
written first, which takes most of the time.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import msgspec
import psutil

from emotui.collector import collect_seldom
from emotui.lexicons import empath_keywords
from emotui.metrics.span_scoring import score_pairs
from emotui.records import SpanPrediction, SpanSample
from emotui.store.query import Dataset
from emotui.store.rows import ResultRow, SampleRow
from emotui.store.store import Store
from emotui.tasks.spans import task as spans_task
from emotui.workbench.results.service import Results
from emotui.workbench.workspace import Workspace

_BATCH = 5000


def own_samples() -> list[SpanSample]:
    """The sample data, without its annotators: scoring those is no part of reading a run."""
    lines = [
        line
        for name in ("spans_passages.jsonl", "spans_sentences.jsonl")
        for line in (files("emotui.sample_data") / name).read_bytes().splitlines()
    ]
    return [msgspec.json.decode(line, type=SpanSample) for line in lines]


def filled(store: Store, n: int, repeats: int) -> Dataset:
    """A data set of n samples, and a run over it."""
    own = own_samples()
    answers = [
        SpanPrediction(
            id=one.id, spans=tuple(one.text[mark.start : mark.end] for mark in next(iter(one.annotators.values()), ()))
        )
        for one in own
    ]
    details = score_pairs([(one, said, 0) for one, said in zip(own, answers, strict=True)], None, empath_keywords())
    scores = [spans_task.score_row(detail) for detail in details]
    predictions = [msgspec.json.encode(spans_task.Prediction(spans=said.spans or ())) for said in answers]
    bare = [msgspec.structs.replace(one, annotators={}) for one in own]

    def rows() -> Iterator[SampleRow]:
        for number in range(n):
            one = bare[number % len(bare)]
            record = msgspec.json.encode(msgspec.structs.replace(one, id=str(number)))
            yield SampleRow(str(number), one.text, one.emotion, one.valence, (), (), record)

    dataset = store.datasets.add("many", "spans", rows(), "a benchmark", "many")
    store.runs.start("r", "r", "spans", "annotator", dataset.dataset, {"way": "retrieve"}, n * repeats)
    first = next(store.samples.of_dataset(dataset.dataset, 0, 1))[0]
    for repeat in range(repeats):
        for start in range(0, n, _BATCH):
            batch = []
            for number in range(start, min(start + _BATCH, n)):
                at = number % len(own)
                row = ResultRow(first + number, repeat, 0, None, "raw", None, 0.1, predictions[at], scores[at])
                batch.append(row)
            store.results.commit("r", batch)
    store.runs.set_state("r", "done")
    return dataset


def main() -> None:
    """Print seconds and memory."""
    collect_seldom()
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "w.duckdb")
        dataset = filled(store, n, repeats)
        results = Results(store, Workspace(store).model)
        before = psutil.Process().memory_info().rss
        works: tuple[tuple[str, Callable[[], object]], ...] = (
            ("tables", lambda: results.tables(dataset.dataset, sim=False, baselines=False)),
            ("baselines too", lambda: results.tables(dataset.dataset, sim=False)),
            ("tables again", lambda: results.tables(dataset.dataset, sim=False)),
            ("transitions", lambda: results.transitions(dataset.dataset)),
        )
        for name, work in works:
            clock, processor = time.perf_counter(), time.process_time()
            work()
            clock, processor = time.perf_counter() - clock, time.process_time() - processor
            print(f"{name:14}{clock:8.3f} s {processor:8.3f} s of the processor")
        grown = (psutil.Process().memory_info().rss - before) / 2**20
        print(f"{n} samples, {repeats} repeats; the process grew by {grown:.0f} MB")


if __name__ == "__main__":
    main()
