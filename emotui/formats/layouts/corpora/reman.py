"""REMAN 1.0 (Kim and Klinger 2018): its XML as released, and its emotion spans as JSON Lines."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from emotui.bounded import chunks, opened
from emotui.formats import jsonl
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables.table import decoded_file
from emotui.formats.layouts.tables.values import span
from emotui.formats.rows import Flaw, Rows, UnreadableFile, shown

# XML without entities of its own, external ones or a document type that declares any: an element at a time.

_CHUNK = 1 << 16
_DEEPEST = 100


@dataclass(slots=True)
class Element:
    """An element with its attributes, the text that stands in it before its first child, and its children."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def first(self, name: str) -> "Element | None":
        """Its first child of that name."""
        return next((one for one in self.children if one.name == name), None)

    def below(self, name: str) -> Iterator["Element"]:
        """All elements of that name below it, in their order."""
        for one in self.children:
            if one.name == name:
                yield one
            yield from one.below(name)


def documents(path: Path, name: str) -> Iterator[tuple[int, Element]]:
    """Every element of that name with the line on which it begins.

    Raises:
        UnreadableFile: it is no XML, or declares entities.
    """
    reading = _Reading(name)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.content
    parser.EntityDeclHandler = _refuse
    reading.line = lambda: parser.CurrentLineNumber
    try:
        with opened(path) as stream:
            for chunk in chunks(stream, _CHUNK):
                parser.Parse(chunk, False)
                yield from reading.taken()
            parser.Parse(b"", True)
            yield from reading.taken()
    except expat.ExpatError as error:
        raise UnreadableFile(f"not XML: {expat.ErrorString(error.code)}", error.lineno) from None
    except FileNotFoundError:
        raise UnreadableFile("there is no such file") from None
    except (OSError, UnicodeError, ValueError) as error:
        raise UnreadableFile(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _refuse(*declaration: object) -> None:
    raise UnreadableFile("it declares entities, which are not read: remove its document type")


class _Reading:
    """The elements that are open, and those that have come to their end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[Element] = []
        self._begins = 0
        self._depth = 0
        self._done: list[tuple[int, Element]] = []
        self.line: Callable[[], int] = int

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableFile("its elements are nested too deeply", self.line())
        if not self._open and name != self._name:
            return
        fresh = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(fresh)
        else:
            self._begins = self.line()
        self._open.append(fresh)

    def end(self, name: str) -> None:
        self._depth -= 1
        if self._open:
            closed = self._open.pop()
            if not self._open:
                self._done.append((self._begins, closed))

    def content(self, text: str) -> None:
        if self._open and not self._open[-1].children:
            self._open[-1].text += text

    def taken(self) -> list[tuple[int, Element]]:
        done, self._done = self._done, []
        return done


EMOTIONS = (
    *("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"),
    "other-emotion",
)
"""The types of spans that are emotions; the others are their roles."""

_OWN = ("author", "author_death_year", "book_title", "genre", "url")


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a passage. Offsets are right where the text of a span differs; that is kept as `stated_text`."""
    read = _of_xml(path) if path.suffix.lower() == ".xml" else _of_json(path, options)
    seen: dict[str, int] = {}
    for line, row in read:
        if not isinstance(row, Flaw):
            # Three passages stand twice under one number, with different annotations.
            times = seen[row["id"]] = seen.get(row["id"], 0) + 1
            if times > 1:
                row["id"] = f"{row['id']}#{times}"
        yield line, row


def _of_xml(path: Path) -> Rows:
    for line, document in documents(path, "document"):
        text = document.first("text")
        if text is None or not text.text:
            yield line, Flaw("the document has no text")
            continue
        adjudicated = document.first("adjudicated")
        marks = [] if adjudicated is None else list(adjudicated.below("span"))
        relations = [] if adjudicated is None else list(adjudicated.below("relation"))
        roles = _roles(
            (one.attributes.get("source_annotation_id"), one.attributes.get("type"), one.attributes.get(_TARGET))
            for one in relations
        )
        found = [_mark(_of_element(one), text.text, roles) for one in marks if one.attributes.get("type") in EMOTIONS]
        others = [_of_element(one) for one in marks if one.attributes.get("type") not in EMOTIONS]
        own = {name: document.attributes[name] for name in _OWN if name in document.attributes}
        yield line, _row(document.attributes.get("doc_id", str(line)), text.text, found, others, own)


_TARGET = "target_annotation_id"


def _of_element(mark: Element) -> dict[str, Any]:
    said = mark.attributes
    return {
        "id": said.get("annotation_id"),
        "start": said.get("cbegin"),
        "end": said.get("cend"),
        "label": said.get("type"),
        "stated_text": mark.text,
        "modifier": said.get("modifier"),
        "annotators": said.get("annotatorId"),
    }


def _of_json(path: Path, options: ReadOptions) -> Rows:
    found = decoded_file(path, options.encoding)
    for line, one in jsonl.rows(part + b"\n" for part in found.text.encode(errors="surrogateescape").split(b"\n")):
        if isinstance(one, Flaw):
            yield line, one
            continue
        if not isinstance(one, dict) or not isinstance(one.get("text"), str):
            yield line, Flaw("must be an object with a `text`")
            continue
        marks, others = one.get("emotion_spans"), one.get("other_spans")
        if not _objects(marks) or not _objects(others or []) or not _objects(one.get("relations") or []):
            yield line, Flaw("`emotion_spans`, `other_spans` and `relations` must be lists of objects")
            continue
        relations = one.get("relations") or []
        roles = _roles((each.get("emotion_span"), each.get("type"), each.get("role_span")) for each in relations)
        found_marks = [_mark(_of_object(each), one["text"], roles) for each in marks or []]
        own = {name: one[name] for name in (*_OWN, "labels") if one.get(name) is not None}
        more = [_of_object(each) for each in others or []]
        yield line, _row(str(one.get("doc_id", line)), one["text"], found_marks, more, own)


def _objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _of_object(mark: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in mark.items() if key not in ("text", "type")}
    return kept | {"label": mark.get("type"), "stated_text": mark.get("stated_text")}


def _roles(relations: Iterator[tuple[Any, Any, Any]] | Any) -> dict[str, list[dict[str, Any]]]:
    """By the number of an emotion span its relations: `{type, to}`, the number of the other span."""
    found: dict[str, list[dict[str, Any]]] = {}
    for source, kind, target in relations:
        if source is not None and target is not None:
            found.setdefault(str(source), []).append({"type": kind, "to": str(target)})
    return found


def _mark(item: dict[str, Any], text: str, roles: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any] | Flaw:
    item = {key: value for key, value in item.items() if value is not None}
    if (related := roles.get(str(item.get("id")))) is not None:
        item["relations"] = related
    mark = span(item, None)
    if isinstance(mark, Flaw):
        return mark
    if not 0 <= mark["start"] < mark["end"] <= len(text):
        return Flaw(f"the span [{mark['start']}, {mark['end']}] lies outside the text of {len(text)} characters")
    attributes = mark.get("attributes", {})
    if attributes.get("stated_text") in (None, text[mark["start"] : mark["end"]]):
        attributes.pop("stated_text", None)
    return mark


def _row(
    key: str, text: str, found: list[dict[str, Any] | Flaw], others: list[dict[str, Any]], own: dict[str, Any]
) -> TextRow | Flaw:
    marks: list[dict[str, Any]] = []
    for mark in found:
        if isinstance(mark, Flaw):
            return Flaw(f"{shown(key)}: {mark.reason}")
        same = [one for one in marks if (one["start"], one["end"], one["label"]) == _place(mark)]
        if not same:
            marks.append(mark)
    kept = [{name: value for name, value in one.items() if value is not None} for one in others]
    meta = own | ({"roles": kept} if kept else {})
    return {"id": key, "text": text, "spans": marks, "meta": meta}


def _place(mark: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return mark["start"], mark["end"], mark.get("label")


def _recognise(path: Path, head: bytes) -> str | None:
    if b"<document" in head and b"annotation_id=" in head and b"cbegin=" in head:
        return "it is XML with documents, and spans that have annotation_id, cbegin and cend"
    if head.lstrip().startswith(b"{") and b'"emotion_spans"' in head and b'"doc_id"' in head:
        return "its objects have doc_id and emotion_spans"
    return None


REMAN = Layout(
    name="reman",
    about="REMAN: passages with emotion spans and their roles, as XML or as JSON Lines.",
    recognise=_recognise,
    rows=rows,
)
