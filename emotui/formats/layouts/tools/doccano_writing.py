"""Rows as JSONL that doccano imports, and classified texts as CSV."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import OWN, Lost, labels_list, number_or_text

SAID_FIELDS = ("label", "labels", "entities", "cats", "relations", "annotations")
"""The fields of a line in which something is said of its text."""


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes JSONL for doccano's import, spans as entities; classified texts alone as CSV if the name ends so."""
    lost = Lost()
    if path.suffix.lower() == ".csv":
        _write_table(path, rows, lost)
        return lost.lines()
    # Spans stand as lists under `label` where that holds them, for any version of doccano reads those.
    spans = [span for row in rows for span in row.get("spans") or ()]
    plain = bool(spans) and not any(span.get("attributes") for span in spans)
    plain = plain and not any(row.get(key) is not None for row in rows for key in ("label", "labels"))
    with path.open("wb") as file:
        for number, row in enumerate(rows):
            file.write(msgspec.json.encode(_record(row, number, plain, lost)) + b"\n")
    return lost.lines()


def _record(row: TextRow, number: int, plain: bool, lost: Lost) -> dict[str, Any]:
    lost.fields(row, ("id", "meta", "spans", "label", "labels", *OWN))
    record: dict[str, Any] = {}
    if row.get("id") is not None:
        record["id"] = row["id"]
    record["text"] = row["text"]
    if row.get("spans") is not None:
        lost.of_spans(row["spans"], ("label", "attributes"))
        if plain:
            record["label"] = [[span["start"], span["end"], _label(span, lost)] for span in row["spans"]]
        else:
            record |= _written_entities(row["spans"], number, lost)
    if row.get("label") is not None:
        record["label"] = [row["label"]]
    if row.get("labels") is not None:
        if isinstance(row["labels"], Mapping):
            lost.add("numbers by label", "written as the labels of at least one half")
        record["labels"] = labels_list(row["labels"])
    for name, value in (row.get("meta") or {}).items():
        if name in ("id", "text", "data", "meta", *SAID_FIELDS, *OWN):
            lost.add("own columns that are named like a field of the text")
        else:
            record[name] = value
    return record | {key: row[key] for key in OWN if row.get(key)}


def _label(span: Mapping[str, Any], lost: Lost) -> str:
    if span.get("label") is None:
        lost.add("spans without a label", "written with the label span")
    return span.get("label") or "span"


def _written_entities(spans: Sequence[Mapping[str, Any]], number: int, lost: Lost) -> dict[str, Any]:
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    given = [(span.get("attributes") or {}).get("id") for span in spans]
    # doccano numbers entities: their own numbers stay if all are numbers, each its own.
    kept = [int(one) for one in given if isinstance(one, str) and number_or_text(one) != one]
    renumbered = len(kept) != len([one for one in given if one is not None]) or len(set(kept)) != len(kept)
    free = max([number * 1000, *kept]) + 1
    ids = [free + place if renumbered or one is None else int(one) for place, one in enumerate(given)]
    names: dict[str, int] = {}
    for one, of_id in zip(given, ids, strict=True):
        if isinstance(one, str):
            names.setdefault(one, of_id)
    for of_id, span in zip(ids, spans, strict=True):
        place = {"start_offset": span["start"], "end_offset": span["end"]}
        entities.append({"id": of_id, "label": _label(span, lost), **place})
        attributes = span.get("attributes") or {}
        lost.add("attributes of spans", count=len(attributes.keys() - {"id", "relations"}))
        related = attributes.get("relations")
        for relation in related if isinstance(related, list) else ():
            target = names.get(str(relation.get("to"))) if isinstance(relation, Mapping) else None
            if target is None:
                lost.add("relations to what is no span")
                continue
            ends = {"from_id": of_id, "to_id": target}
            relations.append({"id": len(relations) + 1, **ends, "type": relation.get("type")})
    return {"entities": entities, "relations": relations}


def _write_table(path: Path, rows: Sequence[TextRow], lost: Lost) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "data", "label"])
        for row in rows:
            lost.fields(row, ("id", "label", "labels"))
            labels = labels_list(row.get("labels") or ([row["label"]] if row.get("label") else []))
            lost.add("labels with a # in CSV", count=sum("#" in label for label in labels))
            writer.writerow([row.get("id", ""), row["text"], "#".join(labels)])
