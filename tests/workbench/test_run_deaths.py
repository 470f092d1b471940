"""A model that dies in the middle of a run costs one line: what was done is kept, and the run can be finished."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from emotui.errors import ModelError, StoreError
from emotui.records import Mark, SpanSample
from emotui.store.results import ResultTable
from emotui.store.runs import RunTable
from emotui.workbench.progress import RunOptions
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.effort import tried
from tests.screens.browse_workspace import workspace

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSEGV])
def test_a_model_that_is_struck_once_is_started_again_and_the_run_goes_on(tmp_path: Path, blow: signal.Signals) -> None:
    workspace = Workspace.open(str(tmp_path / "w.duckdb"))
    try:
        from emotui.workbench.datasets.whole_records import add_own_samples

        dataset = add_own_samples(workspace.store, "spans")
        killed: list[int] = []

        def strike(step: Any) -> None:
            pid = workspace.model("embedded").pid
            if step.done >= 16 and pid is not None and not killed:
                killed.append(pid)
                os.kill(pid, blow)
                tried("kills")

        finished = workspace.run_model("embedded", dataset.dataset, RunOptions(limit=20), on_progress=strike)
        assert len(killed) == 1
        assert (finished.state, finished.done, finished.failed) == ("done", 20, 0)
        assert workspace.model("embedded").pid not in (None, *killed)
    finally:
        workspace.close()


def test_what_was_done_is_kept_where_a_model_dies_over_every_text_and_another_time_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
    monkeypatch.setattr("emotui.workbench.runs.run.Embedder", lambda model, cancelled: None)
    texts = [f"{'KILL' if n >= 16 else 'word'} number {n}" for n in range(20)]
    samples = [SpanSample(id=f"w-{n}", text=text, spans=(Mark(0, 4),)) for n, text in enumerate(texts)]
    opened = workspace(tmp_path / "w.duckdb", samples=samples, run=False)
    try:
        with pytest.raises(ModelError, match="was killed by SIGKILL"):
            opened.run_model("breaking:", 1)
        (failed,) = opened.runs(1)
        assert (failed.state, failed.done, failed.failed) == ("failed", 16, 0)
        kept = {row.sample: row.raw for row in opened.store.results.of_run(failed.run)}
        install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
        with pytest.raises(ModelError, match="was killed by SIGKILL"):
            opened.run_model("breaking:", 1, RunOptions(resume=failed.run))
        assert kept == {row.sample: row.raw for row in opened.store.results.of_run(failed.run)}
    finally:
        opened.close()


def test_a_run_whose_end_could_not_be_written_can_be_finished_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
    monkeypatch.setattr("emotui.workbench.runs.run.Embedder", lambda model, cancelled: None)
    samples = [SpanSample(id=f"w-{n}", text=f"word number {n}", spans=(Mark(0, 4),)) for n in range(40)]
    opened = workspace(tmp_path / "w.duckdb", samples=samples, run=False)
    commit, set_state = ResultTable.commit, RunTable.set_state
    full: list[bool] = []

    def committing(results: ResultTable, run: str, rows: Any, **how: Any) -> None:
        if full:
            raise StoreError("the disk is full")
        commit(results, run, rows, **how)
        full.append(True)

    def writing(runs: RunTable, run: str, state: Any, error: str | None = None) -> None:
        if full:
            raise StoreError("the disk is full")
        set_state(runs, run, state, error)

    monkeypatch.setattr(ResultTable, "commit", committing)
    monkeypatch.setattr(RunTable, "set_state", writing)
    try:
        with pytest.raises(StoreError, match="the disk is full"):
            opened.run_model("breaking:", 1)
        (run,) = opened.runs(1)
        assert run.state == "stopped"
        assert 0 < run.done < 40
        monkeypatch.undo()
        install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
        monkeypatch.setattr("emotui.workbench.runs.run.Embedder", lambda model, cancelled: None)
        finished = opened.run_model("breaking:", 1, RunOptions(resume=run.run))
        assert (finished.state, finished.done) == ("done", 40)
    finally:
        opened.close()
