"""Which samples the list keeps: by emotion, valence, kind of error and the values of metrics, a row each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace
from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.validation import Number
from textual.widget import Widget
from textual.widgets import Label

from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.records import VALENCES
from emotui.screens.dialogs.dialog import Dialog, number_field
from emotui.screens.list_state import ListState, column_of, key_of
from emotui.screens.long_text import Drafts, LongInput
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.switches import Switches
from emotui.screens.widgets.textual_private_text import Input
from emotui.store.query import MARKS, Bounds
from emotui.workbench.slices.conditions import parsed

if TYPE_CHECKING:
    from emotui.workbench.drafts import Field

Counts = Mapping[str, Mapping[str, int]]
"""By `emotions`, `valences` and `marks`, then by name: how many samples have it."""

_NOT_SCORED = {"L": "L not scored: gold has no label of spans"}

FIELD = "filter"
"""The field of a filter's conditions, as drafts name it."""


class Filtered(msgspec.Struct, frozen=True):
    """The list with another filter, and the name under which that is to be saved; empty: under none."""

    state: ListState
    name: str = ""


class FilterDialog(Dialog[Filtered]):
    """Gives back the state with another filter.

    Args:
        slices: the names of saved filters; None: none can be saved here.
        counts: gives how many samples have each emotion, valence and mark, in a thread; None: nothing does.
        left: gives how many samples a filter leaves, in a thread; None: nothing does.
        marked: whether samples are marked by kinds of errors.
        valenced: whether samples have a valence.
        drafts, field: where drafts are, and whose the conditions' one is; None: there is none.
    """

    BINDINGS = [
        Binding("x", "clear", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]
    DEFAULT_CSS = """
    FilterDialog .row { height: auto; margin: 1 0 0 0; }
    FilterDialog #ranges { height: auto; max-height: 6; margin: 1 0 0 0; }
    FilterDialog #ranges .row { margin: 0; }
    FilterDialog .row > Label { width: 12; margin: 0; }
    FilterDialog .row > Switches { width: 1fr; }
    FilterDialog .row > Input, FilterDialog .row > Input:focus { width: 8; padding: 0; }
    FilterDialog .row > #column, FilterDialog .row > #column:focus { width: 1fr; }
    FilterDialog .row > #name, FilterDialog .row > #name:focus { width: 1fr; }
    FilterDialog .row > .to { width: 4; padding: 0 1; }
    """

    def __init__(
        self,
        state: ListState,
        emotions: Sequence[str],
        metrics: Sequence[Metric],
        slices: Sequence[str] | None = None,
        counts: "Callable[[], Counts] | None" = None,
        *,
        left: "Callable[[ListState], int] | None" = None,
        marked: bool = True,
        valenced: bool = True,
        drafts: Drafts | None = None,
        field: "Field | None" = None,
    ) -> None:
        moves = ("Tab", "row"), ("← → letter", "move")
        super().__init__("Filter", *moves, ("Space", "switch"), ("x", "clear all"), ("Enter", "apply"))
        self._state, self._emotions, self._slices = state, list(emotions), slices
        self._counts: LatestRequest[Callable[[], Counts], Counts] = LatestRequest(
            "filter counts", self, lambda ask: ask(), lambda _, counts: self._tell_counts(counts)
        )
        self._count = counts
        self._left: LatestRequest[ListState, int] | None = None
        if left is not None:
            self._left = LatestRequest("filter left", self, left, self._tell_left, lambda _, why: self._say_left(""))
        self._marked, self._valenced = marked, valenced
        self._drafts, self._field = drafts, field
        self._metrics = {key_of(metric, metrics): metric for metric in metrics}

    def body(self) -> list[Widget]:
        """A row each; what only a run gives is left out where there is none."""
        state = self._state
        rows: list[Widget] = [
            _row("emotion", Switches(self._emotions, state.emotions, id="emotions")),
        ]
        if self._valenced:
            rows.append(_row("valence", Switches(VALENCES, state.valences, id="valences")))
        if self._metrics and self._marked:
            labels = [f"{mark} {words}" for mark, words in MARKS.items()]
            rows.append(_row("errors", Switches(list(MARKS), state.marks, labels, id="marks")))
        bounds = {one.metric: one for one in state.bounds}
        ranges = []
        for key, metric in self._metrics.items():
            now, (least, most) = bounds.get(key, Bounds(key)), metric.range
            low = _bound(f"low-{key}", metric, now.low, least)
            high = _bound(f"high-{key}", metric, now.high, most)
            ranges.append(_row(f"{metric.title} from", low, Label("to", classes="to"), high))
        if ranges:
            rows.append(VerticalScroll(*ranges, can_focus=False, id="ranges"))
        hint = "speaker=Ann" if self._slices is None else "speaker=Ann & length=long & code!=irony"
        where = LongInput(
            state.column, drafts=self._drafts, field=self._field, placeholder=hint, compact=True, id="column"
        )
        rows.append(_row("where", where))
        if self._slices is not None:
            if self._slices:
                rows.append(_row("slices", Switches(list(self._slices), state.slices, id="slices")))
            rows.append(_row("save as", Input(placeholder="a name for this filter", compact=True, id="name")))
        return rows

    def on_mount(self) -> None:
        """Counts come when they are there; nothing waits for them."""
        super().on_mount()
        if self._count is not None:
            self._counts.ask(self._count)
        self._ask_left()

    def _tell_counts(self, counts: "Counts") -> None:
        for name, of_names in counts.items():
            for switches in self.query(f"#{name}").results(Switches):
                switches.count(of_names, _NOT_SCORED if name == "marks" and "L" not in of_names else {})

    @on(Switches.Switched)
    def _switched(self, event: Switches.Switched) -> None:
        event.stop()
        self._ask_left()

    def _ask_left(self) -> None:
        """How many the choice leaves, where it is one that can be taken."""
        if self._left is None:
            return
        try:
            state = self.result().state
        except BadInput:
            self._say_left("")
        else:
            self._left.ask(state)

    def _tell_left(self, _: ListState, n: int) -> None:
        self._say_left(f"leaves {count(n)}")

    def _say_left(self, said: str) -> None:
        self.query_one("#sheet").border_title = Content(f"Filter   {said}".rstrip())

    def action_clear(self) -> None:
        """Everything off."""
        for switches in self.query(Switches):
            switches.clear()
        for field in self.query(Input):
            field.value = ""

    def result(self) -> Filtered:
        """The state with this filter.

        Raises:
            BadInput: a bound is no figure within the range of its metric, or a column is not asked for by `=`.
        """
        column = self.query_one("#column", Input).value.strip()
        if column and column_of(column) is None:
            if self._slices is None:
                raise BadInput("a column of your own: its name, =, and what it says")
            parsed(column)
        state = replace(
            self._state,
            emotions=self.query_one("#emotions", Switches).chosen,
            valences=self._chosen("valences"),
            column=column,
            slices=self.query_one("#slices", Switches).chosen if self._slices else (),
        )
        name = "" if self._slices is None else self.text("name")
        if not self._metrics:
            return self._named(state, name)
        bounds = [Bounds(key, self.number(f"low-{key}"), self.number(f"high-{key}")) for key in self._metrics]
        marks = "".join(self._chosen("marks"))
        kept = tuple(one for one in bounds if one.low is not None or one.high is not None)
        return self._named(replace(state, marks=marks, bounds=kept), name)

    def _chosen(self, row: str) -> tuple[str, ...]:
        """What is switched on in a row; none where there is no such row."""
        return tuple(one for switches in self.query(f"#{row}").results(Switches) for one in switches.chosen)

    def _named(self, state: ListState, name: str) -> Filtered:
        if name and not state.as_conditions(list(self._metrics.values())):
            raise BadInput("there is no filter to save: everything is off")
        return Filtered(state, name)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.refuse("")
        self._ask_left()


def _row(name: str, *widgets: Widget) -> Horizontal:
    return Horizontal(Label(name, markup=False), *widgets, classes="row")


def _bound(name: str, metric: Metric, value: float | None, end: float | None) -> Input:
    least, most = metric.range
    low, high = "" if least is None else f" from {least:g}", "" if most is None else f" to {most:g}"
    within = Number(least, most, f"{metric.title}: figures{low}{high}")
    return number_field(name, _figure(value), within, empty=_figure(end))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
