"""The last thing before the terminal: no cell of any widget holds what a terminal would act on."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from emotui.controls import CONTROLS


class PlainCells(LineFilter):
    """Leaves controls out of every line that is drawn.

    Widgets show what comes from data by `cell_width.shown`, with a symbol for each control; nothing passes here that
    was not. Controls have no width, so the columns stay.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            segment if segment.control else Segment(CONTROLS.sub("", segment.text), segment.style)
            for segment in segments
        ]
