"""A row of names of which one is chosen."""

from collections.abc import Sequence

from textual.message import Message

from emotui.screens.filter_sheet import Switches


class OneOf(Switches):
    """Arrow keys choose; so does a click."""

    class Chosen(Message):
        """Another name is chosen."""

    def __init__(self, names: Sequence[str], now: str, labels: Sequence[str] | None = None, *, id: str) -> None:
        super().__init__(names, (now,), labels, id=id)
        self.signs = "○●"
        self.offer(names, now, labels)

    @property
    def now(self) -> str:
        """The chosen name."""
        return next(iter(self.chosen), "")

    def offer(self, names: Sequence[str], now: str, labels: Sequence[str] | None = None) -> None:
        """Offer other names; `now` is chosen where it is among them, else the first."""
        self.replace(names, labels)
        self._put(list(names).index(now) if now in names else 0)

    def action_move(self, step: int) -> None:
        """Choose the next name, or the one before."""
        super().action_move(step)
        self.action_switch()

    def action_switch(self) -> None:
        """Choose the name under the cursor."""
        self._put(self._at)
        self.post_message(self.Chosen())

    def _put(self, at: int) -> None:
        self._at = at
        self._on = {self._names[at]} if self._names else set()
        self.refresh(layout=True)
