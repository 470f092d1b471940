"""Lines under a heading with a cursor on one of them, moved by ↑ ↓ or the mouse."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message

from emotui.screens.widgets.page import Lines, Page, tell_end

R = TypeVar("R")


class PickedRows(Page, Generic[R], inherit_bindings=False):
    """Draws rows by a function of the rows, the cursor's place and the cells; its first line is a heading."""

    BINDINGS = [
        Binding("up", "pick(-1)", show=False),
        Binding("down", "pick(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "to_end(-1)", show=False),
        Binding("end", "to_end(1)", show=False),
    ]
    footer_keys = (("↑ ↓", "row"),)

    class Picked(Message):
        """The cursor stands on another line."""

    def __init__(
        self, drawn: Callable[[Sequence[R], int, int], Lines], *, airy: bool = False, id: str | None = None
    ) -> None:
        """Args: airy: a free line stands between rows where there is room for one between all, unless what is drawn
        has one behind each row.
        """
        super().__init__(id=id)
        self._airy = airy
        self.cursor = 0
        self.rows: tuple[R, ...] = ()
        self._drawn = drawn

    @property
    def picked(self) -> R | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show_rows(self, rows: Sequence[R], key: Callable[[R], object] | None = None) -> None:
        """Show other rows; the cursor stays on its line, or with `key` on the row of the same key."""
        here = key(self.picked) if key is not None and self.picked is not None else None
        places = [place for place, row in enumerate(rows) if key is not None and key(row) == here]
        self.rows = tuple(rows)
        self.cursor = places[0] if places else min(self.cursor, max(len(rows) - 1, 0))
        self.draw()

    def draw(self) -> None:
        self.show_for(self._laid_out)

    def _laid_out(self, room: Size) -> Lines:
        lines = self._drawn(self.rows, self.cursor, room.width)
        if self.airy and len(lines) <= len(self.rows) + 1:
            lines = [*lines[:1], *(one for line in lines[1:] for one in (line, []))]
        if self.airy and not lines[-1]:
            lines = lines[:-1]
        return lines

    @property
    def airy(self) -> bool:
        """Do rows have a free line behind them?"""
        return self._airy and 1 < 2 * len(self.rows) <= self.scrollable_content_region.height

    @property
    def _apart(self) -> int:
        """Lines from one row to the next."""
        return 2 if self.airy else 1

    def on_resize(self) -> None:
        self.draw()

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self.draw()

    def action_pick(self, step: int) -> None:
        self._go(step, self.cursor + step)

    def action_page(self, step: int) -> None:
        self._go(step, self.cursor + step * max(self.size.height - 2, 1))

    def action_to_end(self, step: int) -> None:
        self._go(step, len(self.rows) - 1 if step > 0 else 0)

    def _go(self, step: int, position: int) -> None:
        before = self.cursor
        self.pick(position)
        if self.cursor == before:
            tell_end(self, step)

    def pick(self, position: int) -> None:
        """Put the cursor on a line, the nearest there is, and bring it into sight."""
        self.cursor = min(max(position, 0), max(len(self.rows) - 1, 0))
        self.draw()
        if self.cursor == 0:
            self.scroll_home(animate=False)
        else:
            self.bring_into_sight((self.cursor + 1) * self._apart)
        self.post_message(self.Picked())

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        at = -1 if offset is None else offset.y + self.scroll_offset.y - 1
        if 0 <= at // self._apart < len(self.rows):
            self.pick(at // self._apart)
