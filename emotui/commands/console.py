"""Rich's console for the tables of commands."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from emotui.controls import CONTROLS


class PlainConsole(Console):
    """A console that leaves out whatever a terminal would act on in what is printed; styles are its own to write.

    Text of data is written with escapes by `output.as_written`; here nothing passes that was not. It has no width, so
    the columns stay.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text == "\n" or segment.text.isprintable():
                yield segment
            else:
                lines = segment.text.split("\n")
                yield Segment("\n".join(CONTROLS.sub("", line) for line in lines), segment.style)
