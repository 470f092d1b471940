"""Where any text is typed or pasted; what the live model marks shows in it."""

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events

from emotui.records import Span
from emotui.screens.widgets.editor import Editor, by_line
from emotui.screens.widgets.span_layers import flatten

LONGEST = 20_000
"""Characters that fit; more of a text says nothing more about a model."""

_KINDS = {1: "editor--evidence", 2: "editor--carries", 3: "editor--both"}


class SpotEditor(Editor):
    """Enter starts a line. Evidence has a background (reverse video without colour), what carries is underlined."""

    COMPONENT_CLASSES = {*_KINDS.values()}
    DEFAULT_CSS = """
    SpotEditor {
        & > .editor--evidence { background: $predicted; color: $predicted-text; }
        & > .editor--carries { color: $mark; text-style: underline; }
        & > .editor--both { background: $predicted; color: $gold-on-predicted; text-style: underline; }
        &:nocolor > .editor--evidence { text-style: reverse; }
        &:nocolor > .editor--carries { text-style: underline bold; }
        &:nocolor > .editor--both { text-style: reverse underline bold; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.longest = LONGEST
        self._layers: Callable[[str], Sequence[Sequence[Span]]] = lambda text: ([], [])
        self._rows: dict[str, dict[int, list[Span]]] = {}

    def mark_layers(self, layers: Callable[[str], Sequence[Sequence[Span]]]) -> None:
        """From a text to the evidence in it and the words that carry; asked again whenever the text changes."""
        self._layers = layers
        self.mark_again()

    def mark_again(self) -> None:
        """Look for what is marked once more."""
        text = self.text
        pieces = flatten(self._layers(text), len(text)) if text else []
        rows = {
            kind: by_line(text, [(piece.start, piece.end) for piece in pieces if piece.layers == layers])
            for layers, kind in _KINDS.items()
        }
        if rows != self._rows:
            self._rows = rows
            self._line_cache.clear()
            self.refresh()

    def get_line(self, line_index: int) -> Text:
        """The line with what is marked in it."""
        line = super().get_line(line_index)
        for kind, rows in self._rows.items():
            for start, end in rows.get(line_index, ()):
                line.stylize(self.get_component_rich_style(kind, partial=True), start, end)
        return line

    async def _on_key(self, event: events.Key) -> None:
        # Before the base class's own method, which leaves Enter to its place.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if len(self.text) < self.longest:
                self.insert("\n")
