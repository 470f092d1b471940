"""A dialog that asks for a name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.widgets.cell_width import shown

if TYPE_CHECKING:
    pass


class NameDialog(Dialog[str]):
    """One line to type: a model's SPEC, or a person's name."""

    BINDINGS = [Binding("enter", "take", show=False, priority=True)]
    DEFAULT_CSS = """
    NameDialog Label { color: $text-muted; width: 1fr; margin: 1 0 0 0; }
    NameDialog Input, NameDialog Input:focus { height: 1; border: none; padding: 0 1; background: $raised; }
    NameDialog #why { color: $error; height: auto; }
    """

    def __init__(self, title: str, about: Sequence[str], now: str, *, why: str = "") -> None:
        super().__init__(title, (("Enter", "go on"),))
        self._about, self._now, self._why = about, now, why

    def body(self) -> list[Widget]:
        """What is asked for, and the field."""
        found: list[Widget] = [Label(shown(line), markup=False) for line in self._about]
        field = Input(self._now, id="name", compact=True)
        why = Label(shown(self._why), id="why", markup=False)
        why.display = bool(self._why)
        return [*found, field, why]

    def on_mount(self) -> None:
        """Type at once."""
        super().on_mount()
        self.query_one(Input).focus()

    def action_take(self) -> None:
        """Give it back, where something was typed."""
        name = self.query_one(Input).value.strip()
        if name:
            self.dismiss(name)
