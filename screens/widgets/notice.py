"""What is said in words: of a pane that has nothing to show why and which key fills it, and what is told in passing."""

from time import monotonic

from textual.content import Content
from textual.timer import Timer
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


_READ = 1.0
"""Seconds for which it stays, whatever keys are pressed."""


class Told(Static):
    """What is told in passing: in lines of its own over the keys, so that it covers nothing."""

    DEFAULT_CSS = """
    Told {
        height: auto;
        max-height: 6;
        padding: 0 1;
        background: $panel;
        display: none;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._until: Timer | None = None
        self._since = 0.0

    def tell(self, message: str, title: str, seconds: float, *, wrong: bool) -> None:
        """Say this for so many seconds, in place of what was said before."""
        lead = (f"{shown(title)}  ", "bold $mark" if wrong else "bold $primary") if title else ""
        self.update(Content.assemble(lead, "\n".join(map(shown, message.split("\n")))))
        self.display, self._since = True, monotonic()
        if self._until is not None:
            self._until.stop()
        self._until = self.set_timer(seconds, self.hide)

    def key_came(self) -> None:
        """Whoever goes on working has read it, if there was time to."""
        if self.display and monotonic() - self._since > _READ:
            self.hide()

    def hide(self) -> None:
        """Nothing more is said."""
        self.display = False
