"""Which samples the list keeps: by emotion, valence, kind of error and F1, each a row of switches."""

from collections.abc import Sequence
from dataclasses import replace

from rich.segment import Segment
from textual import events, on
from textual.binding import Binding
from textual.containers import Horizontal
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.records import VALENCES
from emotui.screens.cells import shown, width
from emotui.screens.list_state import ListState
from emotui.screens.sheet import Sheet
from emotui.store.query import MARKS


class Switches(Widget, can_focus=True):
    """Names that are on or off. Arrow keys move, Space switches; so does a click. Several on mean any of them."""

    BINDINGS = [
        Binding("right,l", "move(1)", show=False),
        Binding("left,h", "move(-1)", show=False),
        Binding("space", "switch", show=False),
    ]
    COMPONENT_CLASSES = {"switches--on", "switches--cursor", "switches--off"}
    DEFAULT_CSS = """
    Switches {
        height: auto;
        & > .switches--on { color: $primary; text-style: bold; }
        & > .switches--off { color: $text-muted; }
        &:focus > .switches--cursor { background: $raised; text-style: underline; }
    }
    """

    def __init__(
        self, names: Sequence[str], on: Sequence[str], labels: Sequence[str] | None = None, *, id: str
    ) -> None:
        super().__init__(id=id)
        self._names = list(names)
        self._labels = [shown(label) for label in (labels or names)]
        self._on = set(on) & set(names)
        self._at = 0
        self.signs = "□■"

    @property
    def chosen(self) -> tuple[str, ...]:
        """What is on, in the order shown."""
        return tuple(name for name in self._names if name in self._on)

    def replace(self, names: Sequence[str], labels: Sequence[str] | None = None) -> None:
        """Offer other names; what is on of them stays on."""
        self._names = list(names)
        self._labels = [shown(label) for label in (labels or names)]
        self._on &= set(names)
        self._at = 0
        self.refresh(layout=True)

    def clear(self) -> None:
        """Switch all off."""
        self._on.clear()
        self.refresh()

    def _lines(self, cells: int) -> list[list[int]]:
        lines: list[list[int]] = [[]]
        used = 0
        for number, label in enumerate(self._labels):
            size = width(label) + 4
            if used + size > cells and lines[-1]:
                lines.append([])
                used = 0
            lines[-1].append(number)
            used += size
        return lines

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """As many lines as the names need."""
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        """One line of switches."""
        base = self.rich_style
        lines = self._lines(self.size.width)
        segments = []
        for number in lines[y] if y < len(lines) else []:
            on = self._names[number] in self._on
            style = base + self.get_component_rich_style(f"switches--{'on' if on else 'off'}", partial=True)
            if number == self._at:
                style += self.get_component_rich_style("switches--cursor", partial=True)
            segments += [Segment(f"{self.signs[on]} {self._labels[number]}", style), Segment("  ", base)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def action_move(self, step: int) -> None:
        """Along the names."""
        self._at = (self._at + step) % max(len(self._names), 1)
        self.refresh()

    def action_switch(self) -> None:
        """On or off."""
        if self._names:
            self._on ^= {self._names[self._at]}
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Switch what was clicked."""
        column = 0
        lines = self._lines(self.size.width)
        for number in lines[event.y] if event.y < len(lines) else []:
            size = width(self._labels[number]) + 4
            if column <= event.x < column + size:
                self._at = number
                self.action_switch()
            column += size

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()


class FilterSheet(Sheet[ListState]):
    """Gives back the state with another filter."""

    BINDINGS = [
        Binding("enter", "apply", show=False, priority=True),
        Binding("x", "clear", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]
    DEFAULT_CSS = """
    FilterSheet Label { color: $text-muted; width: 10; }
    FilterSheet .row { height: auto; margin: 1 0 0 0; }
    FilterSheet Switches { width: 1fr; }
    FilterSheet Input, FilterSheet Input:focus { width: 8; height: 1; border: none; padding: 0; background: $raised; }
    FilterSheet #to { width: 4; padding: 0 1; }
    FilterSheet #why { width: 1fr; padding: 0 1; }
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
