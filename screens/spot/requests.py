"""Asks one model about the newest text, a part at a time, in a thread that the screen never waits for."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from emotui.screens.requests import in_words

if TYPE_CHECKING:
    from emotui.workbench.models.probe import Probe
    from emotui.workbench.progress import IsCancelled

    Ask = Callable[[str, str, Callable[[str], None], IsCancelled], Probe]
    """(text, part, tell, cancelled): the answer to one part; `tell` is called with what is being done."""


class Said(Message):
    """What came back for one part of a text: a probe, an error in words, or neither where it was stopped."""

    def __init__(self, asking: "Asking", text: str, part: str, probe: "Probe | None", error: str | None) -> None:
        super().__init__()
        self.asking, self.text, self.part, self.probe, self.error = asking, text, part, probe, error


class Told(Message):
    """What the model is doing: a step of its loading, or the part that it is asked."""

    def __init__(self, asking: "Asking", doing: str) -> None:
        super().__init__()
        self.asking, self.doing = asking, doing


class Asking:
    """Keeps what is wanted of a model: parts of one text. Another text takes the place of the one before.

    A part that is under way is finished, since ending it may cost the model's process; its answer counts only if the
    text is still the same.
    """

    def __init__(self, owner: Widget, ask: "Ask") -> None:
        self._owner, self._ask = owner, ask
        self._lock = threading.Lock()
        self._text = ""
        self._parts: list[str] = []
        self._now: tuple[str, str] | None = None
        self._works = False
        self._halt = threading.Event()

    @property
    def busy(self) -> bool:
        """Is there anything still to come?"""
        return self._works

    @property
    def now(self) -> tuple[str, str] | None:
        """The text and the part that the model is asked at this moment."""
        return self._now

    def want(self, text: str, parts: Sequence[str]) -> None:
        """Ask these parts of this text, in this order, and nothing else from now on."""
        with self._lock:
            self._text = text
            self._parts = [part for part in parts if (text, part) != self._now]
            if self._works or not self._parts:
                return
            self._works = True
        self._owner.run_worker(self._work, name="spot", group=f"spot-{id(self)}", thread=True)

    def stop(self) -> None:
        """Ask nothing more, and end what is under way."""
        with self._lock:
            self._parts = []
            if self._works:
                self._halt.set()

    def _next(self) -> tuple[str, str] | None:
        with self._lock:
            self._now = (self._text, self._parts.pop(0)) if self._parts else None
            self._works = self._now is not None
            return self._now

    def _work(self) -> None:
        from emotui.workbench.progress import Cancelled

        while (asked := self._next()) is not None:
            probe, error = None, None
            try:
                probe = self._ask(*asked, lambda doing: self._post(Told(self, doing)), lambda: self._halt.is_set())
            except Cancelled:
                with self._lock:
                    self._halt = threading.Event()  # what was wanted since then is asked
            except Exception as problem:
                # Whatever goes wrong behind it, the screen stays: an error costs a message, not the session.
                error = in_words(problem)
                with self._lock:
                    self._parts = []
            self._post(Said(self, *asked, probe, error))

    def _post(self, message: Message) -> None:
        self._owner.post_message(message)
