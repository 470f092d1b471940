"""Which samples the list keeps: by emotion, valence, kind of error and F1, each a row of switches."""

from collections.abc import Sequence
from dataclasses import replace

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.records import VALENCES
from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.list_state import ListState
from emotui.screens.widgets.switches import Switches
from emotui.store.query import MARKS


class FilterDialog(Dialog[ListState]):
    """Gives back the state with another filter."""

    BINDINGS = [
        Binding("enter", "apply", show=False, priority=True),
        Binding("x", "clear", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]
    DEFAULT_CSS = """
    FilterDialog Label { color: $text-muted; width: 10; }
    FilterDialog .row { height: auto; margin: 1 0 0 0; }
    FilterDialog Switches { width: 1fr; }
    FilterDialog Input, FilterDialog Input:focus { width: 8; height: 1; border: none; padding: 0; background: $raised; }
    FilterDialog #to { width: 4; padding: 0 1; }
    FilterDialog #why { width: 1fr; padding: 0 1; }
    """

    def __init__(self, state: ListState, emotions: Sequence[str], *, figure: str) -> None:
        super().__init__(
            "Filter", (("Tab", "row"), ("← →", "move"), ("Space", "switch"), ("x", "clear"), ("Enter", "apply"))
        )
        self._state = state
        self._emotions = list(emotions)
        self._figure = figure

    def body(self) -> list[Widget]:
        """A row each; what only a run gives is left out where there is none."""
        state = self._state
        rows: list[Widget] = [
            _row("emotion", Switches(self._emotions, state.emotions, id="emotions")),
            _row("valence", Switches(VALENCES, state.valences, id="valences")),
        ]
        if self._figure:
            labels = [f"{mark} {words}" for mark, words in MARKS.items()]
            rows.append(_row("errors", Switches(list(MARKS), state.marks, labels, id="marks")))
            rows.append(
                _row(
                    f"{self._figure} from",
                    Input(_figure(state.f1_min), placeholder="0", id="low", compact=True),
                    Label("to", id="to"),
                    Input(_figure(state.f1_max), placeholder="1", id="high", compact=True),
                    Label("", id="why"),
                )
            )
        return rows

    def action_clear(self) -> None:
        """Everything off."""
        for switches in self.query(Switches):
            switches.clear()
        for field in self.query(Input):
            field.value = ""

    def action_apply(self) -> None:
        """Give the filter back, where its figures are figures."""
        state = replace(
            self._state,
            emotions=self.query_one("#emotions", Switches).chosen,
            valences=self.query_one("#valences", Switches).chosen,
        )
        if self._figure:
            try:
                low, high = self._bound("low"), self._bound("high")
            except ValueError:
                self.query_one("#why", Label).update("figures from 0 to 1")
                return
            marks = "".join(self.query_one("#marks", Switches).chosen)
            state = replace(state, marks=marks, f1_min=low, f1_max=high)
        self.dismiss(state)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one("#why", Label).update("")

    def _bound(self, name: str) -> float | None:
        written = self.query_one(f"#{name}", Input).value.strip()
        if not written:
            return None
        value = float(written.replace(",", "."))
        if not 0 <= value <= 1:
            raise ValueError(written)
        return value


def _row(name: str, *widgets: Widget) -> Horizontal:
    return Horizontal(Label(name), *widgets, classes="row")


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
