"""Pictures of the workbench. After an intended change: pytest FILE --snapshot-update, then look at each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.browse_workspace import workspace
from tests.screens.driving import pressed

Compare = Callable[..., bool]
SIZES = [(80, 24), (160, 45)]


def _app(path: Path, theme: str = "dark") -> EmotuiApp:
    source = workspace(path / "workspace.duckdb")
    source.set_setting("theme", theme)
    return EmotuiApp(lambda: source, poll=None)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", ["dark", "light", "high-contrast", "colour-blind-safe"])
def test_browse(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    assert snap_compare(_app(tmp_path, theme), terminal_size=size, run_before=pressed("n", "n"))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_browse_without_colour(
    snap_compare: Compare, tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=pressed("n", "n"))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("keys", [("n", "a"), ("j", "O"), ("n", "l")], ids=["annotators", "raw", "list"])
def test_panes(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=pressed(*keys))


SHEETS = {
    "search": ("slash", "t", "h", "e"),
    "nothing found": ("slash", "z", "z", "z", "enter"),
    "filter": ("f", "space", "right", "tab"),
    "sort": ("s",),
    "model": ("R",),
    "export": ("e",),
    "help": ("question_mark",),
    "palette": ("ctrl+p",),
}


@pytest.mark.parametrize("keys", SHEETS.values(), ids=SHEETS)
def test_sheets(snap_compare: Compare, tmp_path: Path, keys: tuple[str, ...]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=(80, 24), run_before=pressed(*keys))


def test_too_small(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=(50, 12), run_before=pressed())
