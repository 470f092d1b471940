"""From a row to a record: types only; what the values mean is for `checks`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from math import isfinite
from typing import Any, Generic, TypeVar

import msgspec

from emotui.formats import jsonl
from emotui.formats.beside import kept_beside, put_beside
from emotui.formats.columns import NUMBERED, cell_kinds, marked, required
from emotui.formats.rows import Flaw, shown
from emotui.records import PARTS, RELATIONS, ClassGold, LabelsGold, Mark, Rating, SampleScore

# Marks as they stand in files: a list of offsets, with a label behind them, or an object that says more.

PLAIN, STRUCTS, STRINGS, JSON = (
    "BIGINT[][]",
    'STRUCT("start" BIGINT, "end" BIGINT, "label" VARCHAR, "score" DOUBLE, "attributes" VARCHAR)[]',
    "VARCHAR[]",
    "VARCHAR",
)
"""The types that a column with lists of marks has in Parquet."""


class _MarkObject(msgspec.Struct, frozen=True):
    start: int
    end: int
    label: str | None = None
    score: float | None = None
    attributes: Mapping[str, Any] | None = None


class _Parts(msgspec.Struct, frozen=True):
    parts: list[tuple[int, int]]


def written(value: Any) -> Any:
    """Marks, in a list or in a list a name, as they are written: as short as what they say allows."""
    if isinstance(value, Mapping):
        return {name: written(marks) for name, marks in value.items()}
    return [_written(mark) if type(mark) is Mark else mark for mark in value]


def _written(mark: Mark) -> Any:
    if mark.score is None and not mark.attributes:
        return (mark.start, mark.end) if mark.label is None else (mark.start, mark.end, mark.label)
    return {name: said for name, said in _object(mark).items() if said is not None and said != {}}


def as_arrays(value: Any) -> Any:
    """Marks, in a list or in a list a name, as arrays of what they say, which decode as marks without being read as a
    file is.
    """
    if isinstance(value, Mapping):
        return {name: as_arrays(marks) for name, marks in value.items()}
    return [_array(mark) for mark in value]


def _array(mark: Mark) -> tuple[Any, ...]:
    if mark.score is None and not mark.attributes:
        return (mark.start, mark.end) if mark.label is None else (mark.start, mark.end, mark.label)
    said = (mark.start, mark.end, mark.label, mark.score)
    return (*said, mark.attributes) if mark.attributes else said


def _object(mark: Mark) -> dict[str, Any]:
    return {name: getattr(mark, name) for name in mark.__struct_fields__}


def listed(row: dict[str, Any], kind: type[msgspec.Struct]) -> Flaw | None:
    """Brings the marks of a row, in place, into the one form in which `Mark` is read; None where nothing is wrong.

    Raises:
        msgspec.ValidationError: an object is none; the place in `row` is said as msgspec says it.
    """
    for name in marked(kind):
        value = row.get(name)
        found: object
        if isinstance(value, list):
            found = _listed(value, name)
        elif name == "annotators" and isinstance(value, dict):
            found = _listed_by_name(value, name)
        else:
            continue
        if isinstance(found, Flaw):
            return found
        row[name] = found
    marks, relations = row.get("spans"), row.get("relations")
    # A span that is a string alone has no place in the list of a text's spans that anything could be tied to.
    if isinstance(marks, list) and isinstance(relations, list) and all(isinstance(mark, list) for mark in marks):
        return _tie(marks, relations)
    return None


def _whole(item: Mapping[str, Any]) -> dict[str, Any]:
    """A span of several parts from its first to its last character, with its parts among its attributes.

    Raises:
        msgspec.ValidationError: a part is none.
    """
    rest = {name: value for name, value in item.items() if name != "parts"}
    parts = sorted(msgspec.convert({"parts": item["parts"]}, _Parts).parts)
    attributes = item.get("attributes") or {}
    if len(parts) > 1 and isinstance(attributes, Mapping):
        rest["attributes"] = {**attributes, PARTS: [list(part) for part in parts]}
    return rest | {"start": parts[0][0], "end": max(end for _, end in parts)}


def _tie(spans: list[Any], ties: list[Any]) -> Flaw | None:
    """Put relations among the attributes of the marks of a row."""
    if isinstance(found := related(ties, [mark[4].get("id") if len(mark) > 4 else None for mark in spans]), Flaw):
        return found
    for place, said in found.items():
        mark = spans[place]
        whole = [*mark, *(None, None, {})[len(mark) - 2 :]]
        spans[place] = [*whole[:4], merged_attributes(whole[4], said)]
    return None


def related(ties: list[Any], ids: list[Any]) -> dict[int, dict[str, Any]] | Flaw:
    """From `{from, to, label}`, whose ends are places in a list of spans, to the attributes that say so, by the place.

    Args:
        ids: of each span the `id` among its attributes, or None.
    """
    found: dict[int, dict[str, Any]] = {}
    for number, tie in enumerate(ties):
        ends = [tie.get("from"), tie.get("to")] if isinstance(tie, dict) else [None]
        places = [end for end in ends if type(end) is int and 0 <= end < len(ids)]
        if len(places) < 2:
            return Flaw(f"`relations[{number}]` must have `from` and `to`, places from 0 in `spans`")
        source, target = places
        name = ids[target] or f"T{target + 1}"
        found.setdefault(target, {})["id"] = name
        found.setdefault(source, {}).setdefault(RELATIONS, []).append({"to": str(name), "type": tie.get("label") or ""})
    return found


def merged_attributes(there: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with more of them; relations behind those that are there."""
    found = {**there, **more}
    if RELATIONS in there and RELATIONS in more:
        found[RELATIONS] = [*there[RELATIONS], *more[RELATIONS]]
    return found


def _listed_by_name(said: dict[str, Any], field: str) -> dict[str, Any] | Flaw:
    """By name the spans; whoever says nothing of spans is left out."""
    by_name = {}
    for name, value in said.items():
        place = f"{field}[...]"
        if isinstance(value, dict):
            value, place = value.get("spans"), f"{field}[...].spans"
        if value is None:
            continue
        found = _listed(value, place) if isinstance(value, list) else value
        if isinstance(found, Flaw):
            return found
        by_name[name] = found
    return by_name


def _listed(items: list[Any], place: str) -> list[Any] | Flaw:
    found: list[Any] = []
    for number, item in enumerate(items):
        if type(item) is dict:
            try:
                if item.get("parts"):
                    item = _whole(item)
                mark = msgspec.convert(item, _MarkObject)
            except msgspec.ValidationError as error:
                raise msgspec.ValidationError(_placed(str(error), f"{place}[{number}]")) from None
            found.append([mark.start, mark.end, mark.label or None, mark.score, mark.attributes or {}])
        elif type(item) is list and len(item) == 3:
            found.append([*item[:2], item[2] if item[2] != "" else None])
        elif type(item) is list and len(item) != 2:
            return Flaw(f"`{place}[{number}]` must be [start, end] or [start, end, label], not a list of {len(item)}")
        else:
            found.append(item)
    return found


def _placed(complaint: str, place: str) -> str:
    said, _, inner = complaint.partition(" - at ")
    return f"{said} - at `$.{place}{inner.strip('`').removeprefix('$')}`"


def column_type(records: Iterable[msgspec.Struct]) -> str:
    """The type in Parquet of the columns with lists of marks, one of the four, by what stands in them."""
    kinds = set()
    for record in records:
        for name in marked(type(record)):
            value = getattr(record, name)
            for marks in value.values() if isinstance(value, Mapping) else (value or (),):
                kinds |= {STRINGS if type(mark) is str else PLAIN if mark.plain else STRUCTS for mark in marks}
    if STRINGS in kinds:
        return STRINGS if len(kinds) == 1 else JSON
    return STRUCTS if STRUCTS in kinds else PLAIN


def in_column(value: Any, column: str) -> Any:
    """Marks as they stand in a column of that type, as JSON that DuckDB reads."""
    if isinstance(value, Mapping):
        return {name: in_column(marks, column) for name, marks in value.items()}
    if column == STRUCTS:
        objects = [_object(mark) for mark in value]
        return [one | {"attributes": msgspec.json.encode(one["attributes"]).decode()} for one in objects]
    return msgspec.json.encode(written(value)).decode() if column == JSON else written(value)


def out_of_column(value: Any) -> Any:
    """Marks as they came out of a column, with their attributes unpacked."""
    if isinstance(value, dict) and isinstance(packed := value.get("attributes"), str):
        attributes = jsonl.decode(packed.encode())
        return value | {"attributes": packed if isinstance(attributes, Flaw) else attributes}
    if isinstance(value, dict):
        return {name: out_of_column(marks) for name, marks in value.items()}
    return [out_of_column(mark) for mark in value] if isinstance(value, list) else value


def kept_once(n: int) -> str:
    """That so many spans were left out, which stood twice."""
    return f"{n:,} span{'s' * (n != 1)} given twice with the same label: kept once"


def spans_once(row: dict[str, Any]) -> int:
    """Keep each span of a row, and of each of its annotators, once a label; how many went."""
    gone = 0
    people = row.get("annotators")
    if isinstance(people, dict) and any(isinstance(said, list | dict) for said in people.values()):
        row["annotators"] = people = dict(people)
        for name, said in people.items():
            own = {"spans": said} if isinstance(said, list) else dict(said) if isinstance(said, dict) else {}
            if n := _of_row(own):
                people[name] = own["spans"] if isinstance(said, list) else own
                gone += n
    return gone + _of_row(row)


def _of_row(row: dict[str, Any]) -> int:
    spans = row.get("spans")
    if not isinstance(spans, list) or len(spans) < 2:
        return 0
    kept: list[Any] = []
    first: dict[tuple[object, ...], int] = {}
    places: list[int] = []
    for item in spans:
        span = _as_object(item)
        place = None if span is None else _place(span)
        there = None if place is None else first.setdefault(place, len(kept))
        if there is None or there == len(kept):
            kept.append(item)
        elif (both := _together(_as_object(kept[there]) or {}, span or {})) is not None:
            kept[there] = kept[there] if both == _as_object(kept[there]) else both
            places.append(there)
            continue
        else:
            kept.append(item)  # told apart by what else is said of them: the record's own check has its say
        places.append(len(kept) - 1)
    if len(kept) == len(spans):
        return 0
    row["spans"] = kept
    if isinstance(ties := row.get("relations"), list):
        row["relations"] = [_moved(tie, places) for tie in ties]
    return len(spans) - len(kept)


def _moved(tie: Any, places: Sequence[int]) -> Any:
    """A relation whose ends are places in a list of spans, by where these stand now."""
    if not isinstance(tie, dict):
        return tie
    ends = {key: end for key in ("from", "to") if type(end := tie.get(key)) is int and 0 <= end < len(places)}
    return tie | {key: places[end] for key, end in ends.items()}


def _as_object(item: Any) -> dict[str, Any] | None:
    if isinstance(item, list) and 2 <= len(item) <= 3:
        return dict(zip(("start", "end", "label"), item, strict=False))
    return item if isinstance(item, dict) and "start" in item and "end" in item else None


def _place(span: Mapping[str, Any]) -> tuple[object, ...] | None:
    """Where a span stands and its label; None where these are of other types, which the record's own check tells."""
    start, end, label = span["start"], span["end"], span.get("label")
    whole = type(start) is int and type(end) is int
    return (start, end, label) if whole and (label is None or type(label) is str) else None


def _together(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any] | None:
    """What both say of one span; None where they say different things."""
    found = dict(one)
    for key, value in other.items():
        there = found.get(key)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            value = _together(there, value)
            if value is None:
                return None
        elif there is not None and value is not None and there != value:
            return None
        found[key] = there if value is None else value
    return found


R = TypeVar("R", bound=msgspec.Struct)

ANSWERS = ("output", "label")
"""The optional fields in which an empty string means something."""

_WORDS = {
    "array": "a list",
    "object": "an object",
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
}
_NAMES = {dict: "object", list: "array", str: "str", int: "int", float: "float", bool: "bool", type(None): "null"}


def to_record(kind: type[R], row: object, line: int) -> R | Flaw:
    """The record of a row, or what is wrong with the row's types.

    `null` stands for a field that is left out, and so does an empty string in an optional field, except where it is
    a model's answer (`output`, `label`): a model may well have said nothing. What a record of a text
    says beside what its kind is of is kept in `meta`; other unknown fields are passed over.

    Args:
        row: plain JSON values; an object of the caller's own, changed in place.
        line: where the row stands; the `id` of a text without one.
    """
    if not isinstance(row, dict):
        return Flaw(f"a record must be an object in braces, not {_described(row)}")
    for name in _identifiers(kind):
        if type(value := row.get(name)) is not str and value is not None:
            identifier = decimal_string(value)
            if identifier is None:
                return Flaw(f"`{name}` must be a string or a number, not {_described(value)}")
            row[name] = identifier
    if kind in NUMBERED and row.get("id") is None and row.get("text") is not None:
        row["id"] = str(line)
    put_beside(kind, row)
    for name, absent in _optional(kind):
        if name in row and row[name] in absent:
            del row[name]
    try:
        if (wrong := listed(row, kind)) is not None:
            return wrong
        return msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        return Flaw(_reworded(str(error), row))


_ESCAPED = re.compile(rb"\\u(?:00|[dD][89a-fA-F])")
"""An escape that may spell a key, or half of a pair of surrogates."""

_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
_GREAT = (b"0" * 19, b"0e000", b"0e+000")
"""A number that may be out of range, its digits read by `_DIGITS`."""


class LineDecoder(Generic[R]):
    """Makes records of lines of JSON at once, where `to_record` would leave their rows as they are."""

    def __init__(self, kind: type[R]) -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        self._empty = tuple(name for name, absent in _optional(kind) if "" in absent)
        both = ("label",) if kind in (ClassGold, LabelsGold) else ()  # one that holds several is several
        self._formed = tuple(f'"{key}"'.encode() for key in (*kept_beside(kind), *both, "annotators"))

    def plain(self, text: bytes) -> bool:
        """Whether nothing stands in whole lines that `to_record` might bring into another form."""
        if any(key in text for key in self._formed) or (b"\\" in text and _ESCAPED.search(text)):
            return False
        digits = text.translate(_DIGITS)
        if any(great in digits for great in _GREAT):
            return False
        try:
            if not text.isascii():
                text.decode()  # what stands in unknown fields is not decoded
        except UnicodeDecodeError:
            return False
        return True

    def decode(self, line: bytes) -> R | None:
        """The record of a plain line; None where its row has to be looked at."""
        try:
            record = self._decode(line)
        except (msgspec.MsgspecError, RecursionError):
            return None
        return None if b'""' in line and any(getattr(record, name) == "" for name in self._empty) else record


@cache
def line_decoder(kind: type[R]) -> LineDecoder[R] | None:
    """What makes records of lines at once; None for a kind whose rows are always brought into form (marks)."""
    return None if marked(kind) else LineDecoder(kind)


def decimal_string(number: object) -> str | None:
    """A number as its decimal string, a whole one without a fraction: 1 and 1.0 are "1", 1.5 is "1.5".

    Returns: None for what is not a finite number (true and false are none).
    """
    if type(number) is int:
        return str(number)
    if isinstance(number, float) and isfinite(number):
        return str(int(number)) if number.is_integer() else format(Decimal(repr(number)), "f")
    if isinstance(number, Decimal) and number.is_finite():
        return format(number.normalize(), "f")
    return None


@cache
def _identifiers(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    # Raters and groups are often numbered, and a rating may be a point of a scale: all are names here.
    return {Rating: ("item", "rater", "label"), SampleScore: ("id", "group")}.get(kind, ("id",))


@cache
def _optional(kind: type[msgspec.Struct]) -> tuple[tuple[str, tuple[object, ...]], ...]:
    """Each optional field with the values that stand for its absence."""
    answers = () if kind is LabelsGold else ANSWERS
    return tuple(
        (name, (None, "") if cell == "text" and name not in answers else (None,))
        for name, cell in cell_kinds(kind).items()
        if name not in required(kind)
    )


def _reworded(complaint: str, row: Mapping[str, Any]) -> str:
    """msgspec's complaint about `row`, in plain English and with the place spelt out."""
    complaint, _, place = complaint.partition(" - at ")
    if place.startswith("`key` in "):
        return f"the names in {_field(place.removeprefix('`key` in '), row, None)} must be strings"
    if missing := re.fullmatch(r"Object missing required field `(.*)`", complaint):
        return f"`{missing[1]}` is missing" + (f" in {_field(place, row, None)}" if place else "")
    if length := re.fullmatch(r"Expected `array` of length (\d+), got (\d+)", complaint):
        return f"{_field(place, row, int(length[2]))} must be a list of {length[1]}, not of {length[2]}"
    if wrong := re.fullmatch(r"Expected `([^`]*)`, got `(.*)`", complaint):
        path = _path(place, row, wrong[2])
        got = wrong[2] if "..." in path else _described(_value(row, path))
        return f"{_spelt(path)} must be {_wanted(wrong[1])}, not {got}"
    if "out of range" in complaint:
        return f"{_field(place, row, 'int')} is out of range"
    return f"{_field(place, row, None)}: {complaint}"


def _wanted(types: str) -> str:
    """Of `int | null` and the like what is asked for; labels are a list or an object, spans that a
    model wrote strings or spans, other fields of one type.
    """
    names: list[str] = re.findall(r"\w+", types)
    if {"array", "object"} <= set(names):
        return "a list or an object"
    if {"array", "str"} <= set(names):
        return "a string or a span"
    return _WORDS.get(names[0], names[0])


def _field(place: str, row: Mapping[str, Any], got: str | int | None) -> str:
    return _spelt(_path(place, row, got))


def _path(place: str, row: Mapping[str, Any], got: str | int | None) -> list[int | str]:
    """The steps to the place that msgspec names, as `$.labels[...]`, with the key that it leaves open.

    msgspec goes through an object in order, so the key it means is the first that leads to a value of the type, or
    the list of the length, that it `got`.
    """
    steps: list[int | str] = [int(step) if step.isdigit() else step for step in re.findall(r"\w+|\.\.\.", place)]
    return _first_path(row, steps, got) or steps


def _spelt(path: list[int | str]) -> str:
    text = str(path[0]) if path else "record"
    for step in path[1:]:
        text += "[...]" if step == "..." else f"[{step if isinstance(step, int) else shown(step)}]"
    return f"`{text}`"


def _value(row: Any, path: list[int | str]) -> Any:
    for step in path:
        row = row[step]
    return row


def _described(value: object) -> str:
    """What stands where something else is wanted: `true`, `3.0`, `the string 'x'`, `a list`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"the string {shown(value)}"
    return _WORDS[_NAMES[type(value)]] if isinstance(value, list | dict) else shown(value)


def _first_path(value: Any, steps: list[int | str], got: str | int | None) -> list[int | str] | None:
    if not steps:
        matches = len(value) == got if isinstance(got, int) and isinstance(value, list) else _name(value) == got
        return [] if matches or got is None else None
    keys = list(value) if steps[0] == "..." and isinstance(value, dict) else steps[:1]
    for key in keys:
        try:
            inner = value[key]
        except (KeyError, IndexError, TypeError):
            continue
        rest = _first_path(inner, steps[1:], got)
        if rest is not None:
            return [key, *rest]
    return None


def _name(value: object) -> str:
    return _NAMES.get(type(value), type(value).__name__)
