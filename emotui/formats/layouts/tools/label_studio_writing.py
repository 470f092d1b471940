"""Rows as tasks with annotations that Label Studio imports."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import ReadOptions, TextRow
from emotui.formats.layouts.tables.names import NAMES, normal
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.values import is_empty, number, parsed
from emotui.formats.layouts.tools.said import (
    OF_RELATIONS,
    OWN,
    SAID,
    Lost,
    annotators_of,
    is_number,
    labels_list,
    number_or_text,
)
from emotui.formats.rows import Flaw

# Label Studio's JSON-MIN, where each control is a field beside those of the task, brought into the full form.

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
    line, task = _minimal_task(first, controls)
    for item in rest:
        next_line, following = _minimal_task(item, controls)
        if not isinstance(task, Flaw) and not isinstance(following, Flaw) and _same(task, following):
            task["annotations"] += following["annotations"]
            continue
        yield line, task
        line, task = next_line, following
    yield line, task


def _same(task: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return task["id"] is not None and task["id"] == other["id"] and task["data"] == other["data"]


def _minimal_task(item: Item, controls: Collection[str]) -> tuple[int, dict[str, Any] | Flaw]:
    line, fields = item
    if isinstance(fields, Flaw):
        return line, fields
    if not isinstance(fields, dict):
        return line, Flaw("is no object")
    results = [result for name in fields if name in controls for result in _minimal_results(name, fields[name])]
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


def _minimal_results(name: str, value: Any) -> Iterator[dict[str, Any]]:
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


# Rows as Label Studio's JSON-MIN: an item a text and person, each control a field beside those of the task.

_CONTROLS = ("spans", "label", "labels")


def write_minimal(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a list of items, one a line; what is gold has nobody as its annotator."""
    lost = Lost()
    marks = any(said.get("spans") for row in rows for _, said in _minimal_sources(row))
    number = 0
    with path.open("wb") as file:
        file.write(b"[")
        for at, row in enumerate(rows, start=1):
            for item in _items(row, at, marks, lost):
                number += 1
                item["annotation_id"] = number
                file.write(b"\n" if number == 1 else b",\n")
                file.write(msgspec.json.encode(item))
        file.write(b"\n]\n")
    return lost.lines()


def _minimal_sources(row: TextRow) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Gold, also where nothing is said, so that the text is there, and each annotator."""
    people = list(annotators_of(row))
    if not people or any(row.get(key) is not None for key in SAID):
        yield None, row
    yield from people


def _items(row: TextRow, number: int, marks: bool, lost: Lost) -> Iterator[dict[str, Any]]:
    data: dict[str, Any] = {"text": row["text"]} | {key: row[key] for key in OWN if row.get(key)}
    for name, value in (row.get("meta") or {}).items():
        if name in data or name in OWN or name in STAMPS or name in _CONTROLS:
            lost.add("own columns that are named like a field of the text")
        else:
            data[name] = value
    sources = list(_minimal_sources(row))
    if len(sources) == 1 and sources[0][0] is not None:
        lost.add("that what one person alone says is not gold", "are read back as gold too")
    of_id = number_or_text(row["id"]) if row.get("id") is not None else number
    for name, said in sources:
        if marks != (said.get("spans") is not None):
            lost.add(
                "whether spans are not said or there are none", f"are read back as {'none' if marks else 'not said'}"
            )
        if name is not None:
            lost.fields(said, SAID)
        person = None if name is None else number_or_text(name)
        yield {**data, "id": of_id, **_controls(row["text"], said, data, lost), "annotator": person}


def _controls(text: str, said: Mapping[str, Any], data: Mapping[str, Any], lost: Lost) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if said.get("spans"):
        lost.of_spans(said["spans"], ("label",))
        found["spans"] = [_minimal_region(text, span) for span in said["spans"]]
    if said.get("label") is not None:
        found["label"] = said["label"]
    if said.get("labels") is not None:
        if isinstance(said["labels"], Mapping):
            lost.add("numbers by label", "written as the labels of at least one half")
        found["labels"] = {"choices": labels_list(said["labels"])}
    for name, value in (said.get("values") or {}).items():
        if name in data or name in STAMPS or name in _CONTROLS:
            lost.add("numbers that are named like a field of the text")
        else:
            found[name] = [{"number": value}]
    return found


def _minimal_region(text: str, span: Mapping[str, Any]) -> dict[str, Any]:
    start, end = span["start"], span["end"]
    labels = [] if span.get("label") is None else [span["label"]]
    return {"start": start, "end": end, "text": text[start:end], "labels": labels}


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a list of tasks, one a line."""
    lost = Lost()
    marks = any(said.get("spans") for row in rows for _, said in _sources(row))
    with path.open("wb") as file:
        file.write(b"[")
        for place, row in enumerate(rows):
            file.write(b",\n" if place else b"\n")
            file.write(msgspec.json.encode(_task(row, place, marks, lost)))
        file.write(b"\n]\n")
    return lost.lines()


def _sources(row: TextRow) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    if any(row.get(key) is not None for key in SAID):
        yield None, row
    yield from annotators_of(row)


def _task(row: TextRow, number: int, marks: bool, lost: Lost) -> dict[str, Any]:
    data: dict[str, Any] = {"text": row["text"]}
    for name, value in (row.get("meta") or {}).items():
        if name == "text" or name in OWN:
            lost.add("own columns that are named like a field of the text")
        else:
            data[name] = value
    data |= {key: row[key] for key in OWN if row.get(key)}
    annotations = []
    sources = list(_sources(row))
    if len(sources) == 1 and sources[0][0] is not None:
        lost.add("that what one person alone says is not gold", "are read back as gold too")
    for of_source, (name, said) in enumerate(sources):
        if marks != (said.get("spans") is not None):
            lost.add(
                "whether spans are not said or there are none", f"are read back as {'none' if marks else 'not said'}"
            )
        if name is not None:
            lost.fields(said, SAID)
        annotation: dict[str, Any] = {"id": number * 1000 + of_source + 1}
        if name is not None:
            person = number_or_text(name)
            annotation["completed_by"] = person if isinstance(person, int) else {"email": person}
        annotation |= {
            "ground_truth": name is None,
            "was_cancelled": False,
            "result": _results(row["text"], said, lost),
        }
        annotations.append(annotation)
    task: dict[str, Any] = {"data": data, "annotations": annotations, "predictions": []}
    return {"id": number_or_text(row["id"]), **task} if row.get("id") is not None else task


def _results(text: str, said: Mapping[str, Any], lost: Lost) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    if said.get("label") is not None:
        results.append(_whole("label", "choices", [said["label"]]))
    if said.get("labels") is not None:
        if isinstance(said["labels"], Mapping):
            lost.add("numbers by label", "written as the labels of at least one half")
        results.append(_whole("labels", "choices", labels_list(said["labels"])))
    results += [_whole(name, "number", value) for name, value in (said.get("values") or {}).items()]
    last: Mapping[str, Any] = {}
    region: dict[str, Any] = {}
    for place, span in enumerate(said.get("spans") or (), start=1):
        if _same_region(last, span):
            region["value"]["labels"].append(span["label"])
            continue
        region, *others = _region(text, span, place, lost)
        results += [region, *others]
        last = span
    return results


def _same_region(span: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two spans are one region with two labels: they have one id, and differ in their labels alone."""
    shared = (span.get("attributes") or {}).get("id")
    if shared is None or (other.get("attributes") or {}).get("id") != shared:
        return False
    if span.get("label") is None or other.get("label") is None:
        return False
    return all(span.get(key) == other.get(key) for key in ("start", "end", "score"))


def _whole(control: str, kind: str, value: Any) -> dict[str, Any]:
    return {"from_name": control, "to_name": "text", "type": kind, "value": {kind: value}}


def _region(text: str, span: Mapping[str, Any], number: int, lost: Lost) -> Iterator[dict[str, Any]]:
    attributes = dict(span.get("attributes") or {})
    relations = attributes.pop("relations", None)
    given = attributes.pop("id", None)
    of_id = given if isinstance(given, str) else f"s{number}"
    start, end = span["start"], span["end"]
    place = {"start": start, "end": end, "text": text[start:end]}
    labels = [] if span.get("label") is None else [span["label"]]
    result: dict[str, Any] = {
        "id": of_id,
        "from_name": "spans",
        "to_name": "text",
        "type": "labels",
        "origin": "manual",
        "value": {**place, "labels": labels},
    }
    if span.get("score") is not None:
        result["score"] = span["score"]
    yield result
    for name, value in attributes.items():
        if (kind := _kind(value)) is None:
            lost.add("attributes of spans that are no text, number or list of texts")
            continue
        field, content = ("text" if kind == "textarea" else kind), ([value] if kind == "choices" else value)
        of_region = {"id": of_id, "from_name": name, "to_name": "text", "type": kind, "origin": "manual"}
        yield {**of_region, "value": {**place, field: content}}
    for relation in relations if isinstance(relations, list) else ():
        if isinstance(relation, dict) and isinstance(relation.get("to"), str):
            if relation.keys() - {"to", "type", "direction"}:
                lost.add(OF_RELATIONS)
            kind_of = relation.get("type")
            labels = kind_of if isinstance(kind_of, list) else [] if kind_of is None else [kind_of]
            ends = {"from_id": of_id, "to_id": relation["to"]}
            yield {**ends, "type": "relation", "direction": relation.get("direction", "right"), "labels": labels}


def _kind(value: object) -> str | None:
    if isinstance(value, str):
        return "choices"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "textarea"
    return "number" if is_number(value) else None
