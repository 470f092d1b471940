"""Which model is live: one of those at hand, or a SPEC that is typed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList

from emotui.screens.dialogs.dialog import OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import width

if TYPE_CHECKING:
    from emotui.workbench.models.loaded import OnShelf

_SIGNS = {"loaded": "●", "loading": "◐", "measuring": "◐", "ended": "○", "failed": "!", "": " "}


class LiveDialog(OptionDialog[str]):
    """↑ ↓ and Enter choose a model of the list, unless a SPEC was typed: then Enter takes that.

    Args:
        now: the SPEC that is live.
        look: finds the models at hand; asked in a thread, since it reads folders.
    """

    BINDINGS = [
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
    ]
    DEFAULT_CSS = "LiveDialog OptionList { max-height: 10; }"

    def __init__(self, now: str, look: "Callable[[], Sequence[OnShelf]]", title: str = "Live model") -> None:
        super().__init__(title, ("↑ ↓", "move"), ("Enter", "choose"))
        self._now = now
        self._specs = [now]
        self._models: LatestRequest[None, Sequence[OnShelf]] = LatestRequest(
            "live models", self, lambda _: look(), self._found, lambda _, why: self._found(None, (), why)
        )

    def body(self) -> list[Widget]:
        return [
            PickList(option(self._now, "", "● ")),
            Label("", id="looking", markup=False),
            Label("or embedded, hf:NAME_OR_DIR, gguf:FILE, openai:MODEL@URL"),
            Input("", id="spec", compact=True),
        ]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = 0
        self.query_one("#spec", Input).focus()
        self.query_one("#looking", Label).update("looking for models at hand")
        self._models.ask(None)

    def _found(self, _: None, rows: "Sequence[OnShelf]", why: str = "") -> None:
        looking, models = self.query_one("#looking", Label), self.options
        looking.display = bool(why)
        looking.update(why)
        state = {row.spec: row.state for row in rows}
        here = self._specs[self.at]
        self._specs = list(dict.fromkeys([self._now, *state]))
        widest = max(map(width, self._specs))
        models.clear_options()
        for spec in self._specs:
            said = state.get(spec, "")
            about = f"   {_SIGNS[said]} {said}" if said else ""
            models.add_option(option(spec, about, "● " if spec == self._now else "  ", widest))
        models.highlighted = self._specs.index(here)

    @on(OptionList.OptionSelected)
    def _forget_the_spec(self) -> None:
        # A click on a model means that one; the base class then accepts it.
        self.query_one("#spec", Input).value = ""

    def result(self) -> str:
        typed = self.text("spec")
        return self.model(typed or self._specs[self.at], typed=bool(typed))
