"""Label Studio's JSON-MIN, where each control is a field beside those of the task, brought into the full form."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.tables.names import NAMES, normal
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.values import is_empty, number, parsed
from emotui.formats.rows import Flaw

STAMPS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
"""Fields that Label Studio writes of an annotation itself."""
_KINDS = ("choices", "rating", "number", "taxonomy", "text")
_USUAL = frozenset((*NAMES["label"], *NAMES["labels"], *_KINDS[:4])) - set(NAMES["text"])

Item = tuple[int, Any]

IN_TABLE = ("annotator", "annotation_id", "lead_time")
"""Columns that its CSV has beside those of the text and of the controls."""


def is_minimal(item: object) -> bool:
    """Whether an item of an export is in the minimal form; without an annotator it has regions, or none of them."""
    if not isinstance(item, dict) or isinstance(item.get("data"), dict):
        return False
    return "annotator" in item or any(isinstance(value, list) and not value for value in item.values()) or marks(item)


def marks(item: object) -> bool:
    """Whether a field of an item holds regions as Label Studio writes them: start, end, and labels in a list."""
    return isinstance(item, dict) and any(
        isinstance(value, list) and bool(value) and _is_region(value[0]) for value in item.values()
    )


def _is_region(value: object) -> bool:
    return (
        isinstance(value, dict)
        and {"start", "end", "text"} <= value.keys()
        and any(str(key).endswith("labels") and isinstance(value[key], list) for key in value)
    )


def items_of_table(table: Table) -> Iterator[Item]:
    """The rows of the CSV of the same form as items: lists and objects stand as JSON in their cells."""
    for line, row in table.rows:
        if isinstance(row, Flaw):
            yield line, row
            continue
        values = {name: _of_cell(name, cell) for name, cell in row.items() if name in STAMPS or not is_empty(cell)}
        wrong = next((value for value in values.values() if isinstance(value, Flaw)), None)
        yield line, values if wrong is None else wrong


def _of_cell(name: str, cell: Any) -> Any:
    """What a cell holds; a number under a name that is none of labels' is a rating."""
    if name not in STAMPS and normal(name) not in (*NAMES["label"], *NAMES["labels"], *NAMES["text"]):
        rating = number(cell) if isinstance(cell, str) and cell.strip().lower() not in ("true", "false") else None
        if rating is not None:
            return int(rating) if rating.is_integer() else rating
    value = parsed(cell)
    return None if is_empty(value) else value


def tasks_of_minimal(
    first: Item, rest: Iterator[Item], controls: Collection[str]
) -> Iterator[tuple[int, dict[str, Any] | Flaw]]:
    """Tasks in the full form; what several people say of one task stands in items one after another.

    Args:
        controls: the fields that are no fields of the task.
    """
    line, task = _task(first, controls)
    for item in rest:
        next_line, following = _task(item, controls)
        if not isinstance(task, Flaw) and not isinstance(following, Flaw) and _same(task, following):
            task["annotations"] += following["annotations"]
            continue
        yield line, task
        line, task = next_line, following
    yield line, task


def _same(task: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return task["id"] is not None and task["id"] == other["id"] and task["data"] == other["data"]


def _task(item: Item, controls: Collection[str]) -> tuple[int, dict[str, Any] | Flaw]:
    line, fields = item
    if isinstance(fields, Flaw):
        return line, fields
    if not isinstance(fields, dict):
        return line, Flaw("is no object")
    results = [result for name in fields if name in controls for result in _results(name, fields[name])]
    annotation = {"completed_by": fields.get("annotator"), "result": results}
    data = {name: value for name, value in fields.items() if name not in controls and name not in STAMPS}
    return line, {"id": fields.get("id"), "data": data, "annotations": [annotation]}


def controls_in(items: Iterable[Mapping[str, Any]], options: ReadOptions) -> frozenset[str]:
    """The fields of an export that are controls, by all its items.

    Label Studio writes the fields of the task, its number, the controls, the annotator and what else it stamps, in
    this order. Where a program wrote them in another, a control is what holds regions or choices, or is called as
    labels are.
    """
    text = options.columns.get("text") or "text"
    asked = {name for key, name in options.columns.items() if key != "text"}
    between: set[str] = set()
    told, called = set[str](), set[str]()
    in_order = True
    for fields in items:
        names = [name for name in fields if name not in STAMPS]
        told |= {name for name in names if name in asked or _is_said(fields[name])}
        called |= {name for name in names if _is_called(name, fields[name])}
        names = list(fields)
        if "id" not in names or "annotator" not in names:
            in_order = False
            continue
        before, after = names.index("id"), names.index("annotator")
        between |= set(names[before + 1 : after])
        in_order = in_order and 0 < before < after and all(name in STAMPS for name in names[after:])
    texts = {name for name in between if normal(name) in NAMES["text"] and name not in told}
    by_place = in_order and not texts and told <= between
    return frozenset((between if by_place else told | called) - {text, *STAMPS})


def _is_said(value: object) -> bool:
    inner = value[0] if isinstance(value, list) and value else value
    return isinstance(inner, dict) and any(key in _KINDS or str(key).endswith("labels") for key in inner)


def _is_called(name: str, value: object) -> bool:
    """Whether a plain value stands under a name that labels or ratings have."""
    inner = value[0] if isinstance(value, list) and value else value
    return normal(name) in _USUAL and isinstance(inner, str | int | float) and not isinstance(inner, bool)


def _results(name: str, value: Any) -> Iterator[dict[str, Any]]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            labels = (key for key in one if isinstance(key, str) and key.endswith("labels"))
            plain = (key for key in _KINDS if key in one and not ("start" in one and key == "text"))
            kind = next(labels, None) or next(plain, "labels")
            kind = "textarea" if kind == "text" else kind
            yield {"from_name": name, "to_name": "text", "type": kind, "value": one}
        elif isinstance(one, str) and one:
            yield {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [one]}}
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield {"from_name": name, "to_name": "text", "type": "number", "value": {"number": one}}
