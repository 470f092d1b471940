"""Naming a model that is not in the list."""

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.screens.sheet import Sheet


class SpecSheet(Sheet[str]):
    """A SPEC is typed; Enter loads it."""

    BINDINGS = [Binding("enter", "load", show=False, priority=True)]
    DEFAULT_CSS = """
    SpecSheet Label { color: $text-muted; width: 1fr; }
    SpecSheet Input, SpecSheet Input:focus { height: 1; border: none; padding: 0 1; background: $raised; }
    """

    def __init__(self) -> None:
        super().__init__("Load a model", (("Enter", "load"),))

    def body(self) -> list[Widget]:
        """The SPEC."""
        return [
            Label("embedded, hf:NAME_OR_DIR, gguf:FILE or openai:MODEL@URL"),
            Input("", id="spec", compact=True),
        ]

    def action_load(self) -> None:
        """Give the SPEC back, where one was typed."""
        spec = self.query_one("#spec", Input).value.strip()
        if spec:
            self.dismiss(spec)
