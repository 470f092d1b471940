"""Ctrl-C and a request to end, as a question that long work asks between its steps."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from emotui.commands.output import say


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether the person asked to stop; a second Ctrl-C ends at once, as without this."""
    asked: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        signal.signal(number, before[signal.Signals(number)])
        say("stopping after this step (once more: at once)", err=True)

    for number in before:
        signal.signal(number, ask)
    try:
        yield lambda: bool(asked)
    finally:
        for number, known in before.items():
            signal.signal(number, known)
