"""Over how many samples the figures of a run are."""

from collections.abc import Sequence

from emotui.store.store import Store
from emotui.workbench.reports.values import Section, SizeOf
from emotui.workbench.task_words import metrics_of

_PARTS = ("task-1", "task-2")
"""Tables of the spans task about a part of a dataset end in its key."""

_OF_PEOPLE = ("spread", "reliability")
"""Tables of people's spread are of the texts with two annotators and a question of theirs, behind each cell."""


def sizes(store: Store, sections: Sequence[Section]) -> SizeOf:
    """A function from the key of a table and a run to that number; None where it is not known."""
    cells = [
        (table.key, cell)
        for section in sections
        for table in section.tables
        if table.key in _PARTS or table.key.startswith(_OF_PEOPLE)
        for row in table.rows
        for cell in row.cells
        if cell.run
    ]
    parts = {(key, cell.run): len(cell.samples) for key, cell in cells}
    kept: dict[str, int | None] = {}

    def size(key: str, run: str) -> int | None:
        if key.startswith(_OF_PEOPLE):
            return parts.get((key, run)) or None
        part = part_of(key)
        if part is not None and (part, run) in parts:
            return parts[part, run]
        if part is not None:
            return None
        if run not in kept:
            kept[run] = _scored(store, run)
        return kept[run]

    return size


def part_of(key: str) -> str | None:
    """The part of a dataset that a table is about; None: it is about all of it."""
    return next((part for part in _PARTS if key == part or key.endswith(f"-{part}") or f"-{part}-" in key), None)


def _scored(store: Store, run: str) -> int | None:
    """How many samples a run has any value of."""
    import numpy as np

    found = store.run(run)
    metrics = metrics_of(store, found.dataset, found.task)
    values = [store.metric_means(found.dataset, found.run, metric.name) for metric in metrics]
    return int((~np.isnan(np.array(values))).any(axis=0).sum()) if values else None
