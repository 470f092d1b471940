"""A blind study that was done elsewhere: coders' sheets with verdicts and codes become a study like one done here."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from emotui.backends.base import MASK
from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import capped, write_text
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.metrics.blind_study import VERDICTS
from emotui.metrics.masked import fold
from emotui.records import MaskedGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.masked.study import Coding, study_named
from emotui.workbench.masked.study_log import (
    ANSWER,
    ORDER,
    STUDY,
    Answer,
    Code,
    Item,
    Order,
    Study,
    answers_of,
    check_new_study,
    coders_of,
    express_codes,
)

# A blind study in files: a coder's sheet to fill in elsewhere, and all answers with what they stand for.

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


A, B = "a_words", "b_words"
CODER, CODES, OPEN = "coder", "codes", "open"


class Row(msgspec.Struct, frozen=True):
    """What one coder said of one text. `place`: file and line; `verdict`: as it stands in the sheet."""

    place: str
    coder: str
    id: str
    words: tuple[str, str]
    verdict: str
    codes: str = ""
    open: str = ""
    rationale: str = ""
    shown_first: str = ""


def import_study(
    store: Store,
    dataset: Dataset,
    name: str,
    sheets: Sequence[tuple[str, str]],
    *,
    names: tuple[str, str] = ("a", "b"),
    codes: Sequence[Code] | None = None,
    warn: Warn,
) -> Study:
    """Keep a finished study of a dataset's texts: all of it, or nothing.

    Args:
        sheets: (coder, file) each; an empty coder where the file names them, in a column `coder` or a column each.
        names: what a and b are called in results; a verdict may be given by these names too.
        codes: the codebook; None: the paper's. Codes that are not in it, or do not go with the verdict, are told and
            kept apart.

    Raises:
        BadInput: the name is taken or empty, a sheet cannot be read, a text is not in the dataset, two sheets have
            other words for it, a verdict is none, or a coder says two things of one text; with the lines.
    """
    check_new_study(store, dataset, name)
    book = tuple(codes) if codes is not None else express_codes()
    gold = {sample.id: sample.labels for sample in _samples(store, dataset)}
    numbers = store.samples.numbers_by_id(dataset.dataset)
    items: dict[str, Item] = {}
    answers: dict[tuple[str, str], Answer] = {}
    problems: list[str] = []
    stray: list[str] = []
    for row in (row for coder, path in sheets for row in _rows(path, coder, gold)):
        if row.id not in numbers:
            problems.append(f"{row.place}: {literal(dataset.name)} has no text {literal(row.id)}")
            continue
        a, b = (tuple(fold(word) for word in re.split("[,;]", one) if word.strip()) for one in row.words)
        item = items.setdefault(row.id, Item(numbers[row.id], row.id, a, b))
        if (item.a, item.b) != (a, b):
            problems.append(f"{row.place}: the words of {literal(row.id)} are others than in a row before")
        elif not row.verdict.strip():
            continue
        elif (verdict := _verdict(row.verdict, item, names)) is None:
            known = ", ".join(map(literal, dict.fromkeys((*VERDICTS, *names))))
            problems.append(f"{row.place}: {literal(row.verdict)} is none of {known}, and neither word")
        elif (row.coder, row.id) in answers:
            problems.append(f"{row.place}: {literal(row.coder)} has said something of {literal(row.id)} before")
        else:
            answer = _answer(name, row, verdict, book)
            answers[row.coder, row.id] = answer
            stray += [f"{row.place}: code {literal(one)}" for one in answer.stray]
    if not answers and not problems:
        problems = ["the sheets have no answer"]
    if problems:
        raise BadInput(*capped(problems))
    for line in capped(stray):
        warn(f"{line}: not in the codebook, or not for this verdict: kept apart")
    study = Study(name, dataset.dataset, *names, *names, 0, tuple(items.values()), book)
    store.annotations.append_all(_entries(study, answers))
    return study


def _entries(study: Study, answers: Mapping[tuple[str, str], Answer]) -> Iterator[tuple[str, int | None, str, bytes]]:
    """The study as the log keeps it: itself, each coder's texts, and their answers."""
    numbers = {item.id: item.sample for item in study.items}
    yield STUDY, None, "", msgspec.json.encode(study)
    for coder in dict.fromkeys(coder for coder, _ in answers):
        swapped = {key: one.swapped for (who, key), one in answers.items() if who == coder}
        texts = tuple((item.sample, swapped.get(item.id, False)) for item in study.items)
        yield ORDER, None, coder, msgspec.json.encode(Order(study.name, texts))
    for (coder, key), answer in answers.items():
        yield ANSWER, numbers[key], coder, msgspec.json.encode(answer)


def _samples(store: Store, dataset: Dataset) -> Iterator[MaskedGold]:
    for _, record in store.samples.of_dataset(dataset.dataset):
        yield msgspec.json.decode(record, type=MaskedGold)


def _verdict(said: str, item: Item, names: tuple[str, str]) -> str | None:
    """One of `VERDICTS`: by itself, by the name of a source, or by the words that were chosen."""
    told = fold(said)
    if told in VERDICTS:
        return told
    sides = [verdict for verdict, name in zip("ab", names, strict=True) if told == fold(name)]
    words = tuple(fold(word) for word in re.split("[,;]", said))
    sides = sides or [verdict for verdict, own in (("a", item.a), ("b", item.b)) if words == own]
    return sides[0] if len(sides) == 1 else None


def _answer(study: str, row: Row, verdict: str, book: Sequence[Code]) -> Answer:
    swapped = fold(row.shown_first) == "b"
    answer = verdict if verdict in ("both", "neither") else "first" if (verdict == "b") == swapped else "second"
    fitting = {code.code for code in book if code.fits(answer)}
    given = tuple(dict.fromkeys(code for one in re.split("[,;]", row.codes) if (code := one.strip())))
    own = tuple(dict.fromkeys(word for one in row.open.split(";") if (word := one.strip())))
    return Answer(
        study,
        answer,
        swapped,
        row.rationale.strip(),
        own,
        tuple(code for code in given if code in fitting),
        tuple(code for code in given if code not in fitting),
        ordered=bool(row.shown_first.strip()),
    )


def _rows(path: str, coder: str, gold: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """The rows of a sheet: of one coder, with a column `coder`, or with a column a coder and `NAME codes` beside it.

    Without `a_words` a has gold's words.
    """
    table = read_table(path)
    columns = [name or "" for name in table.fieldnames or ()]
    said = "verdict" if "verdict" in columns else "answer"
    further = {"id", "text", "number", "study", "a", "b", A, B, "rationale", OPEN, CODES, "shown_first", "at"}
    coders = [name for name in columns if name not in further and f"{name} codes" in columns]
    if not coders:
        coders = [name for name in columns if name not in further and not name.endswith((" codes", " open"))]
    wide = said not in columns
    if not {"id", B} <= set(columns) or (wide and not coders) or not (wide or coder or CODER in columns):
        raise BadInput(
            f"{literal(path)}:1: a coder's sheet has the columns id, b_words and verdict (--sheet NAME=FILE, or a "
            "column coder), or in place of verdict a column a coder"
        )
    for row in table:
        cells = {name: (value or "").strip() for name, value in row.items() if name and isinstance(value, str)}
        place = f"{literal(path)}:{table.line_num}"
        words = cells.get(A) or ",".join(gold.get(cells["id"], ())), cells[B]
        if wide:
            for one in coders:
                own = [cells.get(f"{one} {part}", "") for part in (CODES, OPEN)]
                yield Row(place, one, cells["id"], words, cells.get(one, ""), *own)
        else:
            name = coder or cells.get(CODER, "")
            if not name:
                raise BadInput(f"{place}: a coder is missing")
            more = [cells.get(part, "") for part in (CODES, OPEN, "rationale", "shown_first")]
            yield Row(place, name, cells["id"], words, cells.get(said, ""), *more)
