"""A workspace whose spans have labels and overlap: a text with gold, one without any said, one with none in it."""

from pathlib import Path

import msgspec

from emotui.metrics.span_scoring import score_pairs
from emotui.records import Mark, SpanPrediction, SpanSample
from emotui.store.rows import ResultRow
from emotui.tasks.spans.task import Prediction, score_row
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import embed

TEXT = "She was unafraid, she said, and then so afraid of it that I would be the very last to complain."


def at(words: str, label: str | None = None, score: float | None = None) -> Mark:
    """The last place at which the words stand."""
    start = TEXT.rindex(words)
    return Mark(start, start + len(words), label, score)


GOLD = (at("so afraid of it", "fear"), at("be the very last to complain", "joy"), at("complain", "anger"))
SAID = (
    at("afraid", "fear", 0.75),
    at("be the very last to complain", "joy", 0.5),
    at("complain", "sadness", 0.25),
    at("very last to", "sadness", 0.25),
)
SAMPLES = (
    SpanSample(id="overlapping", text=TEXT, spans=GOLD, annotators={"A1": GOLD[:1], "A2": GOLD[1:]}),
    SpanSample(id="unlabelled", text=TEXT),
    SpanSample(id="nothing", text=TEXT, spans=()),
)


def labelled_workspace(path: Path) -> Workspace:
    """The samples with a run that gave its own places, labels and strengths for all of them."""
    opened = Workspace.open(path)
    opened.set_setting(FIRST_START, "done")
    dataset = add_samples(opened.store, "spans", "labelled", SAMPLES, "tests")
    run = opened.store.runs.start(
        run="marker-1",
        identity="marker-1",
        task="spans",
        model="marker",
        dataset=dataset.dataset,
        config={"seed": 0, "repeats": 1, "pid": 0, "host": "elsewhere", "way": ""},
        n=len(SAMPLES),
    )
    prediction = Prediction(
        spans=tuple(TEXT[mark.start : mark.end] for mark in SAID),
        offsets=tuple(mark.place for mark in SAID),
        labels=tuple(mark.label or "" for mark in SAID),
        strengths=tuple(mark.score or 0.0 for mark in SAID),
    )
    numbers = [number for number, _ in opened.store.samples.of_dataset(dataset.dataset, 0, len(SAMPLES))]
    rows = []
    for number, sample in zip(numbers, SAMPLES, strict=True):
        said = SpanPrediction(id=sample.id, spans=SAID)
        (detail,) = score_pairs([(sample, said, 0)], embed, frozenset({"afraid"}))
        rows.append(
            ResultRow(
                sample=number,
                repeat=0,
                attempt=0,
                prompt=None,
                raw="[]",
                error=None,
                seconds=0.0,
                prediction=msgspec.json.encode(prediction),
                score=score_row(detail) if sample.spans is not None else None,
            )
        )
    opened.store.results.commit(run.run, rows)
    opened.store.runs.set_state(run.run, "done")
    return opened
