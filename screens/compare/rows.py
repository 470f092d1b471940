"""The samples of a comparison, the greatest difference first: only the rows in sight are drawn."""

from typing import TYPE_CHECKING

from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message

from emotui.screens.compare.figures import bar, sides, signed
from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import value_of
from emotui.screens.widgets.page import Lines, Page, tell_end

if TYPE_CHECKING:
    from emotui.workbench.compare.pairs import Difference, Pair

_ID = 16
_WIDEST = 80
"""Cells of the longest bars of both sides together."""


class DifferenceRows(Page, inherit_bindings=False):
    """Both scores of each sample and their difference as a bar; ↑ ↓ or the mouse move the cursor."""

    BINDINGS = [
        Binding("up", "pick(-1)", show=False),
        Binding("down", "pick(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "page(-10000)", show=False),
        Binding("end", "page(10000)", show=False),
    ]

    class Picked(Message):
        """The cursor stands on another sample."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.pair: Pair | None = None
        self.cursor = self._first = 0

    @property
    def picked(self) -> "Difference | None":
        """The sample under the cursor."""
        return self.pair.rows[self.cursor] if self.pair is not None and self.pair.rows else None

    def show_pair(self, pair: "Pair", sample: int | None) -> None:
        """Show another comparison, the cursor on this sample where it has it."""
        self.pair = pair
        self.cursor = min(self.cursor, max(len(pair.rows) - 1, 0))
        if sample is None or not self.put_on(sample):
            self._draw()

    def put_on(self, sample: int) -> bool:
        """Put the cursor on a sample; says whether it is there."""
        rows = () if self.pair is None else self.pair.rows
        found = next((at for at, row in enumerate(rows) if row.sample == sample), None)
        if found is not None:
            self.cursor = found
            self._draw()
        return found is not None

    def walk(self, step: int) -> bool:
        """Go to the next sample below (1) or above (-1) in which the two differ; says whether there is one."""
        rows = () if self.pair is None else self.pair.rows
        ahead = range(self.cursor + step, len(rows) if step > 0 else -1, step)
        found = next((at for at in ahead if rows[at].changed), None)
        if found is not None:
            self._pick(found)
        return found is not None

    def action_pick(self, step: int) -> None:
        before = self.cursor
        self._pick(self.cursor + step)
        if self.cursor == before:
            tell_end(self, step)

    def action_page(self, step: int) -> None:
        self.action_pick(step * max(self._height - 1, 1))

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no room at all."""
        self._draw()

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y > 0 and self.pair is not None:
            at = self._first + offset.y - 1
            if at < len(self.pair.rows):
                self._pick(at)

    def _pick(self, at: int) -> None:
        if self.pair is not None and self.pair.rows:
            self.cursor = min(max(at, 0), len(self.pair.rows) - 1)
            self._draw()
            self.post_message(self.Picked())

    @property
    def _height(self) -> int:
        return max(self.scrollable_content_region.height - 1, 1)

    def _draw(self) -> None:
        if self.pair is not None:
            pair = self.pair
            self.show_for(lambda room: self._in_sight(pair, room))

    def _in_sight(self, pair: "Pair", room: Size) -> Lines:
        """A heading, and the rows around the cursor that there is room for."""
        height = max(room.height - 1, 1)
        self._first = min(max(self._first, self.cursor - height + 1), self.cursor)
        self._first = max(min(self._first, len(pair.rows) - height), 0)
        if not pair.rows:
            return [[Part("  No sample has this figure by itself.", "dim")]]
        least, greatest = pair.rows[-1].difference, pair.rows[0].difference
        left, right = sides(least, greatest, min(max(room.width - _ID - 26, 8), _WIDEST))
        better = "better" if pair.metric.higher_is_better else "more"
        lines = [[Part(f"  {'id':{_ID}}     A     B    A−B  {f'B {better}':>{left}} │ A {better}", "dim")]]
        for at, row in enumerate(pair.rows[self._first : self._first + height], self._first):
            here = at == self.cursor
            kind = "picked" if here else "plain" if row.changed else "dim"
            values = f"{value_of(pair.metric, row.first)}  {value_of(pair.metric, row.second)}"
            text = f"{'▸' if here else ' '} {fit(row.id, _ID)}  {values}  {signed(row.difference):>5} "
            drawn = bar(row.difference, least, greatest, left, right)
            lines.append([Part(text, kind), Part(" "), Part(drawn, "said" if row.changed else "rest")])
        return lines
