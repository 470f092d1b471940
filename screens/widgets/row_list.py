"""Lines under a heading with a cursor on one of them, moved by ↑ ↓ or the mouse."""

from collections.abc import Sized

from textual import events
from textual.binding import Binding
from textual.message import Message

from emotui.screens.widgets.page import Lines, Page


class PickedRows(Page, inherit_bindings=False):
    """What it shows says `lines`; where the cursor is says `cursor`. The first line shown is a heading."""

    BINDINGS = [
        Binding("up", "pick(-1)", show=False),
        Binding("down", "pick(1)", show=False),
    ]

    class Picked(Message):
        """The cursor stands on another line."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cursor = 0

    @property
    def there(self) -> Sized:
        """What there is to pick from."""
        raise NotImplementedError

    def drawn(self, cells: int) -> Lines:
        """The heading, and a line for each, in so many cells."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show everything as it is now."""
        self.show(self.drawn(self.scrollable_content_region.width))

    def on_resize(self) -> None:
        """Share the width out anew."""
        self.draw()

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self.draw()

    def action_pick(self, step: int) -> None:
        """Move the cursor by a line, and bring it into sight."""
        self.pick(self.cursor + step)

    def pick(self, position: int) -> None:
        """Put the cursor on a line, the nearest there is, and bring it into sight."""
        self.cursor = min(max(position, 0), max(len(self.there) - 1, 0))
        self.draw()
        height = max(self.size.height, 1)
        if self.cursor == 0:
            self.scroll_home(animate=False)
        elif self.cursor + 1 >= self.scroll_offset.y + height:
            self.scroll_to(y=self.cursor + 2 - height, animate=False, force=True)
        elif self.cursor + 1 < self.scroll_offset.y:
            self.scroll_to(y=self.cursor + 1, animate=False, force=True)
        self.post_message(self.Picked())

    async def on_click(self, event: events.Click) -> None:
        """Pick the line that was clicked."""
        offset = event.get_content_offset(self)
        at = -1 if offset is None else offset.y + self.scroll_offset.y - 1
        if 0 <= at < len(self.there):
            self.pick(at)
