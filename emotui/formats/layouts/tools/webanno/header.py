"""The layers that the header of WebAnno TSV declares, and the columns in which they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from emotui.formats.rows import UnreadableFile, shown

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
