"""Widgets get to know that they have come into sight, and are gone when they are closed."""

import gc
from weakref import ref

import pytest
from textual._styles_cache import StylesCache
from textual.app import App
from textual.color import Color
from textual.screen import Screen
from textual.widgets import Static

from emotui.collector import EVERY, STILL, Tidying, start_without
from emotui.screens.widgets.textual_private import LaidOut, let_go_of_closed_widgets


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
