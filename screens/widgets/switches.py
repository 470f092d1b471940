"""Names that are on or off, or of which one is on."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from emotui.screens.widgets.cell_width import shown, width


class Switches(Widget, can_focus=True):
    """Names that are on or off. Arrow keys move, and a letter goes to the next name that begins with it; Space
    switches; so does a click. Several on mean any of them.
    """

    BINDINGS = [
        Binding("right", "move(1)", show=False),
        Binding("left", "move(-1)", show=False),
        Binding("space", "switch", show=False),
    ]
    COMPONENT_CLASSES = {"switches--on", "switches--cursor", "switches--off", "switches--dead"}
    DEFAULT_CSS = """
    Switches {
        height: auto;
        & > .switches--on { color: $primary; text-style: bold; }
        & > .switches--off { color: $text-muted; }
        & > .switches--dead { color: $text-disabled; }
        &:focus > .switches--cursor { color: $primary; background: $background; text-style: bold reverse; }
    }
    """

    class Switched(Message):
        """Another is on or off."""

    def __init__(
        self, names: Sequence[str], on: Sequence[str], labels: Sequence[str] | None = None, *, id: str
    ) -> None:
        super().__init__(id=id)
        self._names = list(names)
        self._labels = [shown(label) for label in (labels or names)]
        self._on = set(on) & set(names)
        self._at = 0
        self._dead: frozenset[str] = frozenset()
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

    def count(self, counts: Mapping[str, int], instead: Mapping[str, str] = MappingProxyType({})) -> None:
        """Tell behind each name how many there are.

        Args:
            instead: what some are called that nothing can be counted of; they come last, and are not switched on.
        """
        labels = dict(zip(self._names, self._labels, strict=True))
        here = self._names[self._at] if self._names else ""
        self._names.sort(key=lambda name: name in instead)
        self._labels = [instead.get(name) or f"{labels[name]} {counts.get(name, 0):,}" for name in self._names]
        self._dead = frozenset(instead)
        self._at = self._names.index(here) if here else 0
        self.refresh(layout=True)

    def clear(self) -> None:
        """Switch all off."""
        self._on.clear()
        self.refresh()
        self.post_message(self.Switched())

    def _lines(self, cells: int) -> list[list[int]]:
        lines: list[list[int]] = [[]]
        used = 0
        for number, label in enumerate(self._labels):
            size = width(label) + 4
            # What cannot be counted is no name among names: it is said on a line of its own.
            if lines[-1] and (used + size > cells or self._names[number] in self._dead):
                lines.append([])
                used = 0
            lines[-1].append(number)
            used += size
        return lines

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        lines = self._lines(self.size.width)
        segments = []
        for number in lines[y] if y < len(lines) else []:
            on = self._names[number] in self._on
            dead = self._names[number] in self._dead and not on
            kind = "dead" if dead else "on" if on else "off"
            style = base + self.get_component_rich_style(f"switches--{kind}", partial=True)
            if number == self._at:
                style += self.get_component_rich_style("switches--cursor", partial=True)
            sign = "▸" if number == self._at and self.has_focus else " "
            box = " " if dead else self.signs[on]
            segments += [Segment(f"{sign}{box} {self._labels[number]}", style), Segment(" ", base)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def action_move(self, step: int) -> None:
        self._at = (self._at + step) % max(len(self._names), 1)
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        letter = event.character or ""
        if not letter.isalpha():
            return
        after = [*range(self._at + 1, len(self._labels)), *range(self._at + 1)]
        begun = [at for at in after if self._labels[at].lower().startswith(letter.lower())]
        if begun:
            event.stop()
            self.action_move(begun[0] - self._at)

    def action_switch(self) -> None:
        name = self._names[self._at] if self._names else ""
        if name and (name in self._on or name not in self._dead):
            self._on ^= {name}
            self.refresh()
            self.post_message(self.Switched())

    def on_click(self, event: events.Click) -> None:
        column = 0
        lines = self._lines(self.size.width)
        for number in lines[event.y] if event.y < len(lines) else []:
            size = width(self._labels[number]) + 4
            if column <= event.x < column + size:
                self._at = number
                self.action_switch()
            column += size

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()


class OneOf(Switches):
    """Arrow keys choose; so does a click."""

    class Chosen(Message):
        """Another name is chosen."""

    def __init__(self, names: Sequence[str], now: str, labels: Sequence[str] | None = None, *, id: str) -> None:
        super().__init__(names, (now,), labels, id=id)
        self.signs = "○●"
        self.offer(names, now, labels)

    @property
    def now(self) -> str:
        """The chosen name."""
        return next(iter(self.chosen), "")

    def offer(self, names: Sequence[str], now: str, labels: Sequence[str] | None = None) -> None:
        """Offer other names; `now` is chosen where it is among them, else the first."""
        self.replace(names, labels)
        self._put(list(names).index(now) if now in names else 0)

    def action_move(self, step: int) -> None:
        super().action_move(step)
        self.action_switch()

    def action_switch(self) -> None:
        self._put(self._at)
        self.post_message(self.Chosen())

    def _put(self, at: int) -> None:
        self._at = at
        self._on = {self._names[at]} if self._names else set()
        self.refresh(layout=True)
