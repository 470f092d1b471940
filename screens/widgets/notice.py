"""A pane that has nothing to show says what it is, why it is empty, and which key fills it."""

from textual.content import Content
from textual.widgets import Static

from emotui.screens.widgets.cell_width import shown


class Notice(Static):
    """A title and a few lines in the middle of a pane, in place of the siblings that `over` selects."""

    DEFAULT_CSS = """
    Notice {
        height: 1fr;
        width: 1fr;
        padding: 1 2;
        content-align: center middle;
        text-align: center;
        color: $text-muted;
        display: none;
    }
    Notice.-failed { color: $error; }
    """

    def __init__(self, over: str = "", *, id: str) -> None:
        super().__init__(id=id)
        self._over = over

    def say(self, title: str, *lines: str, failed: bool = False) -> None:
        self.set_class(failed, "-failed")
        self.update(Content.assemble((shown(title), "bold"), *(f"\n{shown(line)}" for line in lines)))
        self._turn(True)

    def hide(self) -> None:
        """There is something to show."""
        self._turn(False)

    def _turn(self, says: bool) -> None:
        self.display = says
        if self._over and self.parent is not None:
            self.parent.query_children(self._over).set(display=not says)
