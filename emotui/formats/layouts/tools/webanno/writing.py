"""Rows as the sentences of one document in WebAnno TSV 3.3."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import OF_RELATIONS, Lost
from emotui.formats.offsets import utf16_places
from emotui.formats.rows import UnreadableFile, shown

# The layers that the header of WebAnno TSV declares, and the columns in which they stand.

# What stands in the cells of WebAnno TSV: escapes, annotations that are stacked, and their numbers.

_ESCAPE = re.compile(r"\\(->|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b"}
_VALUE_CONTROLS = {"t": "\t", "n": "\n"}
_PART = re.compile(r"((?:\\.|[^\\|])*)(\||$)", re.DOTALL)
_NUMBERED = re.compile(r"((?:\\.|[^\\])*?)(?:\[(\d{1,15})\])?", re.DOTALL | re.ASCII)
_RESERVED = re.compile(r"->|[\\\[\]|_;\t\n*]")
_NAMES = {"\t": "t", "\n": "n"}
_TEXT_RESERVED = re.compile("[\x00-\x07\x0e-\x1f\t\n\f\r\b\\\\]")
_TEXT_NAMES = {"\t": "t", "\n": "n", "\f": "f", "\r": "r", "\b": "b"}


def unescaped_text(text: str) -> str:
    """A text, or the form of a token, as it was before it was written."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: _CONTROLS.get(found[1], found[1]), text)


def unescaped(value: str) -> str:
    """The value of a feature as it was before it was written."""
    if "\\" not in value:
        return value
    return _ESCAPE.sub(lambda found: _VALUE_CONTROLS.get(found[1], found[1]), value)


def escaped_text(text: str) -> str:
    """A text, or the form of a token, as it is written."""
    return _TEXT_RESERVED.sub(lambda found: "\\" + _TEXT_NAMES.get(found[0], found[0]), text)


def escaped(value: str) -> str:
    """The value of a feature as it is written."""
    return _RESERVED.sub(lambda found: "\\" + _NAMES.get(found[0], found[0]), value)


def parts(cell: str) -> list[str]:
    """The annotations of one layer that stand on one token, still escaped."""
    if "|" not in cell:
        return [cell]
    if "\\" not in cell:
        return cell.split("|")
    found: list[str] = []
    at = 0
    while True:
        part = _PART.match(cell, at)
        if part is None:  # a backslash at the end of the cell
            return [*found, cell[at:]]
        found.append(part[1])
        if not part[2]:
            return found
        at = part.end()


def stacked(cell: str) -> list[tuple[str | None, str | None]]:
    """By annotation of a cell its value (None where it has none) and its number as it stands in brackets."""
    found: list[tuple[str | None, str | None]] = []
    for part in parts(cell):
        numbered = _NUMBERED.fullmatch(part) if part.endswith("]") else None
        value, number = (part, None) if numbered is None else (numbered[1], numbered[2])
        found.append((None if value in ("*", "_") else unescaped(value), number))
    return found


PLAIN_LAYER = "webanno.custom.Span"
"""The layer of spans of which no row names another."""
_OF_WORDS = re.compile(r"\.(lexmorph|segmentation|syntax|transform)\.")
_SLOT = re.compile(r"ROLE_[^:]*:?([^_]*)_.*")


@dataclass(frozen=True, slots=True)
class LayerColumns:
    """One layer: `kind` is T_SP, T_CH or T_RL; `features` has a name a column, from the column `first` on."""

    kind: str
    name: str
    features: tuple[str, ...]
    first: int
    targets: frozenset[int]
    label: int | None

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self.features)


def layer_of(kind: str, declared: str, first: int) -> LayerColumns:
    """A layer as a line of the header declares it."""
    name, *features = declared.split("|")
    names: list[str] = []
    targets: set[int] = set()
    for number, feature in enumerate(features):
        if number and features[number - 1].startswith("ROLE_"):
            targets.add(number)
            names.append(f"{names[-1]} target")
        elif slot := _SLOT.fullmatch(feature):
            names.append(slot[1] or feature)
        else:
            names.append(feature)
    if kind == "T_RL" and len(names) == 1:  # no feature: one column says that there is a relation
        names.insert(0, "")
    plain = [n for n, feature in enumerate(features) if n not in targets and not feature.startswith(("ROLE_", "BT_"))]
    best = next(
        (n for n in plain if names[n].lower() in ("value", "label", "referencetype")), plain[0] if plain else None
    )
    return LayerColumns(kind, name, tuple(names or [""]), first, frozenset(targets), best)


def wanted(layers: Sequence[LayerColumns], asked: str | None) -> list[LayerColumns]:
    """The layers of which a row has spans.

    Raises:
        UnreadableFile: the layer that is asked for is not declared.
    """
    spans = [layer for layer in layers if layer.kind != "T_RL"]
    if asked is not None:
        found = [layer for layer in spans if asked in (layer.name, layer.name.rpartition(".")[2])]
        if not found:
            raise UnreadableFile(f"there is no layer {shown(asked)}", 1)
        return found
    return [layer for layer in spans if not _OF_WORDS.search(layer.name)] or spans


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
                    self.lost.add(OF_RELATIONS)
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
