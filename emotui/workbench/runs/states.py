"""How a run stands, also where it could not say so itself any more, and which process is at it: told apart from another
one that has its number, its machine's name, or both, by now.
"""

import functools
import os
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.runs.plan import RunConfig

GOING: set[str] = set()
"""Runs that this process is at."""


def with_state(run: Run) -> Run:
    """The run, `stopped` where it says running but nobody is at it.

    Its process is gone (killed, or the power failed), or is this one, which could not write how the run ended (a full
    disk).
    """
    if run.state != "running":
        return run
    # The workbench's first row does not wait for it: most runs are over.
    from emotui.workbench.runs.plan import RunConfig

    try:
        settings = msgspec.convert(run.config, RunConfig)
    except (msgspec.ValidationError, RecursionError):
        return replace(run, state="stopped")  # no emotui that runs wrote that
    going = run.run in GOING if is_own(settings) else may_be_going(settings)
    return run if going else replace(run, state="stopped")


def check_at_rest(runs: Iterable[Run]) -> None:
    """Raises: BadInput while one of these runs is going on."""
    for run in runs:
        if with_state(run).state == "running":
            raise BadInput(f"run {run.run} is going on: stop it first")


def out_of_sight(run: Run) -> str:
    """Who says to be at a run that runs, where nobody can tell from here whether it still is; empty: it can be told."""
    if with_state(run).state != "running":
        return ""
    from emotui.workbench.runs.plan import RunConfig

    settings = msgspec.convert(run.config, RunConfig)
    seen = is_own(settings) or is_seen(settings)
    return "" if seen else f"process {settings.pid} of {settings.host or 'a machine without a name'}"


def signed(config: "RunConfig") -> "RunConfig":
    """The configuration of a run that this process is at from now on."""
    own = os.getpid()
    return replace(config, pid=own, host=socket.gethostname(), boot=boot(), space=process_space(), begun=begun(own))


def is_own(config: "RunConfig") -> bool:
    """Whether this very process is at it."""
    return signed(config) == config


def may_be_going(config: "RunConfig") -> bool:
    """Whether the process that says it is at a run may be there still: it is, or nobody can tell from here."""
    if config.boot and config.boot == boot():
        if config.space != process_space():
            return True  # a container of this machine, whose processes have numbers of their own
        return begun(config.pid) == config.begun if config.begun else _alive(config.pid)
    if config.host != socket.gethostname():
        return True  # another machine, or this one under another name before it was started again
    return not config.boot and _alive(config.pid)


def is_seen(config: "RunConfig") -> bool:
    """Whether the very process that is at a run can be seen from here."""
    here = config.boot and config.boot == boot() and config.space == process_space()
    return bool(here and config.begun) and begun(config.pid) == config.begun


@functools.cache
def boot() -> str:
    """What names this start of this machine; empty where the system does not say."""
    return _read("/proc/sys/kernel/random/boot_id")


@functools.cache
def process_space() -> str:
    """What process numbers count in, such as a container; empty where the system knows no such thing."""
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it is no path
    except OSError:
        return ""


def begun(pid: int) -> str:
    """When the process of a number began, in ticks since the machine did; empty where there is none or nobody knows.

    One that has ended is none, though its number stays until its parent asks for its end: a container's first process,
    or a terminal's server, may never do so.
    """
    state, *rest = _read(f"/proc/{pid}/stat").rpartition(")")[2].split() or [""]
    return "" if state in ("Z", "X") else (rest + [""] * 19)[18]


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
