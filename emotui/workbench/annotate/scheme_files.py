"""Schemes in TOML files, with their guidelines in Markdown beside them; some come with this package."""

import re
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.toml_text import parse_toml
from emotui.workbench.annotate.scheme import (
    COLOURS,
    MASK,
    OF_SENTENCES,
    SENTENCE,
    SPAN,
    TEXT,
    UNITS,
    Group,
    Scheme,
    check_keys,
)

_PACKAGE = "emotui.workbench.annotate"
_FOLDER = "schemes"

BUILT_IN = {
    "spans": "spans",
    "labels": "labels",
    "rephrase": "class",
    "scenes": "scenes",
    "values": "values",
    "masked": "masked",
}
"""The scheme that a dataset of a task begins with. Beside them: `seer` also asks for emotion and valence a sentence,
`emolex` what a word is tied to."""

FURTHER = ("seer", "emolex")

NAMES = (*dict.fromkeys(BUILT_IN.values()), *FURTHER)
"""The names of all schemes that come with this package."""


def built_in(name: str) -> Scheme:
    """A scheme that comes with this package.

    Raises:
        BadInput: there is none of this name.
    """
    if name not in NAMES:
        raise BadInput(f"there is no scheme {name!r}: write a file of your own, or use one of {', '.join(NAMES)}")
    with as_file(files(_PACKAGE) / _FOLDER) as folder:
        return replace(read_scheme(str(folder / f"{name}.toml")), path="")


def read_scheme(path: str) -> Scheme:
    """The scheme of a TOML file, with its guidelines: those of `guidelines = "FILE.md"`, relative to it.

    Raises:
        BadInput: it cannot be read or is wrong; `FILE:LINE: what`, a line for each fault.
    """
    source = _text(path)
    content = parse_toml(path, source)
    problems: list[str] = []
    scheme = _scheme(path, content, _Lines(source), problems)
    if problems:
        raise BadInput(*dict.fromkeys(problems))
    assert scheme is not None
    check_keys(scheme)
    if scheme.guidelines:
        beside = Path(path).parent / scheme.guidelines
        scheme = replace(scheme, guidelines=_text(str(beside)))
    return scheme


def _text(path: str) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}:1: cannot be read: it is no UTF-8 text") from error


class _Lines:
    """Where in a file the k-th group stands, and in it a label: TOML's reader does not say."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        heads = [number for number, line in enumerate(self._lines) if re.match(r"\s*\[\[\s*groups\s*\]\]", line)]
        self._starts = [*heads, len(self._lines)]

    def group(self, place: int) -> int:
        """From 1; 0 where it cannot be told."""
        return self._starts[place] + 1 if place < len(self._starts) - 1 else 0

    def within(self, place: int, word: str) -> int:
        """The first line of a group that holds the word in quotes, else its head."""
        if place >= len(self._starts) - 1:
            return 0
        for number in range(self._starts[place], self._starts[place + 1]):
            if f'"{word}"' in self._lines[number] or f"'{word}'" in self._lines[number]:
                return number + 1
        return self.group(place)


_TOP: dict[str, type] = {"name": str, "tasks": list, "spans": bool, "overlap": bool, "guidelines": str, "groups": list}
_GROUP: dict[str, type] = {
    "name": str,
    "of": str,
    "labels": list,
    "exclusive": bool,
    "required": bool,
    "scale": dict,
    "key": str,
    "own": bool,
}
_LABEL: dict[str, type] = {"name": str, "key": str, "colour": str, "about": str}


def _scheme(path: str, content: dict[str, Any], lines: _Lines, problems: list[str]) -> Scheme | None:
    problems += _faults(f"{path}:1: ", content, _TOP)
    if problems:
        return None
    groups = []
    for place, table in enumerate(content.get("groups", ())):
        if (group := _group(path, place, table, lines, problems)) is not None:
            groups.append(group)
    names = [group.name for group in groups]
    for group in groups:
        if names.count(group.name) > 1:
            problems.append(f"{path}:{group.line}: there are {names.count(group.name)} groups {group.name!r}")
    spans = content.get("spans", any(group.of == SPAN for group in groups))
    if not spans and not groups:
        problems.append(f"{path}:1: there is nothing to mark in it: write spans = true, or a table [[groups]]")
    problems += [
        f"{path}:{group.line}: {group.name!r} is about spans, and spans = false"
        for group in groups
        if group.of == SPAN and not spans
    ]
    if problems:
        return None
    return Scheme(
        name=content["name"],
        tasks=tuple(content.get("tasks", ())),
        spans=spans,
        overlap=content.get("overlap", True),
        groups=tuple(groups),
        guidelines=content.get("guidelines", ""),
        path=path,
    )


def _group(path: str, place: int, table: object, lines: _Lines, problems: list[str]) -> Group | None:
    line = lines.group(place)
    where = f"{path}:{line}: " if line else f"{path}: "
    found = _faults(where, table, _GROUP)
    if isinstance(table, dict) and not found:
        found += [f"{where}{fault}" for fault in _wrong(table)]
        labels = []
        for label in table.get("labels", ()):
            label = {"name": label} if isinstance(label, str) else label
            name = label.get("name", "") if isinstance(label, dict) else ""
            at = lines.within(place, str(name)) or line
            faults = _faults(f"{path}:{at}: ", label, _LABEL)
            if not faults and label.get("colour", "") not in ("", *COLOURS):
                faults = [f"{path}:{at}: no colour {label['colour']!r}; there are {', '.join(COLOURS)}"]
            found += faults
            if not faults:
                labels.append({**label, "line": at})
        named = [label["name"] for label in labels]
        found += [
            f"{path}:{label['line']}: {label['name']!r} stands twice"
            for label in labels
            if named.count(label["name"]) > 1
        ]
        if not found:
            return msgspec.convert({**table, "labels": labels, "line": line}, Group)
    problems += found
    return None


def _wrong(table: dict[str, Any]) -> list[str]:
    of, name = table.get("of", SPAN), table["name"]
    if of not in UNITS:
        return [f"of = {of!r}: it is one of {', '.join(UNITS)}"]
    faults = []
    labelled = bool(table.get("labels")) or table.get("own", False)
    if of == SENTENCE and name not in OF_SENTENCES:
        faults.append(f"a sentence has an {OF_SENTENCES[0]} and a {OF_SENTENCES[1]}, and no {name!r}")
    if of != MASK and not labelled and "scale" not in table:
        faults.append(f"{name!r} has neither labels nor a scale")
    if "scale" in table and labelled:
        faults.append(f"{name!r} has both labels and a scale: leave one out")
    if "scale" in table and of != TEXT:
        faults.append(f"{name!r}: numbers are of texts, not of a {of}")
    if of in (SPAN, SENTENCE) and table.get("exclusive") is False:
        faults.append(f"{name!r}: a {of} has one label of a group (exclusive = false is for texts)")
    if table.get("own") and of not in (SPAN, TEXT):
        faults.append(f"{name!r}: own = true is for spans and texts")
    scale = table.get("scale")
    if scale is not None:
        faults += _scale_faults(name, scale)
    return faults


def _scale_faults(name: str, scale: dict[str, Any]) -> list[str]:
    strange = [key for key in scale if key not in ("minimum", "maximum", "step", "low", "high")]
    if strange:
        return [f"{name!r}: a scale has no {strange[0]!r}"]
    numbers = [scale.get("minimum"), scale.get("maximum"), scale.get("step", 1)]
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        return [f"{name!r}: a scale needs the numbers minimum and maximum"]
    minimum, maximum, step = (float(one) for one in numbers if one is not None)
    if not (minimum < maximum and 0 < step <= maximum - minimum):
        return [f"{name!r}: the scale from {minimum:g} to {maximum:g} in steps of {step:g} has no numbers"]
    words = [key for key in ("low", "high") if not isinstance(scale.get(key, ""), str)]
    return [f"{name!r}: {key} should be a string" for key in words]


def _faults(where: str, table: object, fields: dict[str, type]) -> list[str]:
    """What is wrong with a table: unknown keys, wrong types, no name."""
    if not isinstance(table, dict):
        return [f"{where}this should be a table"]
    found = [f"{where}no key {key!r}; there are {', '.join(fields)}" for key in table if key not in fields]
    found += [
        f"{where}{key} should be {_TYPES[kind]}"
        for key, kind in fields.items()
        if key in table and not isinstance(table[key], kind)
    ]
    if not found and not str(table.get("name", "")).strip():
        found.append(f"{where}it has no name")
    return found


_TYPES = {str: "a string", list: "a list", bool: "true or false", dict: "a table"}
