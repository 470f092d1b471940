"""Rows as the sentences of one document in WebAnno TSV 3.3."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import Lost
from emotui.formats.layouts.tools.webanno.header import PLAIN_LAYER, escaped, escaped_text
from emotui.formats.offsets import utf16_places

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*)*", re.ASCII)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_KEPT = ("id", "layer", "relations")

Layers = dict[str, list[str]]
"""By layer the features beside the label."""
Mark = tuple[int, int, int, str, Mapping[str, Any]]
"""Of a span: where it starts and ends, its number in the file, its layer, and itself."""


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a sentence a row."""
    lost = Lost()
    layers = _layers(rows)
    related = {_layer(span) for row in rows for span in row.get("spans") or () if _relations(span)}
    related &= layers.keys()
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("#FORMAT=WebAnno TSV 3.3\n")
        for name, features in layers.items():
            file.write("#T_SP=" + "|".join([name, "value", *features]) + "\n")
        for name in sorted(related):
            file.write(f"#T_RL={_relation_layer(name)}|value|BT_{name}\n")
        file.write("\n")
        numbers, start = count(1), 0
        for sentence, row in enumerate(rows, start=1):
            if layers and row.get("spans") is None:
                lost.add("that nothing is said of a text", "read back as no spans")
            lost.fields(row, ("id", "spans"))
            written = _Sentence(row, sentence, start, numbers, lost)
            file.write("\n" + "\n".join(written.lines(layers, sorted(related))) + "\n")
            start += utf16_places(row["text"])[-1] + 1
    return lost.lines()


def _layers(rows: Sequence[TextRow]) -> Layers:
    layers: Layers = {}
    for row in rows:
        if row.get("spans") is not None and not layers:
            layers[PLAIN_LAYER] = []
        for span in row.get("spans") or ():
            features = layers.setdefault(_layer(span), [])
            for name, value in (span.get("attributes") or {}).items():
                if _is_feature(name, value) and name not in features:
                    features.append(name)
    return layers


def _layer(span: Mapping[str, Any]) -> str:
    name = (span.get("attributes") or {}).get("layer")
    return name if isinstance(name, str) and _NAME.fullmatch(name) else PLAIN_LAYER


def _is_feature(name: str, value: object) -> bool:
    known = name in _KEPT or name.lower() in ("value", "label")
    return isinstance(value, str) and not known and "." not in name and _NAME.fullmatch(name) is not None


def _relations(span: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = (span.get("attributes") or {}).get("relations")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _relation_layer(name: str) -> str:
    return f"{name}Relation"


class _Sentence:
    """One row on its way into the file; `start` is its offset in the document, in UTF-16."""

    def __init__(self, row: TextRow, number: int, start: int, numbers: Iterator[int], lost: Lost) -> None:
        self.row, self.number, self.start, self.lost = row, number, start, lost
        self.text: str = row["text"]
        self.marks = list(self._marks(numbers))
        self.names = {
            name: mark
            for mark in reversed(self.marks)
            if isinstance(name := (mark[4].get("attributes") or {}).get("id"), str)
        }
        self.tokens = self._tokens()
        self.units = {place[0]: f"{number}-{n}" for n, place in enumerate(self.tokens, start=1)}

    def _marks(self, numbers: Iterator[int]) -> Iterator[Mark]:
        for span in self.row.get("spans") or ():
            start, end = span["start"], span["end"]
            held = self.text[start:end]
            inner = held.strip()
            if not inner:
                self.lost.add("spans of white space alone")
                continue
            if inner != held:
                self.lost.add("white space at the ends of spans")
                start += len(held) - len(held.lstrip())
                end = start + len(inner)
            if span.get("score") is not None:
                self.lost.add("scores")
            for name, value in (span.get("attributes") or {}).items():
                fits = (
                    name == "id"
                    or (name == "relations" and _relations(span))
                    or (name == "layer" and _layer(span) == value)
                )
                if not fits and not _is_feature(name, value):
                    self.lost.add("attributes of spans that are no text")
            yield start, end, next(numbers), _layer(span), span

    def _tokens(self) -> list[tuple[int, int]]:
        """The tokens; a sentence begins with one, so white space at its start is one too."""
        borders = sorted({border for start, end, *_ in self.marks for border in (start, end)})
        found = []
        lead = len(self.text) - len(self.text.lstrip())
        if lead:
            found.append((0, lead))
        number = 0
        for token in _TOKEN.finditer(self.text):
            at, end = token.span()
            while number < len(borders) and borders[number] < end:
                if borders[number] > at:
                    found.append((at, borders[number]))
                    at = borders[number]
                number += 1
            found.append((at, end))
        return found

    def lines(self, layers: Layers, related: Sequence[str]) -> Iterator[str]:
        if self.row.get("id"):
            if re.search(r"[\r\n]", self.row["id"]):
                self.lost.add("line breaks in ids", "written as spaces")
            yield "#Sentence.id=" + re.sub(r"[\r\n]", " ", self.row["id"])
        for line in self.text.split("\n"):
            yield "#Text=" + escaped_text(line)
        places = utf16_places(self.text)
        plain = escaped_text(self.text) == self.text
        ahead = sorted(self.marks, key=lambda mark: mark[0])
        arcs = self._arcs(related)
        width = sum(1 + len(features) for features in layers.values()) + 2 * len(related)
        nothing = "\t_" * width + "\t"
        active: list[Mark] = []
        taken = 0
        for start, end in self.tokens:
            while taken < len(ahead) and ahead[taken][0] <= start:
                active.append(ahead[taken])
                taken += 1
            active = [mark for mark in active if mark[1] > start]
            unit, form = self.units[start], self.text[start:end]
            token = f"{unit}\t{self.start + places[start]}-{self.start + places[end]}\t"
            token += form if plain else escaped_text(form)
            if not active:
                yield token + nothing
                continue
            cells: list[str] = []
            for name, features in layers.items():
                on = [mark for mark in active if mark[3] == name]
                cells += [_cell(on, None)] + [_cell(on, feature) for feature in features]
            for name in related:
                cells += arcs.get((name, unit), ("_", "_"))
            yield "\t".join([token, *cells]) + "\t"

    def _arcs(self, related: Sequence[str]) -> dict[tuple[str, str], tuple[str, str]]:
        """By layer and token the relations that end there: their labels, and where they come from."""
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for source in self.marks:
            for relation in _relations(source[4]):
                target = self.names.get(str(relation.get("to")))
                if target is None or target[3] != source[3] or source[3] not in related:
                    self.lost.add("relations to what is no span of the same layer")
                    continue
                if relation.keys() - {"to", "type"}:
                    self.lost.add("what is said of relations beside their type")
                kind = relation.get("type")
                label = escaped(kind) if isinstance(kind, str) else "*"
                governor = f"{self.units[source[0]]}[{source[2]}_{target[2]}]"
                found.setdefault((source[3], self.units[target[0]]), []).append((label, governor))
        return {place: ("|".join(a for a, _ in arcs), "|".join(b for _, b in arcs)) for place, arcs in found.items()}


def _cell(on: Sequence[Mark], feature: str | None) -> str:
    """What stands in one column of a token: `feature` of its spans, or their label."""
    if not on:
        return "_"
    found = []
    for *_, number, _, span in on:
        value = span.get("label") if feature is None else (span.get("attributes") or {}).get(feature)
        found.append(f"{escaped(value) if isinstance(value, str) and (value or feature) else '*'}[{number}]")
    return "|".join(found)
