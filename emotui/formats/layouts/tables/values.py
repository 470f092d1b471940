"""What stands in one cell or field: a number, a truth, a list, labels, spans."""

import ast
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from emotui.formats import jsonl
from emotui.formats.conversion import decimal_string
from emotui.formats.rows import Flaw, shown
from emotui.metrics.locating import places_as_written
from emotui.records import PARTS

_NUMBER = re.compile(r"[+-]?(\d{1,300}([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d+)[.,]0+", re.ASCII)
_TRUTHS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_BETWEEN = re.compile(r"\s*[,;|]\s*")
_ITEM = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s,\[\]]+)")
_OF_NUMPY = re.compile(r"\[\s*((%s)(\s+(%s))+)\s*\]" % ((r"'[^']*'|\"[^\"]*\"|[\w.+-]+",) * 2))
"""A list as numpy prints it, without commas: ['joy' 'fear']."""
_UNANSWERED = frozenset(("", "nan", "<na>", "na", "n/a", "#n/a", "null"))
"""What programs write where a number or a label is missing, in cells that can say it in words alone."""

_STARTS = ("start", "begin", "start_offset", "start_char", "cbegin", "answer_start", "from")
_ENDS = ("end", "stop", "end_offset", "end_char", "cend", "to")
_LABELS = ("label", "type", "tag", "entity", "entity_group", "entity_type", "emotion", "labels", "class")
_TEXTS = ("text", "surface", "span", "word", "value")
_SCORES = ("score", "confidence", "strength")


def is_empty(value: object) -> bool:
    """Whether nothing is in a cell: no value, or white space."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return True
    return isinstance(value, str) and not value.strip()


def is_unanswered(value: object) -> bool:
    """Whether nobody gave an answer where one was asked for: nothing, or a word that stands for it."""
    return is_empty(value) or (isinstance(value, str) and value.strip().lower() in _UNANSWERED)


def number(value: object) -> float | None:
    """The number in a cell, with a point or a comma before its decimals, 1 and 0 for truths; None for anything else."""
    if isinstance(value, str):
        stripped = value.strip()
        if _NUMBER.fullmatch(stripped):
            return float(stripped.replace(",", "."))
        return _TRUTHS.get(stripped.lower())
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def identifier(value: object) -> str | None:
    """What names a row: a string, or a number as its decimal string, whole ones without a fraction."""
    if isinstance(value, str):
        stripped = value.strip()
        whole = _WHOLE.fullmatch(stripped)
        return whole[1] if whole else stripped or None
    return decimal_string(value)


def parsed(cell: object) -> object:
    """A list or an object that stands in a cell as JSON or as Python writes it; anything else as it is, or a `Flaw`."""
    if not isinstance(cell, str):
        return cell
    stripped = cell.strip()
    if not stripped.startswith(("[", "{", "(")):
        return cell
    value = jsonl.decode(stripped.encode(errors="replace"))
    if not isinstance(value, Flaw):
        return value
    if _OF_NUMPY.fullmatch(stripped):
        return [one or two or three for one, two, three in _ITEM.findall(stripped[1:-1]) if three != "nan"]
    try:
        found = ast.literal_eval(stripped)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return Flaw(f"{shown(stripped)} is neither JSON nor a list of Python")
    return list(found) if isinstance(found, list | tuple | set | frozenset) else found


def label(value: object, names: Sequence[str]) -> str | Flaw | None:
    """One label: its name, or its number among `names`. None: nothing is said, as a negative number says too."""
    if is_empty(value):
        return None
    if isinstance(value, bool):
        value = int(value)
    if names and (place := number(value)) is not None and place.is_integer():
        if place < 0:
            return None
        if place >= len(names):
            return Flaw(f"the label {int(place)} is none of the {len(names)} that there are, counted from 0")
        return names[int(place)]
    found = identifier(value)
    return Flaw(f"{shown(value)} is no label") if found is None else found


def labels(value: object, names: Sequence[str], *, split: bool = True) -> list[str] | dict[str, Any] | Flaw | None:
    """Several labels: a list, numbers by label, labels with scores, or names between commas; None: nothing is said.

    Args:
        split: whether a string is several labels at its commas.
    """
    if isinstance(value, str):
        value = parsed(value)
        if isinstance(value, str):
            if is_empty(value):
                return None
            value = _BETWEEN.split(value.strip()) if split else [value.strip()]
    if value is None or isinstance(value, Flaw):
        return value
    if isinstance(value, list) and value and all(_is_scored(item) for item in value):
        return {item["label"]: item["score"] for item in value}
    if isinstance(value, Mapping):
        if any(isinstance(said, list | dict) for said in value.values()):
            return Flaw(f"{shown(value)} has no number for each label")
        return {str(name): said for name, said in value.items() if said is not None}
    found: list[str] = []
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, dict | list):
            return Flaw(f"{shown(item)} is no label")
        one = label(item, names)
        if isinstance(one, Flaw):
            return one
        if one is not None and one not in found:
            found.append(one)
    return found


def _is_scored(item: object) -> bool:
    """Whether it is a label with its score, as pipelines of transformers write a text's labels."""
    return isinstance(item, Mapping) and set(item) == {"label", "score"} and isinstance(item["label"], str)


def spans(
    value: object, text: str | None, names: Sequence[str] = (), *, predicted: bool = False
) -> list[Any] | Flaw | None:
    """Spans in whatever form they stand: lists of offsets, objects, an object of lists, strings.

    Args:
        text: what they are spans of, to see that an item's own text is there; None: it is not known.
        predicted: whether strings stay strings; else each must stand just once in the text.
    """
    if is_empty(value):
        return None
    value = parsed(value)
    if isinstance(value, Flaw):
        return value
    if isinstance(value, Mapping):
        value = _turned(value)
    if not isinstance(value, list | tuple):
        return Flaw(f"spans must be a list, not {shown(value)}")
    found: list[Any] = []
    for item in value:
        said = item if not isinstance(item, str) or predicted else _only_place(item, text)
        one = said if isinstance(said, str | Flaw) else span(said, text, names)
        if isinstance(one, Flaw):
            return one
        found.append(one)
    return found


def _only_place(words: str, text: str | None) -> list[int] | Flaw:
    """Where these words stand in a text, letter by letter; inside other words only where they stand nowhere else."""
    there = places_as_written(text or "", words)
    if len(there) != 1:
        where = f"{len(there)} times" if there else "nowhere"
        return Flaw(f"the span {shown(words)} stands {where} in the text: give [start, end]")
    return list(there[0])


def span(item: object, text: str | None, names: Sequence[str] = ()) -> dict[str, Any] | Flaw:
    """One span as `{start, end, label?, score?, attributes?}`."""
    if isinstance(item, list | tuple):
        if len(item) not in (2, 3):
            return Flaw(f"a span must be [start, end] or [start, end, label], not {shown(item)}")
        item = dict(zip(("start", "end", "label"), item, strict=False))
    if not isinstance(item, Mapping):
        return Flaw(f"a span must be [start, end] or an object, not {shown(item)}")
    left = dict(item)
    if isinstance(left.get("parts"), list) and left["parts"]:
        parts = sorted([_offset(edge) for edge in part] for part in left.pop("parts"))
        if any(len(part) != 2 or None in part for part in parts):
            return Flaw(f"the parts of the span {shown(item)} must be [start, end] each")
        left |= {"start": parts[0][0], "end": parts[-1][1]} | ({PARTS: parts} if len(parts) > 1 else {})
    start, end = _offset(_taken(left, _STARTS)), _offset(_taken(left, _ENDS))
    surface = _taken(left, _TEXTS)
    if end is None and start is not None and isinstance(surface, str):
        end = start + len(surface)
    if start is None or end is None:
        return Flaw(f"the span {shown(item)} has no start and end")
    if isinstance(surface, str) and (wrong := differs(text, start, end, surface)):
        return wrong
    found: dict[str, Any] = {"start": start, "end": end}
    said = _taken(left, _LABELS)
    if isinstance(said, list | tuple):
        said = said[0] if len(said) == 1 else ", ".join(map(str, said)) or None
    name = label(said, names)
    if isinstance(name, Flaw):
        return name
    score = number(_taken(left, _SCORES))
    attributes = parsed(left.pop("attributes", None))
    left = {key: said for key, said in left.items() if said is not None}
    left |= attributes if isinstance(attributes, Mapping) else {}
    return (
        found
        | ({"label": name} if name else {})
        | ({} if score is None else {"score": score})
        | ({"attributes": left} if left else {})
    )


def differs(text: str | None, start: int, end: int, surface: str) -> Flaw | None:
    """What is wrong where the text between the offsets is not what it is said to be; None where it is."""
    if text is None or not 0 <= start < end <= len(text):
        return None
    there = text[start:end]
    if there == surface or there.split() == surface.split():
        return None
    return Flaw(f"the span [{start}, {end}] is said to be {shown(surface)}, and {shown(there)} stands there")


def _offset(value: object) -> int | None:
    found = number(value)
    return int(found) if found is not None and found.is_integer() else None


def _taken(left: dict[str, Any], names: Sequence[str]) -> object:
    """The first of these keys that there is, out of the object."""
    for name in names:
        if left.get(name) is not None:
            return left.pop(name)
        left.pop(name, None)
    return None


def _turned(value: Mapping[str, Any]) -> object:
    """An object of equally long lists as a list of objects, as `datasets` writes the one for the other."""
    if any(name in value for name in _STARTS) and all(isinstance(one, list | tuple) for one in value.values()):
        lengths = {len(one) for one in value.values()}
        if len(lengths) == 1:
            return [dict(zip(value, one, strict=True)) for one in zip(*value.values(), strict=True)]
        return Flaw("the lists of starts and ends of the spans are not equally long")
    return [value]
