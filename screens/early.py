"""Keys that come before what they are about: they wait, in their order, and then mean what they would have meant."""

from collections import deque
from collections.abc import Awaitable, Callable

from textual.events import Key
from textual.widget import Widget

LOOK = 0.02
"""Seconds between two looks whether what keys wait for is there."""

_AT_ONCE = frozenset({"escape", *(f"f{number}" for number in range(1, 13))})
"""Keys that wait for nothing, as those with Ctrl, unless others wait already."""

_LEAVES = frozenset({"ctrl+q"})
"""Keys that wait for nothing ever."""


class EarlyKeys:
    """Holds the keys that are pressed while the open place still reads its first text, until that is shown or fails.

    Args:
        owner: in whose message pump the wait is counted.
        reads: is the open place still reading what it shows first? Told whether the place was just opened: then its
            list may still be on its way too.
        waits: does a key mean nothing until then?
        opens: does a key open a place?
        answer: does what a key does now.
    """

    def __init__(
        self,
        owner: Widget,
        reads: Callable[[bool], bool],
        waits: Callable[[str], bool],
        opens: Callable[[str], bool],
        answer: Callable[[Key], Awaitable[None]],
    ) -> None:
        self._owner, self._reads, self._waits, self._opens, self._answer = owner, reads, waits, opens, answer
        self._keys: deque[Key] = deque()
        self._first = False

    @property
    def busy(self) -> bool:
        """Does a key wait?"""
        return bool(self._keys)

    def place_opens(self) -> None:
        """Another place is being opened: what is pressed from now on is meant for it."""
        self._first = True

    def take(self, event: Key) -> bool:
        """Let this key wait, where it has to; says whether it does."""
        if event.key in _LEAVES:
            return False
        if not self._keys and not self._has_to_wait(event.key):
            return False
        self._keys.append(event)
        if len(self._keys) == 1:
            self._owner.set_timer(LOOK, self._look)
        return True

    def _has_to_wait(self, key: str) -> bool:
        if not self._still_reads():
            return False
        if key in _AT_ONCE or key.startswith("ctrl+") or self._opens(key):
            return False
        return self._first or self._waits(key)

    def _still_reads(self) -> bool:
        reads = self._reads(self._first)
        self._first = self._first and reads
        return reads

    def _look(self) -> None:
        if self._still_reads():
            self._owner.set_timer(LOOK, self._look)
        else:
            self._owner.app.call_later(self._next)

    async def _next(self) -> None:
        """Do the next key. It counts as waiting until it is done: what is pressed meanwhile comes after it."""
        try:
            await self._answer(self._keys[0])
        finally:
            self._keys.popleft()
            if self._keys and self._first:
                self._look()  # it has opened another place
            elif self._keys:
                # What takes the focus takes it from the app's queue: the next key comes behind that.
                self._owner.app.call_later(self._next)
