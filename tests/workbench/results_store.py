"""A workspace whose results can be worked out by hand: two sentences, a passage, two annotators, and runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from emotui.metrics.span_scoring import score_samples
from emotui.records import Mark, Sentence, SpanPrediction, SpanSample
from emotui.store.query import Dataset
from emotui.store.rows import ResultRow
from emotui.tasks.spans import task as spans_task
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import embed
from tests.templates import copy_of

KEYWORDS = frozenset({"joy"})

SAMPLES = (
    SpanSample(
        id="s1",
        text="It was pure joy for me.",
        spans=(Mark(7, 22),),
        emotion="happy",
        valence="positive",
        annotators={"ann": (Mark(7, 22),), "bob": (Mark(12, 15),)},
    ),
    SpanSample(
        id="s2",
        text="I wept again.",
        spans=(Mark(2, 12),),
        emotion="sad",
        valence="negative",
        annotators={"ann": (), "bob": (Mark(2, 12),)},
    ),
    SpanSample(
        id="p1",
        text="The bus came. I cheered. It rained.",
        spans=(Mark(16, 23),),
        sentences=(
            Sentence(start=0, end=13, emotion="neutral", valence="neutral"),
            Sentence(start=14, end=24, emotion="happy", valence="positive"),
            Sentence(start=25, end=35, emotion="neutral", valence="neutral"),
        ),
        annotators={"ann": (Mark(16, 23),)},
    ),
)

Answers = Mapping[str, Sequence[Sequence[str]]]
"""Sample id to what was said of it in each repeat."""

EXACT: Answers = {"s1": [["pure joy for me"]], "s2": [["wept again"]], "p1": [["cheered"]]}
# Of s1 "joy" alone, which is 2/5, and then all; of s2 one too many, and then nothing; of p1 the bus as well, and then
# the bus alone.
ERRING: Answers = {
    "s1": [["joy"], ["pure joy for me"]],
    "s2": [["wept again", "so sad"], []],
    "p1": [["cheered", "The bus"], ["The bus"]],
}


def workspace(path: Path) -> tuple[Workspace, Dataset]:
    """A new file with `SAMPLES` as the dataset `three`, and no run."""
    copy_of(path, "three", _make)
    opened = Workspace.open(path)
    (dataset,) = opened.store.datasets.all()
    return opened, dataset


def _make(path: Path) -> None:
    opened = Workspace.open(path)
    opened.set_setting(FIRST_START, "done")
    add_samples(opened.store, "spans", "three", SAMPLES, "written for a test")


def add_run(
    opened: Workspace,
    dataset: Dataset,
    name: str,
    model: str,
    way: str,
    answers: Answers,
    *,
    n: int | None = None,
    before: int = 0,
    breach: str | None = None,
    convention: str | None = None,
    with_sim: bool = True,
) -> str:
    """A run that said this, its samples scored as runs score them.

    Args:
        n: how many questions it was to ask (default: as many as are answered).
        before: attempts at `s1` that came before its answer. breach: how the answer to `s1` breaks the contract.
    """
    records = {
        sample.id: (number, sample)
        for number, record in opened.store.samples.of_dataset(dataset.dataset)
        for sample in [msgspec.json.decode(record, type=SpanSample)]
    }
    said = [
        SpanPrediction(id=key, spans=tuple(spans), repeat=repeat)
        for key, each in answers.items()
        for repeat, spans in enumerate(each)
    ]
    details = {
        (detail.id, detail.repeat): detail
        for detail in score_samples([records[key][1] for key in answers], said, embed if with_sim else None, KEYWORDS)
    }
    opened.store.runs.start(
        run=name,
        identity=name,
        task="spans",
        model=model,
        dataset=dataset.dataset,
        config={"seed": 0, "repeats": max(map(len, answers.values())), "way": way, "pid": 0, "host": "elsewhere"},
        n=len(said) if n is None else n,
    )
    rows = []
    for one in sorted(said, key=lambda one: one.repeat):
        number, broken = records[one.id][0], breach if one.id == "s1" else None
        tries = before if one.id == "s1" else 0
        rows += [ResultRow(number, one.repeat, attempt, "prompt", "not this", None, 0.1) for attempt in range(tries)]
        score = spans_task.score_row(details[one.id, one.repeat])
        if convention is not None:
            score = type(score)(convention, score.values, score.marks, score.detail)
        prediction = msgspec.json.encode(spans_task.Prediction(spans=one.spans or (), breach=broken))
        raw = " | ".join(one.spans or ())
        rows.append(ResultRow(number, one.repeat, tries, "prompt", raw, None, 0.1, prediction, score))
    opened.store.results.commit(name, rows)
    opened.store.runs.set_state(name, "done" if n is None or n == len(said) else "stopped")
    return name
