"""From the rows of a table to rows of texts, once it is known which column is what."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from emotui.formats.conversion import merged_attributes, related
from emotui.formats.layouts.layout import ReadOptions, TextRow
from emotui.formats.layouts.tables.several import ANSWERS, outside_of, said_by, several_of, text_and_spans
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.values import (
    differs,
    identifier,
    is_empty,
    is_unanswered,
    label,
    labels,
    number,
    parsed,
    span,
    spans,
)
from emotui.formats.rows import Flaw, Rows, shown
from emotui.records import RELATIONS

_NESTED = ("sentences", "meta", "values")
_SAID = ("spans", "label", "labels", "values")
_NO_ANSWERS = frozenset(("text", "id", "annotator", "about", "subject", "meta", "tokens"))
"""Keys whose columns say nothing of a text: a word in them is that word."""

_OF_SPANS = (("span_label", "label"), ("span_score", "score"), ("span_attributes", "attributes"))


def shaped(table: Table, settled: ReadOptions) -> Rows:
    """The rows of texts of a table, one a row of it, or one a text where its rows are spans or persons.

    Args:
        settled: with a column for every key that is there; an empty one is none.
    """
    settled = replace(settled, columns={key: column for key, column in settled.columns.items() if column})
    shape = _Shape(table, settled)
    rows = ((line, row if isinstance(row, Flaw) else shape.row(row)) for line, row in table.rows)
    several = {"start", "annotator", "about"} & settled.columns.keys()
    yield from _grouped(rows, spans_apart="start" in settled.columns) if several else rows


class _Shape:
    """Which column goes where."""

    def __init__(self, table: Table, settled: ReadOptions) -> None:
        columns = settled.columns
        self._columns = columns
        self._names, self._predicted = settled.label_names, settled.predicted
        self._of_column = table.names
        self._several = {key: several.labels for key, several in several_of(table, columns).items()}
        self._one_hot = _below(columns, "labels.")
        self._scales = _below(columns, "values.")
        self._renamed = _below(columns, "meta.")
        self._people = _below(columns, "people.")
        self._graded = any(
            number(row.get(column)) not in (None, 0.0, 1.0)
            for column in (self._people.values() if "about" in columns else ())
            for _, row in table.rows
            if not isinstance(row, Flaw)
        )
        answers = (name for key, name in columns.items() if key not in _NO_ANSWERS and not key.startswith("meta."))
        self._worded = list(dict.fromkeys(answers)) if table.worded else []
        taken = set(columns.values())
        self._kept = [name for name in table.header if name not in taken]
        self._said = [key for key in ("label", "labels", "spans", "tokens", "start", "annotator") if key in columns]
        self._more = [key for key in ("subject", "emotion", "valence", *_NESTED) if key in columns]

    def row(self, values: Mapping[str, Any]) -> TextRow | Flaw:
        """The row of one text, or what is wrong with it."""
        found: TextRow = {}
        columns = self._columns
        if unanswered := [name for name in self._worded if is_unanswered(values.get(name))]:
            values = {**values, **dict.fromkeys(unanswered)}
        if "id" in columns and (key := identifier(values.get(columns["id"]))) is not None:
            found["id"] = key
        if "text" in columns:
            text = values.get(columns["text"])
            if text is not None and (not isinstance(text, str) or text.strip()):
                found["text"] = text if isinstance(text, str) else str(_plain(text))
        wrong = self._take_said(values, found) if self._said else None
        if wrong is None and (self._one_hot or self._scales):
            wrong = self._take_numbers(values, found)
        for key in self._more:
            wrong = wrong or self._take_more(key, values.get(columns[key]), found)
        wrong = wrong or self._take_people(values, found) or self._take_majority(values, found)
        if wrong is not None:
            return wrong
        kept = {
            name: self._own(name, values[name])
            for name in self._kept
            if not is_empty(values.get(name)) and not (name == ANSWERS and self._answered(values))
        }
        if (wrong := _tie(found, kept)) is not None:
            return wrong
        kept |= {new: values[name] for new, name in self._renamed.items() if not is_empty(values.get(name))}
        if kept:
            found["meta"] = kept | found.get("meta", {})
        if "text" not in found and "text" in columns and not {"start", "annotator"} & columns.keys():
            return Flaw(f"{shown(columns['text'])} is empty")
        return found

    def _own(self, column: str, value: Any) -> Any:
        """What is kept of a column of one's own, with the names of its labels where the file tells them."""
        if names := self._of_column.get(column):
            said = labels(value, names)
            if isinstance(said, list):
                return said if isinstance(value, list) else next(iter(said), None)
        return _plain(value)

    def _labels_of(self, key: str) -> Sequence[str]:
        return self._of_column.get(self._columns.get(key, "")) or self._names

    def _take_said(self, values: Mapping[str, Any], found: TextRow) -> Flaw | None:
        columns = self._columns
        for asked in self._said:
            key, value = asked, values.get(columns[asked])
            said: Any
            if key == "annotator":
                found["annotator"] = identifier(value) or ""
                continue
            if key == "start":
                said = self._one_span(values)
                key = "span"
            elif is_empty(value):
                continue
            elif key == "label":
                said = self._one_or_several(value)
                key = "label" if said is None or isinstance(said, str) else "labels"
            elif key == "labels":
                said = self._apart(labels(value, self._labels_of("labels")))
            elif key == "spans":
                said = spans(value, found.get("text"), self._labels_of("spans"), predicted=self._predicted)
            else:
                said = self._tokens(value, values)
                if not isinstance(said, Flaw):
                    found["text"], said = said
                key = "spans"
            if isinstance(said, Flaw):
                return said if key == "span" else Flaw(f"{shown(columns[asked])}: {said.reason}")
            if said is not None:
                found[key] = said
        return None

    def _one_or_several(self, value: object) -> object:
        """A label; a list of them where one stands in its place."""
        value = parsed(value)
        names = self._labels_of("label")
        if isinstance(value, str) and (found := self._several.get("label", {}).get(" ".join(value.split()))):
            value = list(found) if len(found) > 1 else found[0]
        if isinstance(value, list | tuple | Mapping):
            return labels(value, names)
        return value if isinstance(value, Flaw) else label(value, names)

    def _apart(self, said: object) -> object:
        """Labels of a cell, with those that are several in one for themselves."""
        apart = self._several.get("labels", {})
        if not apart or not isinstance(said, list):
            return said
        return list(dict.fromkeys(part for name in said for part in apart.get(name, (name,))))

    def _one_span(self, values: Mapping[str, Any]) -> dict[str, Any] | Flaw | None:
        columns = self._columns
        start, end = values.get(columns["start"]), values.get(columns.get("end", ""))
        if is_empty(start) and is_empty(end):
            return None
        item: dict[str, Any] = {"start": start, "end": end}
        for key, name in _OF_SPANS:
            if key in columns and not is_empty(said := values.get(columns[key])):
                item[name] = parsed(said)
        if "span" in columns and not is_empty(surface := values.get(columns["span"])):
            item["text"] = surface
        text = values.get(columns["text"]) if "text" in columns else None
        names = self._labels_of("span_label") if "span_label" in columns else ()
        return span(item, text if isinstance(text, str) and text else None, names)

    def _tokens(self, value: object, values: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]] | Flaw:
        tokens, tags = parsed(value), parsed(values.get(self._columns.get("tags", "")))
        if not isinstance(tokens, list) or not isinstance(tags, list):
            return Flaw("tokens and tags must be lists")
        names = self._labels_of("tags") if "tags" in self._columns else ()
        nothing = outside_of(names)
        said: list[str] = []
        for tag in tags:
            one = label(tag, names)
            if isinstance(one, Flaw):
                return one
            said.append("O" if one is None or one == nothing else one)
        return text_and_spans([str(token) for token in tokens], said)

    def _take_numbers(self, values: Mapping[str, Any], found: TextRow) -> Flaw | None:
        for key, wanted in (("labels", self._one_hot), ("values", self._scales)):
            numbers: dict[str, float] = {}
            for name, column in wanted.items():
                value = values.get(column)
                if is_unanswered(value):
                    continue
                said = number(value)
                if said is None or not isfinite(said):
                    return Flaw(f"{shown(column)} must be a number, not {shown(value)}")
                numbers[name] = int(said) if key == "labels" and said.is_integer() else said
            if numbers:
                found[key] = {**found.get(key, {}), **numbers} if isinstance(found.get(key, {}), dict) else numbers
        return None

    def _take_people(self, values: Mapping[str, Any], found: TextRow) -> Flaw | None:
        """What is said under `annotators`, where these are names alone an own column, and in a column a person."""
        people: dict[str, Any] = {}
        column = self._columns.get("annotators", "")
        if column and not is_empty(value := values.get(column)):
            said = said_by(value, values.get(ANSWERS) if ANSWERS in self._kept else None)
            if isinstance(said, Flaw):
                return Flaw(f"{shown(column)}: {said.reason}")
            if said is None:
                found["meta"] = {**found.get("meta", {}), column: _plain(value)}
            else:
                people |= {name: self._answer_apart(_plain(one)) for name, one in said.items()}
        for name, person in self._people.items():
            said_here = self._of_person(person, values, found.get("text"))
            if isinstance(said_here, Flaw):
                return said_here
            if said_here:
                people[name] = said_here
        if people:
            found["annotators"] = people
        return None

    def _take_majority(self, values: Mapping[str, Any], found: TextRow) -> Flaw | None:
        """What people together say of the label that the row is about."""
        column = self._columns.get("majority")
        if column is None or "about" not in self._columns or is_empty(value := values.get(column)):
            return None
        said = self._about(column, value, values)
        if isinstance(said, Flaw):
            return said
        found |= said
        return None

    def _answer_apart(self, answer: Any) -> Any:
        """What a person says, with a label that is several as several."""
        name = answer.get("label") if isinstance(answer, Mapping) else None
        apart = self._several.get("label", {}).get(" ".join(name.split())) if isinstance(name, str) else None
        return {"labels": list(apart)} if apart and answer.keys() == {"label"} else answer

    def _answered(self, values: Mapping[str, Any]) -> bool:
        """Whether `annotators` has names alone, whose answers stand beside them."""
        column = self._columns.get("annotators", "")
        return bool(column) and not isinstance(parsed(values.get(column)), Mapping) and not is_empty(values.get(column))

    def _of_person(self, column: str, values: Mapping[str, Any], text: str | None) -> dict[str, Any] | Flaw:
        """What stands in a person's column: a label, several, or spans; a number of the label that the row is about."""
        value = parsed(values.get(column))
        if is_empty(value):
            return {}
        if "about" in self._columns:
            return self._about(column, value, values)
        of_spans = isinstance(value, list) and not any(isinstance(one, str) for one in value)
        said: Any = spans(value, text) if of_spans else self._one_or_several(value)
        if isinstance(said, Flaw):
            return Flaw(f"{shown(column)}: {said.reason}")
        key = "spans" if of_spans else "label" if isinstance(said, str) else "labels"
        return {} if said is None else {key: said}

    def _about(self, column: str, value: object, values: Mapping[str, Any]) -> dict[str, Any] | Flaw:
        """A number of the label that the row is about, alone in an object; a label's number is a value where any is
        none of 0 and 1.
        """
        asked, given = identifier(values.get(self._columns["about"])), number(value)
        if asked is None or given is None:
            return Flaw(f"{shown(column)} must be a number of a label, not {shown(value)}")
        key = "values" if self._graded else "labels"
        return {key: {asked: int(given) if given.is_integer() else given}}

    def _take_more(self, key: str, value: object, found: TextRow) -> Flaw | None:
        if is_empty(value):
            return None
        if key in _NESTED:
            value = parsed(value)
            if isinstance(value, Flaw):
                return Flaw(f"{shown(self._columns[key])}: {value.reason}")
            if key == "values" and isinstance(value, Mapping):  # a struct has every name, of some rows without a number
                value = {name: said for name, said in value.items() if said is not None}
            found[key] = _plain(value)
        else:
            found[key] = str(_plain(value))
        return None


def _below(columns: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): column for key, column in columns.items() if key.startswith(prefix) and column}


def _grouped(rows: Rows, *, spans_apart: bool) -> Rows:
    """A row a text, from rows that are its spans or what persons say of it; it stands where its first row does."""
    found: dict[str, tuple[int, TextRow]] = {}
    wrong: dict[str, Flaw] = {}
    flaws: list[tuple[int, Flaw]] = []
    for line, row in rows:
        if isinstance(row, Flaw):
            flaws.append((line, row))
            continue
        key = row.get("id") or row.get("text")
        if key is None:
            flaws.append((line, Flaw("has neither an id nor a text")))
            continue
        text: TextRow = found.setdefault(key, (line, {}))[1]
        if (problem := _joined(text, row, spans_apart=spans_apart)) is not None:
            wrong.setdefault(key, problem)
            flaws.append((line, problem))
    good = [(line, _as_asked(row)) for key, (line, row) in found.items() if key not in wrong]
    yield from sorted([*good, *flaws], key=lambda one: one[0])


def _as_asked(text: TextRow) -> TextRow:
    """A text with the answers of those who were asked about a part of its labels as numbers of these alone: as labels
    they would deny the others.
    """
    people = text.get("annotators", {})
    each = [said["labels"] for said in (text, *people.values()) if isinstance(said.get("labels"), Mapping)]
    asked = {name for labels in each for name in labels}
    for name, said in people.items():
        if isinstance(labels := said.get("labels"), Mapping) and labels.keys() < asked and "values" not in said:
            people[name] = {key: value for key, value in said.items() if key != "labels"} | {"values": labels}
    return text


def _joined(text: TextRow, row: TextRow, *, spans_apart: bool) -> Flaw | None:
    """Add to what is known of a text what one row says of it; what the two disagree on is told."""
    person = row.pop("annotator", None)
    mark = row.pop("span", None)
    first = not text
    if "text" in row and text.get("text", row["text"]) != row["text"]:
        return Flaw("has another text than the rows before it with this id")
    said = {key: row.pop(key) for key in _SAID if key in row}
    people = row.pop("annotators", {})
    _join_own(text, row, person)
    if spans_apart:
        said["spans"] = [] if mark is None else [mark]
    if mark is not None and "text" in text and (surface := mark.get("text")) is not None:
        wrong = differs(text["text"], mark["start"], mark["end"], surface)
        if wrong is not None:
            return wrong
    for name, one in people.items():
        of_name = text.setdefault("annotators", {}).setdefault(name, {})
        for key, value in one.items() if isinstance(one, Mapping) else ():
            if not isinstance(value, Mapping):
                of_name[key] = value
            elif clash := value.keys() & of_name.get(key, {}).keys():
                return Flaw(f"is the second row of this text that says {shown(min(clash))}")
            else:
                of_name[key] = {**of_name.get(key, {}), **value}
    known = text.setdefault("annotators", {}).setdefault(person, {}) if person else text
    for key, value in said.items():
        if key == "spans":
            known.setdefault("spans", []).extend(value)
        elif first or key not in known:
            known[key] = value
        elif isinstance(value, Mapping) and isinstance(known[key], Mapping) and not value.keys() & known[key].keys():
            known[key] = {**known[key], **value}  # of other labels
        elif known[key] != value and not spans_apart:
            return Flaw(f"says another thing of the same text: {shown(value)} instead of {shown(known[key])}")
    return None


def _join_own(text: TextRow, row: TextRow, person: str | None) -> None:
    """Add a text's own columns of one more row of it; where rows differ, with the person's name or a number."""
    meta = dict(row.pop("meta", {}))
    meta |= {key: value for key, value in row.items() if text.setdefault(key, value) != value}
    if not meta:
        return
    known = text.setdefault("meta", {})
    for name, value in meta.items():
        number, free = 1, name
        while free in known and known[free] != value:
            number += 1
            free = f"{name} ({person})" if person and number == 2 else f"{name} ({number})"
        known[free] = value


def _plain(value: Any) -> Any:
    """As JSON can say it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return None
    return str(value)


def _tie(found: TextRow, kept: dict[str, Any]) -> Flaw | None:
    """Relations between the spans of a row, told by their places, become attributes of these and no column."""
    ties, said = parsed(kept.get(RELATIONS)), found.get("spans")
    by_place = isinstance(ties, list) and all(isinstance(tie, Mapping) and {"from", "to"} <= tie.keys() for tie in ties)
    if not by_place or not isinstance(ties, list) or not said or not all(isinstance(one, dict) for one in said):
        return None
    more = related(ties, [one.get("attributes", {}).get("id") for one in said])
    if isinstance(more, Flaw):
        return more
    for place, attributes in more.items():
        said[place]["attributes"] = merged_attributes(said[place].get("attributes", {}), attributes)
    del kept[RELATIONS]
    return None
