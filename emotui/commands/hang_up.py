"""A terminal that has gone away: where the system sends no signal of that, somebody has to look."""

import os
import select
import signal
import sys
import threading
import time


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
