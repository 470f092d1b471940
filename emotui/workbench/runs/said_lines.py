"""What a file of predictions says about each text, in this project's own records or in any layout."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.formats.json_document import present
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.reading import rows, take
from emotui.formats.reading import Warn, warn_skipped
from emotui.formats.rows import Flaw, literal
from emotui.tasks.task import Task

PROJECT = "project"
"""The name of this project's own records among the formats."""

_KEYS = ("spans", "labels", "label", "values")
"""What a row of a layout may say about its text."""


class OfAnotherKind(BadInput):
    """A file says nothing of what a task asks."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a line of a file says about an id."""

    line: int
    id: str
    repeat: int
    keys: Mapping[str, Any]


def said_lines(
    task: Task, path: str, format_name: str | None, options: ReadOptions, *, skip_bad: bool, warn: Warn
) -> tuple[list[Line], str]:
    """What each line of a file says, and in which format it was read.

    Raises:
        BadInput: the file is bad, an id stands in it twice, or nothing in it says what the task is about.
    """
    if format_name == PROJECT or (format_name is None and options == ReadOptions()):
        try:
            return _own_records(task, path, skip_bad=skip_bad, warn=warn), PROJECT
        except BadInput:
            if format_name == PROJECT or not _recognised(path):
                raise
    taken = take(path, format_name, replace(options, predicted=True))
    found: list[Line] = []
    problems: list[str] = []
    unused: dict[str, None] = {}
    for line, row in rows(taken):
        if isinstance(row, Flaw):
            problems.append(f"{taken.place}:{line}: {row.reason}")
        else:
            unused |= dict.fromkeys(row.get("meta", ()))
            found.append(Line(line, str(row.get("id", line)), 0, _what_is_said(row)))
    seen: dict[str, int] = {}
    problems += [
        f"{path}:{one.line}: duplicate id {one.id!r}: already on line {first}"
        for one in found
        if (first := seen.setdefault(one.id, one.line)) != one.line
    ]
    wanted = _sayable(task)
    if found and not any(wanted & one.keys.keys() for one in found):
        other = sorted({key for one in found for key in one.keys})
        there = f" (there are {', '.join(map(literal, unused))})" if unused else f" but {', '.join(other)}"
        named = min(wanted, key=_KEYS.index)
        raise OfAnotherKind(f"{taken.place}: nothing in it says {named}{there}: --map {named}=COLUMN names the column")
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for problem in problems:
        warn(f"skipped {problem}")
    return [one for one in found if seen[one.id] == one.line], taken.layout.name


def _own_records(task: Task, path: str, *, skip_bad: bool, warn: Warn) -> list[Line]:
    got = read(path, task.files.predicted, skip_bad=skip_bad)
    warn_skipped(got, warn)
    found = []
    for line, record in zip(got.lines, got.records, strict=True):
        keys = msgspec.to_builtins(present(record))
        found.append(Line(line, keys.pop("id"), keys.pop("repeat", 0), keys))
    return found


def _recognised(path: str) -> bool:
    """Whether some layout recognises the file."""
    try:
        take(path, None, ReadOptions())
    except BadInput:
        return False
    return True


def _what_is_said(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in _KEYS if key in row}


def _sayable(task: Task) -> set[str]:
    """Of these what the predictions of a task say; labels may be said as one or several."""
    own = {field.name for field in msgspec.structs.fields(task.files.predicted)} & set(_KEYS)
    return own | ({"label", "labels"} if own & {"label", "labels"} else set())
