"""doccano: its JSONL export, of any version, and its CSV of classified texts."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import text_lines, utf8_lines
from emotui.formats.layouts.tools.said import (
    OF_RELATIONS,
    OWN,
    Lost,
    bad_offsets,
    id_of,
    labels_list,
    number_or_text,
    outside,
    own_of,
    relate,
    whole_number,
)
from emotui.formats.rows import Flaw, Rows, UnreadableFile, shown

# Rows as JSONL that doccano imports, and classified texts as CSV.

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
            if relation.keys() - {"to", "type"}:
                lost.add(OF_RELATIONS)
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


_LONGEST_CELL = 2**31 - 1


def recognise(path: Path, head: bytes) -> str | None:
    """Why a file is an export of doccano."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    first = head.split(b"\n", 1)[0]
    header = first.strip().decode("utf-8", "replace").split(",")
    if header[:3] == ["id", "data", "label"] or (header[:2] == ["id", "text"] and header[-1] == "Comments"):
        return "it is CSV with the columns of doccano"
    if not first.startswith(b"{"):
        return None
    record = jsonl.decode(first)
    if not isinstance(record, dict) or not isinstance(record.get("text", record.get("data")), str):
        return None
    label = record.get("label", record.get("labels"))
    if "start_offset" in str(record.get("entities", record.get("annotations"))):
        return "its lines have entities with a `start_offset`"
    if "Comments" in record or "annotation_approver" in record:
        return "its lines have `Comments` or an `annotation_approver`, as doccano writes"
    if isinstance(label, list) and label and all(_is_span(one) for one in label):
        return f"its lines have [start, end, label] under `{'label' if 'label' in record else 'labels'}`"
    listed = record.get("label")
    plain = isinstance(listed, list) and all(isinstance(one, str | list) for one in listed)
    return "its lines have a list under `label`" if plain else None


def _is_span(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and whole_number(value[0]) and isinstance(value[2], str)


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a line; in CSV, labels are parted at `#` as doccano joins them."""
    if path.suffix.lower() == ".csv":
        yield from _table(path, options)
        return
    kinds = _kinds(path, options)
    for line, record in _records(path, options):
        yield line, record if isinstance(record, Flaw) else _row(record, kinds, options)


def _records(path: Path, options: ReadOptions) -> Iterator[tuple[int, dict[str, Any] | Flaw]]:
    for line, record in jsonl.rows(text for _, text in utf8_lines(path, options.encoding)):
        yield line, record if isinstance(record, dict | Flaw) else Flaw("is no object")


class _Kinds:
    """What the lines of a file have: spans, and several labels of one text."""

    spans = False
    several = False


def _kinds(path: Path, options: ReadOptions) -> _Kinds:
    kinds = _Kinds()
    for _, record in _records(path, options):
        if isinstance(record, Flaw):
            continue
        for key in ("label", "labels", "cats"):
            label = record.get(key)
            if isinstance(label, list) and label:
                if isinstance(label[0], list):
                    kinds.spans = True
                elif len(label) > 1 and key != "labels":
                    kinds.several = True
    return kinds


def _row(record: dict[str, Any], kinds: _Kinds, options: ReadOptions) -> TextRow | Flaw:
    text_key = options.columns.get("text") or ("text" if "text" in record else "data")
    text = record.get(text_key)
    if not isinstance(text, str):
        return Flaw(f"has no text under `text` or `data`, but {shown(text)}")
    rest = {name: value for name, value in record.items() if name not in (text_key, "id", *SAID_FIELDS)}
    inner = rest.pop("meta", None)
    own, meta = own_of(rest | inner if isinstance(inner, dict) else rest)
    if inner is not None and not isinstance(inner, dict):
        meta["meta"] = inner
    row: TextRow = {"text": text, **own}
    if (of_id := id_of(record.get("id"))) is not None:
        row["id"] = of_id
    for key in ("label", "labels", "cats"):
        if (wrong := _take_labels(row, key, record.get(key), kinds)) is not None:
            return wrong
    for found in (
        _entities(record.get("entities"), record.get("relations"), text),
        _by_user(record.get("annotations"), text),
    ):
        if isinstance(found, Flaw):
            return found
        row |= found
    if meta:
        row["meta"] = meta
    return row


def _take_labels(row: TextRow, key: str, value: object, kinds: _Kinds) -> Flaw | None:
    """Puts what stands under `key` into the row: spans, labels of the text, or one label."""
    if value is None:
        return None
    if isinstance(value, str):
        row["label"] = value
    elif not isinstance(value, list):
        return Flaw(f"`{key}` must be a list, not {shown(value)}")
    elif (value and isinstance(value[0], list)) or (not value and kinds.spans and key != "cats"):
        spans = _spans(value, row["text"])
        if isinstance(spans, Flaw):
            return spans
        row["spans"] = spans
    elif key == "labels" or kinds.several:
        if value or key == "labels":  # a text without a category is one that nobody has looked at
            row["labels"] = [str(label) for label in value]
    elif value:
        row["label"] = str(value[0])
    return None


def _spans(items: list[Any], text: str) -> list[dict[str, Any]] | Flaw:
    spans = []
    for item in items:
        if not isinstance(item, list) or len(item) < 2:
            return Flaw(f"a span must be [start, end, label], not {shown(item)}")
        label = item[2] if len(item) > 2 else None
        found = _span(item[0], item[1], label, text)
        if isinstance(found, Flaw):
            return found
        spans.append(found)
    return spans


def _span(start: Any, end: Any, label: object, text: str) -> dict[str, Any] | Flaw:
    if not whole_number(start) or not whole_number(end):
        return bad_offsets(start, end)
    if wrong := outside(start, end, len(text)):
        return wrong
    span: dict[str, Any] = {"start": start, "end": end}
    return span if label is None else span | {"label": str(label)}


def _entities(entities: object, relations: object, text: str) -> dict[str, Any] | Flaw:
    if not isinstance(entities, list):
        return {}
    spans: list[dict[str, Any]] = []
    by_id: dict[object, dict[str, Any]] = {}
    for entity in entities:
        if isinstance(entity, list):
            listed = _spans([entity], text)
            span = listed if isinstance(listed, Flaw) else listed[0]
        elif isinstance(entity, dict):
            span = _span(entity.get("start_offset"), entity.get("end_offset"), entity.get("label"), text)
        else:
            return Flaw(f"an entity must be an object, not {shown(entity)}")
        if isinstance(span, Flaw):
            return span
        spans.append(span)
        if isinstance(entity, dict) and isinstance(entity.get("id"), int | str):
            by_id[entity["id"]] = span
    for relation in relations if isinstance(relations, list) else ():
        if not isinstance(relation, dict):
            return Flaw(f"a relation must be an object, not {shown(relation)}")
        ends = relation.get("from_id"), relation.get("to_id")
        if not all(isinstance(end, int | str) and end in by_id for end in ends):
            return Flaw(f"a relation goes from {shown(ends[0])} to {shown(ends[1])}, which are not both entities here")
        for end in ends:
            by_id[end].setdefault("attributes", {})["id"] = str(end)
        found = {"to": str(ends[1]), "type": relation.get("type")}
        relate(by_id[ends[0]]["attributes"], found)
    return {"spans": spans}


def _by_user(annotations: object, text: str) -> dict[str, Any] | Flaw:
    """What older versions write under `annotations`: labels, or spans, each with the number of a user."""
    if not isinstance(annotations, list):
        return {}
    by_user: dict[str, dict[str, Any]] = {}
    for one in annotations:
        if not isinstance(one, dict):
            return Flaw(f"an annotation must be an object, not {shown(one)}")
        said = by_user.setdefault(id_of(one.get("user")) or "", {})
        if "start_offset" in one:
            span = _span(one["start_offset"], one.get("end_offset"), one.get("label"), text)
            if isinstance(span, Flaw):
                return span
            said.setdefault("spans", []).append(span)
        elif "label" in one:
            said.setdefault("labels", []).append(str(one["label"]))
    if len(by_user) == 1:
        return next(iter(by_user.values()))
    return {"annotators": by_user} if by_user else {}


def _table(path: Path, options: ReadOptions) -> Rows:
    csv.field_size_limit(_LONGEST_CELL)
    lines = (line for _, line in text_lines(path, options.encoding, endings=True))
    reader = csv.reader(lines, delimiter=options.delimiter or ",", strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UnreadableFile(f"is no table: {error}", line) from None
        if not header:
            header = cells
            if not {"text", "data"} & set(header):
                raise UnreadableFile("the header has no column `text` or `data`", line)
        elif len(cells) != len(header):
            if cells:
                yield line, Flaw(f"has {len(cells)} cells where the header has {len(header)}")
        else:
            record: dict[str, Any] = dict(zip(header, cells, strict=True))
            labels = [label for label in record.pop("label", "").split("#") if label]
            row = _row(
                {name: cell for name, cell in record.items() if cell != "" or name in ("text", "data")},
                _Kinds(),
                options,
            )
            said = {"label": labels[0]} if len(labels) == 1 else {"labels": labels} if labels else {}
            yield line, row if isinstance(row, Flaw) else row | said


LAYOUT = Layout(
    "doccano",
    "JSONL as doccano exports it (spans, categories, relations), and its CSV of categories",
    recognise,
    rows,
    write,
)
