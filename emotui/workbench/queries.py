"""A researcher's own questions in SQL, answered in words: for the terminal and for the screen."""

from collections.abc import Sequence

import msgspec

from emotui.formats import to_json_document
from emotui.formats.rows import literal
from emotui.store import questions

SHOWN = 200
"""Rows that a person gets, unless they ask for more."""

SHOWN_BYTES = 4 * 2**20
"""Bytes of an answer to a person, about."""

LONGEST = 48
"""Characters of a value in a table."""


class Table(msgspec.Struct, frozen=True):
    """An answer in words, in which nothing acts on a terminal. `numbers`: which columns hold nothing but numbers.

    `more`: whether there are further rows; `full`: because these are long.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...]
    more: bool = False
    full: bool = False

    @property
    def ending(self) -> str:
        """Why it ends before all rows are there, and how to go on."""
        return ends_at(len(self.rows), full=self.full)

    def cut(self) -> list[list[str]]:
        """The rows with long values cut."""
        return [[text if len(text) <= LONGEST else text[: LONGEST - 1] + "…" for text in row] for row in self.rows]

    def cells(self) -> int:
        """The characters that a line of the table takes, with long values cut."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.cut(), strict=True)]
        return sum(widths) + 2 * len(widths) - 2


def in_words(answer: questions.Answer) -> Table:
    """Values as people read them."""
    rows = tuple(tuple(literal(_shown(value)) for value in row) for row in answer.rows)
    numbers = tuple(
        bool(rows) and all(row[place] is None or isinstance(row[place], int | float) for row in answer.rows)
        for place in range(len(answer.columns))
    )
    return Table(tuple(map(literal, answer.columns)), rows, numbers, answer.more, answer.full)


def ends_at(n: int, *, full: bool) -> str:
    """Why an answer ends before all rows are there, and how to go on. Args: n: its rows."""
    if full:
        rest = "the others: emotui sql --to FILE.csv, or less of each, as left(text, 1000)"
        return f"the first {n} row{'s' * (n != 1)}, which are long; {rest}"
    return f"the first {n} row{'s' * (n != 1)}; all of them: --to FILE.csv"


def plain(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """Values that JSON has; what it has no form for becomes text."""
    return [[_json_value(value) for value in row] for row in rows]


def _json_value(value: object) -> object:
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, list | tuple):
        return [_json_value(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _json_value(one) for key, one in value.items()}
    return str(value)


def _shown(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | dict):
        return to_json_document(_json_value(value))
    return str(value)
