"""Pictures of Annotate. After an intended change: pytest FILE --snapshot-update, then look at each."""

from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.album import Album, at_rest
from tests.screens.browse_workspace import workspace
from tests.screens.driving import press

MARKED = ("2", "l", "v", "l", "l", "H", "h", "v", "l", "S", ">", ">", "F", "escape")


def _app(path: Path) -> EmotuiApp:
    source = workspace(path / "workspace.duckdb")
    source.set_setting("theme", "dark")
    return EmotuiApp(lambda: source, poll=None)


async def test_letters_over_the_words(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, *MARKED, "i")
        await album.take(pilot)


async def test_a_span_is_selected_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, *MARKED, ">", "v", "l")
        await album.take(pilot)


async def test_adjudicating(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path), (160, 45)) as pilot:
        await press(pilot, "2", "f4", "enter", "2", "tab")
        await album.take(pilot)
