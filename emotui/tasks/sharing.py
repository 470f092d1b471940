"""What samples share with others: a passage, a post, an original. Such samples do not vary apart."""

from collections.abc import Iterable, Mapping
from typing import Any

SHARED = ("passage", "post", "original", "document", "thread", "conversation", "dialogue", "dialog")
"""What the columns are called, `_id` behind them or not; where there are several, the first of these."""


def shared_column(columns: Iterable[str]) -> str | None:
    """The column that says what samples share; None where there is none."""
    there = {plain_name(name): name for name in columns}
    return next((there[name] for name in SHARED if name in there), None)


def plain_name(column: str) -> str:
    """A column's name without capitals and without an `id` behind it."""
    return column.lower().removesuffix("id").rstrip("_- ")


def shared_of(samples: Iterable[Any]) -> dict[str, str | None]:
    """By the id of each sample what it shares with others; None where it says nothing."""
    return {sample.id: shared_by(getattr(sample, "meta", {})) for sample in samples}


def shared_by(meta: Mapping[str, Any]) -> str | None:
    """What one record says that it shares with others; None where it says nothing."""
    column = shared_column(meta)
    said = None if column is None else meta[column]
    return str(said) if isinstance(said, str | int) and said != "" else None
