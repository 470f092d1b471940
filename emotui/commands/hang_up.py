"""A terminal that has gone away: where the system sends no signal of that, somebody has to look."""

import os
import select
import signal
import sys
import threading


def end_with_terminal() -> None:
    """End this process, as a hang-up does, once its terminal is gone.

    A program that leads no session of its terminal (in a container, under `setsid`) gets no SIGHUP, and one that was
    started where hang-ups are ignored (`nohup`) takes no notice of it; its reading of keys would find the end of them
    again and again, and take a whole core for ever.
    """
    if not hasattr(select, "poll") or not hasattr(signal, "SIGHUP") or not sys.stdin.isatty():
        return
    threading.Thread(target=_wait, args=(sys.stdin.fileno(),), daemon=True).start()


def _wait(terminal: int) -> None:
    watched = select.poll()
    watched.register(terminal, 0)  # a hang-up is told unasked
    try:
        watched.poll()
    except OSError:
        return
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGHUP)
