"""Rows as Label Studio's JSON-MIN: an item a text and person, each control a field beside those of the task."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.label_studio_minimal import STAMPS
from emotui.formats.layouts.tools.said import (
    OWN,
    SAID,
    Lost,
    annotators_of,
    labels_list,
    number_or_text,
)

_CONTROLS = ("spans", "label", "labels")


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a list of items, one a line; what is gold has nobody as its annotator."""
    lost = Lost()
    marks = any(said.get("spans") for row in rows for _, said in _sources(row))
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


def _sources(row: TextRow) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
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
    sources = list(_sources(row))
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
        found["spans"] = [_region(text, span) for span in said["spans"]]
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


def _region(text: str, span: Mapping[str, Any]) -> dict[str, Any]:
    start, end = span["start"], span["end"]
    labels = [] if span.get("label") is None else [span["label"]]
    return {"start": start, "end": end, "text": text[start:end], "labels": labels}
