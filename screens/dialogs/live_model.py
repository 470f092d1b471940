"""Which model is live: one of those at hand, or a SPEC that is typed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from emotui.screens.dialogs.dialog import OptionDialog
from emotui.screens.requests import Answer, LatestRequest
from emotui.screens.widgets.cell_width import shown

if TYPE_CHECKING:
    from emotui.workbench.models.loaded import OnShelf

_SIGNS = {"loaded": "●", "loading": "◐", "ended": "○", "failed": "!", "": " "}


class LiveDialog(OptionDialog[str]):
    """↑ ↓ and Enter choose a model of the list, unless a SPEC was typed: then Enter takes that.

    Args:
        now: the SPEC that is live.
        look: finds the models at hand; asked in a thread, since it reads folders.
    """

    BINDINGS = [
        Binding("enter", "choose", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    LiveDialog Label { color: $text-muted; width: 1fr; margin: 1 0 0 0; }
    LiveDialog Input, LiveDialog Input:focus { height: 1; border: none; padding: 0 1; background: $raised; }
    LiveDialog OptionList, LiveDialog OptionList:focus {
        border: none; padding: 0; height: auto; max-height: 10; background: $surface;
    }
    """

    def __init__(self, now: str, look: "Callable[[], Sequence[OnShelf]]", title: str = "Live model") -> None:
        super().__init__(title, (("↑ ↓", "move"), ("Enter", "choose")))
        self._now = now
        self._specs = [now]
        self._desk: LatestRequest[None, Sequence[OnShelf]] = LatestRequest("live models", self, lambda _: look())

    def body(self) -> list[Widget]:
        """The models, and a field for another."""
        return [
            OptionList(Content(f"● {shown(self._now)}"), id="models"),
            Label("", id="looking", markup=False),
            Label("or embedded, hf:NAME_OR_DIR, gguf:FILE, openai:MODEL@URL"),
            Input("", id="spec", compact=True),
        ]

    def on_mount(self) -> None:
        """Look for more while the first is shown already."""
        super().on_mount()
        self.query_one("#models", OptionList).highlighted = 0
        self.query_one("#spec", Input).focus()
        self.query_one("#looking", Label).update("looking for models at hand")
        self._desk.ask(None)

    @on(Answer)
    def _found(self, answer: Answer) -> None:
        answer.stop()
        answer.desk.take(answer)
        models, looking = self.query_one("#models", OptionList), self.query_one("#looking", Label)
        looking.display = answer.error is not None
        looking.update(answer.error or "")
        rows: Sequence[OnShelf] = answer.value or ()
        state = {row.spec: row.state for row in rows}
        at = models.highlighted or 0
        here = self._specs[at]
        self._specs = list(dict.fromkeys([self._now, *state]))
        widest = min(max(len(shown(spec)) for spec in self._specs), 48)
        models.clear_options()
        for spec in self._specs:
            sign = "● " if spec == self._now else "  "
            said = state.get(spec, "")
            about = f"   {_SIGNS[said]} {said}" if said else ""
            models.add_option(Option(Content.assemble(sign, shown(spec).ljust(widest), (about, "$text-muted"))))
        models.highlighted = self._specs.index(here)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._specs[event.option_index])

    def action_choose(self) -> None:
        """Give back what is typed, or else what is picked."""
        typed = self.query_one("#spec", Input).value.strip()
        picked = self.query_one("#models", OptionList).highlighted
        self.dismiss(typed or self._specs[picked or 0])
