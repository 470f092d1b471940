"""Emotion words as ten 0s and 1s: from EmoLex, or from a lexicon file of the person's own."""

import csv
import json
from collections.abc import Iterator, Mapping

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.metrics.masked import DIMENSIONS, fold

Vector = tuple[int, ...]

_DIGITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


def vectors_from(path: str) -> dict[str, Vector]:
    """A lexicon file, in any of the shapes in which such lists are passed around.

    - NRC's own: `word TAB dimension TAB 0 or 1`, a line each;
    - CSV or TSV with a header that names some of the ten dimensions, 0 or 1 (or 0.0 or 1.0) in each cell; the word
      is in the column `word`, or else in the first one;
    - JSON: `{word: [dimension, ...]}` or `{word: {dimension: 0 or 1}}` or `{word: [ten 0s and 1s]}`;
    - JSON Lines: `{"word": ..., "vector": [ten 0s and 1s]}` or `{"word": ..., dimension: 0 or 1, ...}`.

    Raises:
        BadInput: the file cannot be read or is none of these; with the line.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}:{error.object[: error.start].count(10) + 1}: not UTF-8") from error
    found: dict[str, list[int]] = {}
    for line, word, on in _entries(path, text):
        if not word:
            raise BadInput(f"{path}:{line}: a word is missing")
        vector = found.setdefault(fold(word), [0] * len(DIMENSIONS))
        for name, value in on.items():
            if name not in DIMENSIONS:
                raise BadInput(f"{path}:{line}: {name!r} is not one of {', '.join(DIMENSIONS)}")
            if value not in (0, 1):
                raise BadInput(f"{path}:{line}: {name} of {word!r} is {value!r}, not 0 or 1")
            vector[DIMENSIONS.index(name)] = int(value)
    if not found:
        raise BadInput(f"{path}:1: no word in it")
    return {word: tuple(vector) for word, vector in found.items()}


def _entries(path: str, text: str) -> Iterator[tuple[int, str, Mapping[str, object]]]:
    """(line, word, dimension to 0 or 1) each."""
    if text.lstrip().startswith("{"):
        yield from _json_entries(path, text)
        return
    lines = text.splitlines()
    delimiter = "\t" if lines and "\t" in lines[0] else ","
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    rows = csv.reader(lines, delimiter=delimiter)
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
        return {name.lower(): 1 for name in value}
    if isinstance(value, list) and len(value) == len(DIMENSIONS):
        return dict(zip(DIMENSIONS, value, strict=True))
    raise BadInput(f"{path}:{line}: a word's value is a list of dimensions, or ten 0s and 1s")


def _is_header(cells: list[str]) -> bool:
    """A header names `word`, or dimensions behind a first column of any name (a table may leave that one empty)."""
    return len(cells) > 1 and ("word" in cells or all(cell in DIMENSIONS for cell in cells[1:]))


def _digit(cell: str) -> object:
    return _DIGITS.get(cell, cell)
