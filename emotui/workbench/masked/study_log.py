"""A blind study as the annotation log keeps it: what it is about, each coder's order, and their answers."""

import csv
import io
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import capped, write_text
from emotui.formats.rows import literal
from emotui.store.query import Dataset
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.tasks.masked.task import Masked

# The codes of a blind study: EXPRESS's eleven in emotui's words, or those of a file.

APPLIES = ("one", "both", "neither")
"""The answers that a code may go with: one of the two words, both, or neither."""

COLUMNS = ("code", "applies", "about")


class Code(msgspec.Struct, frozen=True):
    """A code. `applies`: one of `APPLIES`; `about`: what it says."""

    code: str
    applies: str
    about: str

    def fits(self, answer: str) -> bool:
        """Whether it goes with an answer: `first`, `second`, `both` or `neither`."""
        return self.applies == ("one" if answer in ("first", "second") else answer)


class _Row(msgspec.Struct):
    code: int
    about: str
    both: int | None = None
    neither: int | None = None


class _Table(msgspec.Struct):
    rows: list[_Row]


def express_codes() -> tuple[Code, ...]:
    """Table A.7: nine codes for one of the words, one for neither, one for both."""
    table = files("emotui.sample_data.published").joinpath("express_tableA7.json").read_bytes()
    rows = msgspec.json.decode(table, type=_Table).rows
    return tuple(
        Code(
            str(row.code),
            "both" if row.both is not None else "neither" if row.neither is not None else "one",
            row.about,
        )
        for row in rows
    )


def read_codes(path: str) -> tuple[Code, ...]:
    """A table with the columns `code`, `applies` and `about`. Raises BadInput with the lines that are wrong."""
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{literal(path)}: not UTF-8") from error
    rows = csv.DictReader(lines)
    if not set(COLUMNS) <= set(rows.fieldnames or ()):
        raise BadInput(f"{literal(path)}:1: a table of codes has the columns {', '.join(COLUMNS)}")
    found: dict[str, Code] = {}
    problems = []
    for row in rows:
        where = f"{literal(path)}:{rows.line_num}"
        name, applies, about = ((row[column] or "").strip() for column in COLUMNS)
        if not name or name in found or "," in name:
            problems.append(
                f"{where}: {'a code without a name' if not name else f'{literal(name)} is taken, or has a comma'}"
            )
        elif applies not in APPLIES:
            problems.append(f"{where}: applies is {literal(applies)}, not one of {', '.join(APPLIES)}")
        else:
            found[name] = Code(name, applies, about)
    if problems:
        raise BadInput(*capped(problems))
    if not found:
        raise BadInput(f"{literal(path)}:1: no code in it")
    return tuple(found.values())


def write_codes(codes: Sequence[Code], to: str) -> None:
    """A table as `read_codes` reads it. Raises BadInput where it cannot be written."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([one.code, one.applies, one.about] for one in codes)
    write_text(Path(to), out.getvalue())


STUDY, ORDER, ANSWER, UNDO = "masked-study", "masked-study-order", "masked-study-answer", "masked-study-undo"

ANSWERS = ("first", "second", "both", "neither")
"""What a coder can say of two words."""


class Item(msgspec.Struct, frozen=True):
    """A text, and the words of both sources for its masks, as they were when the study began."""

    sample: int
    id: str
    a: tuple[str, ...]
    b: tuple[str, ...]


class Study(msgspec.Struct, frozen=True):
    """Two sources by their keys and names, the texts in which they differ, and the codebook.

    `lexicon`: by which they differ, in words; empty in studies that were begun before it was kept.
    """

    name: str
    dataset: int
    a: str
    b: str
    a_name: str
    b_name: str
    seed: int
    items: tuple[Item, ...]
    codes: tuple[Code, ...]
    lexicon: str = ""


class Order(msgspec.Struct, frozen=True):
    """The order of one coder: texts by number, and whether b stands first in each."""

    study: str
    texts: tuple[tuple[int, bool], ...]


class Answer(msgspec.Struct, frozen=True):
    """What a coder said of a text. `swapped`: b stood first; `answer`: one of `ANSWERS`, as the words stood.

    `stray`: codes of an imported answer that are not in the codebook, or do not go with the answer. `ordered`: whether
    it is known which word stood first.
    """

    study: str
    answer: str
    swapped: bool
    rationale: str = ""
    open: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    ordered: bool = True

    @property
    def verdict(self) -> str:
        """For which source: `a`, `b`, `both` or `neither`."""
        if self.answer in ("both", "neither"):
            return self.answer
        return "b" if (self.answer == "first") == self.swapped else "a"


def studies(store: Store) -> dict[str, Study]:
    """All studies by name, the first one first."""
    found = [one for one in store.annotations.entries(kind=STUDY) if one.kind == STUDY]
    return {study.name: study for study in (msgspec.json.decode(one.payload, type=Study) for one in found)}


def check_new_study(store: Store, dataset: Dataset, name: str) -> None:
    """Raises BadInput where a study of this dataset cannot begin under this name."""
    if not name.strip():
        raise BadInput("a study needs a name")
    if name in studies(store):
        raise BadInput(f"there is a study {literal(name)} already")
    if dataset.task != Masked.name:
        raise BadInput(f"{literal(dataset.name)} is of {dataset.task}: a blind study is about masked texts")


def order_of(store: Store, study: str, coder: str) -> Order | None:
    """A coder's order; None where they have not begun."""
    kept = [
        msgspec.json.decode(one.payload, type=Order) for one in store.annotations.entries(annotator=coder, kind=ORDER)
    ]
    return next((one for one in kept if one.study == study), None)


def coders_of(store: Store, study: str) -> list[str]:
    """Who has begun, the first one first."""
    entries = store.annotations.entries(kind=ORDER)
    return [one.annotator for one in entries if msgspec.json.decode(one.payload, type=Order).study == study]


def answers_of(store: Store, study: str, coder: str) -> list[tuple[Annotation, Answer]]:
    """A coder's answers that stand, in the order in which they were given; of each text the last is what counts."""
    entries = store.annotations.entries(annotator=coder, kind=STUDY)
    undone = {one.undoes for one in entries if one.kind == UNDO}
    kept = [one for one in entries if one.kind == ANSWER and one.annotation not in undone]
    read = [(one, msgspec.json.decode(one.payload, type=Answer)) for one in kept]
    return [pair for pair in read if pair[1].study == study]
