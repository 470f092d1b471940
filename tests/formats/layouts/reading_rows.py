"""What a file is taken for, and its rows, as `emotui import` reads them."""

from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.registry import rows, take
from emotui.formats.rows import Flaw


def read(path: Path, layout: str | None = None, **options: Any) -> list[dict[str, Any]]:
    """The rows of a file that has none that is wrong."""
    found = list(rows(take(str(path), layout, ReadOptions(**options))))
    assert not [row for _, row in found if isinstance(row, Flaw)], found
    return [row for _, row in found]


def flaws(path: Path, layout: str | None = None, **options: Any) -> list[tuple[int, str]]:
    """The line and the reason of each row that is wrong."""
    found = rows(take(str(path), layout, ReadOptions(**options)))
    return [(line, row.reason) for line, row in found if isinstance(row, Flaw)]


def taken_for(path: Path) -> str:
    """The name of the layout that recognises a file or folder."""
    return take(str(path), None, ReadOptions()).layout.name


def columns(path: Path) -> dict[str, str]:
    """By key the column that it was found in."""
    return dict(take(str(path), None, ReadOptions()).options.columns)
