"""What is wanted of a run, how far long work is, and telling of that no oftener than a person can read."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from emotui.backends.host import Cancelled, IsCancelled

if TYPE_CHECKING:
    from emotui.tasks.parts import Lexicon
    from emotui.workbench.shards.shard import Shard

__all__ = [
    "Cancelled",
    "IsCancelled",
    "OnCount",
    "OnProgress",
    "OnStep",
    "RunOptions",
    "RunProgress",
    "Throttled",
    "silent",
    "told",
    "unless",
]

T = TypeVar("T")


class RunOptions(msgspec.Struct, frozen=True):
    """What is wanted of a run, beside its model, dataset and task.

    Attributes:
        limit: only the dataset's first samples.
        shard: a part of them; the others are asked elsewhere, and merged.
        repeats: how often each sample is asked about.
        seed: of what is left to chance.
        way: one of the task's ways to ask this model; None: the model's own.
        options: the task's own settings (`Task.with_options`): prompts, sampling.
        resume: a stopped run to finish instead of starting one; its own limit, repeats, way and options hold.
        take_over: finish it even where its process may be at it still, on a machine that cannot be asked.
        retry: ask in it also about texts that were passed over, because the model did not finish them.
        fresh: compute again what the store already holds.
        lexicon: what masked words are compared by; a finished run that is returned is scored by it again. None: the
            usual one, or that of the run.
    """

    limit: int | None = None
    shard: "Shard | None" = None
    repeats: int = 1
    seed: int = 0
    way: str | None = None
    options: Mapping[str, object] | None = None
    resume: str | None = None
    take_over: bool = False
    retry: bool = False
    fresh: bool = False
    lexicon: "Lexicon | None" = None


class RunProgress(msgspec.Struct, frozen=True):
    """How far a run is. `rate`: samples a second so far; `remaining`: seconds left, None before the first batch.

    `waiting`: who holds the store open, where the run waits for that. `part`: which of how many runs it is.
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
    part: tuple[int, int] | None = None


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
