"""A model asked about one batch after the other, or about several side by side, while what it has answered is kept.

Questions are prepared and answers wait for each other in threads of their own, so that neither the model nor a slow
answer holds up what comes of the others.
"""

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Generic, TypeVar

from emotui.backends.host import Cancelled, IsCancelled
from emotui.errors import ModelError, NotNow

_Batch = TypeVar("_Batch")
_Answer = TypeVar("_Answer")

PATIENCE = 3
"""Batches in a row over which a server may be in trouble; or as many as are under way at once, where those are more."""

GROUP = 256
"""Batches handed on together at most."""

_PAUSE, _LONGEST_PAUSE = 0.1, 1.0
"""Seconds between two groups while answers come faster than that: each is a transaction. No less than one takes."""

_GAIN = 1.1
"""By how much more texts a second a larger batch has to answer to be worth its memory."""

_LONG = 5.0
"""Seconds of a batch that is large enough."""

_LOOK = 0.05
_GRACE = 1.0
"""Seconds that what is under way is waited for when one answer, or the person, has ended all."""


class Stop:
    """Whether to stop: the person said so, or what asks came to its end."""

    def __init__(self, cancelled: IsCancelled | None) -> None:
        self._cancelled = cancelled
        self._over = threading.Event()

    def __call__(self) -> bool:
        return self._over.is_set() or (self._cancelled is not None and self._cancelled())

    def now(self) -> None:
        self._over.set()


class Pace:
    """How many texts go into one batch: twice as many again and again, while that answers more of them a second.

    A model's memory is its own to divide: one that computes a batch in parts gains nothing from more, and stays there.
    What a batch has answered is kept when it ends, so one that takes long grows no more either.

    Args:
        size: texts of the first batches.
        most: what a batch may grow to; it stays as it is where that is not more.
    """

    def __init__(self, size: int, most: int) -> None:
        self.size, self._most = size, most
        self._best, self._rate = size, 0.0
        self._grows = most > size

    def tell(self, texts: int, seconds: float) -> None:
        """A batch took so long. Those of another size than the present one say nothing of it."""
        if not self._grows or texts != self.size or seconds <= 0:
            return
        if texts / seconds < _GAIN * self._rate:
            self.size, self._grows = self._best, False
            return
        self._best, self._rate = self.size, texts / seconds
        if seconds < _LONG:
            self.size = min(2 * self.size, self._most)
        self._grows = self.size > self._best


class Window(Generic[_Batch, _Answer]):
    """Batches under way.

    Args:
        ask: answers one batch; called in threads.
        at_once: how many batches are asked about at the same time.
        stop: looked at while nothing comes, and told when there is nothing more to wait for.
    """

    def __init__(self, ask: Callable[[_Batch], _Answer], at_once: int, stop: Stop) -> None:
        self._ask, self._at_once, self._stop = ask, at_once, stop
        self._open: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[_Batch, _Answer | BaseException]] = queue.SimpleQueue()
        self._under_way = 0

    def answers(self, batches: Iterator[_Batch]) -> Generator[Sequence[tuple[_Batch, _Answer | NotNow]], None, None]:
        """What comes of each batch, in groups, as answers come.

        Whatever ends it, what was answered by then is handed on first. A batch over which a server was in trouble
        comes with `NotNow` in place of an answer.

        Raises:
            ModelError: the model died, refuses, or its server was in trouble over one batch after the other.
            Cancelled: `stop()` became true.
        """
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._at_once)]
        for thread in threads:
            thread.start()
        try:
            yield from self._groups(batches)
        finally:
            if self._under_way:
                self._stop.now()
            for _ in threads:
                self._open.put(None)
            until = time.monotonic() + _GRACE
            for thread in threads:
                thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while (batch := self._open.get()) is not None:
            try:
                self._done.put((batch, self._ask(batch)))
            except BaseException as error:
                self._done.put((batch, error))

    def _groups(self, batches: Iterator[_Batch]) -> Iterator[Sequence[tuple[_Batch, _Answer | NotNow]]]:
        group: list[tuple[_Batch, _Answer | NotNow]] = []
        ended: BaseException | None = None
        in_a_row, next_one = 0, 0.0
        left = True
        while True:
            if self._stop() and (self._under_way or (left and next(batches, None) is not None)):
                ended = Cancelled()
                break
            # As many again wait as are under way: the next is there when a place is free.
            while left and ended is None and self._under_way < 2 * self._at_once:
                batch = next(batches, None)
                left = batch is not None
                if batch is not None:
                    self._open.put(batch)
                    self._under_way += 1
            if not self._under_way:
                break
            try:
                taken = self._take()
            except KeyboardInterrupt as interrupt:
                ended = interrupt
                break
            for batch, answer in taken:
                self._under_way -= 1
                if isinstance(answer, NotNow):
                    in_a_row += 1
                    if in_a_row > max(self._at_once, PATIENCE):
                        ended = ended or ModelError(f"{in_a_row} requests in a row failed; the last one: {answer}")
                elif isinstance(answer, BaseException):
                    ended = ended or answer
                    continue
                else:
                    in_a_row = 0
                group.append((batch, answer))
            if ended is not None:
                break
            if group and (time.monotonic() >= next_one or len(group) >= GROUP or not self._under_way):
                began = time.monotonic()
                yield group
                group, now = [], time.monotonic()
                next_one = now + min(max(_PAUSE, now - began), _LONGEST_PAUSE)
        if isinstance(ended, ModelError):
            group += self._last()
        if group:
            yield group
        if ended is not None:
            raise ended

    def _take(self) -> list[tuple[_Batch, _Answer | BaseException]]:
        """All that is there, after a look's time where there is nothing."""
        found: list[tuple[_Batch, _Answer | BaseException]] = []
        try:
            found.append(self._done.get(timeout=_LOOK))
            while len(found) < GROUP:
                found.append(self._done.get_nowait())
        except queue.Empty:
            pass
        return found

    def _last(self) -> list[tuple[_Batch, _Answer | NotNow]]:
        """What is answered in a short while of all that is under way, when one answer has ended it."""
        while not self._open.empty():
            self._open.get()
            self._under_way -= 1
        until = time.monotonic() + _GRACE
        found: list[tuple[_Batch, _Answer | NotNow]] = []
        while self._under_way and time.monotonic() < until:
            for batch, answer in self._take():
                self._under_way -= 1
                if not isinstance(answer, BaseException):
                    found.append((batch, answer))
        return found
