"""Asks one model about the newest text, a part at a time."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget

from emotui.screens.requests import LatestRequest

if TYPE_CHECKING:
    from emotui.workbench.models.probe import Probe
    from emotui.workbench.progress import IsCancelled

    Ask = Callable[[str, str, Callable[[str], None], IsCancelled], Probe]
    """(text, part, tell, cancelled): the answer to one part; `tell` is called with what is being done."""

    Said = Callable[[str, str, Probe | None, str], object]
    """(text, part, probe, error): what came back; neither probe nor error where it was stopped."""

_Question = tuple[str, str, threading.Event]


class Asking:
    """Keeps what is wanted of a model: parts of one text. Another text takes the place of the one before.

    A part that is under way is finished, since ending it may cost the model's process; its answer counts only if the
    text is still the same.

    Args:
        owner: the widget in whose message pump `told` and `said` are called.
        told: gets a step of the model's loading, or the part that it is asked.
    """

    def __init__(self, owner: Widget, ask: "Ask", told: Callable[[str], object], said: "Said") -> None:
        self._owner, self._ask, self._told, self._said = owner, ask, told, said
        self._text = ""
        self._parts: list[str] = []
        self._now: _Question | None = None
        self._request: LatestRequest[_Question, Probe | None] = LatestRequest(
            "spot", owner, self._call, self._answered, self._failed, older=True
        )

    @property
    def busy(self) -> bool:
        return self._now is not None

    @property
    def part(self) -> str | None:
        """The part that the model is asked at this moment."""
        return None if self._now is None else self._now[1]

    def want(self, text: str, parts: Sequence[str]) -> None:
        """Ask these parts of this text, in this order, and nothing else from now on."""
        now = None if self._now is None else self._now[:2]
        self._text, self._parts = text, [part for part in parts if (text, part) != now]
        if now is None:
            self._next()

    def stop(self) -> None:
        """Ask nothing more, and end what is under way."""
        self._parts = []
        if self._now is not None:
            self._now[2].set()

    def _next(self) -> None:
        self._now = (self._text, self._parts.pop(0), threading.Event()) if self._parts else None
        if self._now is not None:
            self._request.ask(self._now)

    def _call(self, question: _Question) -> "Probe | None":
        from emotui.workbench.progress import Cancelled

        text, part, halt = question

        def tell(doing: str) -> None:
            self._owner.call_later(self._told, doing)

        try:
            return self._ask(text, part, tell, halt.is_set)
        except Cancelled:
            return None

    def _answered(self, question: _Question, probe: "Probe | None", error: str = "") -> None:
        self._next()
        self._said(*question[:2], probe, error)

    def _failed(self, question: _Question, why: str) -> None:
        self._parts = []
        self._answered(question, None, why)
