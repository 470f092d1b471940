"""Pictures of Rephrase. After an intended change: pytest FILE --snapshot-update, then look at each."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from emotui.errors import ModelError
from emotui.screens.app import EmotuiApp
from emotui.screens.rephrase.place import Rephrase
from emotui.workbench.rephrase.service import Rephrasing
from emotui.workbench.rephrase.views import Live
from tests.screens.album import Album, at_rest
from tests.screens.driving import frame, press, settle
from tests.screens.rephrase_workspace import Scripted, workspace
from tests.waiting import awaited


@pytest.fixture(autouse=True)
def _nine_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long an answer took differs from run to run."""
    real = Rephrasing.live

    def live(self: Rephrasing, *asked: Any, similar: bool) -> Live:
        return replace(real(self, *asked, similar=similar), seconds=0.009)

    monkeypatch.setattr(Rephrasing, "live", live)


def _app(path: Path) -> EmotuiApp:
    source = workspace(path / "workspace.duckdb")
    source.set_setting("theme", "dark")
    return EmotuiApp(lambda: source, poll=None, annotator="maria")


async def _write(pilot: "Pilot[None]", text: str) -> None:
    place = frame(pilot).query_one(Rephrase)
    place.editor.put(text)
    place.editor.focus()
    await settle(pilot)


async def _rest(pilot: "Pilot[None]") -> None:
    """Until the words that carry the verdict are here."""
    place = frame(pilot).query_one(Rephrase)
    await awaited(lambda: place.seen.words is not None and place.seen.words.text == place.editor.text)
    await settle(pilot)


async def _written(pilot: "Pilot[None]") -> None:
    """One text done, one failed attempt at the next, and a second one being written."""
    await press(pilot, "3")
    await settle(pilot, work=True)
    await press(pilot, "i")
    await _write(pilot, "My sister moved out last spring and I set the table for two.")
    await press(pilot, "enter")
    await _write(pilot, "We danced in the kitchen and I was happy until midnight.")
    await press(pilot, "enter")
    await _write(pilot, "We danced in the kitchen until midnight and did not feel our feet, glad and out of breath.")
    await _rest(pilot)


async def test_writing(album: Album, tmp_path: Path) -> None:
    """The writing itself, what the lower pane can show, the statistics, and a second person's review."""
    async with at_rest(_app(tmp_path)) as pilot:
        await _written(pilot)
        await album.take_at_sizes(pilot, "")
        await album.walk(
            pilot,
            {"labels": ("ctrl+t",), "words": ("ctrl+t",), "difference": ("ctrl+t",), "session": ("ctrl+t",)},
            sizes=False,
        )
        await press(pilot, "ctrl+t")
        await album.walk(pilot, {"plots": ("f3",), "table": ("v",)})
        await press(pilot, "f3", "escape", "f4")
        pilot.app.screen.query_one(Input).value = "ben"
        await press(pilot, "enter", "enter")
        await album.take_at_sizes(pilot, "review")


async def test_writing_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await _written(pilot)
        await album.take_at_sizes(pilot, "")


async def test_set_aside(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The picture is taken before one has rested, also where that takes long.
    monkeypatch.setattr("emotui.screens.rephrase.live.REST", 600.0)
    async with at_rest(_app(tmp_path), (120, 36)) as pilot:
        await press(pilot, "3")
        await settle(pilot, work=True)
        await press(pilot, *"jjjj")
        await album.take(pilot)


async def test_no_round(album: Album, tmp_path: Path) -> None:
    source = workspace(tmp_path / "workspace.duckdb")
    assert isinstance(source, Scripted)

    def refuse(progress: object = None, cancelled: object = None) -> object:
        raise ModelError("hf:nowhere cannot be loaded: there is no such directory")

    source.embedded.load = refuse  # type: ignore[method-assign,assignment]
    async with at_rest(EmotuiApp(lambda: source, poll=None, annotator="maria")) as pilot:
        await press(pilot, "3")
        await settle(pilot, work=True)
        await album.take(pilot)
