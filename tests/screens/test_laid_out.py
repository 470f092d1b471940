"""Widgets get to know that they have come into sight, are painted where something changed, and are gone when they are
closed.
"""

import asyncio
import gc
from pathlib import Path
from weakref import ref

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual._styles_cache import StylesCache
from textual.app import App
from textual.color import Color
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from emotui.collector import EVERY, STILL, Tidying, start_without
from emotui.screens.widgets.editor import Editor
from emotui.screens.widgets.textual_private import PAINT_S, LaidOut, Painting, let_go_of_closed_widgets
from tests.screens import driving
from tests.screens.driving import frame, opened, press, settle
from tests.screens.rephrase_workspace import workspace


class Told(Static):
    """Keeps what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def on_show(self) -> None:
        self.told.append("show")

    def on_resize(self) -> None:
        self.told.append("resize")


@pytest.mark.parametrize("painted_before", [False, True])
async def test_a_widget_that_comes_into_sight_is_told_so(painted_before: bool) -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        screen = LaidOut()
        await app.push_screen(screen)
        late, other = Told(), Static("there")
        late.display = False
        await screen.mount(other, late)
        await pilot.pause()
        assert late.told == []
        late.display = True
        if painted_before:  # what painting something else does before the layout that is due
            screen._compositor._full_map_invalidated = True
            assert late in screen._compositor.full_map
        await pilot.pause()
        assert sorted(late.told) == ["resize", "show"]


async def test_without_it_textual_would_forget_to_tell() -> None:
    """Once this fails, Textual has mended it, and `LaidOut` can go."""
    app: App[None] = App()
    async with app.run_test() as pilot:
        screen: Screen[None] = Screen()
        await app.push_screen(screen)
        late = Told()
        late.display = False
        await screen.mount(late)
        await pilot.pause()
        late.display = True
        screen._compositor._full_map_invalidated = True
        assert late in screen._compositor.full_map
        await pilot.pause()
        assert late.told == []


def test_what_was_drawn_of_a_widget_goes_with_it() -> None:
    let_go_of_closed_widgets()
    drawn = StylesCache()
    gone = ref(drawn)
    inner, outer = drawn.get_inner_outer(Color(1, 2, 3), Color(9, 8, 7))
    assert (inner.background, outer.background) == (Color(9, 8, 7), Color(1, 2, 3))
    del drawn
    assert gone() is None


def test_what_is_left_in_circles_is_looked_for_once_a_minute_of_use_where_no_key_comes() -> None:
    class Circle:
        def __init__(self) -> None:
            self.own = self

    def is_gone(moment: float) -> bool:
        now[0] = moment
        circle = Circle()
        gone = ref(circle)
        del circle
        tidying.tick()
        return gone() is None

    now = [0.0]
    tidying = Tidying(lambda: now[0])
    assert not is_gone(EVERY + 1)  # no key has come
    now[0] = EVERY - 1
    tidying.key_came()
    assert not is_gone(EVERY - 1 + STILL)
    assert is_gone(EVERY)
    assert not is_gone(EVERY + 1)
    now[0] = 2 * EVERY
    tidying.key_came()
    assert not is_gone(2 * EVERY + STILL / 2)
    assert is_gone(2 * EVERY + 2 * STILL)


def test_objects_are_looked_through_from_the_first_tick_on() -> None:
    start_without()
    try:
        assert not gc.isenabled()
        Tidying().tick()
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
    finally:
        gc.enable()
        gc.unfreeze()


Cell = tuple[str, Style | None]


def cells_of(strip: Strip) -> list[Cell]:
    """A cell each, with its style; of a character of two cells the second is empty."""
    found: list[Cell] = []
    for text, style, _ in strip:
        for character in text:
            found += [(character, style), *[("", style)] * (cell_len(character) - 1)]
    return found


def paint(update: ChopsUpdate, cells: list[list[Cell]]) -> None:
    """Put the parts of an update where a terminal would."""
    for y, left, right in update.spans:
        for x, strip in update.chops[y].items():
            for at, cell in enumerate(cells_of(strip) if strip is not None else [], x):
                if left <= at < right:
                    cells[y][at] = cell


async def test_what_is_painted_in_parts_is_the_whole_screen_and_what_lies_beside_a_part_is_not_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str | None] = []
    render_lines = Widget.render_lines
    monkeypatch.setattr(Widget, "render_lines", lambda one, crop: drawn.append(one.id) or render_lines(one, crop))
    size = Size(120, 36)
    async with opened(workspace(tmp_path / "w.duckdb"), (size.width, size.height)) as pilot:
        compositor = pilot.app.screen._compositor
        cells = [cells_of(strip) for strip in compositor.render_strips(size)]
        parts = alone = 0
        for key in (*"jjk3i", *"Why not", "space", "backspace", *"so", "escape", *"vv>j1jo", "w", *"7v", "tab", *"12n"):
            await press(pilot, "space" if key == " " else key)
            drawn.clear()
            update = driving.render_update(compositor, screen_stack=pilot.app._background_screens)
            now = [cells_of(strip) for strip in compositor.render_strips(size)] if update is None else None
            if isinstance(update, ChopsUpdate):
                parts += 1
                before = list(drawn)
                paint(update, cells)
                now = [cells_of(strip) for strip in compositor.render_strips(size)]
                alone += "rephrase-editor" in before and not {"top", "list-pane", "rephrase-original"} & set(before)
            elif now is None:
                cells = now = [cells_of(strip) for strip in compositor.render_strips(size)]
            assert cells == now, key
        assert parts > 15
        assert alone > 3, "letters of which the line that they stand in was drawn"


async def test_text_is_typed_in_the_colours_of_now(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 36), cells=True) as pilot:
        await press(pilot, "3", "i", *"Why")
        colours = set()
        for theme in ("dark", "light", "dark"):
            frame(pilot).tool.use_theme(theme)
            await settle(pilot, cells=True)
            await press(pilot, "x")
            await settle(pilot, cells=True)
            (line, *_) = frame(pilot).query_one(Editor).render_lines(frame(pilot).query_one(Editor).size.region)
            shown = {style.bgcolor for text, style, _ in line if style is not None and text.strip()}
            assert len(shown) == 1
            colours |= shown
        assert len(colours) == 2


async def test_what_changes_is_painted_at_once_and_soon_after_a_painting_as_soon_as_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, painted = 100.0, list[float]()
    sleep = asyncio.sleep

    async def passes(seconds: float) -> None:
        nonlocal now
        now += seconds
        await sleep(0)

    monkeypatch.setattr("emotui.screens.widgets.textual_private.get_time", lambda: now)
    monkeypatch.setattr("emotui.screens.widgets.textual_private.asyncio.sleep", passes)

    def paint() -> None:
        painting.pause()
        painted.append(round(now - 100.0, 6))

    app = App[None]()
    async with app.run_test():
        painting = Painting(app, PAINT_S, callback=paint, pause=True)
        painting._start()
        for changes_at in (0.0, 0.001, 0.5, 0.5 + PAINT_S * 1.5):
            now = max(now, 100.0 + changes_at)
            painting.resume()
            while painting._active.is_set():
                await sleep(0)
        painting.stop()
    assert painted == [0.0, round(PAINT_S, 6), 0.5, round(0.5 + PAINT_S * 1.5, 6)]
