"""A dialog that asks for a name."""

from collections.abc import Sequence

from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.widgets.cell_width import shown


class NameDialog(Dialog[str]):
    """One line to type: a model's SPEC, or a person's name. `why`: what was wrong with the last one."""

    def __init__(self, title: str, about: Sequence[str], now: str, *, why: str = "") -> None:
        super().__init__(title, ("Enter", "go on"))
        self._about, self._now, self._why = about, now, why

    def body(self) -> list[Widget]:
        return [
            *(Label(shown(line), markup=False) for line in self._about),
            Input(self._now, id="name", compact=True),
        ]

    def on_mount(self) -> None:
        """Type at once."""
        super().on_mount()
        self.refuse(self._why)
        self.query_one(Input).focus()

    def result(self) -> str | None:
        """The name, where something was typed."""
        name = self.text("name")
        return self.model(name, typed=name != self._now) if name else None
