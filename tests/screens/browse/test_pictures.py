"""Pictures of the workbench. After an intended change: pytest FILE --snapshot-update, then look at each."""

from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.album import Album, at_rest
from tests.screens.browse_workspace import workspace
from tests.screens.driving import press, settle

THEMES = ("dark", "light", "high-contrast", "colour-blind-safe")


def _app(path: Path) -> EmotuiApp:
    source = workspace(path / "workspace.duckdb")
    source.set_setting("theme", "dark")
    return EmotuiApp(lambda: source, poll=None)


async def test_browse(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "n", "n")
        for theme in THEMES:
            pilot.app.theme = theme
            await settle(pilot)
            await album.take_at_sizes(pilot, theme)


async def test_browse_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "n", "n")
        await album.take_at_sizes(pilot, "")


PANES = {
    "annotators": ("n", "a"),
    "(at the first": ("a", "g"),
    "raw": ("j", "O"),
    "(again": ("O", "g"),
    "list": ("n", "l"),
}


async def test_panes(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await album.walk(pilot, PANES)


SHEETS = {
    "search": ("slash", "t", "h", "e"),
    "(closed, and the list with it": ("escape", "l"),
    "filter": ("f", "space", "right", "tab"),
    "(the filter": ("escape",),
    "sort": ("s",),
    "(the order": ("escape",),
    "model": ("R",),
    "(the model": ("escape",),
    "export": ("e",),
    "(the export": ("escape",),
    "help": ("question_mark",),
    "(the help": ("escape",),
    "palette": ("ctrl+p",),
    "(the palette": ("escape",),
    "nothing found": ("slash", "z", "z", "z", "enter"),
}


async def test_sheets(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await album.walk(pilot, SHEETS, sizes=False)


async def test_too_small(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path), (50, 12)) as pilot:
        await album.take(pilot)
