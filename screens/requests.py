"""Questions to the source that never block the screen: asked in a thread, answered in the owner's message pump.

While an answer is on its way only the newest question waits; those in between are dropped. So a key held down asks
as fast as the source answers and not faster, and a stale answer is known by its number. What keeps something asks each
question in its turn (`each`): none of these may be dropped.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from textual.timer import Timer
from textual.widget import Widget

from emotui.errors import EmotuiError

# Timers of a widget by name, so that a later wish takes the place of an earlier one.


class NamedTimers:
    """Timers of a widget. A name stands for at most one of them."""

    def __init__(self, owner: Widget) -> None:
        self._owner = owner
        self._timers: dict[str, Timer] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._timers

    def wait(self, name: str, seconds: float, then: Callable[[], None], *, again: bool = True) -> None:
        """Call `then` after so many seconds; `again`: counted from now on, also where it is waited for already."""
        if name in self._timers:
            if not again:
                return
            self.drop(name)

        def over() -> None:
            self._timers.pop(name, None)
            then()

        self._timers[name] = self._owner.set_timer(seconds, over)

    def drop(self, name: str) -> None:
        """Call it no more."""
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.stop()


Q = TypeVar("Q")
A = TypeVar("A")

_LONGEST = 300
"""Characters of an error that nobody foresaw, as it is told; all of it stands in the file."""


def missing_extra(problem: BaseException) -> str:
    """The extra that would bring the package that was not found; empty: it is another problem."""
    if not isinstance(problem, ModuleNotFoundError) or not problem.name:
        return ""
    from emotui.installing import extra_of

    return extra_of(problem.name)


def in_words(problem: Exception) -> str:
    """An error as a person reads it; one that nobody foresaw says its kind too, and where its traceback stands.

    Of a package that an extra brings it says the command that installs it.
    """
    if isinstance(problem, EmotuiError):
        return str(problem)
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    if extra := missing_extra(problem):
        from emotui.installing import install

        return f"{getattr(problem, 'name', '').partition('.')[0]} is not installed: {install(extra)}"
    from emotui.workbench.failure_log import written_down

    said = str(problem)
    said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
    return f"{type(problem).__name__}: {said} (traceback: {written_down(problem)})"


class LatestRequest(Generic[Q, A]):
    """Questions of one kind to one callable.

    Args:
        name: of the worker threads.
        owner: the widget in whose message pump the callbacks run.
        call: answers a question, in a thread.
        on_result: called with the question and its answer.
        on_error: called with the question and the error in words; None: the owner notifies of it.
        older: also call back for answers to questions that a newer one has followed.
        each: ask every question, one after the other, and call back for all of them.
    """

    def __init__(
        self,
        name: str,
        owner: Widget,
        call: Callable[[Q], A],
        on_result: Callable[[Q, A], object],
        on_error: Callable[[Q, str], object] | None = None,
        *,
        older: bool = False,
        each: bool = False,
    ) -> None:
        self.name, self._owner, self._call = name, owner, call
        self._on_result, self._on_error, self._older, self._each = on_result, on_error, older or each, each
        self._number = 0
        self._asked = 0
        self._put_off = 0
        self._waiting: list[Q] = []

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return self._asked > 0 or self._put_off > 0

    @property
    def asked(self) -> bool:
        """Whether anything was ever asked."""
        return self._number > 0

    def ask(self, question: Q) -> None:
        """Ask now, or as soon as the answer that is on its way is here."""
        self._number += 1
        self._put_off = 0
        if self._asked:
            self._waiting = [*(self._waiting if self._each else ()), question]
        else:
            self._start(question)

    def ask_painted(self, question: Q) -> None:
        """Ask once what is here by now is painted: the thread that answers would hold the painting up."""
        self._number += 1
        self._put_off = self._number
        if not self._owner.call_after_refresh(self._ask_now, self._number, question):
            self._put_off = 0

    def _ask_now(self, number: int, question: Q) -> None:
        if number == self._put_off:
            self._put_off = 0
            self.ask(question)

    def drop(self) -> None:
        """Nobody waits any more for what was asked."""
        self._number += 1
        self._put_off = 0
        self._waiting.clear()

    def _start(self, question: Q) -> None:
        number = self._asked = self._number

        def work() -> None:
            try:
                value = self._call(question)
            except Exception as problem:
                # Whatever goes wrong behind it, the screen stays: an error costs a message, not the session.
                self._owner.call_later(self._take, number, self._failed, question, in_words(problem))
            else:
                self._owner.call_later(self._take, number, self._on_result, question, value)

        self._owner.run_worker(work, name=self.name, group=self.name, thread=True)

    def _take(self, number: int, then: Callable[..., object], question: Q, answer: object) -> None:
        newest = number == self._number
        self._asked = 0
        if self._waiting:
            self._start(self._waiting.pop(0))
        if newest or self._older:
            then(question, answer)

    def _failed(self, question: Q, why: str) -> None:
        if self._on_error is not None:
            self._on_error(question, why)
        else:
            self._owner.notify(why, severity="error", markup=False)


def any_busy(owner: object) -> bool:
    """Whether an answer is on its way to any request that is an attribute of `owner`."""
    return any(one.busy for one in vars(owner).values() if isinstance(one, LatestRequest))
