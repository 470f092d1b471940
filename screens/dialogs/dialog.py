"""A sheet: a small screen over the frame that asks one thing. Esc leaves it as it was."""

from typing import Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, OptionList

from emotui.screens.widgets.line import Line, Part

T = TypeVar("T")


class Dialog(ModalScreen["T | None"], Generic[T]):
    """A title, a body, and a line that says which keys do what."""

    BINDINGS = [Binding("escape", "leave", "back")]
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog > #sheet {
        width: 72;
        max-width: 96%;
        height: auto;
        max-height: 96%;
        background: $surface;
        border: round $primary;
        border-title-color: $foreground;
        border-title-style: bold;
        padding: 0 1;
    }
    Dialog OptionList > .option-list--option-highlighted, Dialog OptionList:focus > .option-list--option-highlighted {
        background: $raised; color: $foreground; text-style: bold;
    }
    Dialog OptionList:nocolor > .option-list--option-highlighted { text-style: reverse; }
    Dialog Line#sheet-keys { margin: 1 0 0 0; color: $text-muted; }
    """

    def __init__(self, title: str, keys: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self._title = title
        self._keys = (*keys, ("Esc", "back"))

    def body(self) -> list[Widget]:
        """What the sheet asks with."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Title, body, keys."""
        with Vertical(id="sheet") as sheet:
            sheet.border_title = self._title
            yield from self.body()
            yield Line(id="sheet-keys")

    def on_mount(self) -> None:
        """Name the keys; nothing blinks."""
        for field in self.query(Input):
            field.cursor_blink = False
        parts = []
        for key, label in self._keys:
            parts += [Part(key, "key"), Part(f" {label}  ")]
        self.query_one("#sheet-keys", Line).show(parts)

    def action_leave(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)


class OptionDialog(Dialog[T]):
    """j and k move in the list as the arrow keys do."""

    BINDINGS = [
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    def action_move(self, step: int) -> None:
        """One down or up."""
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()
