"""WebAnno TSV 3.1 to 3.3, as WebAnno and INCEpTION write it: a token a line, a column a feature of each layer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import text_lines
from emotui.formats.layouts.tools.webanno.cells import escaped_text, unescaped, unescaped_text
from emotui.formats.layouts.tools.webanno.header import LayerColumns, layer_of, wanted
from emotui.formats.layouts.tools.webanno.spans import Found, Marks
from emotui.formats.layouts.tools.webanno.writing import write
from emotui.formats.offsets import Places, inverse, moved, utf16_places
from emotui.formats.rows import Flaw, Rows, UnreadableFile, literal, shown

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
