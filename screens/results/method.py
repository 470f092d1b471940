"""How what stands on an axis was counted, in full: under the sources there is room for a few lines of it."""

from collections.abc import Sequence

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from emotui.screens.dialogs.dialog import Dialog


class MethodDialog(Dialog[None]):
    """A paragraph for each thing that is known; F2, q and Esc leave."""

    BINDINGS = [
        Binding("f2,q", "leave", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]
    DEFAULT_CSS = """
    MethodDialog VerticalScroll { height: auto; max-height: 70vh; scrollbar-size-vertical: 1; }
    MethodDialog Static { margin-bottom: 1; }
    """

    def __init__(self, title: str, said: Sequence[str]) -> None:
        super().__init__(title, ("↑ ↓", "scroll"))
        self._said = said

    def body(self) -> Sequence[Widget]:
        return [VerticalScroll(*(Static(Content(one)) for one in self._said))]

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, step: int) -> None:
        """One line down or up."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)
