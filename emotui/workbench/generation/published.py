"""What the emotion generation paper prints in Tables 4 to 14, and its Table 11 computed again."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from emotui.metrics.metric_trust import trust

Cells = Mapping[str, Mapping[str, float]]
"""Row to column to what is printed."""

CORRELATION = "Correlation"
HUMAN = "human_f1"
TOTAL = "total (weighted f1)"


class PublishedTables(msgspec.Struct, frozen=True):
    """`tables` by their numbers. `original`: the figures that Table 4's caption has of the original texts."""

    cite: str
    original: Mapping[str, float]
    notes: tuple[str, ...]
    tables: Mapping[str, Cells]


@cache
def published_tables() -> PublishedTables:
    """The tables as they stand in the package."""
    path = files("emotui.sample_data.published") / "generation_tables.json"
    return msgspec.json.decode(path.read_bytes(), type=PublishedTables)


def table_11() -> dict[str, dict[str, Any]]:
    """The correlations of Table 11 from its own columns, with what the paper leaves out (intervals, p, corrections)."""
    rows = {model: row for model, row in published_tables().tables["11"].items() if model != CORRELATION}
    human = {model: row[HUMAN] for model, row in rows.items()}
    names = [name for name in next(iter(rows.values())) if name != HUMAN]
    return trust(human, {name: {model: row[name] for model, row in rows.items()} for name in names})


def table_11_on_all_texts() -> dict[str, dict[str, Any]]:
    """The correlations of ERS on all 964 texts (Table 12) with human F1 on the 277 (the totals of Table 10).

    Of the other metrics the paper prints nothing on all texts.
    """
    tables = published_tables().tables
    human = dict(tables["10"][TOTAL])
    judged = tables["12"]
    names = next(iter(judged.values()))
    return trust(human, {name: {model: row[name] for model, row in judged.items()} for name in names})
