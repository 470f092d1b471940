"""Label Studio's JSON-MIN, where each control is a field beside those of the task, brought into the full form."""

from collections.abc import Iterator, Mapping
from typing import Any

from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.rows import Flaw

STAMPS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
"""Fields that Label Studio writes of an annotation itself."""
_KINDS = ("choices", "rating", "number", "taxonomy", "text")

Item = tuple[int, Any]


def is_minimal(item: object) -> bool:
    """Whether an item of an export is in the minimal form."""
    return isinstance(item, dict) and "annotator" in item and not isinstance(item.get("data"), dict)


def tasks_of_minimal(
    first: Item, rest: Iterator[Item], options: ReadOptions
) -> Iterator[tuple[int, dict[str, Any] | Flaw]]:
    """Tasks in the full form; what several people say of one task stands in items one after another."""
    line, task = _task(first, options)
    for item in rest:
        next_line, following = _task(item, options)
        if not isinstance(task, Flaw) and not isinstance(following, Flaw) and _same(task, following):
            task["annotations"] += following["annotations"]
            continue
        yield line, task
        line, task = next_line, following
    yield line, task


def _same(task: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return task["id"] is not None and task["id"] == other["id"] and task["data"] == other["data"]


def _task(item: Item, options: ReadOptions) -> tuple[int, dict[str, Any] | Flaw]:
    line, fields = item
    if isinstance(fields, Flaw):
        return line, fields
    if not isinstance(fields, dict):
        return line, Flaw("is no object")
    said = _controls(fields, options)
    results = [result for name in said for result in _results(name, fields[name])]
    annotation = {"completed_by": fields.get("annotator"), "result": results}
    data = {name: value for name, value in fields.items() if name not in said and name not in STAMPS}
    return line, {"id": fields.get("id"), "data": data, "annotations": [annotation]}


def _controls(fields: Mapping[str, Any], options: ReadOptions) -> list[str]:
    """The fields that are controls: Label Studio writes them between the task's number and the annotator."""
    names = list(fields)
    asked = [name for key, name in options.columns.items() if key != "text" and name in fields]
    if "id" in fields and "annotator" in fields and names.index("id") < names.index("annotator"):
        return names[names.index("id") + 1 : names.index("annotator")]
    return [name for name, value in fields.items() if name in asked or _is_said(value)]


def _is_said(value: object) -> bool:
    inner = value[0] if isinstance(value, list) and value else value
    return isinstance(inner, dict) and any(name in _KINDS or name.endswith("labels") for name in inner)


def _results(name: str, value: Any) -> Iterator[dict[str, Any]]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            labels = (key for key in one if isinstance(key, str) and key.endswith("labels"))
            plain = (key for key in _KINDS if key in one and not ("start" in one and key == "text"))
            kind = next(labels, None) or next(plain, "labels")
            kind = "textarea" if kind == "text" else kind
            yield {"from_name": name, "to_name": "text", "type": kind, "value": one}
        elif isinstance(one, str):
            yield {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [one]}}
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield {"from_name": name, "to_name": "text", "type": "number", "value": {"number": one}}
