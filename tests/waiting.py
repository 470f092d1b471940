"""Waiting for what nobody sends word of: another process's file or end, another thread's flag, a screen at rest.

The one place where tests sleep: a condition is asked again and again until it holds, and too long a wait is a failure.
No test waits for a time to pass.
"""

import asyncio
import time
from collections.abc import Callable

_PAUSE, _SHORT_PAUSE = 0.05, 0.01
"""Between two questions about another process, which wants the processor too, and about this one's own screen."""

LONGEST = 500.0
"""Seconds after which what does not come hangs: a test ends after 600. Nothing shorter bounds what a test waits for: on
a busy machine all takes ten and twenty times as long."""


def wait_until(there: Callable[[], bool], what: Callable[[], str] = lambda: "it does not come") -> None:
    """Block this thread until `there()`; `what` says what is missing where that takes too long."""
    begun = time.monotonic()
    while not there():
        assert time.monotonic() - begun < LONGEST, what()
        time.sleep(_PAUSE)


async def awaited(
    there: Callable[[], bool], what: Callable[[], str] = lambda: "it does not come", pause: float = _SHORT_PAUSE
) -> None:
    """The same, while the event loop goes on; `pause`: seconds between two questions, more for what takes long."""
    begun = time.monotonic()
    while not there():
        assert time.monotonic() - begun < LONGEST, what()
        await asyncio.sleep(pause)
