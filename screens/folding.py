"""List and place side by side, or one of them where both do not fit: who is in sight, and how wide the list is."""

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from emotui.screens.actions import Acting
from emotui.screens.place import Place
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import LIST_WIDTH, Session
from emotui.screens.widgets.search_input import SearchLine

# The line between the list and the place: dragged by the mouse, moved by keys, and where it was the next time.

LEAST, LEAST_PLACE = 30, 46
"""Cells that the list has at least, and that it leaves to the place."""

STEP = 4
"""Cells that a key moves it by."""


def fitting(wanted: int, cells: int) -> int:
    """The width nearest to the one wanted, where list and place together have so many cells."""
    return max(min(wanted, cells - 1 - LEAST_PLACE), LEAST)


def kept_width(setting: object) -> int | None:
    """The width that was remembered; None where there is none, or it makes no sense."""
    return setting if isinstance(setting, int) and not isinstance(setting, bool) and setting > 0 else None


class Divider(Widget):
    """Tells where it is dragged to, and when it is let go."""

    DEFAULT_CSS = """
    Divider { width: 1; color: $rule; }
    Divider:hover, Divider.-dragged { color: $primary; text-style: bold; }
    """

    class Moved(Message):
        """The list is to have so many cells; `done`: the mouse has let go."""

        def __init__(self, width: int, done: bool) -> None:
            super().__init__()
            self.width, self.done = width, done

    def render_line(self, y: int) -> Strip:
        return Strip([Segment("│", self.rich_style)])

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        self.capture_mouse()
        self.add_class("-dragged")

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.has_class("-dragged"):
            event.stop()
            self.post_message(self.Moved(int(event.screen_x), done=False))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self.has_class("-dragged"):
            event.stop()
            self.capture_mouse(False)
            self.remove_class("-dragged")
            self.post_message(self.Moved(int(event.screen_x), done=True))


NARROW = 110
"""Below so many columns the list folds away behind a key."""

_LIST = (44, 60)
"""Cells that the list has at least and at most, where nobody has moved the line beside it."""


class Folding(Acting):
    """Classes of the screen say how it stands: `-narrow`, `-list` (over the place), `-alone` (the place without it).

    Args:
        screen: the frame.
        place: the place that is open.
        can: whether an action can be done now.
    """

    def __init__(
        self,
        session: Session,
        pane: ListPane,
        screen: Screen[None],
        place: Callable[[], Place],
        can: Callable[[str], bool],
    ) -> None:
        self._session, self._pane, self._screen = session, pane, screen
        self._place, self._can = place, can
        self._width: int | None = None

    @property
    def narrow(self) -> bool:
        """Do list and place not fit beside each other?"""
        return self._screen.has_class("-narrow")

    @property
    def covers(self) -> bool:
        """Does the list stand over the place?"""
        return self.narrow and self._screen.has_class("-list")

    def take_width(self, setting: object) -> None:
        """Give the list the width that was remembered."""
        self._width = kept_width(setting)
        self._part()

    def fit(self, cells: int) -> None:
        """The screen has so many cells a line."""
        self._screen.set_class(cells < NARROW, "-narrow")
        self._part()

    def seclude(self) -> None:
        """Leave the list away where the place stands without it."""
        alone = self._place().alone
        self._screen.set_class(alone, "-alone")
        if alone:
            self._screen.remove_class("-list")

    def show_list(self, shown: bool) -> None:
        """Show the list, or what stands behind it, where they do not fit beside each other."""
        self._screen.set_class(shown, "-list")
        if self.narrow:
            if shown:
                self._screen.set_focus(self._pane.rows)
            else:
                self._place().focus_first()
        self._screen.refresh_bindings()

    def focus_shown(self) -> None:
        """Put the focus into a pane that is in sight."""
        focused = self._screen.focused
        folded = self._place().alone or (self.narrow and not self.covers)
        if folded and focused in (None, self._pane.rows):
            self._place().focus_first()
        elif not folded and (focused is None or self.narrow) and not self._screen.query(SearchLine):
            self._pane.rows.focus()

    def drag(self, event: Divider.Moved) -> None:
        """The line between them was moved by the mouse."""
        if event.done:
            self._keep_width(event.width)
        else:
            self._width = event.width
            self._part()

    def can_list(self) -> bool:
        return self.narrow and not self._place().alone

    def do_list(self) -> None:
        self.show_list(not self._screen.has_class("-list"))

    def can_unfold(self) -> bool:
        return self.can_list() and not self._can("list")

    do_unfold = do_list

    def can_list_wider(self) -> bool:
        return not self.narrow and not self._place().alone

    can_list_narrower = can_list_wider

    def do_list_wider(self) -> None:
        self._move(STEP)

    def do_list_narrower(self) -> None:
        self._move(-STEP)

    def _move(self, step: int) -> None:
        now = self._pane.size.width
        if fitting(now + step, self._screen.size.width) == now:
            self._screen.notify("The line between list and place stands as far as it goes")
        else:
            self._keep_width(now + step)

    def _keep_width(self, cells: int) -> None:
        self._width = fitting(cells, self._screen.size.width)
        self._part()
        self._session.remember(LIST_WIDTH, self._width)

    def _part(self) -> None:
        """Share the width out between list and place: as it was left, or else the list has a third."""
        cells = self._screen.app.size.width
        if self.narrow:
            self._pane.styles.width = "1fr"
        else:
            third = min(max(cells * 34 // 100, _LIST[0]), _LIST[1])
            self._pane.styles.width = fitting(self._width or third, cells)
