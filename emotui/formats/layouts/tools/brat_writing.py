"""Rows as a folder of texts with brat's standoff annotations beside them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.file_names import file_names, make_folders
from emotui.formats.layouts.tools.said import Lost, outside, whole_number

_HELD = ("id", "spans")
_NO_TYPE = re.compile(r"[\s:;,]+")
_FOLD = re.compile(r"[\t\r\n\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a folder, two files a row; of a name that ends in .txt or .ann the one pair of its only row."""
    lost = Lost()
    if len(rows) == 1 and path.suffix.lower() in (".txt", ".ann"):
        if rows[0].get("id") not in (None, path.stem):
            lost.add("ids in a single pair of files", "replaced by the name of the file")
        _write_pair(str(path.with_suffix("")), rows[0], lost)
        return lost.lines()
    names = file_names(rows, lost)
    make_folders(path, names)
    for name, row in zip(names, rows, strict=True):
        _write_pair(f"{path}/{name}", row, lost)
    return lost.lines()


def _write_pair(beside: str, row: TextRow, lost: Lost) -> None:
    lost.fields({key: value for key, value in row.items() if key != "meta"}, _HELD)
    meta = row.get("meta") or {}
    comments = meta.get("comments")
    kept = comments if isinstance(comments, list) and all(_is_comment(one) for one in comments) else []
    if meta.keys() - ({"comments"} if kept else set()):
        lost.add("own columns")
    _fill(f"{beside}.txt", row["text"])
    if row.get("spans") is None:
        if kept:
            lost.add("comments of a text without spans")
        return
    lines = [*_lines(row["text"], row["spans"], lost), *kept]
    _fill(f"{beside}.ann", "".join([line + "\n" for line in lines]))


def _fill(name: str, content: str) -> None:
    with open(name, "wb") as file:  # noqa: PTH123 - a file a text: the quickest way counts
        file.write(content.encode())


def _is_comment(line: object) -> bool:
    return isinstance(line, str) and line.startswith("#") and "\t" in line and "\n" not in line and "\r" not in line


class _Numbers:
    """The running numbers of the kinds of annotation, and what spans are called."""

    def __init__(self, spans: Sequence[Mapping[str, Any]]) -> None:
        given = [(span.get("attributes") or {}).get("id") for span in spans]
        known = [one for one in given if isinstance(one, str) and re.fullmatch(r"T[0-9]{1,9}", one)]
        sound = len(known) == len(set(known))
        taken = set(known) if sound else set()
        self.spans: list[str] = []
        self.named: dict[str, str] = {}
        number = 0
        for one in given:
            name = one if sound and one in taken else None
            while name is None:
                number += 1
                name = None if f"T{number}" in taken else f"T{number}"
            self.spans.append(name)
            if isinstance(one, str):
                self.named.setdefault(one, name)
        self._next: dict[str, int] = {}

    def next(self, kind: str) -> str:
        self._next[kind] = self._next.get(kind, 0) + 1
        return f"{kind}{self._next[kind]}"


def _lines(text: str, spans: Sequence[Mapping[str, Any]], lost: Lost) -> Iterator[str]:
    numbers = _Numbers(spans)
    parted = [_parted(span.get("attributes") or {}, text) for span in spans]
    for parts, _ in parted:
        for event in parts.get("events", ()):
            numbers.named.setdefault(event["id"], event["id"])
    for name, span, (parts, _) in zip(numbers.spans, spans, parted, strict=True):
        yield _span_line(name, text, span, parts.get("fragments"), lost)
    for name, span, (parts, own) in zip(numbers.spans, spans, parted, strict=True):
        if span.get("score") is not None:
            lost.add("scores")
        yield from _about(name, parts, own, numbers, lost)
        for event in parts.get("events", ()):
            arguments = "".join(f" {role}:{numbers.named.get(to, to)}" for role, to in event.get("arguments", ()))
            yield f"{event['id']}\t{event.get('type')}:{name}{arguments}"
            of_event, _ = _parted({key: value for key, value in event.items() if key != "attributes"}, text)
            yield from _about(event["id"], of_event, event.get("attributes") or {}, numbers, lost)


def _parted(attributes: Mapping[str, Any], text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What brat has lines of its own for, where it has the shape for that, and the attributes beside it."""
    parts = {name: value for name, value in attributes.items() if name in _SHAPES and _shaped(name, value, text)}
    return parts, {name: value for name, value in attributes.items() if name not in parts and name != "id"}


def _shaped(name: str, value: object, text: str) -> bool:
    return isinstance(value, list) and bool(value) and all(_SHAPES[name](one, text) for one in value)


def _is_fragment(one: Any, text: str) -> bool:
    return (
        isinstance(one, list)
        and len(one) == 2
        and all(map(whole_number, one))
        and not outside(one[0], one[1], len(text))
    )


def _are_words(one: Any, least: int) -> bool:
    return isinstance(one, list) and len(one) >= least and all(isinstance(word, str) for word in one)


def _is_event(one: Any, text: str) -> bool:
    if not isinstance(one, Mapping) or not re.fullmatch(r"E[0-9]{1,9}", str(one.get("id"))):
        return False
    arguments, said = one.get("arguments", []), one.get("attributes") or {}
    return isinstance(arguments, list) and all(_are_words(word, 2) for word in arguments) and isinstance(said, Mapping)


_SHAPES: dict[str, Callable[[Any, str], bool]] = {
    "fragments": _is_fragment,
    "relations": lambda one, text: isinstance(one, Mapping),
    "events": _is_event,
    "notes": lambda one, text: _are_words(one, 2) and len(one) == 2,
    "references": lambda one, text: _are_words(one, 2),
}


def _span_line(name: str, text: str, span: Mapping[str, Any], fragments: Any, lost: Lost) -> str:
    label = span.get("label")
    if label is None:
        lost.add("spans without a label", "written with the label Span")
    kind = _NO_TYPE.sub("_", label or "Span")
    if label is not None and kind != label:
        lost.add("labels with white space or one of : ; ,", "written with _ in their place")
    fragments = fragments or [[span["start"], span["end"]]]
    places = ";".join(f"{start} {end}" for start, end in fragments)
    held = " ".join(text[start:end] for start, end in fragments)
    return f"{name}\t{kind} {places}\t{_FOLD.sub(' ', held)}"


def _about(name: str, parts: Mapping[str, Any], own: Mapping[str, Any], numbers: _Numbers, lost: Lost) -> Iterator[str]:
    """The lines about one span or event: its attributes, relations, references and notes."""
    for key, value in own.items():
        one_word = isinstance(value, str) and bool(value) and not _NO_TYPE.search(value)
        if not (value is True or one_word) or _NO_TYPE.search(key) or not key or key in _SHAPES:
            lost.add("attributes of spans that are no single word")
            continue
        yield f"{numbers.next('A')}\t{key} {name}" + ("" if value is True else f" {value}")
    for relation in parts.get("relations", ()):
        target = numbers.named.get(str(relation.get("to")))
        if target is None:
            lost.add("relations to what is no span")
        elif relation.get("equal"):
            yield f"*\t{relation.get('type')} {name} {target}"
        else:
            roles = relation.get("roles") if _are_words(relation.get("roles"), 2) else ("Arg1", "Arg2")
            kind = _NO_TYPE.sub("_", str(relation.get("type") or "Related"))
            yield f"{numbers.next('R')}\t{kind} {roles[0]}:{name} {roles[1]}:{target}\t"
    for kind, *rest, held in parts.get("references", ()):
        yield f"{numbers.next('N')}\t{kind} {' '.join([name, *rest])}\t{held}"
    for kind, note in parts.get("notes", ()):
        yield f"{numbers.next('#')}\t{kind} {name}\t{_FOLD.sub(' ', note)}"
