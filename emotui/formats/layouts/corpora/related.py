"""Corpora whose texts have spans that belong together: REMAN, ECF and DimABSA."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.parsers import expat

from emotui.bounded import chunks, opened
from emotui.formats import jsonl
from emotui.formats.conversion import kept_once
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import items, read_item, utf8_lines
from emotui.formats.layouts.tables.table import decoded_file
from emotui.formats.layouts.tables.values import span
from emotui.formats.layouts.tools.said import relate
from emotui.formats.rows import Flaw, Rows, UnreadableFile, shown
from emotui.metrics.locating import on_word_edges, places_as_written

# REMAN 1.0 (Kim and Klinger 2018): its XML as released, and its emotion spans as JSON Lines.

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

_AGAIN = "again"
"""The attribute of a span that has what is said of it where the same one is given once more."""

_OWN = ("author", "author_death_year", "book_title", "genre", "url")


def _rows_of_reman(path: Path, options: ReadOptions) -> Rows:
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
        found = [
            _mark_of_reman(_of_element(one), text.text, roles)
            for one in marks
            if one.attributes.get("type") in EMOTIONS
        ]
        others = [_of_element(one) for one in marks if one.attributes.get("type") not in EMOTIONS]
        own = {name: document.attributes[name] for name in _OWN if name in document.attributes}
        yield line, _row_of_reman(document.attributes.get("doc_id", str(line)), text.text, found, others, own)


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
        found_marks = [_mark_of_reman(_of_object(each), one["text"], roles) for each in marks or []]
        own = {name: one[name] for name in (*_OWN, "labels") if one.get(name) is not None}
        more = [_of_object(each) for each in others or []]
        yield line, _row_of_reman(str(one.get("doc_id", line)), one["text"], found_marks, more, own)


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


def _mark_of_reman(item: dict[str, Any], text: str, roles: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any] | Flaw:
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


def _row_of_reman(
    key: str, text: str, found: list[dict[str, Any] | Flaw], others: list[dict[str, Any]], own: dict[str, Any]
) -> TextRow | Flaw:
    marks: list[dict[str, Any]] = []
    for mark in found:
        if isinstance(mark, Flaw):
            return Flaw(f"{shown(key)}: {mark.reason}")
        same = next((one for one in marks if _place(one) == _place(mark)), None)
        if same is None:
            marks.append(mark)
        elif mark.get("attributes") != same.get("attributes"):
            # Accepted from two annotators under a number each.
            same.setdefault("attributes", {}).setdefault(_AGAIN, []).append(mark.get("attributes", {}))
    kept = [{name: value for name, value in one.items() if value is not None} for one in others]
    meta = own | ({"roles": kept} if kept else {})
    return {"id": key, "text": text, "spans": marks, "meta": meta}


def _settle_reman(path: Path, options: ReadOptions) -> ReadOptions:
    marks = (mark for _, row in _rows_of_reman(path, options) if not isinstance(row, Flaw) for mark in row["spans"])
    twice = sum(len(mark.get("attributes", {}).get(_AGAIN, ())) for mark in marks)
    told = f"{kept_once(twice)}, with what is said of it the second time under `{_AGAIN}`"
    return replace(options, remarks=(told,) if twice else ())


def _place(mark: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return mark["start"], mark["end"], mark.get("label")


def _recognise_reman(path: Path, head: bytes) -> str | None:
    if b"<document" in head and b"annotation_id=" in head and b"cbegin=" in head:
        return "it is XML with documents, and spans that have annotation_id, cbegin and cend"
    if head.lstrip().startswith(b"{") and b'"emotion_spans"' in head and b'"doc_id"' in head:
        return "its objects have doc_id and emotion_spans"
    return None


REMAN = Layout(
    name="reman",
    about="REMAN: passages with emotion spans and their roles, as XML or as JSON Lines.",
    recognise=_recognise_reman,
    rows=_rows_of_reman,
    settled=_settle_reman,
)


# ECF of SemEval-2024 task 3: conversations as one JSON list, with pairs of an utterance's emotion and its cause.

_PAIRS = "emotion-cause_pairs"
_OF_UTTERANCE = ("utterance_ID", "text", "emotion")
_TURN = re.compile(r"(\d{1,9})(?:_(.*))?", re.DOTALL | re.ASCII)


def _recognise_ecf(path: Path, head: bytes) -> str | None:
    there = all(f'"{name}"'.encode() in head for name in ("conversation_ID", "conversation", "utterance_ID"))
    listed = path.suffix.lower() == ".json" and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    return "it is a list of conversations with their utterances" if listed and there else None


def _rows_of_ecf(path: Path, options: ReadOptions) -> Rows:
    """A row an utterance. Words of a cause are a span where they stand, named by the emotion, with the turns that it is
    `cause_of`; each utterance has the `causes` of its emotion as they are told, also where they are a whole turn.
    """
    every = list(items(path, options.encoding))
    read = [(line, read_item(item)) for line, item in every]
    worded = any(
        "_" in str(cause) for _, one in read if isinstance(one, dict) for _, cause in _pairs_of(one.get(_PAIRS)) or ()
    )
    for line, one in read:
        utterances = one.get("conversation") if isinstance(one, dict) else None
        if isinstance(one, Flaw) or not isinstance(utterances, list) or not all(map(_is_utterance, utterances)):
            yield line, one if isinstance(one, Flaw) else Flaw("must be a conversation with a list of utterances")
            continue
        pairs = _pairs_of(one.get(_PAIRS, []))
        if pairs is None:
            yield line, Flaw(f"`{_PAIRS}` must be a list of pairs")
            continue
        found = _conversation(str(one.get("conversation_ID", line)), utterances, worded=worded and _PAIRS in one)
        if len(found) < len(utterances):
            yield line, Flaw("two utterances of the conversation have one number")
            continue
        wrong = next((why for effect, cause in pairs if (why := _pair(found, effect, cause)) is not None), None)
        if wrong is not None:
            yield line, wrong
            continue
        yield from ((line, row) for row in found.values())


def _is_utterance(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str) and value.get("utterance_ID") is not None


def _pairs_of(value: object) -> list[tuple[str, str]] | None:
    if not isinstance(value, list) or not all(isinstance(one, list) and len(one) == 2 for one in value):
        return None
    return [(str(effect), str(cause)) for effect, cause in value]


def _conversation(key: str, utterances: Sequence[Mapping[str, Any]], *, worded: bool) -> dict[str, TextRow]:
    """By the number of the turn its row."""
    found: dict[str, TextRow] = {}
    for one in utterances:
        turn = str(one["utterance_ID"])
        own = {name: value for name, value in one.items() if name not in _OF_UTTERANCE and value is not None}
        row: TextRow = {"id": f"{key}_{turn}", "text": one["text"]}
        row |= {"label": one["emotion"]} if isinstance(one.get("emotion"), str) and one["emotion"] else {}
        row |= {"spans": []} if worded else {}
        found[turn] = {**row, "meta": {"conversation": key, "turn": one["utterance_ID"], **own}}
    return found


def _pair(found: Mapping[str, TextRow], effect: str, cause: str) -> Flaw | None:
    """Add a pair to both of its turns, or say which of them is not there."""
    of, by = _TURN.fullmatch(effect), _TURN.fullmatch(cause)
    if of is None or by is None or of[1] not in found or by[1] not in found:
        return Flaw(f"the pair {shown([effect, cause])} names a turn that the conversation lacks")
    row, words = found[by[1]], (by[2] or "").strip()
    told = {"turn": int(by[1])} | ({"text": words} if words else {})
    causes = found[of[1]]["meta"].setdefault("causes", [])
    causes += [told] if told not in causes else []
    there = places_as_written(row["text"], words)
    if not there:
        return None
    place = {"start": there[0][0], "end": there[0][1]} | ({"label": of[2]} if of[2] else {})
    spans = row.setdefault("spans", [])
    same = [one for one in spans if {key: one.get(key) for key in place} == place]
    if not same:
        spans.append({**place, "attributes": {"cause_of": [int(of[1])]}})
    elif int(of[1]) not in same[0]["attributes"]["cause_of"]:
        same[0]["attributes"]["cause_of"].append(int(of[1]))
    return None


ECF = Layout(
    "ecf",
    "ECF (SemEval-2024 task 3): conversations with emotions and their causes, as one JSON list.",
    _recognise_ecf,
    _rows_of_ecf,
)


# DimABSA of SemEval-2026 task 3: aspects and opinions of a text with their valence and arousal, a JSON object a line.

_SAID = ("Aspect_VA", "Triplet", "Quadruplet")
_NULL = "NULL"
_NUMBERS = ("valence", "arousal")
_VA = re.compile(r"(\d{1,2}(?:\.\d+)?)#(\d{1,2}(?:\.\d+)?)", re.ASCII)


def _recognise_dimabsa(path: Path, head: bytes) -> str | None:
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    record = jsonl.decode(line) if line.startswith(b"{") else None
    if not isinstance(record, dict) or not {"ID", "Text"} <= record.keys():
        return None
    found = next((name for name in _SAID if isinstance(record.get(name), list)), None)
    return None if found is None else f"each line has ID, Text and {found}"


def _lines_of_dimabsa(path: Path, options: ReadOptions) -> Iterator[tuple[int, TextRow | Flaw, int, int]]:
    """By line its row, and how many of its aspects and opinions stand in their text more than once, and how many only
    inside other words.
    """
    for line, content in utf8_lines(path, options.encoding):
        if not content.strip():
            continue
        record = jsonl.decode(content)
        if isinstance(record, Flaw) or not isinstance(record, dict):
            yield line, record if isinstance(record, Flaw) else Flaw("must be an object"), 0, 0
            continue
        text, key = record.get("Text"), record.get("ID")
        listed = [name for name in _SAID if record.get(name) is not None]
        if not isinstance(text, str) or not isinstance(key, str | int):
            yield line, Flaw("must have an `ID` and a `Text`"), 0, 0
            continue
        found = _Aspects(text)
        wrong = next((why for name in listed if (why := found.add_all(name, record[name])) is not None), None)
        own = {
            name: value for name, value in record.items() if name not in ("ID", "Text", *_SAID) and value is not None
        }
        row: TextRow = {"id": str(key), "text": text, "meta": own | found.unplaced}
        row |= {"spans": found.spans()} if listed else {}
        yield line, row if wrong is None else wrong, found.several, found.inside


@dataclass(slots=True)
class _Entry:
    """One entry of a record: the numbers and the category that it gives, and the aspect that its opinion is about."""

    numbers: dict[str, Any]
    about: dict[str, Any] | None


class _Aspects:
    """The aspects and opinions of one text as spans, each where its words stand first."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._placed: dict[tuple[str, str], dict[str, Any]] = {}
        self._readings: dict[tuple[str, str], list[_Entry]] = {}
        self._absent: list[Any] = []
        self.several = 0
        self.inside = 0

    def spans(self) -> list[dict[str, Any]]:
        """All of them with what is said of them, in the order of the text; to be asked once."""
        if any(one.about is not None for readings in self._readings.values() for one in readings):
            for number, span in enumerate(self._placed.values(), start=1):
                span.setdefault("attributes", {}).setdefault("id", f"s{number}")
        for key, readings in self._readings.items():
            _say(self._placed[key], readings)
        return sorted(self._placed.values(), key=lambda span: (span["start"], span["end"], span["label"]))

    @property
    def unplaced(self) -> dict[str, Any]:
        """What is about no words of the text, or about words that it lacks, as it is told."""
        return {"without_place": self._absent} if self._absent else {}

    def add_all(self, name: str, told: object) -> Flaw | None:
        """Take in the list under one name, or say what is wrong with it."""
        if not isinstance(told, list) or not all(isinstance(one, dict) for one in told):
            return Flaw(f"`{name}` must be a list of objects")
        return next((why for one in told if (why := self._add(one)) is not None), None)

    def _add(self, told: Mapping[str, Any]) -> Flaw | None:
        """Valence and arousal are of the opinion where there is one, else of the aspect."""
        va = _VA.fullmatch(str(told.get("VA", "")).strip())
        if va is None and "VA" in told:
            return Flaw(f"`VA` must be two numbers with # between them, not {shown(told['VA'])}")
        numbers: dict[str, Any] = {} if va is None else {"valence": float(va[1]), "arousal": float(va[2])}
        if isinstance(told.get("Category"), str):
            numbers["category"] = told["Category"]
        aspect, opinion = self._span("aspect", told.get("Aspect")), self._span("opinion", told.get("Opinion"))
        named = [words for words in (told.get("Aspect"), told.get("Opinion")) if words not in (None, "", _NULL)]
        bearer = opinion or aspect
        if bearer is None or len(named) > sum(span is not None for span in (aspect, opinion)):
            self._absent.append(dict(told))
        if bearer is None:
            return None
        if "category" in numbers:
            _add_category(self._placed[aspect or bearer].setdefault("attributes", {}), numbers["category"])
        about = self._placed[aspect] if aspect is not None and opinion is not None else None
        reading = _Entry(numbers, about)
        if reading not in (there := self._readings.setdefault(bearer, [])):
            there.append(reading)
        return None

    def _span(self, label: str, words: object) -> tuple[str, str] | None:
        """Under which key a span is placed; None where nothing is named, or the text lacks it."""
        if not isinstance(words, str) or words.strip() in ("", _NULL):
            return None
        key = label, words
        if key not in self._placed:
            there = places_as_written(self._text, words)
            if not there:
                return None
            self.several += len(there) > 1
            self.inside += not on_word_edges(self._text, there[0])
            self._placed[key] = {"start": there[0][0], "end": there[0][1], "label": label}
        return key


def _add_category(attributes: dict[str, Any], category: str) -> None:
    """One as it is, several as a list."""
    known = attributes.setdefault("category", category)
    each = known if isinstance(known, list) else [known]
    if category not in each:
        attributes["category"] = [*each, category]


def _say(span: dict[str, Any], readings: list[_Entry]) -> None:
    """What is said of a span becomes its attributes.

    A relation has the numbers that are of its own aspect. The span has them too where all readings agree; else those of
    a reading without an aspect, and every other one of these as a `further` reading.
    """
    attributes = span.setdefault("attributes", {})
    for one in readings:
        if one.about is not None:
            relate(attributes, {"to": one.about["attributes"]["id"], "type": "about", **one.numbers})
    alone = [one.numbers for one in readings if one.about is None]
    each = [{name: one.numbers[name] for name in _NUMBERS if name in one.numbers} for one in readings]
    if all(one == each[0] for one in each):
        attributes |= each[0]
    elif alone:
        attributes |= {name: alone[0][name] for name in _NUMBERS if name in alone[0]}
        attributes |= {"further": alone[1:]} if alone[1:] else {}
    if not attributes:
        del span["attributes"]


def _rows_of_dimabsa(path: Path, options: ReadOptions) -> Rows:
    """Aspects and opinions as spans, linked, with valence and arousal from 1 to 9; `NULL` is no span."""
    yield from ((line, row) for line, row, *_ in _lines_of_dimabsa(path, options))


def _settle_dimabsa(path: Path, options: ReadOptions) -> ReadOptions:
    counts = [(several, inside) for *_, several, inside in _lines_of_dimabsa(path, options)]
    several, inside = sum(n for n, _ in counts), sum(n for _, n in counts)
    told = f"{several} aspects or opinions stand in their text more than once: the first place is taken"
    within = f"{inside} aspects or opinions stand in their text only inside other words"
    return replace(options, remarks=(*([told] if several else []), *([within] if inside else [])))


DIMABSA = Layout(
    "dimabsa",
    "DimABSA (SemEval-2026 task 3): aspects and opinions with their valence and arousal, a JSON object a line.",
    _recognise_dimabsa,
    _rows_of_dimabsa,
    settled=_settle_dimabsa,
)
