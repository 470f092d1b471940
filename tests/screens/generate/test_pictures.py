"""Pictures of Generate. After a change: pytest FILE --snapshot-update, then look."""

from itertools import count
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.album import Album, at_rest, resize
from tests.screens.driving import press
from tests.screens.generate.workspace import workspace


@pytest.fixture(autouse=True)
def even_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin a minute apart."""
    minutes = count()
    monkeypatch.setattr("emotui.store.runs.now", lambda: f"2026-11-21T06:{next(minutes):02}:00.000+00:00")


def _app(path: Path) -> EmotuiApp:
    source = workspace(path / "workspace.duckdb")
    return EmotuiApp(lambda: source, poll=None)


async def test_views(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "6")
        await resize(pilot, (160, 45))
        await album.take(pilot, "text")
        await resize(pilot, (80, 24))
        await album.walk(pilot, {"models": ("v",)}, sizes=False)
        await resize(pilot, (160, 45))
        await album.walk(pilot, {"trust": ("v",)}, sizes=False)
        await resize(pilot, (80, 24))
        await album.walk(
            pilot, {"emotions": ("V", ">"), "rate": ("V", "f4", "tab", "right", "enter", "2")}, sizes=False
        )


async def test_text_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "6")
        await album.take(pilot)
