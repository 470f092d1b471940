"""One line of text in parts, at the left and at the right, some of which can be clicked."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from emotui.screens.widgets.cell_width import fit, shown, width


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a line. `kind`: plain or one of the component classes. `press`: what a click on it does."""

    text: str
    kind: str = "plain"
    press: str = ""


class Line(Widget):
    """Shows parts literally; what does not fit is cut at the right end of the left side."""

    COMPONENT_CLASSES = {
        "line--dim",
        "line--strong",
        "line--key",
        "line--here",
        "line--mark",
        "line--gold",
        "line--said",
        "line--gold-line",
        "line--said-ground",
        "line--rest",
    }
    DEFAULT_CSS = """
    Line {
        height: 1;
        & > .line--dim { color: $text-muted; }
        & > .line--strong { text-style: bold; }
        & > .line--key { color: $primary; text-style: bold; }
        & > .line--here { color: $background; background: $primary; text-style: bold; }
        & > .line--mark { color: $mark; }
        & > .line--gold { color: $gold; }
        & > .line--said { color: $predicted-bar; }
        & > .line--rest { color: $rule; }
        & > .line--gold-line { color: $gold; text-style: underline; }
        & > .line--said-ground { color: $predicted-text; background: $predicted; }
        &:nocolor > .line--said-ground { text-style: reverse; }
        &:nocolor > .line--here { text-style: bold reverse; }
    }
    Line.-pane { background: $panel; }
    Line.-pane.-focused > .line--strong { color: $primary; text-style: bold; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: tuple[Part, ...] = ()
        self._right: tuple[Part, ...] = ()
        self._presses: list[tuple[int, int, str]] = []

    @property
    def text(self) -> str:
        """What is shown, without its styles."""
        return "".join(part.text for part in (*self._left, *self._right))

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        """Show other parts."""
        if (tuple(left), tuple(right)) != (self._left, self._right):
            self._left, self._right = tuple(left), tuple(right)
            self.refresh()

    def notify_style_update(self) -> None:
        """Draw again in another theme."""
        super().notify_style_update()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The one line."""
        cells, base = self.size.width, self.rich_style
        self._presses = []
        segments: list[Segment] = []
        right = sum(width(part.text) for part in self._right)
        room = cells - right - 1 if right and right < cells else cells
        column = 0
        for part in self._left:
            drawn = shown(part.text)
            if column + width(drawn) > room:
                drawn = fit(drawn, room - column)
            column = self._put(segments, part, drawn, column, base)
        if right and right < cells:
            segments.append(Segment(" " * (cells - right - column), base))
            column = cells - right
            for part in self._right:
                column = self._put(segments, part, shown(part.text), column, base)
        return Strip(segments).crop(0, cells).extend_cell_length(cells, base)

    def _put(self, segments: list[Segment], part: Part, drawn: str, column: int, base: Style) -> int:
        style = base
        if part.kind != "plain":
            style += self.get_component_rich_style(f"line--{part.kind}", partial=True)
        segments.append(Segment(drawn, style))
        after = column + width(drawn)
        if part.press:
            self._presses.append((column, after, part.press))
        return after

    async def on_click(self, event: events.Click) -> None:
        """Do what the part under the mouse stands for."""
        for start, end, press in self._presses:
            if start <= event.x < end:
                event.stop()
                await self.screen.run_action(press)
                return
