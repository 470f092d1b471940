"""The workbench as an app. It paints first and opens its source afterwards; nothing heavy is imported for that."""

import asyncio
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.filter import LineFilter
from textual.message_pump import MessagePump
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Static

from emotui.collector import Tidying
from emotui.screens.frame import Frame
from emotui.screens.keymaps import keyed
from emotui.screens.requests import in_words, missing_extra
from emotui.screens.widgets.cell_width import PlainCells, shown
from emotui.screens.widgets.line import PART_CSS
from emotui.screens.widgets.textual_private import KeptStylesheet, let_go_of_closed_widgets, use_two_colours
from emotui.screens.widgets.textual_private_failures import OutlivingApp
from emotui.themes import DEFAULT, THEMES
from emotui.themes.fewer import with_colours

if TYPE_CHECKING:
    from pathlib import Path

    from emotui.workbench.source import BrowseSource

# Which of the errors that nobody foresaw are told, and when there are so many that the program has to end.

MANY = 100
"""Errors within a second, after which none of the next can be outlived: something makes the next one itself."""


class Failures:
    """Counts errors by where they were raised.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._times: deque[float] = deque(maxlen=MANY)
        self._told: set[tuple[type[BaseException], str, int]] = set()

    def forget(self) -> None:
        """A key was pressed: what it raises is told, also where another key had raised it before."""
        self._told.clear()

    def news(self, error: BaseException) -> bool:
        """Count an error; is it to be told? Not where a timer raises it over and over.

        Nor where a widget is missing because of one that was told: that would take the place of the cause.
        """
        now = self._clock()
        follows = bool(self._times) and now - self._times[-1] < 1
        self._times.append(now)
        if isinstance(error, NoMatches) and follows:
            return False
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = (type(error), last[0].filename, last[0].lineno or 0) if last else (type(error), "", 0)
        told = where in self._told
        self._told.add(where)
        return not told

    @property
    def too_many(self) -> bool:
        return len(self._times) == MANY and self._times[-1] - self._times[0] < 1


_STAYS = "What you have written stays; if this comes again, leave with Ctrl+Q."


# The clipboard inside tmux, which by itself keeps back what a program in it copies.


def tmux_runs() -> bool:
    """Is this terminal one of tmux?"""
    return bool(os.environ.get("TMUX"))


def copy_by_tmux(text: str) -> None:
    """Hand the text to tmux, which puts it into its own buffer and into the clipboard of the terminal around it."""
    import subprocess

    try:
        subprocess.run(
            ["tmux", "load-buffer", "-w", "-"], input=text.encode(), capture_output=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return


_THREADS = 64
"""Questions that wait for their answers at the same time; a thread is made when it is first needed."""

LEAST_COLUMNS, LEAST_LINES = 60, 16


def _seen() -> bool:
    """Is what is drawn seen in a terminal? Textual draws on standard error."""
    return sys.__stderr__ is not None and sys.__stderr__.isatty()


class TooSmall(Screen[None]):
    """Goes away by itself as soon as there is room."""

    BINDINGS = [Binding("q,ctrl+q", "leave", "quit")]
    DEFAULT_CSS = "TooSmall > Static { width: 1fr; height: 1fr; content-align: center middle; text-align: center; }"

    def __init__(self, columns: int, lines: int) -> None:
        super().__init__()
        self._least = (columns, lines)

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def on_resize(self, event: events.Resize) -> None:
        columns, lines = self._least
        self.query_one(Static).update(
            f"emotui needs {columns}x{lines}\nthis is {event.size.width}x{event.size.height}\nq quits"
        )

    def action_leave(self) -> None:
        self.app.exit()


class EmotuiApp(OutlivingApp):
    """Shows what `open_source` opens: a workspace, or files.

    Args:
        open_source: called in a thread once the frame is painted; an `EmotuiError` it raises is shown in the frame.
        poll: how many seconds between two looks whether the source has changed; None: never.
        annotator: the name under which attempts and reviews are kept.
        keys_file: says where a person's own keys are; None: they hold for this session.
        file: is looked at, to be brought in, as soon as the source is open; empty: none.
        annotates: begins in Annotate, unless the workspace is new.
    """

    TITLE = "emotui"
    CSS = (
        PART_CSS
        + """
    ScrollView, VerticalScroll, OptionList {
        scrollbar-color: $rule;
        scrollbar-color-hover: $primary;
        scrollbar-color-active: $primary;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    Frame ToastHolder { display: none; }
    Toast { background: $panel; }
    Toast .toast--title { color: $primary; }
    Toast.-warning .toast--title, Toast.-error .toast--title { color: $mark; }
    Input:focus { background-tint: transparent; }
    Input > .input--placeholder, Input > .input--suggestion { color: $text-disabled; }
    Input:nocolor > .input--selection, TextArea:nocolor > .text-area--selection { text-style: reverse; }
    """
    )
    BINDINGS = []
    # The sheet of keys finds actions (`Ctrl+P`); Textual has a palette of its own.
    ENABLE_COMMAND_PALETTE = False
    NOTIFICATION_TIMEOUT = 4

    def __init__(
        self,
        open_source: "Callable[[], BrowseSource]",
        *,
        poll: float | None = 0.5,
        annotator: str = "someone",
        keys_file: "Callable[[], Path] | None" = None,
        file: str = "",
        annotates: bool = False,
    ) -> None:
        super().__init__()
        for theme in THEMES.values():
            self.register_theme(with_colours(theme, self.console.color_system) if _seen() else theme)
        self.theme = DEFAULT
        self.stylesheet = KeptStylesheet(self.get_css_variables())
        let_go_of_closed_widgets()
        if self.no_color:
            use_two_colours(self)
        self._open_source = open_source
        self._poll, self._annotator, self._keys_file = poll, annotator, keys_file
        self._file, self._annotates = file, annotates
        self._failures, self._tidying = Failures(), Tidying()
        self._plain = PlainCells()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever a widget draws goes through these."""
        return [*super().get_line_filters(), self._plain]

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Tell something in passing; no markup is read in it."""
        plain = "\n".join(map(shown, message.split("\n")))
        super().notify(plain, title=shown(title), severity=severity, timeout=timeout, markup=markup)
        self.call_later(self._tell, message, title, severity, timeout or self.NOTIFICATION_TIMEOUT)

    def _tell(self, message: str, title: str, severity: SeverityLevel, seconds: float) -> None:
        """The frame has lines for it; over a sheet it is a toast."""
        if self.is_running and self.screen_stack and self.frame.is_mounted:
            self.frame.told.tell(message, title, seconds, wrong=severity != "information")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy to the terminal's clipboard, over SSH and through tmux too."""
        super().copy_to_clipboard(text)
        if tmux_runs():
            self.run_worker(partial(copy_by_tmux, text), name="tmux", group="tmux", thread=True, exit_on_error=False)

    def action_help_quit(self) -> None:
        """Ctrl+C where nothing is selected."""
        self.notify(keyed("Ctrl+C copies what is selected with the mouse; {quit} leaves emotui, Ctrl+Q from anywhere"))

    def get_default_screen(self) -> Frame:
        """The frame is the only screen; sheets lie over it."""
        return Frame(
            self._open_source,
            self._poll,
            self._annotator,
            self._keys_file,
            self._file,
            self._annotates,
            answer_key=self._answer_key,
        )

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """So that a theme from elsewhere still draws."""
        return THEMES[DEFAULT].variables

    def on_load(self) -> None:
        """Let what takes minutes never keep the list waiting: of itself asyncio has six threads on two processors."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "emotui"))

    def on_ready(self) -> None:
        """Open the source as soon as the frame is painted for the first time."""
        self.frame.session.open()

    def on_mount(self) -> None:
        if self._poll:
            self.set_interval(0.5, self._tidying.tick)

    @property
    def frame(self) -> Frame:
        """The frame, whatever lies over it."""
        frame = self.screen_stack[0]
        assert isinstance(frame, Frame)
        return frame

    async def on_event(self, event: events.Event) -> None:
        """A key that comes before what it is about waits for that, whatever it will mean."""
        if isinstance(event, events.Key) and not event.is_forwarded and self._waits(event):
            return
        if isinstance(event, events.Key) and not event.is_forwarded and self._over_frame:
            self.frame.early.passes(await self._answer_key(event))
        else:
            await super().on_event(event)

    @property
    def _over_frame(self) -> bool:
        """Is the frame there, with nothing over it?"""
        return self.is_running and bool(self.screen_stack) and self.screen is self.frame and self.frame.is_mounted

    async def _answer_key(self, event: events.Key) -> Sequence[MessagePump]:
        """Do what a key does; returns what it passes through on its way back here, nothing where it is typed."""
        typed = event.is_printable and self._over_frame and self.frame.keys.in_field
        first = self.focused or self.screen
        through = () if typed else tuple(first.ancestors_with_self)
        await super().on_event(event)
        return through

    def _waits(self, event: events.Key) -> bool:
        if not self.is_running or not self.screen_stack or not self.frame.is_mounted:
            return False
        early = self.frame.early
        return (early.busy or self.screen is self.frame) and early.take(event)

    def key_came(self) -> None:
        self._failures.forget()
        self._tidying.key_came()
        if self.is_running and self.screen_stack and self.frame.is_mounted:
            self.frame.key_came()

    def failed(self, error: Exception) -> bool:
        """Tell what was raised and where it is written down; without a frame to tell it in the program ends."""
        news = self._failures.news(error)
        if self._failures.too_many or not self.is_running or not self.screen_stack or not self.frame.is_mounted:
            self.end_with(f"emotui had to end: {in_words(error)}")
        elif news:
            said = in_words(error)
            self.notify(
                said if missing_extra(error) else f"{said}\n{_STAYS}",
                title=next(iter(getattr(error, "__notes__", ())), "Something went wrong that nobody foresaw"),
                severity="error",
                timeout=20,
                markup=False,
            )
        return True

    def on_resize(self, event: events.Resize) -> None:
        """Say so where the terminal is too small, instead of breaking."""
        small = event.size.width < LEAST_COLUMNS or event.size.height < LEAST_LINES
        shown = isinstance(self.screen, TooSmall)
        if small and not shown:
            self.push_screen(TooSmall(LEAST_COLUMNS, LEAST_LINES))
        elif shown and not small:
            self.pop_screen()
