"""What stands in the cells of WebAnno TSV: escapes, annotations that are stacked, and their numbers."""

import re

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
