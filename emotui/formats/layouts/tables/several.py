"""Cells of one label that hold several, as `joy, sadness` in a column of joy and of sadness."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from emotui.formats.layouts.tables.names import NAMES, is_emotion, normal
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.values import identifier, is_empty, is_unanswered, number, parsed
from emotui.formats.rows import Flaw, UnreadableFile, literal, shown

# Tokens with a tag each, as spans of the text that the tokens make.

_BEGINS, _INSIDE = ("B", "U", "S"), ("I", "L", "E", "M")
_OUTSIDE = ("O", "", "_")
_NOTHING = frozenset({"none", "neutral", "no_emotion", "noemotion", "outside", "o"})


def text_and_spans(tokens: Sequence[str], tags: Sequence[str]) -> tuple[str, list[dict[str, Any]]] | Flaw:
    """The tokens with a space between them, and the spans that BIO, BILOU or plain tags say."""
    if len(tokens) != len(tags):
        return Flaw(f"{len(tokens)} tokens have {len(tags)} tags")
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token) + 1
    found: list[dict[str, Any]] = []
    open_label: str | None = None
    for token, start, tag in zip(tokens, starts, tags, strict=True):
        place, label = _split(tag)
        if place in _OUTSIDE:
            open_label = None
            continue
        if not token:
            return Flaw(f"an empty token has the tag {shown(tag)}")
        if place in _INSIDE and open_label == label:
            found[-1]["end"] = start + len(token)
        else:
            found.append({"start": start, "end": start + len(token)} | ({"label": label} if label else {}))
        open_label = None if place in ("L", "E", "U", "S") else label
    return " ".join(tokens), found


def outside_of(names: Sequence[str]) -> str | None:
    """Which of the names of numbered tags says that a token is in no span, where none is `O`: the first, of number 0.

    None: one of them is `O`, or the first begins a span or is an emotion.
    """
    if not names or any(name in _OUTSIDE for name in names):
        return None
    place, dash, _ = names[0].partition("-")
    if dash and place in (*_BEGINS, *_INSIDE):
        return None
    return names[0] if normal(names[0]) in _NOTHING or not is_emotion(names[0]) else None


def check_named(column: str, cells: Iterable[object]) -> None:
    """Refuse tags that are numbers of names which nobody has told: which of them is outside cannot be known.

    Raises:
        UnreadableFile: all that stand in the cells are numbers.
    """
    read = (parsed(cell) for cell in cells)
    tags = [tag for row in read if isinstance(row, list | tuple) for tag in row if tag is not None]
    if tags and all(number(tag) is not None for tag in tags):
        raise UnreadableFile(
            f"the tags in {shown(column)} are numbers without names: name them in their order, from 0, by "
            "--labels O,B-joy,I-joy, or leave them out by --map tokens=,tags=",
            1,
        )


def _split(tag: str) -> tuple[str, str]:
    """Where a token stands in its span, and the span's label; a tag that says no place is inside one of its label."""
    place, dash, label = tag.partition("-")
    if dash and place in (*_BEGINS, *_INSIDE):
        return place, label
    return (tag, "") if tag in (*_OUTSIDE, *_BEGINS, "I") else ("I", tag)


# What people say in a table: a column a person, and names of people beside their answers.

_PERSON = re.compile(
    r"(annotator|annot|ann|rater|coder|judge|worker|labell?er|expert|crowdworker|reader|evaluator|reviewer)"
    r"(s?_?\d+|_[a-z])"
    r"(_?(label|labels|emotion|answer|rating|annotation|vote))?"
)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_CODE = re.compile(r"(?=\S*\d)[\w.:@#/+=-]{6,}|\S+@\S+\.\S+|https?://\S+", re.ASCII)
_OF_PEOPLE = frozenset(
    {
        *("id", "ids", "workerid", "userid", "uid", "uuid", "guid", "hash", "prolific", "mturk", "turker", "username"),
        *("annotator", "annotators", "rater", "raters", "coder", "coders", "worker", "labeler", "labeller", "judge"),
        *("url", "link", "date", "timestamp", "email"),
    }
)

_PEOPLE = frozenset(
    {
        *("name", "names", "full_name", "first_name", "last_name", "nickname", "screen_name", "handle", "user", "who"),
        *("speaker", "author", "writer", "participant", "respondent", "person", "character"),
    }
)
"""What a whole column is called that names people, though part of such a name may be that of a text (user_comment)."""

ANSWERS = "annotations"
"""The field that has the answers where `annotators` has the names alone."""


def is_person(column: str) -> bool:
    """Whether a column is called as one of several people is: annotator_1, Rater 2, coder3."""
    return _PERSON.fullmatch(normal(column)) is not None


def names_people(column: str) -> bool:
    """Whether a column is called as what names people, places on the web or times is, and not as a text."""
    return normal(column) in _PEOPLE or bool(set(normal(column).split("_")) & _OF_PEOPLE)


def is_code(value: object) -> bool:
    """Whether a value is no words but a sign for somebody or something: an id, an address."""
    return isinstance(value, str) and _CODE.fullmatch(value.strip()) is not None


def said_by(people: object, answers: object) -> dict[str, Any] | Flaw | None:
    """What each person says, by name, whatever a file writes under `annotators`; None: these are names alone.

    Args:
        people: an object by name, or names in a list or between commas.
        answers: those of such names, in their order, or by name.
    """
    people, answers = parsed(people), parsed(answers)
    for value in (people, answers):
        if isinstance(value, Flaw):
            return value
    if isinstance(people, Mapping):
        return _each(people)
    names = _items(people)
    if names is None:
        return Flaw(f"must be an object of what each person says, or names, not {shown(people)}")
    if isinstance(answers, Mapping):
        return _each(answers)
    if is_empty(answers):
        return None
    given = _items(answers) or []
    if len(given) != len(names):
        return Flaw(f"{len(names)} people and {len(given)} answers under `{ANSWERS}`")
    named = [identifier(name) for name in names]
    if wrong := next((name for name in names if identifier(name) is None or named.count(identifier(name)) > 1), None):
        return Flaw(f"{shown(wrong)} stands twice" if identifier(wrong) else f"{shown(wrong)} is no name")
    return _each({str(name): answer for name, answer in zip(named, given, strict=True)})


def _items(value: object) -> list[object] | None:
    if isinstance(value, list | tuple):
        return list(value)
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else None


def _each(people: Mapping[Any, Any]) -> dict[str, Any] | Flaw:
    found: dict[str, Any] = {}
    for name, said in people.items():
        if is_empty(said):
            continue
        if isinstance(said, Mapping):
            found[str(name)] = said
        elif isinstance(said, list | tuple):
            labels = bool(said) and all(isinstance(one, str) for one in said)
            found[str(name)] = {"labels": list(dict.fromkeys(said))} if labels else list(said)
        elif (label := identifier(said)) is not None:
            found[str(name)] = {"label": label}
        else:
            return Flaw(f"{shown(str(name))} says {shown(said)}, which is neither a label nor spans")
    return found


_BETWEEN = re.compile(r"\s*[,;|]\s*")
_WITHIN = re.compile(r"\s*[,;|/+&]\s*|\s+and\s+")
"""What may also stand within the name of a class, as in `shame/guilt`."""


@dataclass(frozen=True, slots=True)
class Several:
    """What the cells of a column of labels hold.

    Attributes:
        labels: by cell the labels in it, where there are several.
        whole: cells that stay one label, because some of their parts are no labels.
        cells: how often each cell stands.
        alike: labels that differ in nothing but case.
    """

    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    cells: Mapping[str, int] = field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()

    def lines(self, column: str) -> Iterator[str]:
        """What is to be told of a column that may be parted, a line each."""
        yield from self.parted(column)
        for line in self.kept(column):
            yield f"{line} (--map labels=COLUMN parts them)"
        for names in self.alike:
            yield f"{column}: {' and '.join(map(shown, names))} are different labels here, for their case differs"

    def parted(self, column: str) -> Iterator[str]:
        """Which cells of a column are read as several labels."""
        if self.labels:
            n = sum(self.cells[cell] for cell in self.labels)
            first = max(self.labels, key=lambda cell: self.cells[cell])
            hold = "1 cell holds" if n == 1 else f"{n:,} cells hold"
            yield f"{column}: {hold} several labels, as {shown(first)}: each is read as such"

    def kept(self, column: str) -> Iterator[str]:
        """Which cells of a column are one label though they look like several."""
        if self.whole:
            n = sum(self.cells[cell] for cell in self.whole)
            are = "is one label" if n == 1 else "are one label each"
            which = f"{n:,} cell{'s' * (n != 1)} such as {shown(self.whole[0])} {are}"
            yield f"{column}: {which}, for not all of its parts are labels elsewhere"


def several_in(cells: Iterable[str]) -> Several:
    """Which cells hold several labels: those whose parts each stand alone in another cell, or are emotions.

    Parts are what stands between commas, semicolons, bars, slashes, `+` and `&`. A slash and the like stand in names of
    classes too: between them being an emotion is not enough. A part is spelt as the label that stands alone is.
    """
    counts: Counter[str] = Counter()
    for cell, n in Counter(cells).items():
        counts[as_label(cell)] += n
    alone: dict[str, str] = {}
    for cell, _ in counts.most_common():
        if not _WITHIN.search(cell):
            alone.setdefault(cell.casefold(), cell)
    labels: dict[str, tuple[str, ...]] = {}
    whole = []
    for cell in counts:
        between = _parts(_BETWEEN, cell, alone, emotions=True)
        found = between if between is not None else _parts(_WITHIN, cell, alone, emotions=False)
        if found is not None:
            labels[cell] = found
        elif _BETWEEN.search(cell):
            whole.append(cell)
    spelt: dict[str, list[str]] = {}
    for cell in counts:
        spelt.setdefault(cell.casefold(), []).append(cell)
    alike = tuple(tuple(names) for names in spelt.values() if len(names) > 1)
    return Several(labels, tuple(whole), counts, alike)


def as_label(cell: str) -> str:
    """A cell of one label, white space folded."""
    return " ".join(cell.split())


def may_be_several(cell: str) -> bool:
    """Whether anything stands in a cell that may part labels."""
    return _WITHIN.search(cell) is not None


def _parts(between: re.Pattern[str], cell: str, alone: Mapping[str, str], *, emotions: bool) -> tuple[str, ...] | None:
    """The labels in a cell; None where it has no parts, or some that are no labels."""
    if not between.search(cell):
        return None
    parts = [part for part in between.split(cell) if part]
    found = [alone.get(part.casefold(), part if emotions and is_emotion(part) else "") for part in parts]
    return tuple(dict.fromkeys(found)) if found and all(found) else None


def several_of(table: Table, columns: Mapping[str, str]) -> dict[str, Several]:
    """What the cells of the columns of labels hold, by the key `label` or `labels`.

    Those of people, a column each, count among those of `label`; in `labels` names between commas are several anyway.
    """
    found = {}
    for key in ("label", "labels"):
        cells = [
            row.get(column)
            for column in _columns_of(key, columns)
            if column not in table.names
            for _, row in table.rows
            if not isinstance(row, Flaw)
        ]
        cells += _answers(table, columns) if key == "label" else []
        silent = is_unanswered if table.worded else is_empty
        words = [cell.strip() for cell in cells if isinstance(cell, str) and not silent(cell) and cell[:1] not in "[{("]
        if key == "labels":
            words = [part for cell in words for part in _BETWEEN.split(cell) if part]
        found[key] = several_in(words)
    return found


def _answers(table: Table, columns: Mapping[str, str]) -> list[str]:
    """The one label each that people say under `annotators`."""
    column = columns.get("annotators")
    if not column:
        return []
    found: list[str] = []
    for _, row in table.rows:
        said = None if isinstance(row, Flaw) or is_empty(row.get(column)) else said_by(row[column], row.get(ANSWERS))
        each = said.values() if isinstance(said, Mapping) else ()
        found += [one["label"] for one in each if isinstance(one, Mapping) and one.keys() == {"label"} if one["label"]]
    return [one for one in found if isinstance(one, str)]


def _columns_of(key: str, columns: Mapping[str, str]) -> list[str]:
    people = [name for one, name in columns.items() if one.startswith("people.")]
    own = [columns[key]] if columns.get(key) else []
    return [*own, *people] if key == "label" and "about" not in columns else own


def remarks(table: Table, columns: Mapping[str, str]) -> tuple[str, ...]:
    """What is to be told of the labels, ids and numbers in a table, a line each."""
    told: list[str] = []
    for key, several in several_of(table, columns).items():
        if own := _columns_of(key, columns):
            told += several.lines(", ".join(own))
        elif column := columns.get("annotators"):
            told += [*several.parted(column), *several.kept(column)]
    told += [*_no_ids(table, columns), *_commas(table, columns)]
    return (*map(literal, told), *_not_asked(table, columns))


def _no_ids(table: Table, columns: Mapping[str, str]) -> Iterator[str]:
    """Why the column that is called as ids are is not taken for them, a line where it is so."""
    if columns.keys() & {"id", "start", "annotator", "about"}:
        return
    free = {normal(name): name for name in reversed(table.header) if name not in columns.values()}
    column = next((free[name] for name in NAMES["id"] if name in free), None)
    if column is None:
        return
    lines: dict[str | None, int] = {}
    for line, row in table.rows:
        key = None if isinstance(row, Flaw) else identifier(row.get(column))
        if isinstance(row, Flaw):
            continue
        if key is None or key in lines:
            why = f"is empty in line {line}" if key is None else f"has {shown(key)} in lines {lines[key]} and {line}"
            yield (
                f"{column} {why}: not taken for ids, which are the numbers of the lines (--map id={column} takes it "
                "all the same, and refuses the second of an id)"
            )
            return
        lines[key] = line


def _commas(table: Table, columns: Mapping[str, str]) -> Iterator[str]:
    """That commas before three digits are read as those before decimals, a line a column of numbers where they may be
    between thousands: no comma in it stands before more or fewer digits.
    """
    for column in (name for key, name in columns.items() if key.startswith("values.") and name):
        cells = [row.get(column) for _, row in table.rows if not isinstance(row, Flaw)]
        commas = [cell.strip() for cell in cells if isinstance(cell, str) and "," in cell]
        if commas and all(_THOUSANDS.fullmatch(cell) for cell in commas):
            yield (
                f"{column}: {shown(commas[0])} is read as {number(commas[0])}, a comma before its decimals; if it is "
                "between thousands, take it out"
            )


def _not_asked(table: Table, columns: Mapping[str, str]) -> list[str]:
    """That people were asked about some labels of a text and not about others, a line where it is so.

    An empty cell is no answer, and no label that is not there.
    """
    people = [column for key, column in columns.items() if key.startswith("people.")]
    by = columns.get("id") or columns.get("text")
    if "about" not in columns or not people or by is None:
        return []
    asked: dict[tuple[str | None, str], set[bool]] = {}
    numbers = set()
    for _, row in table.rows:
        if isinstance(row, Flaw) or all(is_unanswered(row.get(name)) for name in people):
            continue
        for name in people:
            asked.setdefault((identifier(row.get(by)), name), set()).add(not is_unanswered(row.get(name)))
            numbers.add(number(row.get(name)))
    n = sum(len(each) == 2 for each in asked.values())
    if not n or numbers - {None, 0.0, 1.0}:
        return []
    return [
        f"{n:,} answer{'s' * (n != 1)} of people to a part of the labels of a text (empty cells): kept as numbers, 0 "
        "or 1 for each label asked about, and not counted as labels, of which all others would be denied"
    ]
