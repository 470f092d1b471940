"""A blind study in files: a coder's sheet to fill in elsewhere, and all answers with what they stand for."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import capped, write_text
from emotui.formats.rows import literal
from emotui.store.store import Store
from emotui.tasks.masked.task import MASK
from emotui.workbench.masked.study import Coding, study_named
from emotui.workbench.masked.study_log import answers_of, coders_of

SHEET = ("number", "text", "first", "second", "answer", "rationale", "open", "codes")
"""Columns of a coder's sheet: nothing in it says which word is whose."""

EXPORTED = (
    "study",
    "coder",
    "id",
    "a",
    "b",
    "a_words",
    "b_words",
    "shown_first",
    "answer",
    "verdict",
    "rationale",
    "open",
    "codes",
    "at",
)
"""Columns of the export, which tells whose word is whose."""


def sheet(coding: Coding) -> list[list[str]]:
    """The rows of a coder's sheet, in their order, with the answers so far."""
    rows = []
    for sample in coding.texts:
        one = coding.shown(sample)
        words = [", ".join(one.first), ", ".join(one.second)]
        told = [""] * 4
        if (said := one.answer) is not None:
            told = [said.answer, said.rationale, "; ".join(said.open), ",".join(said.codes)]
        rows.append([str(one.number), MASK.join(one.pieces), *words, *told])
    return rows


def write_sheet(coding: Coding, to: str) -> int:
    """Write a coder's sheet (.csv); how many texts. Raises BadInput where it cannot be written."""
    rows = sheet(coding)
    _write(to, SHEET, rows)
    return len(rows)


def take_sheet(coding: Coding, path: str) -> int:
    """Keep the answers of a sheet that was filled in, all or none; how many are new or other ones.

    A row without an answer is left open.

    Raises:
        BadInput: the file is no sheet, or an answer is wrong; with the lines.
    """
    rows = read_table(path)
    if not {"number", "first", "second", "answer"} <= set(rows.fieldnames or ()):
        raise BadInput(f"{literal(path)}:1: a coder's sheet has the columns {', '.join(SHEET)}")
    problems: list[str] = []
    checked = []
    for row in rows:
        cells = {name: (row.get(name) or "").strip() for name in SHEET}
        if not cells["answer"]:
            continue
        try:
            checked.append(_checked(coding, cells))
        except BadInput as error:
            problems += [f"{literal(path)}:{rows.line_num}: {line}" for line in error.problems]
    if problems:
        raise BadInput(*capped(problems))
    return coding.say_all(checked)


def read_table(path: str) -> "csv.DictReader[str]":
    """The rows of a table with a header. Raises BadInput where it cannot be read."""
    try:
        lines = read_bytes(path).decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{literal(path)}: not UTF-8") from error
    csv.field_size_limit(max(csv.field_size_limit(), len(lines) + 1))
    return csv.DictReader(io.StringIO(lines, newline=""))


Said = tuple[int, str, str, tuple[str, ...], tuple[str, ...]]
"""Text, answer, rationale, own codes, codes."""


def _checked(coding: Coding, cells: dict[str, str]) -> Said:
    number = cells["number"]
    if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= len(coding.texts):
        raise BadInput(f"number is {literal(number)}, not one from 1 to {len(coding.texts)}")
    sample = coding.texts[int(number) - 1]
    shown = coding.shown(sample)
    if (cells["first"], cells["second"]) != (", ".join(shown.first), ", ".join(shown.second)):
        raise BadInput(f"the words of text {number} are not those of this study's sheet for {literal(coding.coder)}")
    own, codes = _parts(cells["open"], ";"), _parts(cells["codes"], ",")
    coding.check(sample, cells["answer"], cells["rationale"], own, codes)
    return sample, cells["answer"], cells["rationale"], own, codes


def _parts(cell: str, separator: str) -> tuple[str, ...]:
    return tuple(part for one in cell.split(separator) if (part := one.strip()))


def export_answers(store: Store, name: str, to: str) -> int:
    """Write the answers of all coders (.csv), saying whose word is whose; how many. Raises BadInput."""
    study = study_named(store, name)
    items = {item.sample: item for item in study.items}
    rows = []
    for coder in coders_of(store, name):
        last = {entry.sample: (entry, answer) for entry, answer in answers_of(store, name, coder)}
        for sample, (entry, answer) in last.items():
            item = items[sample or 0]
            words = [", ".join(item.a), ", ".join(item.b), "b" if answer.swapped else "a"]
            said = [answer.answer, answer.verdict, answer.rationale, "; ".join(answer.open), ",".join(answer.codes)]
            rows.append([study.name, coder, item.id, study.a_name, study.b_name, *words, *said, entry.at])
    _write(to, EXPORTED, rows)
    return len(rows)


def _write(to: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if Path(to).suffix.lower() != ".csv":
        raise BadInput(f"{literal(to)}: it is a table: name a .csv")
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    write_text(Path(to), out.getvalue())
