"""Rows as tasks with annotations that Label Studio imports."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import (
    OWN,
    SAID,
    Lost,
    annotators_of,
    is_number,
    labels_list,
    number_or_text,
)


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a list of tasks, one a line."""
    lost = Lost()
    marks = any(said.get("spans") for row in rows for _, said in _sources(row))
    with path.open("wb") as file:
        file.write(b"[")
        for number, row in enumerate(rows):
            file.write(b",\n" if number else b"\n")
            file.write(msgspec.json.encode(_task(row, number, marks, lost)))
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
    for number, span in enumerate(said.get("spans") or (), start=1):
        if _same_region(last, span):
            region["value"]["labels"].append(span["label"])
            continue
        region, *others = _region(text, span, number, lost)
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
