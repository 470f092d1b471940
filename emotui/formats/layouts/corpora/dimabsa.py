"""DimABSA of SemEval-2026 task 3: aspects and opinions of a text with their valence and arousal, as JSON Lines."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emotui.formats import jsonl
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import utf8_lines
from emotui.formats.layouts.tools.said import relate
from emotui.formats.rows import Flaw, Rows, shown
from emotui.metrics.locating import on_word_edges, places_as_written

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
class _Reading:
    """One entry of a record: the numbers and the category that it gives, and the aspect that its opinion is about."""

    numbers: dict[str, Any]
    about: dict[str, Any] | None


class _Aspects:
    """The aspects and opinions of one text as spans, each where its words stand first."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._placed: dict[tuple[str, str], dict[str, Any]] = {}
        self._readings: dict[tuple[str, str], list[_Reading]] = {}
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
        reading = _Reading(numbers, about)
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


def _say(span: dict[str, Any], readings: list[_Reading]) -> None:
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
