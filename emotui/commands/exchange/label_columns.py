"""The options of every command that reads labels: tables with a column a label."""

from collections.abc import Callable
from functools import wraps
from math import isfinite
from typing import Any

import click

from emotui.errors import BadInput
from emotui.formats.wide import LabelColumns


def label_columns_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--labels` and `--label-threshold`, and give the command `columns` made of them."""

    @wraps(command)
    def with_columns(*args: Any, labels: str | None, label_threshold: float | None, **others: Any) -> Any:
        if label_threshold is not None and not isfinite(label_threshold):
            raise BadInput(f"--label-threshold {label_threshold}: a finite number is needed")
        return command(*args, columns=LabelColumns(_names(labels), label_threshold), **others)

    threshold = click.option(
        "--label-threshold", type=float, help="In a gold table with a column a label: it is there from this number on."
    )
    names = click.option(
        "--labels", metavar="NAME,...", help="In such a table: the columns that are labels (all with numbers)."
    )
    return names(threshold(with_columns))


def _names(given: str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    if not names:
        raise BadInput("--labels names no column: write joy,anger or the like")
    return names
