"""The figures that the papers print, as they stand in `emotui.sample_data.published`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec


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
    return msgspec.json.decode(
        (files("emotui.sample_data.published") / f"{name}.json").read_bytes(), type=PublishedTable
    )
