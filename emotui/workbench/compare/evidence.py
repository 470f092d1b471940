"""Whose spans are taken away in a run of the evidence task: those of gold, of a run, of a person or of a file."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.locating import locate
from emotui.records import Mark
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.prompting.settings import check_options
from emotui.tasks.registry import task_named
from emotui.workbench.compare.sources import rows_now, source_named
from emotui.workbench.texts import stored_samples

GOLD = "gold"
SPANS = "spans"

Evidence = Mapping[str, Sequence[Mark]]
"""Spans by the id of their text; a text that is absent has none."""


def evidence_of(store: Store, dataset: Dataset, source: str) -> Evidence:
    """The spans that a source gives; of several repeats the first. Words without a place in the text are left out.

    Raises:
        BadInput: there is no such source, or several.
    """
    read = dataset.read_as(SPANS)
    named = source_named(store, read, source)
    samples = dict(stored_samples(store, read, read.n))
    rows = rows_now(store, read, named) if named.run is None else store.results(named.run)
    task = task_named(SPANS)
    decode = msgspec.json.Decoder(task.prediction).decode
    found: dict[str, Sequence[Mark]] = {}
    for row in rows:
        if row.repeat == 0 and row.prediction is not None:
            sample = samples[row.sample]
            given: Any = task.record(sample.id, decode(row.prediction))
            found[sample.id] = _placed(sample.text, given.spans or ())
    return found


def _placed(text: str, spans: Sequence[str | Mark]) -> Sequence[Mark]:
    """Marks, words where they stand."""
    words = [span if isinstance(span, str) else text[span.start : span.end] for span in spans]
    placed = []
    for span, place in zip(spans, locate(text, words), strict=True):
        if isinstance(span, Mark):
            placed.append(Mark(span.start, span.end, span.label, span.score))
        elif place is not None:
            placed.append(Mark(*place))
    return placed


def marked(evidence: Evidence) -> str:
    """A hash of whose words are taken away, for a run's identity."""
    return hashlib.sha256(msgspec.json.encode(dict(evidence), order="sorted")).hexdigest()


def with_evidence(
    store: Store, dataset: Dataset, options: Mapping[str, object]
) -> tuple[Mapping[str, object], Evidence | None]:
    """A run's options with the hash of the spans that they name, and these; None where they are gold's.

    Raises:
        BadInput: the task that the dataset is read as asks about no spans, there is no such source, or what it says is
            not what the options, of a run to go on with, had.
    """
    check_options(task_named(dataset.task), options)
    source = str(options.get("spans") or GOLD)
    if source == GOLD:
        return options, None
    found = evidence_of(store, dataset, source)
    hashed = marked(found)
    if options.get("marked", hashed) != hashed:
        raise BadInput(f"the spans of {source} have changed since the run began: start another")
    return {**options, "marked": hashed}, found
