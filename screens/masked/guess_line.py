"""Where a person types the word that they would put behind a mask."""

from textual.widgets import Input


class GuessLine(Input):
    """Enter keeps the word and asks for the next one; Esc is the place's."""

    DEFAULT_CSS = """
    GuessLine, GuessLine:focus {
        height: 1;
        border: none;
        padding: 0 1;
        background: $raised;
        background-tint: transparent;
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True)
        self.cursor_blink = False

    def begin(self, mask: int, of: int) -> None:
        """Ask for the word of a mask."""
        self.value = ""
        self.placeholder = f"your word for mask {mask} of {of}   Enter keeps it   Esc leaves"
