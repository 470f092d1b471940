"""Where any text is typed or pasted; what the live model marks shows in it."""

from textual import events

from emotui.screens.widgets.editor import Editor

LONGEST = 20_000
"""Characters that fit; more of a text says nothing more about a model."""

KINDS = {1: "editor--evidence", 2: "editor--carries", 3: "editor--both"}
"""By the layers that cover a stretch: 1 the evidence, 2 the words that carry the label."""


class SpotEditor(Editor):
    """Enter starts a line. Evidence has a background (reverse video without colour), what carries is bold."""

    COMPONENT_CLASSES = {*KINDS.values()}
    DEFAULT_CSS = """
    SpotEditor {
        & > .editor--evidence { background: $predicted; color: $predicted-text; }
        & > .editor--carries { color: $mark; text-style: bold; }
        & > .editor--both { background: $predicted; color: $gold-on-predicted; text-style: bold; }
        &:nocolor > .editor--evidence { text-style: reverse; }
        &:nocolor > .editor--carries { text-style: bold; }
        &:nocolor > .editor--both { text-style: reverse bold; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.longest = LONGEST

    async def on_key(self, event: events.Key) -> None:
        # Before the base class's own method, which leaves Enter to its place.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if len(self.text) < self.longest:
                self.insert("\n")
