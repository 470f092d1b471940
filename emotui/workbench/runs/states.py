"""How a run stands, also where it could not say so itself any more."""

import os
import socket

import msgspec
from msgspec.structs import replace

from emotui.store.query import Run
from emotui.workbench.runs.plan import RunConfig

GOING: set[str] = set()
"""Runs that this process is at."""


def with_state(run: Run) -> Run:
    """The run, `stopped` where it says running but nobody is at it.

    Its process is gone (killed, or the power failed), or is this one, which could not write how the run ended (a full
    disk).
    """
    settings = msgspec.convert(run.config, RunConfig)
    if run.state == "running" and settings.host == socket.gethostname():
        going = run.run in GOING if settings.pid == os.getpid() else _alive(settings.pid)
        return run if going else replace(run, state="stopped")
    return run


def _alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
