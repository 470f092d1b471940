"""What a terminal too small for the workbench shows."""

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Static


class TooSmall(Screen[None]):
    """Goes away by itself as soon as there is room."""

    BINDINGS = [Binding("q,ctrl+q", "leave", "quit")]
    DEFAULT_CSS = "TooSmall > Static { width: 1fr; height: 1fr; content-align: center middle; text-align: center; }"

    def __init__(self, columns: int, lines: int) -> None:
        super().__init__()
        self._least = (columns, lines)

    def compose(self) -> ComposeResult:
        """The one message."""
        yield Static(markup=False)

    def on_resize(self, event: events.Resize) -> None:
        """Say how much is missing."""
        columns, lines = self._least
        self.query_one(Static).update(
            f"emotui needs {columns}x{lines}\nthis is {event.size.width}x{event.size.height}\nq quits"
        )

    def action_leave(self) -> None:
        """Quit."""
        self.app.exit()
