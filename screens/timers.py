"""Timers of a widget by name, so that a later wish takes the place of an earlier one."""

from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget


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
