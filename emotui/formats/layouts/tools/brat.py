"""brat: a folder with a .txt and a .ann of the same name a text, in its standoff format."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import whole
from emotui.formats.layouts.tools.said import (
    OF_RELATIONS,
    Lost,
    differs,
    file_names,
    folded,
    make_folders,
    outside,
    relate,
    whole_number,
)
from emotui.formats.offsets import Places, byte_places, inverse, moved, utf16_places
from emotui.formats.rows import Flaw, Rows, UnreadableFile, shown

# Rows as a folder of texts with brat's standoff annotations beside them.

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
        if target is not None and relation.keys() - {"to", "type", "equal", "roles"}:
            lost.add(OF_RELATIONS)
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


_OWN = ("id", "fragments", "relations", "events", "notes", "references")
"""What a span's attributes hold beside those of the file."""
_PLACES = re.compile(r"(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)", re.ASCII)


def recognise(path: Path, head: bytes) -> str | None:
    """Why a folder or a file is brat's."""
    if path.is_dir():
        found = next((each for each in path.rglob("*.ann")), None)
        return None if found is None else "it is a folder with .ann files"
    if path.suffix.lower() == ".ann":
        return "its name ends in .ann"
    if path.suffix.lower() == ".txt" and path.with_suffix(".ann").is_file():
        return "a file of the same name that ends in .ann lies beside it"
    return None


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a text, by the order of the names; of a folder those in its folders too.

    A text without an .ann file is unlabelled, and one with an empty one has no spans.
    """
    if not path.is_dir():
        row = _row(path.with_suffix(".txt"), path.stem, options)
        yield (1, row) if not isinstance(row, _Wrong) else (row.line, Flaw(row.reason))
        return
    number, folder = 0, path.resolve()
    for number, text in enumerate(sorted(path.rglob("*.txt")), start=1):
        name = text.relative_to(path).with_suffix("").as_posix()
        if (outside := _leaving(text, folder)) is not None:
            yield number, Flaw(f"{shown(outside.name)} is a link to a file outside the folder: copy the file into it")
            continue
        try:
            row = _row(text, name, options)
        except UnreadableFile as error:
            yield number, Flaw(f"{shown(name)}: {error}")
            continue
        yield number, Flaw(f"{shown(name + '.ann')}, line {row.line}: {row.reason}") if isinstance(row, _Wrong) else row
    if not number:
        raise UnreadableFile("there is no .txt file in the folder")


def _leaving(text: Path, folder: Path) -> Path | None:
    """Which of a text's two files is a link that leads out of a folder from elsewhere; None where neither is."""
    for file in (text, text.with_suffix(".ann")):
        try:
            if not file.resolve().is_relative_to(folder):
                return file
        except (OSError, RuntimeError):  # links that go round
            return file
    return None


@dataclass(frozen=True, slots=True)
class _Wrong:
    line: int
    reason: str


@dataclass(slots=True)
class _Annotations:
    """The lines of one .ann file by what they are about."""

    text: str
    places: Places
    spans: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: dict[str, dict[str, Any]] = field(default_factory=dict)
    triggers: dict[str, tuple[int, str]] = field(default_factory=dict)
    relations: list[tuple[int, list[str]]] = field(default_factory=list)
    equal: list[tuple[int, list[str]]] = field(default_factory=list)
    about: list[tuple[int, list[str]]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


def _row(text_file: Path, name: str, options: ReadOptions) -> TextRow | _Wrong:
    encoding = options.encoding
    try:
        text = whole(text_file, encoding).decode()
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1}"
        raise UnreadableFile(f"the text is not UTF-8: {place}; name the encoding if it is another") from None
    row: TextRow = {"id": name, "text": text}
    ann = text_file.with_suffix(".ann")
    if not ann.is_file():
        return row
    lines = whole(ann, encoding).split(b"\n")
    found = _annotations(lines, text, range(len(text) + 1))
    if isinstance(found, _Wrong) and not text.isascii():
        # brat counts code points; what other programs write for it may count UTF-16 units or bytes.
        others = (_annotations(lines, text, inverse(places(text))) for places in (utf16_places, byte_places))
        found = next((other for other in others if isinstance(other, _Annotations)), found)
    if isinstance(found, _Wrong):
        return found
    row["spans"] = list(found.spans.values())
    if found.comments:
        row["meta"] = {"comments": found.comments}
    return row


def _annotations(lines: Sequence[bytes], text: str, places: Places) -> _Annotations | _Wrong:
    """What an .ann file says, its offsets counted so that `places` gives code points for them."""
    found = _Annotations(text, places)
    for number, line in enumerate(lines, start=1):
        try:
            wrong = _take(line.decode().removesuffix("\r"), number, found)
        except UnicodeDecodeError:
            wrong = "is not UTF-8"
        if wrong is not None:
            return _Wrong(number, wrong)
    return _link(found) or found


def _take(line: str, number: int, found: _Annotations) -> str | None:
    """Puts one line where it belongs; what is wrong with it, or None."""
    if not line.strip():
        return None
    cells = line.split("\t")
    kind = line[0]
    if kind == "T":
        return _take_span(cells, found)
    if len(cells) < 2:
        return f"there is no tab in {shown(line)}"
    if kind == "E":
        parts = cells[1].split()
        if not parts or ":" not in parts[0]:
            return f"event {shown(cells[0])} has no trigger"
        event, trigger = parts[0].split(":", 1)
        arguments = [part.split(":", 1) for part in parts[1:]]
        if any(len(argument) != 2 for argument in arguments):
            return f"event {shown(cells[0])} has an argument without a role"
        found.events[cells[0]] = {"id": cells[0], "type": event, "arguments": arguments}
        found.triggers[cells[0]] = (number, trigger)
    elif kind == "R":
        found.relations.append((number, cells))
    elif kind == "*":
        found.equal.append((number, cells))
    elif kind in "AMN":
        found.about.append((number, cells))
    elif kind == "#":
        if len(cells[1].split()) == 2:
            found.about.append((number, cells))
        else:
            found.comments.append(line)
    else:
        return f"no kind of annotation begins with {shown(kind)}"
    return None


def _take_span(cells: list[str], found: _Annotations) -> str | None:
    place = _PLACES.fullmatch(cells[1].strip()) if len(cells) > 1 else None
    if place is None:
        return f"span {shown(cells[0])} must be a type and offsets, not {shown(cells[1] if len(cells) > 1 else '')}"
    text = found.text
    fragments: list[tuple[int, int]] = []
    for one in place[2].split(";"):
        start, end = map(int, one.split(" "))
        if wrong := outside(start, end, len(found.places) - 1):
            return f"{shown(cells[0])}: {wrong.reason}"
        moved_there = moved(start, end, found.places)
        if moved_there is None:
            return f"{shown(cells[0])} begins or ends within a character"
        fragments.append(moved_there)
    start, end = min(first for first, _ in fragments), max(last for _, last in fragments)
    held = " ".join(text[first:last] for first, last in fragments)
    if len(cells) > 2 and folded(cells[2]) != folded(held):
        return f"{shown(cells[0])}: {differs(start, end, cells[2], held).reason}"
    if cells[0] in found.spans:
        return f"{shown(cells[0])} stands twice"
    span: dict[str, Any] = {"start": start, "end": end, "label": place[1]}
    if len(fragments) > 1:
        span["attributes"] = {"fragments": [list(fragment) for fragment in fragments]}
    found.spans[cells[0]] = span
    return None


def _link(found: _Annotations) -> _Wrong | None:
    """Puts events, relations, attributes and notes with the spans that they are about."""
    for number, cells in found.about:
        if (wrong := _link_about(cells, found)) is not None:
            return _Wrong(number, wrong)
    for name, event in found.events.items():
        number, named = found.triggers[name]
        trigger = found.spans.get(named)
        if trigger is None:
            return _Wrong(number, f"the trigger of event {shown(name)} is no span of the file")
        _attributes(trigger).setdefault("events", []).append(event)
        for _, target in event["arguments"]:
            _name(target, found)
    for number, cells in found.relations:
        parts = cells[1].split()
        arguments = [part.split(":", 1) for part in parts[1:]]
        if len(arguments) != 2 or any(len(argument) != 2 for argument in arguments):
            return _Wrong(number, f"relation {shown(cells[0])} needs a type and two arguments, each with its role")
        (role, source), (other_role, target) = arguments
        relation: dict[str, Any] = {"to": target, "type": parts[0]}
        if (role, other_role) != ("Arg1", "Arg2"):
            relation["roles"] = [role, other_role]
        if (wrong := _relate(source, relation, found)) is not None:
            return _Wrong(number, wrong)
    for number, cells in found.equal:
        kind, *members = cells[1].split() or [""]
        for one, other in pairwise(members):
            if (wrong := _relate(one, {"to": other, "type": kind, "equal": True}, found)) is not None:
                return _Wrong(number, wrong)
    return None


def _relate(source: str, relation: dict[str, Any], found: _Annotations) -> str | None:
    for end in (source, relation["to"]):
        if end not in found.spans and end not in found.events:
            return f"a relation names {shown(end)}, which is neither a span nor an event of the file"
        _name(end, found)
    holder = found.events[source] if source in found.events else _attributes(found.spans[source])
    relate(holder, relation)
    return None


def _link_about(cells: list[str], found: _Annotations) -> str | None:
    """An attribute, a modification, a reference to a knowledge base, or a note."""
    kind, *said = cells[1].split() or [""]
    if not said:
        return f"{shown(cells[0])} is about nothing"
    target = said[0]
    holder = found.events.get(target) or (_attributes(found.spans[target]) if target in found.spans else None)
    if holder is None:
        if cells[0].startswith("#"):  # notes may be about relations and attributes too
            found.comments.append("\t".join(cells))
            return None
        return f"{shown(cells[0])} is about {shown(target)}, which is neither a span nor an event of the file"
    rest = cells[2] if len(cells) > 2 else ""
    kind += "_" * (kind in _OWN)
    if cells[0].startswith("#"):
        holder.setdefault("notes", []).append([kind, rest])
    elif cells[0].startswith("N"):
        holder.setdefault("references", []).append([kind, *said[1:], rest])
    elif target in found.events:
        holder.setdefault("attributes", {})[kind] = said[1] if len(said) > 1 else True
    else:
        holder[kind] = said[1] if len(said) > 1 else True
    return None


def _attributes(span: dict[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = span.setdefault("attributes", {})
    return attributes


def _name(target: str, found: _Annotations) -> None:
    """Gives a span the name by which others mean it."""
    if target in found.spans:
        _attributes(found.spans[target])["id"] = target


LAYOUT = Layout(
    "brat",
    "a folder of .txt and .ann files in brat's standoff format, or one pair of them",
    recognise,
    rows,
    write,
)
