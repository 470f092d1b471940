"""The figures that the papers print, as they stand in `emotui.sample_data.published`."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from emotui.errors import BadInput


class Printed(msgspec.Struct, frozen=True):
    """A figure of a paper; `sd` as it is printed, None where there is none."""

    mean: float
    sd: float | None = None


class PublishedRow(msgspec.Struct, frozen=True):
    """One model, or annotators (`kind` people). `settings`: setting to figure's name to what is printed.

    `dataset`: which of a table's datasets, where it has several.
    """

    model: str
    kind: str
    table: str
    settings: Mapping[str, Mapping[str, Printed]]
    paper: str = "SEER"
    size: str = ""
    dataset: str = ""

    @property
    def source(self) -> str:
        return f"{self.paper}, {self.table}"


class PublishedTable(msgspec.Struct, frozen=True):
    """A table of a paper, and how to cite it."""

    cite: str
    notes: tuple[str, ...]
    rows: tuple[PublishedRow, ...]


@cache
def published(name: str) -> PublishedTable:
    """A file of published figures by its name without ending, such as `seer_table3`."""
    return msgspec.json.decode(_file(name), type=PublishedTable)


def _file(name: str) -> bytes:
    # Imported here, not at the start: a task is there before the list, and asks for its figures long after.
    from importlib.resources import files

    return (files("emotui.sample_data.published") / f"{name}.json").read_bytes()


class Published(msgspec.Struct, frozen=True):
    """A row of the paper's Table 1: a model's figures before and after, in the units of the metrics here."""

    model: str
    before: Mapping[str, float]
    after: Mapping[str, float]


def published_table() -> tuple[str, list[Published]]:
    """How to cite EmoScene's Table 1, and its rows; percentages as shares."""
    table: dict[str, Any] = msgspec.json.decode(_file("emoscene_table1"))
    units = {name: 100.0 if unit == "percent" else 1.0 for name, unit in table["units"].items()}
    rows = [
        Published(
            row["model"],
            {name: row[name]["baseline"] / unit for name, unit in units.items()},
            {name: row[name]["bayesian"] / unit for name, unit in units.items()},
        )
        for row in table["rows"]
    ]
    return table["cite"], rows


# EXPRESS's tables, with notes on what is printed wrongly.

EXPRESS_TABLES = {
    "3": "express_table3",
    "4": "express_table4",
    "A.6": "express_tableA6",
    "A.7": "express_tableA7",
    "A.10": "express_tableA10",
    "A.11": "express_tableA11",
}
"""The paper's tables by their numbers, and their files."""


@cache
def express_table(table: str) -> dict[str, Any]:
    """A table of the paper as printed, with `notes` on what is printed wrongly. Raises BadInput for no such table."""
    if table not in EXPRESS_TABLES:
        from emotui.formats.rows import literal  # a task needs no file formats until it reads a file

        raise BadInput(f"there is no table {literal(table)} here: {', '.join(EXPRESS_TABLES)}")
    document: dict[str, Any] = msgspec.json.decode(_file(EXPRESS_TABLES[table]))
    return document
