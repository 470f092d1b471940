"""What stands under a table: notes on all of it, and notes with marks where single rows and cells have one."""

import re
import string
from collections.abc import Iterable

import msgspec

from emotui.tables import NOT_ASKED, Cell, ResultsTable, Row
from emotui.workbench.reports.best import Best

_COMMAND = re.compile(r"[:;,]? \(?(?:see: )?(?:emotui [a-z]|rescore\b)[^.;)]*\)?")
_BRACKETED = re.compile(r"\s*\(([^()]*±[^()]*)\)")
_DIGITS = re.compile(r"\d+")
_NUMBER = "\0"
"""Stands for any number in a kind of remark."""
_ABOUT_ROWS = {"Annotators": "people", "Baseline": "baseline"}
"""First words of notes that are about one kind of row."""


class Notes(msgspec.Struct, frozen=True):
    """`general`: about the whole table. `marked`: a mark and its note each.

    `rows`: by place of a row its marks. `cells`: by (row, column) the mark of a figure that there is not.
    """

    general: tuple[str, ...]
    marked: tuple[tuple[str, str], ...] = ()
    rows: dict[int, str] = {}
    cells: dict[tuple[int, int], str] = {}


def notes_of(table: ResultsTable, best: Best) -> Notes:
    """The notes of a table as it is printed: only of what stands in it, and nothing that only a screen can do.

    Args:
        table: without columns that nobody was asked for.
    """
    conventions = _conventions(table)
    alike = len(conventions) == 1
    remarks = interval_remarks(cell for row in table.rows for cell in row.cells)
    of_all = [told for told, n in remarks.values() if n == _figures_with_intervals(table)]
    general = [
        *printed_notes(table),
        *([_scored(table, next(iter(conventions)))] if alike else []),
        *([best.note] if best.note else []),
        *(f"All intervals: {_sentence(told)}" for told in of_all),
        *([f"{NOT_ASKED}: no such figure."] if any(not cell.asked for row in table.rows for cell in row.cells) else []),
    ]
    marks = _Marks()
    rows: dict[int, str] = {}
    for at, row in enumerate(table.rows):
        told = [_begun(_sentence(printed_remark(row)), row.label)] if row.remark else []
        told += [] if alike else [_scored(table, one) for one, places in conventions.items() if at in places]
        if told:
            rows[at] = ",".join(marks.of(text) for text in told)
    cells: dict[tuple[int, int], str] = {}
    for at, row in enumerate(table.rows):
        for place, cell in enumerate(row.cells):
            if cell.value is None and cell.why:
                told = [f"n/a: {_sentence(without_commands(_unnamed(cell.why, row.label)))}"]
            else:
                about = (remarks[kind][0] for kind in map(_kind, _remarks_on(cell)))
                told = [_begun(_sentence(one), "") for one in about if one not in of_all]
            if told:
                cells[at, place] = ",".join(marks.of(text) for text in told)
    return Notes(tuple(dict.fromkeys(general)), marks.noted, rows, cells)


def _figures_with_intervals(table: ResultsTable) -> int:
    """How many figures of a table have an interval, or lack one for a reason."""
    return sum(cell.low is not None or bool(_remarks_on(cell)) for row in table.rows for cell in row.cells)


def _unnamed(why: str, label: str) -> str:
    """A cause without the name of the row that it is about, so that rows that lack the same have the same note."""
    return why.removeprefix(f"{label} is ")


class _Marks:
    """Letters for notes in the order in which they are first needed; the same note has the same letter."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def of(self, note: str) -> str:
        at = len(self._letters)
        rounds, letter = divmod(at, len(string.ascii_lowercase))
        return self._letters.setdefault(note, string.ascii_lowercase[letter] * (rounds + 1))

    @property
    def noted(self) -> tuple[tuple[str, str], ...]:
        return tuple((letter, note) for note, letter in self._letters.items())


def printed_notes(table: ResultsTable) -> list[str]:
    """The table's own notes, without those on rows, intervals and deviations that it has not."""
    kinds = {row.kind for row in table.rows}
    found = []
    for note in table.notes:
        about = _ABOUT_ROWS.get(note.partition(" ")[0].rstrip(":"))
        if about is not None and about not in kinds:
            continue
        if note.startswith("[low, high]") and not any(cell.low is not None for row in table.rows for cell in row.cells):
            continue
        told = _with_spread(without_commands(note), table.rows)
        if told:
            found.append(_sentence(told))
    return found


def printed_remark(row: Row) -> str:
    """What has to be known of a row, without commands, and of ± only where one is printed."""
    return _with_spread(without_commands(row.remark), (row,))


def _with_spread(note: str, rows: Iterable[Row]) -> str:
    """A note without its words on ± where no such deviation is printed in the rows that they are about."""
    if "±" not in note:
        return note
    printed = {
        row.kind == "people" for row in rows for cell in row.cells if cell.sd is not None and cell.value is not None
    }

    def stands(words: str) -> bool:
        return "±" not in words or ("annotator" in words) in printed

    without = _BRACKETED.sub(lambda found: found[0] if stands(found[1]) else "", note)
    sentences = (filter(stands, sentence.split("; ")) for sentence in re.split(r"(?<=\.) (?=[A-Z])", without))
    return " ".join(told for clauses in sentences if (told := _sentence("; ".join(clauses))) != ".")


def without_commands(text: str) -> str:
    """A cause without the command that would help, which a reader of a paper cannot give."""
    return _COMMAND.sub("", text)


def _conventions(table: ResultsTable) -> dict[str, set[int]]:
    """What own figures are computed under, and the rows of each.

    Where each cell says something else, as of counts of one thing against another, it is no convention.
    """
    own = ((at, cell) for at, row in enumerate(table.rows) if not row.published for cell in row.cells)
    told = [(at, cell.convention) for at, cell in own if cell.convention]
    found: dict[str, set[int]] = {}
    for at, convention in told:
        if convention not in table.notes:
            found.setdefault(convention, set()).add(at)
    return {} if len(found) == len(told) > 1 else found


def _scored(table: ResultsTable, convention: str) -> str:
    whose = "Own rows are scored" if any(row.published for row in table.rows) else "Scored"
    return _sentence(f"{whose} by {convention}")


def _begun(text: str, label: str) -> str:
    """With a capital, unless it begins with the name of its row."""
    return text if label.startswith(text.partition(" ")[0]) else text[:1].upper() + text[1:]


def _sentence(text: str) -> str:
    plain = text.strip()
    return plain if plain.endswith((".", "!", "?")) else f"{plain}."


def interval_remarks(cells: Iterable[Cell]) -> dict[str, tuple[str, int]]:
    """What has to be known of the intervals of these cells.

    Returns:
        By its kind (the same words with any numbers) the text, with the range of each number, and for how many figures.
    """
    kinds: dict[str, list[str]] = {}
    for cell in cells:
        for remark in _remarks_on(cell):
            kinds.setdefault(_kind(remark), []).append(remark)
    return {kind: (_with_ranges(kind, told), len(told)) for kind, told in kinds.items()}


def _remarks_on(cell: Cell) -> list[str]:
    return cell.note.split("; ") if cell.note and cell.value is not None else []


def _kind(remark: str) -> str:
    return _DIGITS.sub(_NUMBER, remark)


def _with_ranges(kind: str, told: Iterable[str]) -> str:
    """`over 5 groups` and `over 9 groups` as `over 5 to 9 groups`."""
    parts = kind.split(_NUMBER)
    seen = [sorted(set(map(int, numbers))) for numbers in zip(*map(_DIGITS.findall, told), strict=True)]
    shown = [str(each[0]) if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in seen]
    return "".join(part + number for part, number in zip(parts, [*shown, ""], strict=True))


def footnotes(table: ResultsTable) -> list[str]:
    """What rows and cells add to the table's notes, each by name: for where notes of several tables stand together."""
    reasons = dict.fromkeys(
        _unnamed(cell.why, row.label) for row in table.rows for cell in row.cells if cell.value is None and cell.why
    )
    remarks = interval_remarks(cell for row in table.rows if not row.published for cell in row.cells).values()
    return [
        *(f"Own rows are scored by: {convention}." for convention in _conventions(table)),
        *([f"n/a: {'; '.join(reasons)}."] if reasons else []),
        *([f"Intervals: {'; '.join(told for told, _ in remarks)}."] if remarks else []),
        *(f"{_named(row)}{row.remark}." for row in table.rows if row.remark and not row.published),
    ]


def _named(row: Row) -> str:
    """Whom a remark is about; nothing where it says so itself."""
    if row.source:
        return f"{row.label} ({row.source}): "
    return "" if row.remark.startswith(row.label) else f"{row.label}: "
