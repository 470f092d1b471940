"""Emotion words as ten 0s and 1s: from EmoLex, or from a lexicon file of the person's own."""

import csv
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.metrics.masked import DIMENSIONS, fold

Vector = tuple[int, ...]

_DIGITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


EXPRESS_COLUMNS = ("word", *DIMENSIONS[:-2], *reversed(DIMENSIONS[-2:]))
"""The header of the lexicon that EXPRESS's authors publish with their code: its last two are not in EmoLex's order."""

EXPRESS_WORDS, EXPRESS_OWN = 16_019, 567
"""How many words that lexicon has, and how many at its beginning have vectors that its authors set themselves."""

_IN_ORDER = 0.99
"""Of neighbouring words behind the authors' own, the share that has to stand in alphabetical order."""


class LexiconFile(msgspec.Struct, frozen=True):
    """A lexicon file as it was read.

    Attributes:
        vectors: by the folded word, over `DIMENSIONS`.
        columns: the lower-cased header; empty for shapes without one.
        rows: the folded words of all rows, as they stand.
        twice: words that stand twice, with the line of the second time; the first row counts.
        sha256: of the file's bytes.
    """

    vectors: Mapping[str, Vector]
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    twice: tuple[tuple[str, int], ...]
    sha256: str

    @property
    def is_express(self) -> bool:
        """Whether it has shape and size of the authors' lexicon: its header, its 16,019 words (as rows, or each counted
        once), and alphabetical order behind the first 567.

        Nothing here knows the file itself, so a file that was changed in single cells is not told from it.
        """
        if self.columns != EXPRESS_COLUMNS or EXPRESS_WORDS not in (len(self.rows), len(self.vectors)):
            return False
        pairs = list(pairwise(self.rows[EXPRESS_OWN:]))
        return sum(one <= other for one, other in pairs) >= _IN_ORDER * len(pairs)


def read_lexicon(path: str) -> LexiconFile:
    """A lexicon file, in any of the shapes in which such lists are passed around.

    - NRC's own: `word TAB dimension TAB 0 or 1`, a line each;
    - CSV or TSV with a header that names some of the ten dimensions, 0 or 1 (or 0.0 or 1.0) in each cell; the word
      is in the column `word`, or else in the first one (EXPRESS's own is of this shape);
    - JSON: `{word: [dimension, ...]}` or `{word: {dimension: 0 or 1}}` or `{word: [ten 0s and 1s]}`;
    - JSON Lines: `{"word": ..., "vector": [ten 0s and 1s]}` or `{"word": ..., dimension: 0 or 1, ...}`.

    Where a word, or in NRC's shape a word with its dimension, stands twice, the first row counts.

    Raises:
        BadInput: the file cannot be read or is none of these; with the line.
    """
    text, digest = _text(path)
    found: dict[str, list[int]] = {}
    stated: dict[str, set[str]] = {}
    twice: dict[str, int] = {}
    rows = []
    for line, word, on in _entries(path, text):
        if not word.strip():
            raise BadInput(f"{path}:{line}: a word is missing")
        for name, value in on.items():
            if name not in DIMENSIONS:
                raise BadInput(f"{path}:{line}: {name!r} is not one of {', '.join(DIMENSIONS)}")
            if value not in (0, 1):
                raise BadInput(f"{path}:{line}: {name} of {word!r} is {value!r}, not 0 or 1")
        key = fold(word)
        rows.append(key)
        if key in stated and (not on or stated[key] & on.keys()):
            twice.setdefault(key, line)
            continue
        stated.setdefault(key, set()).update(on)
        vector = found.setdefault(key, [0] * len(DIMENSIONS))
        for name, value in on.items():
            vector[DIMENSIONS.index(name)] = int(str(value))
    if not found:
        raise BadInput(f"{path}:1: no word in it")
    return LexiconFile(
        {word: tuple(vector) for word, vector in found.items()},
        _header(text),
        tuple(rows),
        tuple(twice.items()),
        digest,
    )


class FormsFile(msgspec.Struct, frozen=True):
    """Inflected forms and the words that they are forms of, all folded; `twice`: as of `LexiconFile`."""

    words: Mapping[str, str]
    twice: tuple[tuple[str, int], ...]
    sha256: str


def read_forms(path: str) -> FormsFile:
    """A file of inflected forms.

    - CSV or TSV with two columns: the form and its word; a header that names a column `word` may turn them round;
    - JSON: `{form: word}`.

    Raises:
        BadInput: the file cannot be read or is neither; with the line.
    """
    text, digest = _text(path)
    found: dict[str, str] = {}
    twice: dict[str, int] = {}
    for line, form, word in _json_forms(path, text) if text.lstrip().startswith("{") else _table_forms(path, text):
        if not form or not word:
            raise BadInput(f"{path}:{line}: a form and its word are needed")
        if form in found:
            twice.setdefault(form, line)
        found.setdefault(form, word)
    if not found:
        raise BadInput(f"{path}:1: no form in it")
    return FormsFile(found, tuple(twice.items()), digest)


def _table_forms(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    rows = _rows(text)
    place = 1
    for number, row in enumerate(rows):
        cells = [fold(cell) for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2:
            raise BadInput(f"{path}:{rows.line_num}: {len(cells)} cells, not a form and its word")
        if number == 0 and "word" in cells:
            place = cells.index("word")
            continue
        yield rows.line_num, cells[1 - place], cells[place]


def _json_forms(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}:1: not JSON ({error})") from None
    for form, word in whole.items():
        if not isinstance(word, str):
            raise BadInput(f"{path}:1: the word of {form!r} is {word!r}, not a text")
        yield 1, fold(form), fold(word)


def _text(path: str) -> tuple[str, str]:
    """A file's text, and its SHA-256."""
    try:
        content = read_bytes(path)
        return content.decode("utf-8-sig"), sha256(content).hexdigest()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}:{error.object[: error.start].count(10) + 1}: not UTF-8") from error


def _rows(text: str) -> Any:
    """The rows of a table with tabs or commas; a `csv.reader`."""
    lines = text.splitlines()
    delimiter = "\t" if lines and "\t" in lines[0] else ","
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return csv.reader(lines, delimiter=delimiter)


def _header(text: str) -> tuple[str, ...]:
    """The cells of the first row, lower-cased; empty for JSON."""
    first = () if text.lstrip().startswith("{") else next(iter(_rows(text)), ())
    return tuple(cell.strip().lower() for cell in first)


def _entries(path: str, text: str) -> Iterator[tuple[int, str, Mapping[str, object]]]:
    """(line, word, dimension to 0 or 1) each."""
    if text.lstrip().startswith("{"):
        yield from _json_entries(path, text)
        return
    rows = _rows(text)
    header: list[str] | None = None
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        cells = [cell.strip() for cell in row]
        if header is None and _is_header(lowered := [cell.lower() for cell in cells]):
            header = lowered if "word" in lowered else ["word", *lowered[1:]]
        elif header is not None and not {"emotion", "dimension"} & set(header):
            if len(cells) != len(header):
                raise BadInput(f"{path}:{rows.line_num}: {len(cells)} cells under {len(header)} columns")
            named = dict(zip(header, cells, strict=True))
            on = {name: _digit(cell) for name, cell in named.items() if name in DIMENSIONS}
            yield rows.line_num, named["word"], on
        elif len(cells) == 3:
            yield rows.line_num, cells[0], {cells[1].lower(): _digit(cells[2])}
        else:
            raise BadInput(f"{path}:{rows.line_num}: not word, dimension, 0 or 1")


def _json_entries(path: str, text: str) -> Iterator[tuple[int, str, Mapping[str, object]]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and "word" not in whole:
        for word, value in whole.items():
            yield 1, word, _from_json(path, 1, value)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            word = entry.pop("word")
        except (ValueError, KeyError, AttributeError, RecursionError):
            raise BadInput(f'{path}:{number}: not an object with a "word"') from None
        yield number, str(word), _from_json(path, number, entry.get("vector", entry.get("emotions", entry)))


def _from_json(path: str, line: int, value: object) -> Mapping[str, object]:
    if isinstance(value, dict):
        return {str(name).lower(): on for name, on in value.items()}
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return dict.fromkeys(DIMENSIONS, 0) | {name.lower(): 1 for name in value}
    if isinstance(value, list) and len(value) == len(DIMENSIONS):
        return dict(zip(DIMENSIONS, value, strict=True))
    raise BadInput(f"{path}:{line}: a word's value is a list of dimensions, or ten 0s and 1s")


def _is_header(cells: list[str]) -> bool:
    """A header names `word`, or dimensions behind a first column of any name (a table may leave that one empty)."""
    return len(cells) > 1 and ("word" in cells or all(cell in DIMENSIONS for cell in cells[1:]))


def _digit(cell: str) -> object:
    return _DIGITS.get(cell, cell)
