"""Ctrl-C and a request to end, as a question that long work asks between its steps."""

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from emotui.commands.output import say

# A terminal that has gone away: where the system sends no signal of that, somebody has to look.


def end_with_terminal() -> None:
    """End this process, as a hang-up does, once its terminal is gone.

    A program that leads no session of its terminal (in a container, under `setsid`) gets no SIGHUP, and one that was
    started where hang-ups are ignored (`nohup`) takes no notice of it; its reading of keys would find the end of them
    again and again, and take a whole core for ever.
    """
    if not hasattr(select, "poll") or not hasattr(signal, "SIGHUP") or not sys.stdin.isatty():
        return
    threading.Thread(target=_wait, args=(sys.stdin.fileno(),), daemon=True).start()


SERVED_BY = "EMOTUI_SERVED_BY"
"""The variable that tells a workbench in a browser the process of its server."""

_LOOK = 0.5
"""Seconds between two looks whether the server is there."""


def end_with_server() -> None:
    """End this process once the server that started it is gone, however that ended; its models end with it."""
    server = os.environ.get(SERVED_BY, "")
    if os.name == "posix" and server.isdecimal():
        threading.Thread(target=_wait_for_end_of, args=(int(server),), daemon=True).start()


def _wait_for_end_of(server: int) -> None:
    while os.getppid() == server:
        time.sleep(_LOOK)
    os._exit(1)


def _wait(terminal: int) -> None:
    watched = select.poll()
    watched.register(terminal, 0)  # a hang-up is told unasked
    try:
        watched.poll()
    except OSError:
        return
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGHUP)


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
