"""WebAnno TSV 3.1 to 3.3, as WebAnno and INCEpTION write it: a token a line, a column a feature of each layer."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import text_lines
from emotui.formats.layouts.tools.said import outside, relate
from emotui.formats.layouts.tools.webanno.writing import (
    PLAIN_LAYER,
    LayerColumns,
    escaped_text,
    layer_of,
    parts,
    stacked,
    unescaped,
    unescaped_text,
    wanted,
    write,
)
from emotui.formats.offsets import Places, inverse, moved, utf16_places
from emotui.formats.rows import Flaw, Rows, UnreadableFile, literal, shown

# Spans and relations out of the columns of WebAnno TSV.

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


_FORMAT = re.compile(r"#FORMAT=WebAnno TSV 3(\.\d+)?\s*", re.ASCII)
_WIDEST_GAP = 10_000

_Tokens = list[tuple[int, list[str]]]
"""The lines of tokens by their numbers, in cells."""


def recognise(path: Path, head: bytes) -> str | None:
    """Why a file is WebAnno TSV."""
    if head.removeprefix(b"\xef\xbb\xbf").startswith(b"#FORMAT=WebAnno TSV 3"):
        return "its first line says so"
    return None


@dataclass(slots=True)
class _Block:
    """The lines of one sentence."""

    line: int
    texts: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    tokens: _Tokens = field(default_factory=list)


@dataclass(slots=True)
class _Sentence:
    """A sentence with what stands on its tokens; `start` and `end` are its offsets in the document, in UTF-16."""

    line: int
    texts: list[str]
    length: int
    fields: dict[str, str]
    found: Found
    start: int
    end: int


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a sentence; sentences that a span joins are one row.

    Spans of layers that only say what words are (parts of speech, lemmas, syntax) are left out beside other layers,
    unless `columns` asks for a layer as `spans`.
    """
    lines = text_lines(path, options.encoding)
    number, first = next(lines, (1, ""))
    version = _FORMAT.fullmatch(first)
    if version is None:
        raise UnreadableFile("the first line must be #FORMAT=WebAnno TSV 3.3 (or 3.1, 3.2)", number)
    layers: list[LayerColumns] = []
    blocks = _blocks(lines, layers)
    ahead: _Sentence | None = None
    marks: Marks | None = None
    for block in blocks:
        if marks is None:
            marks = Marks(wanted(layers, options.columns.get("spans")))
        sentence = _sentence(block, layers)
        if isinstance(sentence, Flaw):
            if ahead is not None:
                yield ahead.line, _row(ahead, marks)
            ahead = None
            yield block.line, sentence
        elif ahead is not None and ahead.found.goes_on_in(sentence.found):
            gap = sentence.start - ahead.end
            if not 0 <= gap <= _WIDEST_GAP:
                yield block.line, Flaw(f"a span goes on from a sentence that ends {-gap:,} places from this one")
                ahead = None
                continue
            ahead.found.go_on(sentence.found, ahead.length + gap)
            ahead.texts += [" " * gap, *sentence.texts]
            ahead.length += gap + sentence.length
            ahead.end = sentence.end
        else:
            if ahead is not None:
                yield ahead.line, _row(ahead, marks)
            ahead = sentence
    if ahead is not None and marks is not None:
        yield ahead.line, _row(ahead, marks)


def _blocks(lines: Iterator[tuple[int, str]], layers: list[LayerColumns]) -> Iterator[_Block]:
    """The sentences; the layers of the header are added to `layers` before the first of them."""
    block: _Block | None = None
    for number, line in lines:
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            if key in ("T_SP", "T_CH", "T_RL"):
                if block is not None:
                    raise UnreadableFile("a layer is declared after the first sentence", number)
                layers.append(layer_of(key, value, 3 + sum(layer.width for layer in layers)))
                continue
            if block is not None and block.tokens:
                yield block
                block = None
            if block is None:
                block = _Block(number)
            if key == "Text":
                block.texts.append(value)
            else:
                block.fields[key] = value
        elif not line.strip():
            if block is not None and (block.texts or block.tokens):
                yield block
                block = None
        else:
            if block is None:
                block = _Block(number)
            block.tokens.append((number, line.split("\t")))
    if block is not None and (block.texts or block.tokens):
        yield block


def _sentence(block: _Block, layers: list[LayerColumns]) -> _Sentence | Flaw:
    if not block.texts:
        return Flaw("has tokens, but no #Text=")
    text = "\n".join(map(unescaped_text, block.texts))
    width = 3 + sum(layer.width for layer in layers)
    offsets: list[tuple[int, int]] = []
    for number, cells in block.tokens:
        try:
            begin, end = cells[1].split("-")
            offsets.append((int(begin), int(end)))
        except (IndexError, ValueError):
            return Flaw(f"line {number} is no token: {shown(' '.join(cells))}")
        if len(cells) < width:
            return Flaw(f"line {number} has {len(cells)} columns where the header declares {width}")
    start = offsets[0][0] if offsets else 0
    units = utf16_places(text)
    places = _places(block.tokens, offsets, text, start, inverse(units))
    if isinstance(places, Flaw):
        return places
    found = Found(len(text))
    nothing = ["_"] * (width - 3)
    for (_, cells), place in zip(block.tokens, places, strict=True):
        if cells[3:width] != nothing:
            for layer in layers:
                columns = cells[layer.first : layer.first + layer.width]
                if any(cell != "_" for cell in columns):
                    found.take(layer, cells[0], place, columns)
        if "." not in cells[0]:
            found.last = place
    if places:
        found.first = places[0]
    found.close()
    return _Sentence(block.line, [text], len(text), block.fields, found, start, start + units[-1])


def _places(
    tokens: _Tokens, offsets: list[tuple[int, int]], text: str, start: int, table: Places
) -> list[tuple[int, int]] | Flaw:
    """Where the tokens stand in the text of their sentence, in code points.

    The format counts UTF-16 units; files of other programs that count code points are read too.
    """
    found = _fitting(tokens, offsets, text, start, table)
    if isinstance(found, Flaw) and not isinstance(table, range):
        plain = _fitting(tokens, offsets, text, start, range(len(text) + 1))
        return found if isinstance(plain, Flaw) else plain
    return found


def _fitting(
    tokens: _Tokens, offsets: list[tuple[int, int]], text: str, start: int, table: Places
) -> list[tuple[int, int]] | Flaw:
    places = []
    same = isinstance(table, range)
    length = len(text)
    for (_, cells), (begin, end) in zip(tokens, offsets, strict=True):
        if same and start <= begin <= end <= start + length:
            place: tuple[int, int] | None = (begin - start, end - start)
        else:
            place = moved(begin - start, end - start, table)
        if place is None:
            said = shown(unescaped_text(cells[2]))
            return Flaw(f"token {_unit(cells)} [{begin}, {end}] is not within its sentence; the file has {said} there")
        form, held = cells[2], text[place[0] : place[1]]
        if form != held and form not in (escaped_text(held), "") and unescaped(form) != held:
            reason = f"the file has {shown(unescaped_text(form))}, but its text has {shown(held)} there"
            return Flaw(f"token {_unit(cells)} [{begin}, {end}]: {reason}")
        places.append(place)
    return places


def _unit(cells: list[str]) -> str:
    return literal(cells[0][:20])


def _row(sentence: _Sentence, marks: Marks) -> TextRow | Flaw:
    text = "".join(sentence.texts)
    spans = marks.spans(sentence.found, text)
    if isinstance(spans, Flaw):
        return spans
    row: TextRow = {"text": text}
    fields = dict(sentence.fields)
    if of_id := fields.pop("Sentence.id", None):
        row["id"] = of_id
    if marks.layers:
        row["spans"] = spans
    if fields:
        row["meta"] = fields
    return row


LAYOUT = Layout(
    "webanno",
    "WebAnno TSV 3.1 to 3.3, as WebAnno and INCEpTION export it",
    recognise,
    rows,
    write,
)
