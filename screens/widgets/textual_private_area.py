"""What Textual (8.2) keeps to itself of its text areas, with the reason for each use.

Apart from lines of text, which the first screen has: a text area takes a tenth of the start to import.
"""

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea

from emotui.records import Span
from emotui.screens.widgets.cell_width import joined
from emotui.screens.widgets.textual_private_text import InOrder

Marks = Callable[[str], Mapping[str, Sequence[Span]]]
"""From a text to the stretches `[start, end)` of it that are marked, in order, by component class."""


class MarkedTextArea(InOrder, TextArea):
    """A text area that draws stretches of its text in the style of component classes, and knows what can be undone.

    `TextArea` highlights languages only: lines are styled in `get_line`, whose results it caches in `_line_cache`, and
    `_build_highlight_map` is the one place that every change of the text goes through before it is drawn. Its history
    has no question for what can be undone; a change by the keyboard, which alone is undone step by step, is
    `_replace_via_keyboard`. Of another width it wraps its lines, but draws them again only where their number changes.
    At every paint it works out the styles of all its parts, as many as the letters of a line take: here it does where
    they may be others.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, show_line_numbers=False, highlight_cursor_line=False, placeholder="")
        self.cursor_blink = False
        self._mark: Marks = lambda text: {}
        self._styled: object = None
        self._rows: dict[str, dict[int, list[Span]]] = {}

    @property
    def can_undo(self) -> bool:
        """Whether anything was typed since the text was put here."""
        return bool(self.history._undo_stack)

    @property
    def can_redo(self) -> bool:
        """Whether typing was undone, and nothing typed since."""
        return bool(self.history._redo_stack)

    def mark_with(self, mark: Marks) -> None:
        """Mark what `mark` finds, now and whenever the text changes; it has to be quick."""
        self._mark = mark
        self.mark_again()

    def mark_again(self) -> None:
        """Look for what is marked once more."""
        text = self.text
        found = self._mark(text) if text else {}
        rows = {kind: by_line(text, spans) for kind, spans in found.items() if spans}
        if rows != self._rows:
            self._rows = rows
            self._line_cache.clear()
            self.refresh()

    def _build_highlight_map(self) -> None:
        super()._build_highlight_map()
        if self.is_attached:
            self.mark_again()

    def on_resize(self) -> None:
        """Draw the lines as they are wrapped now."""
        self.refresh()

    def notify_style_update(self) -> None:
        self._styled = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part, in the styles of now."""
        styled = id(self._theme), self.background_colors
        if styled == self._styled:
            return super(TextArea, self).render_lines(crop)
        self._styled = styled
        return super().render_lines(crop)

    def get_line(self, line_index: int) -> Text:
        """The line with what is marked in it."""
        line = super().get_line(line_index)
        for kind, rows in self._rows.items():
            for start, end in rows.get(line_index, ()):
                line.stylize(self.get_component_rich_style(kind, partial=True), start, end)
        return line

    def get_cursor_left_location(self) -> tuple[int, int]:
        """Where the caret goes to the left: never into a grapheme of several characters."""
        row, column = super().get_cursor_left_location()
        while joined(self.document[row], column):
            column -= 1
        return row, column

    def get_cursor_right_location(self) -> tuple[int, int]:
        """Where the caret goes to the right."""
        row, column = super().get_cursor_right_location()
        while joined(self.document[row], column):
            column += 1
        return row, column

    def type_in(self, text: str) -> None:
        """Put a text in place of the selection, as one step that can be undone."""
        result = self._replace_via_keyboard(text, *self.selection)
        if result is not None:
            self.move_cursor(result.end_location)
            self.focus()


def by_line(text: str, spans: Sequence[Span]) -> dict[int, list[Span]]:
    """Offsets into the whole text as columns by line number; a stretch over several lines is on each of them."""
    found: dict[int, list[Span]] = {}
    begins = 0
    for row, line in enumerate(text.split("\n")):
        ends = begins + len(line)
        for start, end in spans:
            if start < ends and end > begins:
                found.setdefault(row, []).append((max(start - begins, 0), min(end, ends) - begins))
        begins = ends + 1
    return found
