"""Rows of texts as records of a task: which task they are for, and what has no place in its records goes to `meta`."""

from collections.abc import Iterable, Sequence
from typing import Any

from emotui.formats.beside import SAID, kept_beside
from emotui.formats.columns import cell_kinds, required
from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.lost import all_labels
from emotui.tasks.registry import kinds
from emotui.tasks.task import Task

_MASK = "<mask>"
_VALUES = "values"


def guessed_kind(rows: Iterable[TextRow]) -> str:
    """The kind of record that rows are for, by what is said in them; `spans`, unlabelled, where nothing is."""
    said: set[str] = set()
    masks = texts = 0
    for row in rows:
        said |= {key for key in ("spans", "labels", "label", _VALUES) if row.get(key) is not None}
        for one in (row.get("annotators") or {}).values():
            said |= {key for key in ("spans", "labels", "label", _VALUES) if isinstance(one, dict) and key in one}
        masks += _MASK in (row.get("text") or "") and "labels" in row
        texts += 1
    if "spans" in said:
        return "spans"
    if masks and masks == texts:
        return "masked"
    if said & {"label", "labels"}:
        return "labels"
    return _VALUES if _VALUES in said and _VALUES in kinds() else "spans"


class Fitting:
    """Brings rows into the form of a task's samples, and counts what has no place of its own there."""

    def __init__(self, task: Task, rows: Sequence[TextRow]) -> None:
        self._fields = cell_kinds(task.sample)
        self._required = required(task.sample)
        # What people say is parted where the record is made.
        self._beside = {"annotators"} if kept_beside(task.sample) else set()
        self._one_label = "label" in self._required
        self._vector = "labels" in self._required and task.files.label_columns
        self._labels = all_labels(rows) if self._vector else []
        self._moved: dict[str, int] = {}

    def fitted(self, row: TextRow) -> TextRow:
        """A row with the fields of the record alone; an object of its own."""
        row = dict(row)
        self._fit_labels(row)
        rest = {key: value for key, value in row.items() if key not in self._fields and key not in self._beside}
        for key in rest:
            del row[key]
            self._moved[key] = self._moved.get(key, 0) + 1
        if rest and "meta" in self._fields:
            row["meta"] = {**(row.get("meta") or {}), **rest}
        return row

    def notes(self) -> tuple[str, ...]:
        """A line for each thing that such records have no field for."""

        def where(key: str) -> str:
            if "meta" not in self._fields:
                return "are left out"
            return "are said beside" if key in SAID else "are kept in meta"

        moved = {key: n for key, n in self._moved.items() if key != "meta"}
        return tuple(f"{key} ({n:,} text{'s' * (n != 1)}) {where(key)}" for key, n in moved.items())

    def _fit_labels(self, row: dict[str, Any]) -> None:
        several, one = row.get("labels"), row.get("label")
        if "labels" not in self._fields and "label" not in self._fields:
            if one is not None and "emotion" in self._fields and "emotion" not in row:
                row["emotion"] = one
            return
        if self._one_label and one is None and isinstance(several, list | dict):
            there = _there(several)
            if len(there) == 1:
                row["label"] = there[0]
                del row["labels"]
            return
        if several is None and one is not None and "label" not in self._fields:
            several = row["labels"] = [row.pop("label")]
        if self._vector and isinstance(several, list):
            row["labels"] = {name: int(name in several) for name in self._labels}
        if "labels" in row and "label" in row and "label" in self._fields and not self._one_label:
            row["meta"] = {**(row.get("meta") or {}), "label": row.pop("label")}


def _there(labels: Any) -> list[str]:
    return [name for name, value in labels.items() if value] if isinstance(labels, dict) else list(labels)
