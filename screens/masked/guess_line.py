"""The line in which a person types: the word behind a mask, why, codes of their own."""

from emotui.screens.elsewhere import LongInput


class GuessLine(LongInput):
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

    def begin(self, prompt: str, value: str = "") -> None:
        """Ask for something."""
        self.value, self.placeholder = value, prompt
        self.cursor_position = len(value)
