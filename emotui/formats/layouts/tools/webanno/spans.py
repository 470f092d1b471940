"""Spans and relations out of the columns of WebAnno TSV."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from emotui.formats.layouts.tools.said import outside, relate
from emotui.formats.layouts.tools.webanno.cells import parts, stacked, unescaped
from emotui.formats.layouts.tools.webanno.header import PLAIN_LAYER, LayerColumns
from emotui.formats.rows import Flaw

_LINK = re.compile(r"(.*)->(\d+-\d+)", re.DOTALL | re.ASCII)
_GOVERNOR = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)(?:_(\d+))?\])?", re.ASCII)

Key = tuple[str, str]
"""A layer, and what tells its annotations apart: a number of the file, or a token and a place on it."""


@dataclass(slots=True)
class _Annotation:
    start: int
    end: int
    values: list[str | None]
    chain: str | None = None


class Found:
    """What stands on the tokens of one sentence, or of several that spans join."""

    def __init__(self, length: int) -> None:
        self.first = self.last = (0, length)
        self.at_first: set[Key] = set()
        self.at_last: set[Key] = set()
        self.annotations: dict[Key, _Annotation] = {}
        self.on: dict[tuple[str, str], list[Key]] = {}
        self.relations: list[tuple[LayerColumns, str, list[str | None], str]] = []

    def take(self, layer: LayerColumns, unit: str, place: tuple[int, int], cells: Sequence[str]) -> None:
        """Takes what one layer has on one token."""
        if layer.kind == "T_RL":
            self._take_relations(layer, unit, cells)
            return
        columns = [self._column(layer, number, cell) for number, cell in enumerate(cells)]
        for number, stack in enumerate(_stacks(columns)):
            values = [value for value, _ in stack]
            of_id = next((each for _, each in stack if each is not None), None)
            chain = None
            if layer.kind == "T_CH":
                values, chain = _chained(values)
                of_id = chain
            key = (layer.name, of_id if of_id is not None else f"{unit}/{number}")
            known = self.annotations.get(key)
            if known is None:
                self.annotations[key] = _Annotation(*place, values, chain)
            else:
                known.start, known.end = min(known.start, place[0]), max(known.end, place[1])
            self.on.setdefault((layer.name, unit), []).append(key)

    @staticmethod
    def _column(layer: LayerColumns, number: int, cell: str) -> list[tuple[str | None, str | None]]:
        if number in layer.targets:  # its numbers are those of the targets
            return [(None if part in ("*", "_") else unescaped(part), None) for part in parts(cell)]
        return stacked(cell)

    def _take_relations(self, layer: LayerColumns, unit: str, cells: Sequence[str]) -> None:
        columns = [stacked(cell) for cell in cells[:-1]]
        for number, governor in enumerate(parts(cells[-1])):
            values = [column[number][0] if number < len(column) else None for column in columns]
            if governor != "_":
                self.relations.append((layer, unit, values, governor))

    def close(self) -> None:
        """Notes, when the sentence is whole, which numbered annotations stand on its first and on its last token."""
        for key, each in self.annotations.items():
            if "/" not in key[1]:
                if each.start <= self.first[0]:
                    self.at_first.add(key)
                if each.end >= self.last[1]:
                    self.at_last.add(key)

    def goes_on_in(self, following: "Found") -> bool:
        """Whether a span on the last token here goes on, under its number, on the first token there."""
        return not self.at_last.isdisjoint(following.at_first)

    def go_on(self, following: "Found", ahead: int) -> None:
        """Takes in the sentence that follows, which begins at the code point `ahead`."""
        for key, each in following.annotations.items():
            each.start, each.end = each.start + ahead, each.end + ahead
            if (known := self.annotations.get(key)) is not None:
                known.end = max(known.end, each.end)
            else:
                self.annotations[key] = each
        for place, keys in following.on.items():
            self.on.setdefault(place, []).extend(keys)
        self.relations += following.relations
        self.at_last = following.at_last


_Value = tuple[str | None, str | None]
"""The value of a feature, and the number of its annotation."""


def _stacks(columns: Sequence[Sequence[_Value]]) -> list[list[_Value]]:
    """For each annotation of a layer on one token its value in every column.

    The columns go side by side. Some writers leave annotations without a value out of a column (`*[37]` beside
    `DOT|x[37]`): there the numbers tell which is which, and those without one keep their order.
    """
    if len(set(map(len, columns))) == 1:
        return [list(stack) for stack in zip(*columns, strict=True)]
    placed: dict[tuple[str, int], list[_Value]] = {}
    for at, column in enumerate(columns):
        unnumbered = 0
        for value in column:
            key = ("", unnumbered) if value[1] is None else (value[1], 0)
            unnumbered += value[1] is None
            placed.setdefault(key, [(None, None)] * len(columns))[at] = value
    return list(placed.values())


def _chained(values: list[str | None]) -> tuple[list[str | None], str | None]:
    """The values of a link of a chain without where it is linked, and that (`1-2`: the second link of chain 1)."""
    chain = None
    found: list[str | None] = []
    for value in values:
        link = None if value is None else _LINK.fullmatch(value)
        if link is not None:
            chain = link[2]
            value = None if link[1] == "*" else link[1]
        found.append(value)
    return found, chain


@dataclass(slots=True)
class Marks:
    """Makes spans of what was found, for the layers that are wanted."""

    layers: Sequence[LayerColumns]
    _by_name: dict[str, LayerColumns] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = {layer.name: layer for layer in self.layers}

    def spans(self, found: Found, text: str) -> list[dict[str, Any]] | Flaw:
        """The spans of a row, in the order in which they begin to stand in the file."""
        if not found.annotations and not found.relations:
            return []
        by_key: dict[Key, dict[str, Any]] = {}
        for key, annotation in found.annotations.items():
            layer = self._by_name.get(key[0])
            if layer is None:
                continue
            if wrong := outside(annotation.start, annotation.end, len(text)):
                return wrong
            by_key[key] = _span(layer, annotation)
        for layer, unit, values, governor in found.relations:
            _relate(found, by_key, layer, unit, values, governor)
        return list(by_key.values())


def _span(layer: LayerColumns, annotation: _Annotation) -> dict[str, Any]:
    span: dict[str, Any] = {"start": annotation.start, "end": annotation.end}
    attributes: dict[str, Any] = {} if layer.name == PLAIN_LAYER else {"layer": layer.name}
    for number, value in enumerate(annotation.values):
        if value is None:
            continue
        if number == layer.label:
            if value:
                span["label"] = value
        else:
            attributes[layer.features[number]] = value
    if annotation.chain is not None:
        attributes["chain"] = annotation.chain
    if attributes:
        span["attributes"] = attributes
    return span


def _relate(
    found: Found,
    by_key: dict[Key, dict[str, Any]],
    layer: LayerColumns,
    unit: str,
    values: list[str | None],
    governor: str,
) -> None:
    """Puts a relation with the span that it comes from, if both of its ends are spans of the row."""
    ends = _GOVERNOR.fullmatch(governor)
    base = layer.features[-1].removeprefix("BT_")
    if ends is None:
        return
    source, target = (_end(found, base, *end) for end in ((ends[1], ends[2]), (unit, ends[3])))
    if source not in by_key or target not in by_key or source is None or target is None:
        return
    numbers = {key: number for number, key in enumerate(by_key, start=1)}
    for key in (source, target):
        by_key[key].setdefault("attributes", {}).setdefault("id", f"s{numbers[key]}")
    relation: dict[str, Any] = {"to": by_key[target]["attributes"]["id"]}
    said = dict(zip(layer.features, values, strict=False))
    label = layer.features[layer.label] if layer.label is not None else None
    if label is not None and said.get(label) is not None:
        relation["type"] = said[label]
    relation |= {name: value for name, value in said.items() if value is not None and name != label}
    relate(by_key[source]["attributes"], relation)


def _end(found: Found, base: str, unit: str, number: str | None) -> Key | None:
    keys = found.on.get((base, unit), [])
    if number is not None and number != "0":
        return (base, number) if (base, number) in keys else None
    return keys[0] if keys else None
