"""Lists to choose from whose cursor is a sign and reversed; with what that needs of Textual's own (8.2)."""

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widgets import OptionList

CURSOR = "▸ "
_REVERSED = Style(reverse=True)


class PickList(OptionList):
    """An option list whose cursor is a sign before the option and the whole option reversed.

    Textual leaves `reverse` out of the styles of options: without colours their cursor could not be seen at all.
    """

    def _get_left_gutter_width(self) -> int:
        return len(CURSOR)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The lines of all options beside the sign: Textual folds them as if it were not there."""
        return super().get_content_height(container, viewport, width - len(CURSOR))

    def on_resize(self) -> None:
        """Fold the options before they are drawn: else a scrollbar of the width before is drawn beside them once."""
        self._clear_caches()
        self._update_lines()

    def render_line(self, y: int) -> Strip:
        return _signed(self, super().render_line(y), self.scroll_offset.y + y)


def _signed(options: OptionList, line: Strip, at: int) -> Strip:
    """The line of an option, behind the sign and in one style where the cursor stands on it."""
    if at >= len(options._lines):
        return line
    number, within = options._lines[at]
    if number != options.highlighted:
        blank = options.get_visual_style("option-list--option").rich_style
        return Strip.join([Strip([Segment(" " * len(CURSOR), blank)]).apply_meta({"option": number}), line])
    base = options.get_visual_style("option-list--option", "option-list--option-highlighted").rich_style + _REVERSED
    plain = Style(color=base.color, bgcolor=base.bgcolor, reverse=True)
    sign = CURSOR if within == 0 else " " * len(CURSOR)
    lead = Strip([Segment(sign, base)]).apply_meta({"option": number})
    return Strip.join([lead, Strip([Segment(text, (style or base) + plain) for text, style, _ in line])])
