"""Every place and every sheet, in every theme and size: text can be read, nothing is cut, figures have their heads."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from emotui.screens.app import EmotuiApp
from emotui.screens.browse.score import Score
from emotui.screens.widgets.line import Line
from emotui.workbench.source import BrowseSource
from tests.screens import rephrase_workspace, results_workspace, scenes_workspace
from tests.screens.album import at_rest, resize
from tests.screens.browse_workspace import workspace
from tests.screens.driving import drawn, frame, opened, press, screen_text
from tests.screens.generate import workspace as generate_workspace
from tests.screens.looks.reading import PROBE, accents, rows, wrong_in
from tests.screens.masked.workspace import masked_workspace

SIZES = ((60, 16), (80, 24), (100, 30), (120, 35), (140, 36), (160, 45))
SOME = (SIZES[0], SIZES[2], SIZES[-1])
LEAST = SIZES[:1]

SHEETS = {
    name: (key,)
    for name, key in {
        "palette": "ctrl+p",
        "filter": "f",
        "runs": "r",
        "figure": "percent_sign",
    }.items()
}
"""Sheets that say what is in the session; one of each kind is looked at in test_sheets."""


class Looks:
    """Walks through a workbench and keeps what is wrong with its looks, by where it was first seen."""

    def __init__(self, pilot: "Pilot[None]") -> None:
        self._pilot = pilot
        self.wrong: defaultdict[str, str] = defaultdict(str)

    async def look(self, name: str, sizes: tuple[tuple[int, int], ...]) -> None:
        for size in sizes:
            await resize(self._pilot, size)
            for what in wrong_in(self._pilot, rows(self._pilot)):
                self.wrong[what] = self.wrong[what] or f"{name} {size[0]}x{size[1]}"

    async def walk(self, *views: tuple[str, ...]) -> None:
        """Press the keys of each view, and look at it: at a place as it opens in all sizes."""
        for keys in views:
            await press(self._pilot, *keys)
            await self.look(" ".join(keys), SIZES if keys[0].isdigit() else SOME)

    async def sheets(self, of: "dict[str, tuple[str, ...]]") -> None:
        """Open and close each."""
        for name, keys in of.items():
            await press(self._pilot, *keys)
            await self.look(name, LEAST)
            await press(self._pilot, "escape")


async def _look(
    source: BrowseSource, views: tuple[tuple[str, ...], ...], sheets: "dict[str, tuple[str, ...]] | None" = None
) -> None:
    source.set_setting("theme", "dark")
    app = EmotuiApp(lambda: source, poll=None)
    async with at_rest(app, SIZES[0]) as pilot:
        app.register_theme(PROBE)
        app.theme = "probe"
        await drawn(pilot)
        looks = Looks(pilot)
        await looks.walk(*views)
        await looks.sheets(sheets or {})
    assert "\n".join(f"{where}: {what}" for what, where in sorted(looks.wrong.items())) == ""


async def test_browse_results_compare_and_sheets(tmp_path: Path) -> None:
    source = results_workspace.several_runs(tmp_path / "w.duckdb", annotated=True)
    await _look(
        source, (("1", "n"), ("a",), ("O",), ("7",), ("n",), *(("v",),) * 3, ("n",), *(("v",),) * 4, ("9",)), SHEETS
    )


CASES: "dict[str, tuple[Callable[[Path], BrowseSource], tuple[tuple[str, ...], ...]]]" = {
    "annotate": (
        lambda folder: results_workspace.several_runs(folder / "w.duckdb"),
        (("2",), ("f4",)),
    ),
    "rephrase and spot check": (
        rephrase_workspace.scripted,
        (("3",), ("f3",), ("f3", "escape"), ("8",), ("escape", "v"), ("i", *"sad"), ("escape", "v")),
    ),
    "scenes": (lambda folder: scenes_workspace.workspace(folder / "w.duckdb"), (("4", "n"), ("v",), ("v",), ("v",))),
    "masked": (masked_workspace, (("5", "o", "o", "j"), ("o",), ("i",))),
    "generate": (
        lambda folder: generate_workspace.workspace(folder / "w.duckdb"),
        (("6",), ("v",), ("v",), ("i", "enter")),
    ),
}


@pytest.mark.parametrize("place", CASES)
async def test_place(place: str, tmp_path: Path) -> None:
    make, views = CASES[place]
    await _look(make(tmp_path), views)


async def test_every_empty_place_names_what_fills_it_and_no_place_keeps_an_empty_list(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", samples=[]), LEAST[0]) as pilot:
        pilot.app.register_theme(PROBE)
        pilot.app.theme = "probe"
        looks, said = Looks(pilot), {}
        for place, task in {
            "3": "rephrase",
            "4": "scenes",
            "7": "spans",
            "5": "masked",
            "9": "spans",
            "2": "spans",
        }.items():
            await press(pilot, place)
            await looks.look(place, LEAST)
            said[place] = f"emotui import {task} FILE brings some in; here: I" in screen_text(pilot)
        assert said == dict.fromkeys(said, True)
        assert looks.wrong == {}


@pytest.mark.parametrize("pane", ["list", "text"])
async def test_under_a_sheet_no_cursor_has_the_accent(pane: str, tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        pilot.app.register_theme(PROBE)
        pilot.app.theme = "probe"
        await drawn(pilot)
        await press(pilot, *(["tab"] if pane == "text" else []))
        assert len(accents(rows(pilot))) == 1
        await press(pilot, "s")
        assert len(accents(rows(pilot))) == 1
        await press(pilot, "escape")
        assert len(accents(rows(pilot))) == 1


async def test_without_colour_the_title_of_the_open_pane_is_underlined_and_not_reversed_like_a_selection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        for keys in ((), ("tab",), ("2",)):
            await press(pilot, *keys)
            (line,) = [line for line in pilot.app.screen.query(Line) if line.has_class("-focused") and line.display]
            style = next(segment.style for segment in line.render_line(0) if segment.text.strip())
            assert style is not None
            assert (style.bold, style.underline, bool(style.reverse)) == (True, True, False), keys


async def test_without_colour_a_cursor_is_reversed_only_where_the_keys_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        for keys, in_list in (((), True), (("tab",), False), (("s",), None)):
            await press(pilot, *keys)
            view = frame(pilot)
            styles = [
                next(one.style for one in strip if one.text.startswith("▸"))
                for strip in (view.pane.rows.render_line(0), *map(view.query_one(Score).render_line, range(20)))
                if any(one.text.startswith("▸") for one in strip)
            ]
            assert [bool(one and one.reverse) for one in styles] == [in_list is True, in_list is False], keys
            assert all(one and one.bold for one in styles)
