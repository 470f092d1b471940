"""How a run stands, also where it could not say so itself any more."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.store.query import Run

GOING: set[str] = set()
"""Runs that this process is at."""


def with_state(run: Run) -> Run:
    """The run, `stopped` where it says running but nobody is at it.

    Its process is gone (killed, or the power failed), or is this one, which could not write how the run ended (a full
    disk).
    """
    if run.state != "running":
        return run
    # The workbench's first row waits for neither: most runs are over.
    from emotui.workbench.runs.holders import is_own, may_be_going
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
    from emotui.workbench.runs.holders import is_own, is_seen
    from emotui.workbench.runs.plan import RunConfig

    settings = msgspec.convert(run.config, RunConfig)
    seen = is_own(settings) or is_seen(settings)
    return "" if seen else f"process {settings.pid} of {settings.host or 'a machine without a name'}"
