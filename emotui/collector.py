"""How often Python looks for objects that hold each other."""

import gc
import time
from collections.abc import Callable

COLLECT_AFTER = 50_000
"""New objects until it looks among them: at Python's own 700, imports and rows that are read cost up to a third more,
since nearly all of them stay and none is in a circle."""

EVERY = 60.0
"""Seconds from one look at everything in the workbench to the next: the sheets that were closed, each a circle of its
widgets, are 30,000 objects in 150 keys, and of itself Python would look at what is old after millions."""

STILL = 0.3
"""Seconds without a key, after which it is done: it takes up to 0.1 s, in which no key is echoed."""


def collect_seldom() -> None:
    """Look less often, in this process."""
    gc.set_threshold(COLLECT_AFTER)


def start_without() -> None:
    """Do not look at all until the first tick: what is made on the way to the first screen, modules too, stays."""
    gc.disable()


def collect_at_end() -> None:
    """Look at everything once more as Python ends: else DuckDB's module tells the terminal that it leaks."""
    gc.unfreeze()
    gc.enable()


class Tidying:
    """Looks at everything once a minute of use, in a moment in which no key comes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tidied, self._key = clock(), 0.0

    def key_came(self) -> None:
        self._key = self._clock()

    def tick(self) -> None:
        """To be called now and then."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        now = self._clock()
        if self._key > self._tidied and now - self._tidied >= EVERY and now - self._key >= STILL:
            gc.collect()
            self._tidied = now
