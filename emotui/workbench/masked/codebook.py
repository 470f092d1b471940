"""The codes of a blind study: EXPRESS's eleven in emotui's words, or those of a file."""

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
