"""Runs: who was asked what of which data set, and how that stands."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from emotui.errors import BadInput, StoreError
from emotui.store import access, results
from emotui.store.query import Run
from emotui.store.rows import ResultRow, now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STATES = ("running", "done", "stopped", "failed")

_RUN = (
    "select run, task, model, dataset, identity, config, state, started, finished, n, done, failed, error,"
    " source, deleted from runs"
)
_IN_USE = "deleted is null and dataset not in (select dataset from datasets where deleted is not null)"


class RunTable:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def start(
        self,
        run: str,
        identity: str,
        task: str,
        model: str,
        dataset: int,
        config: dict[str, object],
        n: int,
        source: str = "model",
        *,
        former: str = "",
    ) -> Run:
        """Add a run in state `running`, or take one of the same id and identity up again.

        Args:
            identity: SHA-256 over all that can change its outputs.
            config: what a reader wants to know of it, any JSON.
            n: how many (sample, repeat) it will ask.
            source: one of `SOURCES`.
            former: the identity that the run of this id may have until now; empty: the same.

        Raises:
            StoreError: the id is taken by a run of another identity.
        """
        with self._turns.writing() as connection:
            known = [_run(row) for row in connection.execute(f"{_RUN} where run = ?", [run]).fetchall()]
            if known and (known[0].identity not in (identity, former) or known[0].dataset != dataset):
                raise StoreError(
                    f"there is a run {run} already, of another model, data set or setting: choose another name"
                )
            if known:
                connection.execute(
                    "update runs set state = 'running', finished = null, error = null, n = ?, identity = ?, config = ?"
                    " where run = ?",
                    [n, identity, json.dumps(config, ensure_ascii=False), run],
                )
            else:
                connection.execute(
                    "insert into runs select coalesce(max(number) + 1, 1), ?, ?, ?, ?, ?, ?, 'running', ?, null, ?, 0,"
                    " 0, null, ?, null from runs",
                    [run, identity, task, model, dataset, json.dumps(config, ensure_ascii=False), now(), n, source],
                )
            return one(connection, run)

    def keep(self, run: Run, rows: Sequence[ResultRow], *, gold: int) -> None:
        """Add a run that was made elsewhere, with its id, times and state, its outputs, predictions and scores.

        Args:
            gold: the version of gold that the scores were computed under.

        Raises:
            StoreError: the id is taken.
        """
        with self._turns.writing() as connection:
            if run.run in taken(connection):
                raise StoreError(f"there is a run {run.run} already")
            told = (run.run, run.identity, run.task, run.model, run.dataset, json.dumps(run.config, ensure_ascii=False))
            connection.execute(
                "insert into runs select coalesce(max(number) + 1, 1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, null"
                " from runs",
                [*told, run.state, run.started, run.finished, run.n, run.error, run.source],
            )
            results.commit(connection, run.run, rows, gold)

    def all(self, dataset: int | None = None, *, trash: bool = False) -> list[Run]:
        """Runs, newest first: those in use, or those in the trash."""

        def read() -> list[Run]:
            with self._turns.reading() as connection:
                return listed(connection, dataset, trash)

        return list(self._turns.once(("runs", dataset, trash), read))

    def names(self) -> set[str]:
        """The ids of runs that are taken, those in the trash among them."""
        with self._turns.reading() as connection:
            return taken(connection)

    def get(self, prefix: str) -> Run:
        """The run of that id, or the only one whose id begins so. Raises BadInput."""
        with self._turns.reading() as connection:
            return one(connection, prefix)

    def set_state(self, run: str, state: str, error: str | None = None) -> None:
        """Say how a run stands: one of `STATES`. Raises ValueError for any other."""
        with self._turns.writing() as connection:
            if state not in STATES:
                raise ValueError(f"no state {state!r}: use one of {', '.join(STATES)}")
            finished = None if state == "running" else now()
            connection.execute(
                "update runs set state = ?, finished = ?, error = ? where number = ?",
                [state, finished, error, results.number_of(connection, run)],
            )

    def revisions(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """For each of these runs a value that changes when it has new outputs or scores."""

        def read() -> dict[str, tuple[int, int]]:
            with self._turns.reading() as connection:
                found = connection.execute(
                    "select r.run, coalesce((select max(output) from outputs where run = r.number), 0),"
                    " coalesce((select max(score) from scores where run = r.number), 0)"
                    " from runs r where r.run in (select unnest(?::varchar[]))",
                    [list(names)],
                )
                return {run: (output, score) for run, output, score in found.fetchall()}

        return dict(self._turns.once(("revisions", *names), read))


def listed(connection: "DuckDBPyConnection", dataset: int | None = None, trash: bool = False) -> list[Run]:
    """Runs, newest first: those in use, or those in the trash; of one data set where it is given.

    Runs over a data set that is in the trash are neither.
    """
    which = "deleted is not null" if trash else _IN_USE
    found = connection.execute(
        f"{_RUN} where {which} and (?::integer is null or dataset = ?) order by number desc", [dataset, dataset]
    )
    return [_run(row) for row in found.fetchall()]


def taken(connection: "DuckDBPyConnection") -> set[str]:
    """The ids that are taken, those of runs in the trash among them."""
    return {run for (run,) in connection.execute("select run from runs").fetchall()}


def one(connection: "DuckDBPyConnection", prefix: str) -> Run:
    """The run of that id, or the only one whose id begins so; those in the trash are not found. Raises BadInput."""
    asked = f"{_RUN} where {_IN_USE} and starts_with(run, ?)"
    found = [_run(row) for row in connection.execute(asked, [prefix]).fetchall()]
    exact = [run for run in found if run.run == prefix]
    if exact or len(found) == 1:
        return (exact or found)[0]
    if not found:
        raise BadInput(f"there is no run {prefix!r} (see: emotui runs)")
    raise BadInput(f"{prefix!r} begins the ids of {len(found)} runs: give more of it (see: emotui runs)")


def _run(row: tuple[Any, ...]) -> Run:
    run, task, model, dataset, identity, config, *rest = row
    try:
        settings = json.loads(config)
    except (ValueError, RecursionError):
        settings = None
    # Whoever wants the settings is told that no run has such ones.
    known = settings if isinstance(settings, dict) else {"repeats": config}
    return Run(run, task, model, dataset, identity, known, *rest)
