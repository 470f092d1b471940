"""The line in which a person types: the word behind a mask, why, codes of their own."""

from typing import TYPE_CHECKING

from emotui.screens.long_text import Drafts, LongInput

if TYPE_CHECKING:
    from emotui.workbench.drafts import Field


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

    def begin(self, prompt: str, value: str = "", drafts: Drafts | None = None, field: "Field | None" = None) -> None:
        """Ask for something; where it was being written before, that stands there and is told."""
        self.placeholder = prompt
        self.put(value, drafts, field)
        if self.told:
            self.notify(self.told, markup=False)
