"""Where the words to search for are typed; the list follows each letter."""

from textual import on
from textual.binding import Binding
from textual.message import Message

from emotui.screens.widgets.textual_private_text import Input


class SearchLine(Input):
    """Enter keeps what was found, Esc goes back to what was there before."""

    footer_keys = (("Enter", "keep"), ("Esc", "as it was"))
    BINDINGS = [Binding("escape", "forget", "back"), Binding("down,up", "keep", "keep", show=False)]
    DEFAULT_CSS = """
    SearchLine, SearchLine:focus {
        height: 1;
        border: none;
        padding: 0 1;
        background: $entry;
        text-style: $entry-text-style;
        background-tint: transparent;
    }
    """

    class Closed(Message):
        """Typing is over; `text` is what is searched for from now on."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str) -> None:
        super().__init__(text, placeholder="words in the text", id="search", compact=True)
        self.cursor_blink = False
        self._before = text

    def action_forget(self) -> None:
        """Go back to what was there before."""
        self.post_message(self.Closed(self._before))

    def action_keep(self) -> None:
        """Keep what was found."""
        self.post_message(self.Closed(self.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()
