"""Prodigy: the JSONL that its command `db-out` writes."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import utf8_lines
from emotui.formats.layouts.tools.said import (
    OWN,
    SAID,
    Lost,
    annotators_of,
    bad_offsets,
    differs,
    folded,
    id_of,
    labels_list,
    outside,
    own_of,
    relate,
    whole_number,
)
from emotui.formats.rows import Flaw, Rows, shown

_MARKS = ("_input_hash", "_task_hash", "_session_id", "_annotator_id", "_view_id", "answer")
_DERIVED = (*_MARKS, "_timestamp", "tokens", "options", "config", "accept", "relations", "_is_binary", "html")
_OF_SPAN = ("start", "end", "label", "score", "text", "token_start", "token_end")
_ANSWERS = ("accept", "reject", "ignore")


def recognise(path: Path, head: bytes) -> str | None:
    """Why a file is an export of Prodigy."""
    first = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    if not first.startswith(b"{") or not any(f'"{mark}"'.encode() in first for mark in (*_MARKS, "token_start")):
        return None
    record = jsonl.decode(first)
    if isinstance(record, dict):
        if not isinstance(record.get("text"), str):
            return None
        found = [mark for mark in _MARKS if mark in record and (mark != "answer" or record[mark] in _ANSWERS)]
        if found:
            return f"its lines have `{found[0]}`"
    return "its lines have spans with a `token_start`" if b'"token_start"' in first else None


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a line, or a row a text where several people have answered for it."""
    file = _File(path, options)
    if file.people:
        yield from file.by_text()
        return
    for line, record in file.records():
        if isinstance(record, Flaw):
            yield line, record
            continue
        found = file.row(record)
        yield line, found if isinstance(found, Flaw) else found[0] | found[1]


class _File:
    """One file, of which it is known who took part and whether several options may be taken at once."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path, self._options = path, options
        names: set[str | None] = set()
        self.several = False
        for _, record in self.records():
            if isinstance(record, Flaw):
                continue
            names.add(_person(record))
            config, accept = record.get("config"), record.get("accept")
            self.several |= isinstance(config, dict) and config.get("choice_style") == "multiple"
            self.several |= isinstance(accept, list) and len(accept) > 1
        self.people = len(names) > 1

    def records(self) -> Iterator[tuple[int, dict[str, Any] | Flaw]]:
        for line, record in jsonl.rows(text for _, text in utf8_lines(self._path, self._options.encoding)):
            yield line, record if isinstance(record, dict | Flaw) else Flaw("is no object")

    def row(self, record: dict[str, Any]) -> tuple[TextRow, dict[str, Any]] | Flaw:
        """The text of a line with what belongs to it, and what is said of it."""
        text_key = self._options.columns.get("text", "text")
        text = record.get(text_key)
        if not isinstance(text, str):
            return Flaw(f"has no text under `{text_key}`, but {shown(text)}")
        fields = {name: value for name, value in record.items() if name not in (text_key, "id", *SAID, *_DERIVED)}
        inner = fields.pop("meta", None)
        own, meta = own_of(fields)
        meta |= inner if isinstance(inner, dict) else {} if inner is None else {"meta": inner}
        row: TextRow = {"text": text, **own}
        if (of_id := id_of(record.get("id"))) is not None:
            row["id"] = of_id
        answer = record.get("answer", "accept")
        if answer != "accept":
            # Refused or passed over: whatever the line proposed, nobody has said it.
            row["meta"] = meta | {"answer": answer}
            return row, {}
        if meta:
            row["meta"] = meta
        said = self._said(record, text)
        return said if isinstance(said, Flaw) else (row, said)

    def _said(self, record: dict[str, Any], text: str) -> dict[str, Any] | Flaw:
        said: dict[str, Any] = {}
        spans = record.get("spans")
        if spans is not None:
            found = _spans(spans, text)
            if isinstance(found, Flaw):
                return found
            said["spans"] = _related(found, record.get("relations"))
        accept = record.get("accept")
        if isinstance(accept, list):
            if self.several:
                said["labels"] = [str(label) for label in accept]
            elif accept:
                said["label"] = str(accept[0])
        elif isinstance(record.get("label"), str):
            said["label"] = record["label"]
        if isinstance(record.get("labels"), list | dict) and "labels" not in said:
            said["labels"] = record["labels"]
        if isinstance(record.get("values"), dict):
            said["values"] = record["values"]
        return said

    def by_text(self) -> Rows:
        """A row a text, with what each of several people says of it."""
        found: dict[object, tuple[int, TextRow]] = {}
        flaws: list[tuple[int, Flaw]] = []
        for line, record in self.records():
            row = record if isinstance(record, Flaw) else self.row(record)
            if isinstance(row, Flaw) or isinstance(record, Flaw):
                flaws.append((line, row if isinstance(row, Flaw) else Flaw("")))
                continue
            text, said = row
            answer = (text.get("meta") or {}).get("answer")
            of_input = record.get("_input_hash")
            key = text.get("id") or (of_input if whole_number(of_input) else None, text["text"])
            _, kept = found.setdefault(key, (line, text))
            person = _person(record)
            if person is None:
                kept |= said
            elif answer is None:
                by_name = kept.setdefault("annotators", {})
                by_name[person] = by_name.get(person, {}) | said
        yield from sorted([*found.values(), *flaws], key=lambda item: item[0])


def _person(record: Mapping[str, Any]) -> str | None:
    return id_of(record.get("_annotator_id")) or id_of(record.get("_session_id"))


def _spans(spans: object, text: str) -> list[dict[str, Any]] | Flaw:
    if not isinstance(spans, list):
        return Flaw(f"`spans` must be a list, not {shown(spans)}")
    found = []
    for one in spans:
        if not isinstance(one, dict):
            return Flaw(f"a span must be an object, not {shown(one)}")
        start, end = one.get("start"), one.get("end")
        if not whole_number(start) or not whole_number(end):
            return bad_offsets(start, end)
        if wrong := outside(start, end, len(text)):
            return wrong
        claimed = one.get("text")
        if isinstance(claimed, str) and folded(claimed) != folded(text[start:end]):
            return differs(start, end, claimed, text[start:end])
        span = {name: one[name] for name in ("start", "end", "label", "score") if one.get(name) is not None}
        if attributes := {name: value for name, value in one.items() if name not in _OF_SPAN}:
            span["attributes"] = attributes
        found.append(span)
    return found


def _related(spans: list[dict[str, Any]], relations: object) -> list[dict[str, Any]]:
    """The spans, of which those that relations join are named and hold where these go."""
    by_place = {(span["start"], span["end"]): (number, span) for number, span in enumerate(spans, start=1)}
    for relation in relations if isinstance(relations, list) else ():
        ends = [relation.get(key) for key in ("head_span", "child_span")] if isinstance(relation, dict) else []
        places = [(end.get("start"), end.get("end")) for end in ends if isinstance(end, dict)]
        if len(places) != 2 or not all(_hashable(place) and place in by_place for place in places):
            continue
        named = [by_place[place] for place in places]
        for number, span in named:
            span.setdefault("attributes", {}).setdefault("id", f"s{number}")
        found = {"to": named[1][1]["attributes"]["id"], "type": relation.get("label")}
        relate(named[0][1]["attributes"], found)
    return spans


def _hashable(place: tuple[object, object]) -> bool:
    return whole_number(place[0]) and whole_number(place[1])


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a line a text, and one a text and annotator where there are annotators."""
    lost = Lost()
    labels = sorted({label for row in rows for _, said in _sources(row) for label in _labels(said)})
    options = [{"id": label, "text": label} for label in labels]
    names = {name for row in rows for name, _ in _sources(row)}
    if len(names) == 1 and None not in names:
        lost.add("that what one person alone says is not gold", "are read back as gold instead", len(rows))
    several = any(said.get("labels") is not None for row in rows for _, said in _sources(row))
    with path.open("wb") as file:
        for number, row in enumerate(rows):
            for record in _records(row, number, options, several, lost):
                file.write(msgspec.json.encode(record) + b"\n")
    return lost.lines()


def _sources(row: TextRow) -> list[tuple[str | None, Mapping[str, Any]]]:
    people = list(annotators_of(row))
    gold = not people or any(row.get(key) is not None for key in SAID)
    return [*([(None, row)] if gold else []), *people]


def _labels(said: Mapping[str, Any]) -> list[str]:
    return [*([said["label"]] if said.get("label") is not None else []), *(said.get("labels") or ())]


def _records(
    row: TextRow, number: int, options: list[dict[str, str]], several: bool, lost: Lost
) -> Iterator[dict[str, Any]]:
    base: dict[str, Any] = {} if row.get("id") is None else {"id": row["id"]}
    base |= {"text": row["text"], **{key: row[key] for key in OWN if row.get(key)}}
    meta = dict(row.get("meta") or {})
    answer = meta.pop("answer", "accept")
    if answer not in _ANSWERS:
        lost.add("an own column named answer")
        answer = "accept"
    if answer != "accept" and any(said.get(key) is not None for _, said in _sources(row) for key in SAID):
        lost.add("what is said of a text that was not accepted")
    if meta:
        base["meta"] = meta
    if row.get("id") is None:
        base["_input_hash"] = zlib.crc32(f"{number}\n{row['text']}".encode())
    for name, said in _sources(row):
        if name is not None:
            lost.fields(said, SAID)
        record = dict(base)
        if said.get("spans") is not None:
            record["spans"] = [_written(row["text"], span, lost) for span in said["spans"]]
        record |= _choices(said, options, several, lost)
        if said.get("values"):
            record["values"] = said["values"]
        if name is not None:
            record |= {"_annotator_id": name, "_session_id": name}
        yield record | {"answer": answer}


def _written(text: str, span: Mapping[str, Any], lost: Lost) -> dict[str, Any]:
    place = {"start": span["start"], "end": span["end"], "text": text[span["start"] : span["end"]]}
    said = {key: span[key] for key in ("label", "score") if span.get(key) is not None}
    attributes = span.get("attributes") or {}
    lost.add("attributes that are named like a field of a span", count=len(attributes.keys() & set(_OF_SPAN)))
    return {**attributes, **place, **said}


def _choices(said: Mapping[str, Any], options: list[dict[str, str]], several: bool, lost: Lost) -> dict[str, Any]:
    if isinstance(said.get("labels"), Mapping):
        return {"labels": said["labels"]}
    if said.get("labels") is not None:
        style = {"config": {"choice_style": "multiple"}}
        return {"options": options, "accept": labels_list(said["labels"]), **style}
    if said.get("label") is not None:
        if several:
            return {"label": said["label"]}
        return {"options": options, "accept": [said["label"]], "config": {"choice_style": "single"}}
    return {}


LAYOUT = Layout(
    "prodigy",
    "JSONL as Prodigy's db-out writes it (spans, choices, several annotators)",
    recognise,
    rows,
    write,
)
