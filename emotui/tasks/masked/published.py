"""The tables of EXPRESS as they are printed, with notes on what is printed wrongly."""

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats.rows import literal

TABLES = {
    "3": "express_table3",
    "4": "express_table4",
    "A.6": "express_tableA6",
    "A.7": "express_tableA7",
    "A.10": "express_tableA10",
    "A.11": "express_tableA11",
}
"""The paper's tables by their numbers, and their files."""


@cache
def published(table: str) -> dict[str, Any]:
    """A table of the paper as printed, with `notes` on what is printed wrongly. Raises BadInput for no such table."""
    if table not in TABLES:
        raise BadInput(f"there is no table {literal(table)} here: {', '.join(TABLES)}")
    text = (files("emotui.sample_data.published") / f"{TABLES[table]}.json").read_bytes()
    document: dict[str, Any] = msgspec.json.decode(text)
    return document
