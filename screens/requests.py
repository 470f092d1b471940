"""A desk asks the source one question at a time and hands its answers on, never keeping the screen waiting.

While an answer is on its way only the newest question waits; those in between are dropped. So a key held down asks
as fast as the source answers and not faster, and an answer is known to be stale by its number.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from textual.message import Message
from textual.widget import Widget

from emotui.errors import EmotuiError

Q = TypeVar("Q")
A = TypeVar("A")


def in_words(problem: Exception) -> str:
    """An error as a person reads it; one that nobody foresaw also says its kind."""
    return str(problem) if isinstance(problem, EmotuiError) else f"{type(problem).__name__}: {problem}"


class Answer(Message):
    """What came back from a desk: a value, or the error in words."""

    def __init__(
        self, desk: "LatestRequest[Any, Any]", number: int, question: Any, value: Any, error: str | None
    ) -> None:
        super().__init__()
        self.desk, self.number, self.question, self.value, self.error = desk, number, question, value, error


class LatestRequest(Generic[Q, A]):
    """Questions of one kind. The owner gets an `Answer` for each and gives it to `take`."""

    def __init__(self, name: str, owner: Widget, call: Callable[[Q], A]) -> None:
        self.name = name
        self._owner = owner
        self._call = call
        self._number = 0
        self._asked = 0
        self._waiting: list[Q] = []

    @property
    def busy(self) -> bool:
        """Is an answer still to come?"""
        return self._asked > 0

    @property
    def asked(self) -> bool:
        """Was anything ever asked?"""
        return self._number > 0

    def ask(self, question: Q) -> None:
        """Ask now, or as soon as the answer that is on its way is here."""
        self._number += 1
        if self._asked:
            self._waiting = [question]
        else:
            self._start(question)

    def take(self, answer: Answer) -> bool:
        """Let the next question go; says whether this answer is to the newest question."""
        newest = answer.number == self._number
        self._asked = 0
        if self._waiting:
            self._start(self._waiting.pop())
        return newest

    def _start(self, question: Q) -> None:
        self._asked = self._number
        number, owner = self._number, self._owner

        def work() -> None:
            try:
                value, error = self._call(question), None
            except Exception as problem:
                # Whatever goes wrong behind it, the screen stays: an error costs a message, not the session.
                value, error = None, in_words(problem)
            owner.post_message(Answer(self, number, question, value, error))

        owner.run_worker(work, name=self.name, group=self.name, thread=True)
