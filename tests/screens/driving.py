"""Driving the workbench in tests: open it, wait until it has nothing more to do, read what it shows."""

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from textual._compositor import Compositor
from textual.app import App
from textual.events import Key
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input

from emotui.screens.app import EmotuiApp
from emotui.screens.browse.place import Browse
from emotui.screens.dialogs.help import HelpDialog
from emotui.screens.frame import Frame
from emotui.screens.place import Place
from emotui.screens.samples.table import SampleList
from emotui.screens.widgets.tiered_text import TieredText
from emotui.workbench.source import BrowseSource
from tests.waiting import awaited


async def settle(pilot: "Pilot[None]", *, work: bool = False, cells: bool = False) -> None:
    """Wait until every question has its answer and every page its rows; with `work` until long work is over too.

    `cells`: make the cells of what has changed, too. They take half of the time: who reads the screen or clicks on it
    makes them anyway, and what a test leaves there is drawn at its end.
    """
    app = pilot.app
    assert isinstance(app, EmotuiApp)

    def busy() -> bool:
        awaited = [worker for worker in app.workers if work or worker.name != "work"]
        if awaited or not app.is_running:
            return bool(awaited)
        composed = app.frame.pane.is_attached and app.frame.query_one_optional(Place) and app.frame.session.opens
        return not composed or app.frame.busy or (work and app.frame.session.job is not None)

    while True:
        await awaited(lambda: not busy(), lambda: "the workbench does not come to rest")
        # Messages that are under way may ask for more, and what has changed has to be drawn.
        await drawn(pilot)
        if cells and app.is_running:
            make_cells(pilot)
        if not busy():
            return


render_update = Compositor.render_update


def make_cells(pilot: "Pilot[None]") -> None:
    """Make the cells of all that has changed since the last time, as a terminal would be sent them."""
    app = pilot.app
    render_update(app.screen._compositor, screen_stack=app._background_screens)


async def drawn(pilot: "Pilot[None]") -> None:
    """Wait until no message is under way, all is laid out, and what has changed is drawn; for no answer of any source.

    `Pilot.pause` guesses that from how hard the process works, and sends every widget a message before.
    """
    app = pilot.app
    quiet = rounds = 0
    while quiet < 3 and app.is_running and not app._exception_event.is_set():
        await asyncio.sleep(0 if rounds < 500 else 0.005)
        rounds += 1
        screen = app.screen
        moves = bool(app.animator._animations or app.animator._scheduled)
        if moves or not all(map(_waits, [app, *screen.walk_children(with_self=True)])):
            quiet = 0
            continue
        draws = bool(screen._layout_required or screen._dirty_widgets or screen._callbacks)
        if draws:
            screen._on_timer_update()
        quiet = 0 if draws else quiet + 1
        if quiet == 3 and asks_for_rows(app):
            quiet = 0


def asks_for_rows(app: "App[None]") -> bool:
    """Whether lists in sight ask for rows that are not here, as they do whenever their cells are made."""
    asked = 0
    for rows in (one for screen in app.screen_stack for one in screen.query(SampleList) if one.is_on_screen):
        before = len(rows._asked)
        rows.want_in_sight()
        asked += len(rows._asked) - before
    return asked > 0


def _waits(pump: MessagePump) -> bool:
    """Does it wait for a message, with none there, or will it never take one again?"""
    ready = pump._message_queue.ready_event
    waits = bool(ready._waiters) and not ready.is_set() and not pump._next_callbacks
    return waits or pump._closing or pump._closed


@asynccontextmanager
async def opened(
    source: "BrowseSource | Callable[[], BrowseSource]",
    size: tuple[int, int] = (160, 45),
    *,
    notifications: bool = True,
    cells: bool = False,
) -> "AsyncIterator[Pilot[None]]":
    """The workbench over a source, at rest; `cells`: with the cells of the first screen made on the way there."""
    app = EmotuiApp(source if callable(source) else lambda: source, poll=None)
    async with app.run_test(size=size, notifications=notifications) as pilot:
        await settle(pilot, cells=cells)
        yield pilot
        if app.is_running and not app._exception_event.is_set():
            make_cells(pilot)


async def click(
    pilot: "Pilot[None]", where: "str | type[Widget] | None" = None, offset: tuple[int, int] = (0, 0)
) -> None:
    """Click as a person does, on what is drawn."""
    make_cells(pilot)
    await pilot.click(where, offset=offset)


async def press(pilot: "Pilot[None]", *keys: str) -> None:
    """Press keys, each once what the one before asked for is here."""
    for key in keys:
        pilot.app.post_message(event_of(key))
        await settle(pilot)


async def strike(pilot: "Pilot[None]", *keys: str) -> None:
    """Press keys without waiting for what they ask for: each once what the one before changes is drawn."""
    for key in keys:
        pilot.app.post_message(event_of(key))
        await drawn(pilot)


async def until(pilot: "Pilot[None]", *said: str) -> None:
    """Wait until the screen says all of that, while a model may be at work."""
    await awaited(
        lambda: all(words in screen_text(pilot) for words in said),
        lambda: f"{said} is not in\n{screen_text(pilot)}",
        pause=0.03,
    )


def pressed(*keys: str) -> "Callable[[Pilot[None]], Awaitable[None]]":
    """What a picture is taken after: the workbench at rest, keys pressed one by one, and no cursor that blinks."""

    async def drive(pilot: "Pilot[None]") -> None:
        await settle(pilot)
        await press(pilot, *keys)
        for field in pilot.app.screen.query(Input):
            field.cursor_blink = False
        await drawn(pilot)

    return drive


def event_of(key: str) -> Key:
    """The event that a terminal sends for a key, by its name or its character."""
    name = _character_to_key(key) if len(key) == 1 else key
    try:
        character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
    except KeyError:
        character = key if len(key) == 1 else None
    return Key(name, character)


def frame(pilot: "Pilot[None]") -> Frame:
    """The frame."""
    assert isinstance(pilot.app, EmotuiApp)
    return pilot.app.frame


def listed(pilot: "Pilot[None]") -> list[str]:
    """The ids in the list, as far as its first pages go."""
    rows = frame(pilot).query_one(SampleList)
    return [row.id for position in range(rows.n) if (row := rows.row(position)) is not None]


def shown_id(pilot: "Pilot[None]") -> str | None:
    """The id of the sample whose evidence is shown."""
    evidence = frame(pilot).query_one(Browse).evidence
    return evidence.sample.id if evidence else None


def stave(pilot: "Pilot[None]") -> TieredText:
    """The text pane."""
    return frame(pilot).query_one("#text", TieredText)


def screen_text(pilot: "Pilot[None]") -> str:
    """Everything on the screen, line by line."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def help_text(pilot: "Pilot[None]") -> str:
    """What the lines of the help that is open say, whether they are in sight or not."""
    sheet = pilot.app.screen
    assert isinstance(sheet, HelpDialog)
    return "\n".join(" ".join((row.sign, row.label, row.about)) for row in sheet.shown)


def notified(pilot: "Pilot[None]") -> list[str]:
    """What the app has told in passing."""
    return [notification.message for notification in pilot.app._notifications]
