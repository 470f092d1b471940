"""The line between the list and the place: dragged by the mouse, moved by keys, and where it was the next time."""

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

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
