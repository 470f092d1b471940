"""Which of the errors that nobody foresaw are told, and when there are so many that the program has to end."""

import traceback
from collections import deque
from collections.abc import Callable
from time import monotonic

MANY = 100
"""Errors within a second, after which none of the next can be outlived: something makes the next one itself."""


class Failures:
    """Counts errors by where they were raised.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._times: deque[float] = deque(maxlen=MANY)
        self._told: set[tuple[type[BaseException], str, int]] = set()

    def forget(self) -> None:
        """A key was pressed: what it raises is told, also where another key had raised it before."""
        self._told.clear()

    def news(self, error: BaseException) -> bool:
        """Count an error; is it to be told? Not where a timer raises it over and over."""
        self._times.append(self._clock())
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = (type(error), last[0].filename, last[0].lineno or 0) if last else (type(error), "", 0)
        told = where in self._told
        self._told.add(where)
        return not told

    @property
    def too_many(self) -> bool:
        return len(self._times) == MANY and self._times[-1] - self._times[0] < 1
