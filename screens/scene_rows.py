"""The emotions of one scenario: what the model said, what the prior adds, and what is decided, a line each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.binding import Binding
from textual.message import Message

from emotui.screens.cells import fit
from emotui.screens.figures import share
from emotui.screens.line import Part
from emotui.screens.page import Lines, Page

if TYPE_CHECKING:
    from emotui.workbench.scenes import Row

REACH = 6.0
"""Nats at which a bar is full; what goes further ends in an arrow head."""

_NAME, _FIGURE = 13, 7
_FIXED = 2 + _NAME + 3 * _FIGURE + 2 + 6 + 18 + 9


class SceneRows(Page, inherit_bindings=False):
    """A cursor on one emotion, moved by ↑ ↓; the place clamps it and says why it is as it is."""

    BINDINGS = [
        Binding("up", "pick(-1)", show=False),
        Binding("down", "pick(1)", show=False),
    ]

    class Picked(Message):
        """The cursor stands on another emotion."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cursor = 0
        self.rows: tuple[Row, ...] = ()

    def show_rows(self, rows: "Sequence[Row]") -> None:
        """Show other figures; the cursor stays on its emotion."""
        self.rows = tuple(rows)
        self.cursor = min(self.cursor, max(len(rows) - 1, 0))
        self._draw()

    def _draw(self) -> None:
        self.show(lines(self.rows, self.cursor, self.scrollable_content_region.width))

    def on_resize(self) -> None:
        """Share the width out anew."""
        self._draw()

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self._draw()

    def action_pick(self, step: int) -> None:
        """Move the cursor by a line, and bring it into sight."""
        self.pick(self.cursor + step)

    def pick(self, position: int) -> None:
        """Put the cursor on an emotion, the nearest there is."""
        self.cursor = min(max(position, 0), max(len(self.rows) - 1, 0))
        self._draw()
        height = max(self.size.height, 1)
        if self.cursor == 0:
            self.scroll_home(animate=False)
        elif self.cursor + 1 >= self.scroll_offset.y + height:
            self.scroll_to(y=self.cursor + 2 - height, animate=False)
        elif self.cursor + 1 < self.scroll_offset.y:
            self.scroll_to(y=self.cursor + 1, animate=False)
        self.post_message(self.Picked())

    async def on_click(self, event: events.Click) -> None:
        """Pick the emotion that was clicked."""
        offset = event.get_content_offset(self)
        at = -1 if offset is None else offset.y + self.scroll_offset.y - 1
        if 0 <= at < len(self.rows):
            self.pick(at)


def lines(rows: "Sequence[Row]", cursor: int, cells: int) -> Lines:
    """The heading, and a line an emotion in so many cells; the bars take what is left."""
    if not rows:
        return []
    half = max(min((cells - _FIXED - 1) // 2, 18), 3)
    head = (
        f"  {'':<{_NAME}}{'own':>{_FIGURE}}{'bias':>{_FIGURE}}{'others':>{_FIGURE}}  "
        + fit(f"{'no':>{half - 1}} │ yes", 2 * half + 1)
        + f"{'P(yes)':>7}  α0   now gold"
    )
    return [[Part(head, "dim")], *(_line(row, number == cursor, half) for number, row in enumerate(rows))]


def _line(row: "Row", here: bool, half: int) -> list[Part]:
    name = Part(("▸ " if here else "  ") + fit(row.label, _NAME), "here" if here else "plain")
    figures = [Part(f"{_nats(value):>{_FIGURE}}") for value in (row.own, row.bias, row.neighbours)]
    flipped = row.before != row.now
    return [
        name,
        *figures,
        Part("  "),
        *_bar(row, half),
        Part(f"{share(row.posterior):>7}", "strong"),
        Part(f"  {_box(row.before)}  ", "dim"),
        Part("→" if flipped else " ", "mark"),
        Part(f"  {_box(row.now)}  ", "strong" if flipped else "plain"),
        Part(f" {_box(row.gold)}  ", "gold"),
        _note(row, flipped),
    ]


def _note(row: "Row", flipped: bool) -> Part:
    if row.clamp is not None:
        return Part(f"clamp {'yes' if row.clamp else 'no'}", "key")
    if flipped:
        return Part("gain", "said") if row.now == row.gold else Part("loss", "mark")
    if row.now != row.gold:
        return Part("M missed" if row.gold else "X extra", "dim")
    return Part("")


def _bar(row: "Row", half: int) -> list[Part]:
    """A bar from the middle to the log-odds, with a ring where the model's own evidence stands."""
    cells = [" "] * (2 * half + 1)
    cells[half] = "│"
    reach = row.total / REACH * half
    size = min(round(abs(reach)), half)
    step = 1 if reach > 0 else -1
    for offset in range(1, size + 1):
        cells[half + step * offset] = "■"
    if abs(reach) > half:
        cells[half + step * half] = "▸" if step > 0 else "◂"
    own = max(-half, min(half, round(row.own / REACH * half)))
    if own:
        cells[half + own] = "○"
    drawn = "".join(cells)
    kinds = ("mark", "rest", "said")
    return [Part(text, kind) for text, kind in zip((drawn[:half], drawn[half], drawn[half + 1 :]), kinds, strict=True)]


def _nats(value: float) -> str:
    return "–" if value == 0 else f"{value:+.2f}"


def _box(value: int) -> str:
    return "■" if value else "·"
