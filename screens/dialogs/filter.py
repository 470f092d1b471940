"""Which samples the list keeps: by emotion, valence, kind of error and the values of metrics, a row each."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.metrics.metric import Metric
from emotui.records import VALENCES
from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.list_state import ListState, key_of
from emotui.screens.widgets.switches import Switches
from emotui.store.query import MARKS, Bounds


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
    FilterDialog #ranges { height: auto; max-height: 6; margin: 1 0 0 0; }
    FilterDialog #ranges .row { margin: 0; }
    FilterDialog Switches { width: 1fr; }
    FilterDialog Input, FilterDialog Input:focus { width: 8; height: 1; border: none; padding: 0; background: $raised; }
    FilterDialog .to { width: 4; padding: 0 1; }
    FilterDialog .why { width: 1fr; padding: 0 1; }
    """

    def __init__(self, state: ListState, emotions: Sequence[str], metrics: Sequence[Metric]) -> None:
        super().__init__(
            "Filter", (("Tab", "row"), ("← →", "move"), ("Space", "switch"), ("x", "clear"), ("Enter", "apply"))
        )
        self._state = state
        self._emotions = list(emotions)
        self._metrics = {key_of(metric, metrics): metric for metric in metrics}

    def body(self) -> list[Widget]:
        """A row each; what only a run gives is left out where there is none."""
        state = self._state
        rows: list[Widget] = [
            _row("emotion", Switches(self._emotions, state.emotions, id="emotions")),
            _row("valence", Switches(VALENCES, state.valences, id="valences")),
        ]
        if self._metrics:
            labels = [f"{mark} {words}" for mark, words in MARKS.items()]
            rows.append(_row("errors", Switches(list(MARKS), state.marks, labels, id="marks")))
        bounds = {one.metric: one for one in state.bounds}
        ranges = []
        for key, metric in self._metrics.items():
            now, (least, most) = bounds.get(key, Bounds(key)), metric.range
            ranges.append(
                _row(
                    f"{metric.title} from",
                    Input(_figure(now.low), placeholder=_figure(least), id=f"low-{key}", compact=True),
                    Label("to", classes="to"),
                    Input(_figure(now.high), placeholder=_figure(most), id=f"high-{key}", compact=True),
                    Label("", id=f"why-{key}", classes="why"),
                )
            )
        return [*rows, VerticalScroll(*ranges, can_focus=False, id="ranges")] if ranges else rows

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
        if self._metrics:
            bounds = []
            for key, metric in self._metrics.items():
                try:
                    bounds.append(Bounds(key, self._bound(f"low-{key}", metric), self._bound(f"high-{key}", metric)))
                except ValueError:
                    self.query_one(f"#why-{key}", Label).update(_range(metric))
                    return
            marks = "".join(self.query_one("#marks", Switches).chosen)
            kept = tuple(one for one in bounds if one.low is not None or one.high is not None)
            state = replace(state, marks=marks, bounds=kept)
        self.dismiss(state)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        for why in self.query(".why").results(Label):
            why.update("")

    def _bound(self, name: str, metric: Metric) -> float | None:
        written = self.query_one(f"#{name}", Input).value.strip()
        if not written:
            return None
        value = float(written.replace(",", "."))
        least, most = metric.range
        if not (-inf if least is None else least) <= value <= (inf if most is None else most):
            raise ValueError(written)
        return value


def _row(name: str, *widgets: Widget) -> Horizontal:
    return Horizontal(Label(name), *widgets, classes="row")


def _range(metric: Metric) -> str:
    """What may be written in the fields of a metric."""
    least, most = metric.range
    low, high = "" if least is None else f" from {least:g}", "" if most is None else f" to {most:g}"
    return f"figures{low}{high}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
