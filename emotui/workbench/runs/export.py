"""Runs out of the store, as files that other commands and programs read."""

from collections.abc import Callable, Mapping

import msgspec

from emotui.errors import BadInput
from emotui.formats import write
from emotui.records import ClassPrediction, MaskedPrediction, ScenesPrediction, SpanPrediction
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.masked import task as masked_task
from emotui.tasks.rephrase import task as rephrase_task
from emotui.tasks.scenes import task as scenes_task
from emotui.tasks.spans import task as spans_task
from emotui.workbench.runs.scores import last_attempts


def export_run(store: Store, run: str, path: str) -> int:
    """Write a run's predictions, format by ending. An answer that failed is written as an empty one.

    Only records of spans have a place for repeats; of another task's run with repeats the first is written.

    Returns:
        How many records were written.

    Raises:
        BadInput: no such run, or an ending that no format has.
    """
    found = store.run(run)
    rows = last_attempts(store.results(found.run))
    if not rows:
        raise BadInput(f"run {found.run} has no results yet")
    numbers = sorted({row.sample for row in rows})
    ids = {number: msgspec.json.decode(record, type=_Named).id for number, record in store.samples(numbers)}
    if found.task not in _RECORDS:
        raise BadInput(f"runs of the {found.task} task cannot be written as predictions")
    record = _RECORDS[found.task]
    written = [row for row in rows if found.task == "spans" or row.repeat == 0]
    write(path, [record(ids[row.sample], row) for row in written])
    return len(written)


class _Named(msgspec.Struct):
    id: str


def _spans(key: str, row: ResultRow) -> SpanPrediction:
    if row.prediction is None:
        return SpanPrediction(id=key, spans=(), repeat=row.repeat)
    return spans_task.predicted(key, msgspec.json.decode(row.prediction, type=spans_task.Prediction), row.repeat)


def _scenes(key: str, row: ResultRow) -> ScenesPrediction:
    if row.prediction is None:
        return ScenesPrediction(id=key, labels={})
    said = msgspec.json.decode(row.prediction, type=scenes_task.Prediction)
    return ScenesPrediction(id=key, scores=said.scores, confidence=said.confidence, censored=said.censored)


def _masked(key: str, row: ResultRow) -> MaskedPrediction:
    if row.prediction is None:
        return MaskedPrediction(id=key, labels=())
    return MaskedPrediction(id=key, labels=msgspec.json.decode(row.prediction, type=masked_task.Prediction).labels)


def _class(key: str, row: ResultRow) -> ClassPrediction:
    if row.prediction is None:
        return ClassPrediction(id=key, label="")
    said = msgspec.json.decode(row.prediction, type=rephrase_task.Prediction)
    return ClassPrediction(id=key, label=said.label, probs=dict(said.probs) or None)


_RECORDS: Mapping[str, Callable[[str, ResultRow], msgspec.Struct]] = {
    "spans": _spans,
    "scenes": _scenes,
    "masked": _masked,
    "rephrase": _class,
}
