"""Lines of parts that scroll: what every drawn table and chart of a place is made of."""

from collections.abc import Callable, Sequence

from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Part, Press, drawn, extracted, fitted, run_press, selectable
from emotui.screens.widgets.textual_private import forget_part_styles, part_style

Lines = Sequence[Sequence[Part]]


class Ended(Message):
    """A key of the pane that has the focus can go no further; `why` says so in one line."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


def tell_end(pane: Widget, step: int, what: str = "row") -> None:
    """Tell that the pane's cursor stands on its last row, or with a step upwards on its first."""
    pane.post_message(Ended(f"this is the {'last' if step > 0 else 'first'} {what}"))


class Scrolled(ScrollView):
    """A pane that is scrolled by keys, and tells where they can scroll it no further."""

    def _scroll(self, step: int, go: Callable[[], None]) -> None:
        at, most = self.scroll_offset.y, self.max_scroll_y
        if self.allow_vertical_scroll and (at >= most if step > 0 else at <= 0):
            self.post_message(Ended(f"there is nothing further {'down' if step > 0 else 'up'}"))
        else:
            go()

    def action_scroll_up(self) -> None:
        self._scroll(-1, super().action_scroll_up)

    def action_scroll_down(self) -> None:
        self._scroll(1, super().action_scroll_down)

    def action_page_up(self) -> None:
        self._scroll(-1, super().action_page_up)

    def action_page_down(self) -> None:
        self._scroll(1, super().action_page_down)

    def action_scroll_home(self) -> None:
        self._scroll(-1, super().action_scroll_home)

    def action_scroll_end(self) -> None:
        self._scroll(1, super().action_scroll_end)


class Page(Scrolled, can_focus=True, inherit_bindings=False):
    """Shows parts literally, a line each; ↑ ↓ scroll, and a click does what its part stands for.

    Left and right stay free for the place. So many lines as `heads` says stay at the top when the others scroll.
    """

    BINDINGS = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]
    DEFAULT_CSS = """
    Page {
        height: 1fr;
        padding: 0 1;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        &.-stale { color: $text-disabled; }
        &.-stale:nocolor { text-style: dim; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.heads = 0
        self._lines: tuple[tuple[Part, ...], ...] = ()
        self._lines_for: Callable[[Size], Lines] | None = None
        self._presses: dict[int, list[Press]] = {}
        self._styles_now: dict[str, Style] = {}

    @property
    def text(self) -> str:
        """What is shown, without its styles."""
        return "\n".join("".join(part.text for part in line) for line in self._lines)

    def show_for(self, lines_for: "Callable[[Size], Lines]", *, home: bool = False) -> None:
        """Show the lines that suit the room there is, now and whenever that changes; none while there is no room."""
        self._lines_for = lines_for
        room = self.scrollable_content_region.size
        if room.width > 0:
            lines = lines_for(room)
            if len(lines) > room.height > 1 and not self.show_vertical_scrollbar:
                # The scrollbar that these need will take a cell.
                lines = lines_for(Size(room.width - 1, room.height))
            self._put(lines, home=home)

    def show(self, lines: Lines, *, home: bool = False) -> None:
        """Show other lines; `home`: from the first one."""
        self._lines_for = None
        self._put(lines, home=home)

    def on_resize(self) -> None:
        if self._lines_for is not None:
            self.show_for(self._lines_for)

    def _put(self, lines: Lines, *, home: bool) -> None:
        fresh = tuple(_merged(line) for line in lines)
        if len(fresh) == len(self._lines):
            # What follows every key must cost no more than what has changed.
            changed = [at for at, (before, now) in enumerate(zip(self._lines, fresh, strict=True)) if before != now]
            self._lines = fresh
            for at in changed:
                self._presses.pop(at, None)
                y = at if at < self.heads else at - self.scroll_offset.y
                self.refresh(Region(0, y, self.outer_size.width, 1))
        else:
            self._lines = fresh
            self._presses.clear()
            self.virtual_size = Size(self.size.width, len(fresh))
            self.refresh()
        if home:
            self.scroll_home(animate=False)

    def bring_into_sight(self, line: int) -> None:
        """Scroll as little as brings this line into sight."""
        height = max(self.size.height, 1)
        if line >= self.scroll_offset.y + height:
            self.scroll_to(y=line + 1 - height, animate=False, force=True)
        elif line < self.scroll_offset.y + self.heads:
            self.scroll_to(y=max(line - self.heads, 0), animate=False, force=True)

    def line_at(self, y: int) -> int:
        """The line that is drawn so many cells below the top."""
        return y if y < self.heads else y + self.scroll_offset.y

    def notify_style_update(self) -> None:
        super().notify_style_update()
        forget_part_styles(self)
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """All lines in sight: their styles are worked out once, not once a line; not at all where none has changed."""
        self._styles_now = {}
        return super().render_lines(crop)

    def _style(self, kind: str) -> Style:
        if kind not in self._styles_now:
            plain = kind == "plain"
            found = self.rich_style if plain else self._style("plain") + part_style(self, f"part--{kind}")
            self._styles_now[kind] = found
        return self._styles_now[kind]

    def render_line(self, y: int) -> Strip:
        cells, base = self.scrollable_content_region.width, self._style("plain")
        at = self.line_at(y)
        if not 0 <= at < len(self._lines):
            return Strip.blank(cells, base)
        segments, self._presses[at] = drawn(fitted(self._lines[at], cells), self._style)
        return selectable(self, Strip(segments).crop(0, cells).extend_cell_length(cells, base), at)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is selected of the lines, as they are shown."""
        return extracted(selection, [shown("".join(part.text for part in line)) for line in self._lines])

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            await run_press(self, event, self._presses.get(self.line_at(offset.y), []))


def _merged(line: Sequence[Part]) -> tuple[Part, ...]:
    """The line with neighbours of one kind made one: what is drawn is the same, in fewer pieces."""
    merged: list[Part] = []
    for part in line:
        if merged and (merged[-1].kind, merged[-1].press) == (part.kind, part.press):
            merged[-1] = Part(merged[-1].text + part.text, part.kind, part.press)
        else:
            merged.append(part)
    return tuple(merged)


def side_by_side(blocks: Sequence[list[list[Part]]], widths: Sequence[int], cells: int) -> Lines:
    """Blocks beside each other as far as they fit, the others under them."""
    lines: list[list[Part]] = []
    row: list[int] = []
    used = 0
    for number, size in enumerate(widths):
        if row and used + size > cells:
            lines += [*_joined([blocks[n] for n in row], [widths[n] for n in row]), [Part("")]]
            row, used = [], 0
        row.append(number)
        used += size + 2
    return [*lines, *_joined([blocks[n] for n in row], [widths[n] for n in row])]


def _joined(blocks: Sequence[list[list[Part]]], widths: Sequence[int]) -> list[list[Part]]:
    lines = []
    for at in range(max((len(block) for block in blocks), default=0)):
        line: list[Part] = []
        for block, size in zip(blocks, widths, strict=True):
            parts = block[at] if at < len(block) else []
            line += [*parts, Part(" " * (size + 2 - sum(len(part.text) for part in parts)))]
        lines.append(line)
    return lines
