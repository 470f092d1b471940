"""Pictures of Rephrase. After an intended change: pytest FILE --snapshot-update, then look at each."""

from collections.abc import Callable
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
from tests.screens.driving import frame, press, settle
from tests.screens.rephrase_workspace import Scripted, workspace
from tests.waiting import awaited

Compare = Callable[..., bool]
SIZES = [(80, 24), (160, 45)]


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


def _written(*keys: str) -> "Callable[[Pilot[None]], object]":
    """One text done, one failed attempt at the next, and a second one being written."""

    async def drive(pilot: "Pilot[None]") -> None:
        await settle(pilot)
        await press(pilot, "3")
        await settle(pilot, work=True)
        await press(pilot, "i")
        await _write(pilot, "My sister moved out last spring and I set the table for two.")
        await press(pilot, "enter")
        await _write(pilot, "We danced in the kitchen and I was happy until midnight.")
        await press(pilot, "enter")
        await _write(
            pilot, "We danced in the kitchen until midnight and did not feel our feet, glad and out of breath."
        )
        await _rest(pilot)
        await press(pilot, *keys)

    return drive


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_writing(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=_written())


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_writing_without_colour(
    snap_compare: Compare, tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=_written())


@pytest.mark.parametrize("keys", [("f2",), ("f2", "f2"), ("f2", "f2", "f2")], ids=["words", "difference", "session"])
def test_lower_pane_at_80_columns(snap_compare: Compare, tmp_path: Path, keys: tuple[str, ...]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=(80, 24), run_before=_written(*keys))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("keys", [(), ("v",)], ids=["plots", "table"])
def test_statistics(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=_written("f3", *keys))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_review(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def drive(pilot: "Pilot[None]") -> None:
        await _written("escape", "f4")(pilot)  # type: ignore[misc]
        pilot.app.screen.query_one(Input).value = "ben"
        await press(pilot, "enter", "enter")

    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=drive)


def test_set_aside(snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The picture is taken before one has rested, also where that takes long.
    monkeypatch.setattr("emotui.screens.rephrase.live.REST", 600.0)

    async def drive(pilot: "Pilot[None]") -> None:
        await settle(pilot)
        await press(pilot, "3")
        await settle(pilot, work=True)
        await press(pilot, *"jjjj")

    assert snap_compare(_app(tmp_path), terminal_size=(120, 36), run_before=drive)


def test_no_round(snap_compare: Compare, tmp_path: Path) -> None:
    source = workspace(tmp_path / "workspace.duckdb")
    assert isinstance(source, Scripted)

    def refuse(progress: object = None, cancelled: object = None) -> object:
        raise ModelError("hf:nowhere cannot be loaded: there is no such directory")

    source.embedded.load = refuse  # type: ignore[method-assign,assignment]

    async def drive(pilot: "Pilot[None]") -> None:
        await settle(pilot)
        await press(pilot, "3")
        await settle(pilot, work=True)

    app = EmotuiApp(lambda: source, poll=None, annotator="maria")
    assert snap_compare(app, terminal_size=(80, 24), run_before=drive)
