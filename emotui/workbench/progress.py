"""How far long work is, and telling of it no oftener than a person can read."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec

from emotui.backends.host import Cancelled, IsCancelled

__all__ = [
    "Cancelled",
    "IsCancelled",
    "OnCount",
    "OnProgress",
    "OnStep",
    "RunProgress",
    "Throttled",
    "silent",
    "told",
    "unless",
]

T = TypeVar("T")


class RunProgress(msgspec.Struct, frozen=True):
    """How far a run is. `rate`: samples a second so far; `remaining`: seconds left, None before the first batch.

    `waiting`: who holds the store open, where the run waits for that.
    """

    run: str
    model: str
    done: int
    n: int
    failed: int
    rate: float | None
    remaining: float | None
    step: str
    waiting: str | None = None


OnProgress = Callable[[RunProgress], None]

OnCount = Callable[[int], None]
"""Called with how many answers have been read so far."""


OnStep = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is (0: unknown); what it raises ends it."""

_ITEMS = 256
"""Items after which a step tells how far it is."""

_TOLD_EVERY = 0.2
"""Seconds."""


class Throttled:
    """Called with a step's name, how much of it is done, and how much there is (0: unknown); rate and time left are of
    the step. Tells at each new step, and after that a few times a second, under the work's name.
    """

    def __init__(self, work: str, on_progress: OnProgress) -> None:
        self._work = work
        self._on_progress = on_progress
        self._step: str | None = None
        self._began = self._told = self._first = 0.0

    def __call__(self, step: str, done: int, n: int) -> None:
        now = time.monotonic()
        if step != self._step:
            self._step, self._began, self._first = step, now, done
        elif now - self._told < _TOLD_EVERY:
            return
        self._told = now
        passed, further = now - self._began, done - self._first
        rate = further / passed if passed > 0 and further > 0 else None
        remaining = (n - done) / rate if rate else None
        said = f"{self._work}: {step}"
        self._on_progress(RunProgress("", said, done, n, 0, rate, remaining, said))


def told(items: Iterable[T], step: str, n: int, on_step: OnStep) -> Iterator[T]:
    """The items, while `on_step` is told how many have gone by."""
    done = 0
    for done, item in enumerate(items):
        if done % _ITEMS == 0:
            on_step(step, done, n)
        yield item
    on_step(step, done, n)


def unless(over: IsCancelled, on_step: OnStep) -> OnStep:
    """Tells on, and raises Cancelled once `over()` is true."""

    def tell(step: str, done: int, n: int) -> None:
        if over():
            raise Cancelled
        on_step(step, done, n)

    return tell


def silent(step: str, done: int, n: int) -> None:
    """Nobody is told how far it is."""
