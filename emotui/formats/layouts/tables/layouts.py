"""Tables in text files as layouts: cells between delimiters, a column a label, a row a span."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import Layout, ReadOptions
from emotui.formats.layouts.tables.names import (
    APPRAISALS,
    DIMENSION,
    MAJORITY,
    NAMES,
    PREDICTED,
    READERS,
    SCALES,
    SETTLED,
    is_emotion,
    names_beside,
    normal,
    tells_of_collecting,
)
from emotui.formats.layouts.tables.several import check_named, is_code, is_person, names_people, remarks
from emotui.formats.layouts.tables.shape import shaped
from emotui.formats.layouts.tables.table import Table, decoded_head, even_sign, read_table, table_of
from emotui.formats.layouts.tables.values import identifier, is_empty, is_unanswered, number
from emotui.formats.layouts.tables.writing import write_cells, write_long, write_wide
from emotui.formats.rows import Flaw, Rows, UnreadableFile, literal, shown

# Which column of a table is what, by its name and, where that does not tell, by what stands in it.

_LOOKED_AT = 1000
_FEW_LABELS = 50
_LONG = 12.0
"""Characters that texts have in the mean, where no name tells which column they are."""

_OF_TEXT = frozenset(NAMES["text"])
_SAID = ("label", "labels", "spans", "tags")
_SAID_BELOW = ("labels.", "values.")
_WRITTEN = frozenset({"attempts", "contrast", "contrast_label", "predicted"})
"""Columns of records of rephrased texts: who is named there as their annotator wrote them."""


@dataclass(frozen=True, slots=True)
class _Looks:
    """What stands in a column: how many values, the share of those that are numbers and the like, their mean length.

    `codes`: the share of those that are ids or addresses.
    """

    n: int
    numbers: float
    zero_or_one: bool
    lists: float
    length: float
    spaces: float
    distinct: int
    codes: float


def settled(table: Table, options: ReadOptions) -> ReadOptions:
    """The options with a column for every key that one was found for, and how the file is written.

    Raises:
        UnreadableFile: a column that is asked for is not there, or tags of tokens are numbers without names.
    """
    columns, told = guessed(table, options)
    names = options.label_names if _of_numbers(table, options) else ()
    if (tags := columns.get("tags")) and not names and tags not in table.names:
        check_named(tags, (row.get(tags) for _, row in table.rows if not isinstance(row, Flaw)))
    return replace(
        options,
        delimiter=options.delimiter or table.delimiter,
        encoding=options.encoding or table.encoding,
        columns=columns,
        label_names=names,
        remarks=(
            *told,
            *table.remarks,
            *remarks(table, columns),
            *_again(table, columns),
            *_unparted(table),
        ),
    )


def _unparted(table: Table) -> list[str]:
    """That a sign stands as often in all rows, most of them of one cell, a line where it is so: it may part cells."""
    if table.delimiter is None:
        return []
    good = [list(row.values()) for _, row in table.rows[:_LOOKED_AT] if not isinstance(row, Flaw)]
    cells = [list(table.header), *good] if table.headed else good
    if 2 * sum(len(row) == 1 for row in cells) <= len(cells):
        return []
    return unparted([table.delimiter.join(map(str, row)) for row in cells])


def _again(table: Table, columns: Mapping[str, str]) -> list[str]:
    """That most texts stand in several rows though nothing says whose these are, a line where it is so."""
    if "text" not in columns or columns.get("id") or {"start", "annotator", "about"} & columns.keys():
        return []
    texts = Counter(str(row.get(columns["text"])) for _, row in table.rows if not isinstance(row, Flaw))
    if not texts or texts.total() < 2 * len(texts):
        return []
    return [
        f"{texts.total():,} rows have {len(texts):,} texts between them, and each row is a record: if they are what "
        "several people say, --map annotator=COLUMN,id=COLUMN makes one record of the rows of a text"
    ]


def guessed(table: Table, options: ReadOptions) -> tuple[dict[str, str], list[str]]:
    """By the key of a row its column, an empty one where there is none, and lines about columns that may be meant
    otherwise.

    What the person says goes before what is found.
    """
    given = dict(options.columns)
    for key, column in given.items():
        if column and column not in table.header:
            there = ", ".join(map(shown, table.header[:12]))
            raise UnreadableFile(f"there is no column {shown(column)} to take for {key} (there are {there})", 1)
    good = [row for _, row in table.rows[:_LOOKED_AT] if not isinstance(row, Flaw)]
    looks = {name: _looks([row.get(name) for row in good]) for name in table.header}
    if options.label_names and not _of_numbers(table, options):
        given |= {f"labels.{name}": name for name in options.label_names}
    found = _Guess(table, looks, given, predicted=options.predicted)
    found.look(good)
    return found.columns, found.told


def _of_numbers(table: Table, options: ReadOptions) -> bool:
    """Whether names of labels are those of numbers, and not columns of the table."""
    return bool(options.label_names) and not set(options.label_names) <= set(table.header)


class _Guess:
    """The columns that are taken so far."""

    def __init__(self, table: Table, looks: Mapping[str, _Looks], given: Mapping[str, str], *, predicted: bool) -> None:
        self._table, self._looks, self._predicted = table, looks, predicted
        self._said = set(given)
        self._persons = [name for name in table.header if is_person(name)]
        self.told: list[str] = []
        self.columns: dict[str, str] = dict(given)

    def look(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take what can be told: what belongs to spans first, then scales and labels, the text and the id last."""
        self._spans()
        self._scales()
        self._one_hot()
        if not self._said & {"labels", "label"} and not any(key.startswith("labels.") for key in self.columns):
            self._label()
        self._text()
        self._people()
        for key in ("subject", "sentences", "annotators", "meta", "valence", "values"):
            self._take(key)
        self._project_emotion()
        self._id(rows)
        self._annotator(rows)

    def _free(self) -> list[str]:
        taken = {*self.columns.values(), *self._persons}
        return [name for name in self._table.header if name not in taken]

    def _named(self, key: str) -> list[str]:
        """Free columns with one of the usual names of a key, the likeliest first."""
        free: dict[str, str] = {}
        for name in self._free():
            free.setdefault(normal(name), name)
        also = PREDICTED.get(key, ()) if self._predicted else ()
        return [free[name] for name in (*also, *NAMES[key]) if name in free]

    def _take(self, key: str, column: str | None = None) -> bool:
        if key in self.columns:
            return False
        column = column or next(iter(self._named(key)), None)
        if column is None:
            return False
        self.columns[key] = column
        return True

    def _spans(self) -> None:
        starts, ends = (
            [one for one in self._named(key) if self._looks[one].numbers > 0.9 or not self._looks[one].n]
            for key in ("start", "end")
        )
        if starts and ends and not self._said & {"start", "end", "spans"}:
            self._take("start", starts[0])
            self._take("end", ends[0])
        if "start" in self.columns and "end" in self.columns:
            self._take("span")
            self._take("span_label") or self._take("span_label", next(iter(self._named("label")), None))
            self._take("span_score")
            self._take("span_attributes")
            return
        for name in self._named("spans"):
            if self._looks[name].lists > 0.9 or not self._looks[name].n:
                self._take("spans", name)
        tags = [one for one in self._named("tags") if self._looks[one].lists > 0.9]
        tokens = [one for one in self._named("tokens") if self._looks[one].lists > 0.9]
        if tokens and tags:
            self._take("tokens", tokens[0])
            self._take("tags", tags[0])

    def _scales(self) -> None:
        free = {normal(name): name for name in reversed(self._free())}
        found = {
            scale: free[name]
            for scale, names in SCALES.items()
            for name in names
            if name in free and self._looks[free[name]].n and self._looks[free[name]].numbers > 0.9
        }
        short = [scale for scale, column in found.items() if len(column) == 1]
        for scale, column in found.items():
            if scale not in short or len(short) > 1:  # a single column "A" may be anything
                self.columns.setdefault(f"values.{scale}", column)
        numbers = [name for name in self._free() if self._looks[name].n and self._looks[name].numbers > 0.9]
        appraisals = [name for name in numbers if normal(name) in APPRAISALS or DIMENSION.fullmatch(normal(name))]
        if len(appraisals) > 1:  # a single column "effort" may be of the collecting
            self.columns |= {f"values.{normal(name)}": name for name in appraisals}

    def _one_hot(self) -> None:
        if any(key.startswith("labels") for key in self._said) or "span_label" in self.columns:
            return
        free = self._free()
        binary = [name for name in free if self._looks[name].zero_or_one and not tells_of_collecting(name)]
        named = [name for name in free if is_emotion(name) and self._looks[name].n and self._looks[name].numbers > 0.95]
        if len(named) > 1:
            if all(self._looks[name].zero_or_one for name in named):
                self.columns |= {f"labels.{name}": name for name in _around(free, named, binary)}
            else:
                self.columns |= {f"values.{name}": name for name in named}
        elif len(binary) > 1 and not self._named("label") and not self._named("labels") and "spans" not in self.columns:
            self.columns |= {f"labels.{name}": name for name in binary if not _is_named(name)}

    def _label(self) -> None:
        for key in ("labels", "label"):
            for name in self._named(key):
                looks = self._looks[name]
                if not looks.n:
                    continue
                several = looks.lists > 0.5 or (key == "labels" and looks.length < 200)
                if looks.lists <= 0.5 and looks.length > 60:
                    continue  # a sentence is no label
                self._take("labels" if several else "label", name)
                return
        if not self._table.headed:
            self._unnamed_label()

    def _unnamed_label(self) -> None:
        """In a table without names: the column of the shortest of few, repeated words, where another is left."""
        free = self._free()
        repeated = [
            name
            for name in free
            if self._looks[name].n > 3
            and self._looks[name].distinct <= min(_FEW_LABELS, self._looks[name].n / 2)
            and self._looks[name].length < 20
        ]
        if repeated and len(free) > 1:
            self._take("label", min(repeated, key=lambda name: self._looks[name].length))

    def _text(self) -> None:
        if "text" in self.columns or self.columns.get("tokens"):
            return
        usable = [
            name
            for name in self._free()
            if self._looks[name].n and self._looks[name].numbers < 0.5 and self._looks[name].lists < 0.5
        ]
        usable = [name for name in usable if self._looks[name].codes < 0.9] or [
            name for name in usable if normal(name) == "text"
        ]
        for name in self._named("text"):
            if name in usable:
                self._take("text", name)
                return
        usable = [name for name in usable if not names_people(name)]
        parts = [name for name in usable if set(normal(name).split("_")) & _OF_TEXT]
        named = [name for name in parts if self._looks[name].length > _LONG]
        long = [name for name in usable if self._looks[name].length > _LONG or self._looks[name].spaces > 0.5]
        best = max(named or long or parts, key=lambda name: self._looks[name].length, default=None)
        if best is not None:
            self._take("text", best)

    def _people(self) -> None:
        """Columns that are called as one of several people is: their labels, or their numbers of a label a row."""
        persons = [name for name in self._persons if self._looks[name].n and name not in self.columns.values()]
        if not persons:
            return
        if all(self._looks[name].numbers > 0.9 for name in persons):
            about = self.columns.get("label")
            if about and "label" not in self._said and self._repeats(self.columns.get("text")):
                del self.columns["label"]
                self.columns |= {"about": about, **{f"people.{name}": name for name in persons}}
                self._majority(persons)
                return
            why = "hold numbers, and no column says of what"
        elif all(self._of_labels(name) for name in persons):
            self.columns |= {f"people.{name}": name for name in persons}
            return
        else:
            why = "hold no labels"
        self.told.append(literal(f"{', '.join(persons)} {why}: kept as own columns, not taken for labels"))

    def _majority(self, persons: Sequence[str]) -> None:
        """A column with the number that all of them together give, of the same kind as theirs."""
        graded = not all(self._looks[name].zero_or_one for name in persons)
        for name in self._free():
            looks = self._looks[name]
            if normal(name) in MAJORITY and looks.n and (looks.zero_or_one or (graded and looks.numbers > 0.9)):
                self._take("majority", name)
                return

    def _of_labels(self, name: str) -> bool:
        looks = self._looks[name]
        return looks.lists > 0.9 or (
            looks.numbers < 0.5 and looks.codes < 0.5 and looks.length <= 60 and looks.distinct <= _FEW_LABELS
        )

    def _repeats(self, column: str | None) -> bool:
        """Whether a column is there in which some value stands in several rows."""
        good = [row for _, row in self._table.rows if not isinstance(row, Flaw)]
        return column is not None and len({str(row.get(column)) for row in good}) < len(good)

    def _project_emotion(self) -> None:
        """Beside spans or sentences, `emotion` is that of the whole text."""
        if {"spans", "sentences", "start"} & self.columns.keys() and "emotion" not in self.columns:
            for name in self._free():
                if normal(name) == "emotion":
                    self.columns["emotion"] = name

    def _id(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if "id" in self.columns:
            return
        several = bool({"start", "annotator", "about"} & self.columns.keys()) or bool(self._named("annotator"))
        unnamed = [name for name in self._free() if normal(name) in ("unnamed_0", "unnamed_0_1")]
        counts = "about" in self.columns and self._repeats(self.columns.get("text"))
        reader = None if several else self._reader()
        for name in [*self._named("id"), *unnamed]:
            different = _all_different(row.get(name) for _, row in self._table.rows if not isinstance(row, Flaw))
            if different and counts:  # it counts the rows, of which a text has several
                self.columns[f"ignore.{name}"] = name
                continue
            if name in self._named("id") and (several or (reader is not None and self._goes_with_text(name))):
                self._take("id", name)
                break
            if different:
                self._take("id", name)
                return
        if reader is not None and "annotator" not in self._said:
            self._take("annotator", reader)
            self.told.append(literal(f"{reader}: each row of a text is what that person says of it"))

    def _reader(self) -> str | None:
        """A free column that is called as people are, of whom each text has another in each of its several rows.

        Some texts stand twice in any data: most do, or a column of ids says that they are the same.
        """
        text = self.columns.get("text", "")
        named = [name for name in self._free() if normal(name) in READERS]
        if not text or not named or not self._repeats(text) or "annotator" in self.columns:
            return None
        good = [row for _, row in self._table.rows if not isinstance(row, Flaw)]
        if len(good) < 2 * len({str(row.get(text)) for row in good}) and not any(
            self._repeats(name) and self._goes_with_text(name) for name in self._named("id")
        ):
            return None
        for name in named:
            pairs = {(str(row.get(text)), identifier(row.get(name))) for row in good}
            if len(pairs) == len(good) and all(person for _, person in pairs):
                return name
        return None

    def _goes_with_text(self, name: str) -> bool:
        """Whether each value of a column stands beside one text alone."""
        text = self.columns.get("text", "")
        beside: dict[str | None, object] = {}
        good = [row for _, row in self._table.rows if not isinstance(row, Flaw)]
        return all(beside.setdefault(identifier(row.get(name)), row.get(text)) == row.get(text) for row in good)

    def _annotator(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """A column with who says it: of a text in several rows, and of one whose label is not called that of all."""
        if "annotator" in self.columns:
            return
        key = self.columns.get("id") or self.columns.get("text")
        if "start" in self.columns:
            self._take("annotator")
            return
        said = [column for one, column in self.columns.items() if one in _SAID or one.startswith(_SAID_BELOW)]
        settled = any(set(normal(column).split("_")) & SETTLED for column in said)
        settled |= bool(_WRITTEN & {normal(name) for name in self._looks})
        for name in self._named("annotator"):
            if not key or not self._looks[name].n:
                continue
            apart = _all_different(row.get(key) for _, row in self._table.rows if not isinstance(row, Flaw))
            looks = self._looks[name]
            if apart and (settled or not said or 1 < looks.distinct == looks.n):  # of each text another: its writer
                continue
            self._take("annotator", name)
            if apart:
                self.told.append(
                    literal(f"{name}: what a row says is that person's answer; gold is what a column calls so")
                )
            return


def _around(free: Sequence[str], named: Sequence[str], binary: Sequence[str]) -> list[str]:
    """Columns of 0 and 1 between those with the names of emotions, and next to them on either side."""
    first, last = free.index(named[0]), free.index(named[-1])
    while first > 0 and free[first - 1] in binary and not _is_named(free[first - 1]):
        first -= 1
    while last + 1 < len(free) and free[last + 1] in binary and not _is_named(free[last + 1]):
        last += 1
    return [name for name in free[first : last + 1] if name in binary]


def _is_named(name: str) -> bool:
    return any(normal(name) in names for names in NAMES.values())


def _all_different(values: Iterable[object]) -> bool:
    seen: set[str] = set()
    for value in values:
        found = identifier(value)
        if found is None or found in seen:
            return False
        seen.add(found)
    return bool(seen)


def _looks(values: Sequence[object]) -> _Looks:
    there = [value for value in values if not is_empty(value)]
    if not there:
        return _Looks(0, 0, False, 0, 0, 0, 0, 0)
    numbers = [number(value) for value in there if not is_unanswered(value)]
    lists = sum(isinstance(value, list | dict) or _is_list(value) for value in there)
    written = [value if isinstance(value, str) else "" for value in there]
    n = len(there)
    return _Looks(
        n=n,
        numbers=sum(one is not None for one in numbers) / max(len(numbers), 1),
        zero_or_one=bool(numbers) and all(one in (0.0, 1.0) for one in numbers),
        lists=lists / n,
        length=sum(map(len, written)) / n,
        spaces=sum(" " in one.strip() for one in written) / n,
        distinct=len(set(map(str, there))),
        codes=sum(map(is_code, there)) / n,
    )


def _is_list(value: object) -> bool:
    return isinstance(value, str) and value.strip()[:1] in ("[", "{") and value.strip()[-1:] in ("]", "}")


def unparted(lines: Sequence[str], among: str = "") -> list[str]:
    """A line about the sign that stands as often in each of these lines; none where there is no such sign."""
    sign = even_sign("\n".join(" ".join(line.split("\n")) for line in lines), among)
    if sign is None:
        return []
    each = f"{lines[0].count(sign)} {shown(sign)}"
    return [f"each line has {each}: if that parts cells, --format table --delimiter {shown(sign)} reads them"]


ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".psv")
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

Reader = Callable[[Path, ReadOptions], Table]


def read_shaped(read: Reader, path: Path, options: ReadOptions) -> Rows:
    """The rows of texts of a file that is read as a table."""
    table = read(path, options)
    yield from shaped(table, settled(table, options))


def settle(read: Reader, path: Path, options: ReadOptions) -> ReadOptions:
    """The options for it with what was found out."""
    return settled(read(path, options), options)


def _looked_at(path: Path, head: bytes) -> tuple[Table, dict[str, str]] | None:
    """The table in the first bytes of a file, without its last line, which may be cut; None where there is none."""
    if path.suffix.lower() not in ENDINGS or not head.strip():
        return None
    try:
        found = decoded_head(head)
        table = table_of(found.text, ReadOptions(), found.encoding, prefer_tab=path.suffix.lower() == ".tsv")
        columns = dict(settled(table, ReadOptions()).columns)
    except UnreadableFile:
        return None
    return None if path.suffix.lower() == ".txt" and not _is_certain(table, columns) else (table, columns)


def _is_certain(table: Table, columns: Mapping[str, str]) -> bool:
    """Whether what may be plain text is a table: one column has a usual name for texts, tabs part all rows, or other
    signs that sentences lack do so alike and a column is that of texts.
    """
    if len(table.header) < 2 or any(isinstance(row, Flaw) for _, row in table.rows):
        return False
    named = any(normal(name) in NAMES["text"] for name in table.header)
    if (table.headed and named) or (table.delimiter == "\t" and len(table.rows) > 1):
        return True
    alike = all(not isinstance(row, Flaw) and len(row) == len(table.header) for _, row in table.rows)
    return "text" in columns and table.delimiter not in (",", None) and alike and len(table.rows) + table.headed > 2


def told(table: Table) -> str:
    """How a table is written, in words."""
    between = _MARKS.get(table.delimiter or "", repr(table.delimiter))
    written = f"cells between {between}" if len(table.header) > 1 else "one column"
    encoding = {"utf-8": "UTF-8", "cp1252": "Windows-1252"}.get(table.encoding or "", table.encoding or "")
    return f"it has {written} in {encoding}, {'with' if table.headed else 'without'} names above them"


def _is_wide(columns: Iterable[str]) -> bool:
    return sum(key.startswith("labels.") for key in columns) > 1


def _recognise(wanted: str, path: Path, head: bytes) -> str | None:
    found = _looked_at(path, head)
    if found is None:
        return None
    table, columns = found
    kind = "long" if "start" in columns else "wide" if _is_wide(columns) else "table"
    if kind != wanted:
        return None
    if kind == "wide":
        names = [key.removeprefix("labels.") for key in columns if key.startswith("labels.")]
        return f"{told(table)}, and a column a label: {', '.join(names[:12])}"
    if kind == "long":
        return f"{told(table)}, and a row a span, from {columns['start']} to {columns.get('end', '?')}"
    return told(table)


def read_cells(path: Path, options: ReadOptions) -> Table:
    """A text file of cells, with the names of labels that what describes a data set tells beside it."""
    return replace(read_table(path, options), names=names_beside(path))


_rows = partial(read_shaped, read_cells)
_settled = partial(settle, read_cells)

WIDE = Layout(
    name="wide",
    about="A table with a column a label, 0 or 1 in each (CSV, TSV or any other delimiter).",
    recognise=partial(_recognise, "wide"),
    rows=_rows,
    write=write_wide,
    settled=_settled,
)
LONG = Layout(
    name="long",
    about="A table with a row a span: its text or id again in each, start, end and label.",
    recognise=partial(_recognise, "long"),
    rows=_rows,
    write=write_long,
    settled=_settled,
)
TABLE = Layout(
    name="table",
    about="A table of any columns: CSV, TSV or any other delimiter; a row a text.",
    recognise=partial(_recognise, "table"),
    rows=_rows,
    write=write_cells,
    settled=_settled,
)
