"""JSON Lines, and one JSON list, of objects with any fields."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables.layouts import read_shaped, settle, unparted
from emotui.formats.layouts.tables.names import NAMES, names_beside, normal
from emotui.formats.layouts.tables.table import Table, broken, decoded_file, decoded_head
from emotui.formats.layouts.tools.said import lost
from emotui.formats.rows import Flaw, Rows, UnreadableFile, shown

# Plain text: a line a text, or texts with blank lines between them.

_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f]")


def _in_paragraphs(text: str) -> bool:
    """Whether blank lines stand between the texts: there are some, and most texts go over several lines."""
    stripped = text.strip().replace("\r\n", "\n")
    parts = [part for part in _BLANK_LINES.split(stripped) if part]
    return len(parts) > 1 and 2 * sum("\n" in part.strip() for part in parts) > len(parts)


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a text, each with the line on which it begins."""
    text = decoded_file(path, options.encoding).text
    for line, part in _paragraphs(text) if _in_paragraphs(text) else enumerate(text.split("\n"), start=1):
        if part.strip():
            wrong = broken(part)
            yield line, wrong if wrong is not None else {"text": part.removesuffix("\r")}


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    begins, gathered = 0, list[str]()
    for line, content in enumerate([*text.split("\n"), ""], start=1):
        if content.strip():
            begins = begins if gathered else line
            gathered.append(content.removesuffix("\r"))
        elif gathered:
            yield begins, "\n".join(gathered)
            gathered = []


def _recognise(path: Path, head: bytes) -> str | None:
    if path.suffix.lower() not in (".txt", ".text", "") or not head.strip():
        return None
    try:
        text = decoded_head(head).text
    except UnreadableFile:
        return None
    if _CONTROLS.search(text):
        return None
    between = "texts with blank lines between them" if _in_paragraphs(text) else "a text a line"
    return f"it is plain text, {between}"


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A line a text; blank lines between them where most texts have several lines themselves."""
    contents = [row.get("text") or "" for row in rows]
    folded = ["\n".join(line for line in text.splitlines() if line.strip()) for text in contents]
    several = len(folded) > 1 and 2 * sum("\n" in text for text in folded) > sum(map(bool, folded))
    written = folded if several else [text.replace("\n", " ") for text in folded]
    path.write_text(("\n\n" if several else "\n").join(filter(None, written)) + "\n", encoding="utf-8")
    unheld = lost(rows, ("text",))
    changed = sum(one != text for one, text in zip(written, contents, strict=True) if one)
    unheld.add("line ends inside texts", "blank ones left out" if several else "written as spaces", changed)
    unheld.add("empty texts", "left out", sum(not text for text in written))
    return unheld.lines()


_AMONG = ",;:|\t^~¦=<>"
"""Signs that part cells: one that stands as often in all lines is told."""


def _settle_text(path: Path, options: ReadOptions) -> ReadOptions:
    lines = [row["text"] for _, row in rows(path, options) if not isinstance(row, Flaw)]
    return replace(options, remarks=tuple(unparted(lines, _AMONG)) if len(lines) > 2 else ())


PLAIN_TEXT = Layout(
    name="text",
    about="Plain text: a line a text, or texts with blank lines between them.",
    recognise=_recognise,
    rows=rows,
    write=write,
    settled=_settle_text,
)


_SIGNS = frozenset(name for names in NAMES.values() for name in names)
_LISTS = ("data", "rows", "records", "examples", "items")
"""Fields of an object in which a list of texts may stand."""


def read_json_lines(path: Path, options: ReadOptions) -> Table:
    """The objects of JSONL as a table whose columns are their fields, with names of labels that lie beside it."""
    return replace(_table(_lines(path, options)), names=names_beside(path))


def read_json_list(path: Path, options: ReadOptions) -> Table:
    """The objects of a list, or of an object that holds one; also of an object of columns, as pandas writes it."""
    text = decoded_file(path, options.encoding).text
    value = jsonl.decode(text.encode(errors="surrogateescape"))
    if isinstance(value, Flaw):
        raise UnreadableFile(value.reason, 1)
    items = _items(value)
    if items is None:
        raise UnreadableFile("there is no list of objects in it", 1)
    return _table([(line, item if isinstance(item, dict) else _no_object(item)) for line, item in enumerate(items, 1)])


def _lines(path: Path, options: ReadOptions) -> list[tuple[int, Any]]:
    found = decoded_file(path, options.encoding)
    rows = jsonl.rows(line + b"\n" for line in found.text.encode(errors="surrogateescape").split(b"\n"))
    return [(line, row if isinstance(row, dict | Flaw) else _no_object(row)) for line, row in rows]


def _no_object(value: object) -> Flaw:
    return Flaw(f"a record must be an object in braces, not {shown(value)}")


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    for name in _LISTS:
        if isinstance(value.get(name), list) and value[name] and isinstance(value[name][0], dict):
            return list(value[name])
    parts = list(value.values())
    if parts and all(isinstance(part, list) for part in parts) and len({len(part) for part in parts}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
    if parts and all(isinstance(part, dict) for part in parts):
        if len({frozenset(part) for part in parts}) == 1 and not _SIGNS & parts[0].keys():
            return [{name: part[row] for name, part in value.items()} for row in parts[0]]  # a column an object
        return [{"id": key, **part} for key, part in value.items()]
    return None


def _in_parts(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose text is an object of parts (`context` and `response`, `premise` and `hypothesis`) with one text of
    them, a line each, and under `parts` where each begins and ends.
    """
    name = next((name for name in row if normal(name) in NAMES["text"]), None)
    parts = None if name is None else row[name]
    if not isinstance(parts, dict) or len(parts) < 2 or not all(isinstance(part, str) for part in parts.values()):
        return row
    places, at = {}, 0
    for part, text in parts.items():
        places[part] = [at, at + len(text)]
        at += len(text) + 1
    return {**row, str(name): "\n".join(parts.values()), "parts": places}


def _table(rows: list[tuple[int, Any]]) -> Table:
    joined = [(line, row if isinstance(row, Flaw) or "parts" in row else _in_parts(row)) for line, row in rows]
    new = [
        row["parts"]
        for (_, was), (_, row) in zip(rows, joined, strict=True)
        if isinstance(row, dict) and row is not was
    ]
    remarks: tuple[str, ...] = ()
    if new:
        names = " and ".join(map(shown, new[0]))
        remarks = (f"the text is of parts ({names}): they are joined by a line break, their places kept as parts",)
    rows = joined
    header: dict[str, None] = {}
    for _, row in rows:
        if not isinstance(row, Flaw):
            header |= dict.fromkeys(row)
    if not header and not rows:
        raise UnreadableFile("there is no record in it", 1)
    return Table(tuple(header), rows, remarks=remarks)


def _head_of(path: Path, head: bytes, endings: tuple[str, ...]) -> str | None:
    if path.suffix.lower() not in endings:
        return None
    try:
        return decoded_head(head).text.lstrip()
    except UnreadableFile:
        return None


def _recognise_lines(path: Path, head: bytes) -> str | None:
    start = _head_of(path, head, (".jsonl", ".ndjson", ".json", ".jl", ".txt"))
    if not start or not start.startswith("{"):
        return None
    first, _, rest = start.partition("\n")
    if path.suffix.lower() in (".json", ".txt") and not (rest.lstrip().startswith("{") and first.strip().endswith("}")):
        return None
    if path.suffix.lower() == ".txt" and isinstance(jsonl.decode(first.encode(errors="replace")), Flaw):
        return None
    return "it has a JSON object a line"


def _recognise_list(path: Path, head: bytes) -> str | None:
    start = _head_of(path, head, (".json",))
    return "it is one JSON document with a list of objects" if start and start.startswith(("[", "{")) else None


def write_json_lines(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A row as it is in each line."""
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return []


def write_json_list(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """One list of the rows as they are."""
    path.write_bytes(b"[\n" + b",\n".join(map(msgspec.json.encode, rows)) + b"\n]\n")
    return []


JSON_LINES = Layout(
    name="jsonl",
    about="JSON Lines: an object a line, with the fields of docs/formats.md or any others.",
    recognise=_recognise_lines,
    rows=partial(read_shaped, read_json_lines),
    write=write_json_lines,
    settled=partial(settle, read_json_lines),
)
JSON_LIST = Layout(
    name="json",
    about="One JSON list of objects with any fields.",
    recognise=_recognise_list,
    rows=partial(read_shaped, read_json_list),
    write=write_json_list,
    settled=partial(settle, read_json_list),
)
