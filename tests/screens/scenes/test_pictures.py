"""Pictures of Scenes. After an intended change: pytest FILE --snapshot-update, then look at each."""

from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.album import Album, at_rest
from tests.screens.driving import press
from tests.screens.scenes_workspace import workspace


def _app(path: Path, *, run: bool = True) -> EmotuiApp:
    source = workspace(path / "workspace.duckdb", run=run)
    source.set_setting("theme", "dark")
    return EmotuiApp(lambda: source, poll=None)


async def test_scenes(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "4", "n", "right")
        await album.take_at_sizes(pilot, "")


async def test_scenes_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "4", "n", "J", "right", "right")
        await album.take_at_sizes(pilot, "")


VIEWS = {
    "sweep": ("4", "v"),
    "flips": ("v",),
    "couplings": ("v",),
    "together": (">", ">"),
    "given": (">",),
    "emotions": ("v",),
    "table": (">",),
    "(back to the scene": ("v",),
    "leaked": ("Z",),
    "(own folds": ("Z", "V"),
    "prior": ("t",),
    "(the prior as it was": ("escape",),
    "alpha": ("equals_sign",),
    "(alpha as it was": ("escape",),
    "expected macro-F1": ("D", "D"),
    "(most probable": ("D",),
    "why, clamped": ("c", "w"),
}


async def test_views(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path), (120, 36)) as pilot:
        await album.walk(pilot, VIEWS, sizes=False)


async def test_no_run_yet(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path, run=False), (120, 36)) as pilot:
        await press(pilot, "4")
        await album.take(pilot)
