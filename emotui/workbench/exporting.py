"""Runs out of the store, as files that other commands and programs read."""

import msgspec

from emotui.errors import BadInput
from emotui.formats import write
from emotui.records import SpanPrediction, SpanSample
from emotui.store.store import Store
from emotui.tasks import spans


def export_run(store: Store, run: str, path: str) -> int:
    """Write a run's predictions, format by ending. An answer that failed is written as one without spans.

    Returns:
        How many records were written.

    Raises:
        BadInput: no such run, or an ending that no format has.
    """
    found = store.run(run)
    rows = list(store.results(found.run))
    if not rows:
        raise BadInput(f"run {found.run} has no results yet")
    numbers = sorted({row.sample for row in rows})
    ids = {number: msgspec.json.decode(record, type=SpanSample).id for number, record in store.samples(numbers)}
    records = []
    for row in rows:
        prediction = () if row.prediction is None else msgspec.json.decode(row.prediction, type=spans.Prediction).spans
        records.append(SpanPrediction(id=ids[row.sample], spans=prediction, repeat=row.repeat))
    write(path, records)
    return len(records)
