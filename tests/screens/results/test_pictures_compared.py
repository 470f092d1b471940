"""Pictures of comparisons in Results. After a change: pytest FILE --snapshot-update, then look."""

from itertools import count
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.album import Album, at_rest, resize
from tests.screens.driving import press, settle
from tests.screens.results_workspace import make_several_runs


@pytest.fixture(autouse=True)
def even_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin a minute apart."""
    minutes = count()
    monkeypatch.setattr("emotui.store.runs.now", lambda: f"2026-11-21T06:{next(minutes):02}:00.000+00:00")


def _app(path: Path) -> EmotuiApp:
    source = make_several_runs(path / "workspace.duckdb", annotated=True)
    source.set_setting("theme", "dark")
    return EmotuiApp(lambda: source, poll=None)


async def test_views(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await resize(pilot, (160, 45))
        await press(pilot, "9")
        await settle(pilot, work=True)
        await album.take(pilot, "two")
        await resize(pilot, (80, 24))
        await album.take(pilot, "two, small")


async def test_views_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "9")
        await settle(pilot, work=True)
        await album.take(pilot, "two")
