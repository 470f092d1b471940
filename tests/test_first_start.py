"""A new workspace: the samples of every task and a run of the model over each; cut short, it goes on later."""

from pathlib import Path

import pytest

from emotui.backends.host import Cancelled
from emotui.workbench.progress import RunProgress
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.backends.installed_kind import install_kind

TASKS = {"spans": 211, "scenes": 181, "masked": 98, "rephrase": 84}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
    monkeypatch.setattr("emotui.workbench.workspace.DEFAULT_MODEL", "breaking:able")
    monkeypatch.setattr("emotui.workbench.runs.run.EMBEDDING", "breaking:able")
    return Workspace.open(tmp_path / "new.duckdb")


def _done(workspace: Workspace) -> dict[str, tuple[int, str]]:
    return {run.task: (run.done, run.state) for run in workspace.store.runs()}


def test_every_task_has_samples_and_a_run_over_all_of_them(workspace: Workspace) -> None:
    assert workspace.needs_first_start()
    workspace.first_start()
    workspace.close()
    assert {dataset.task: dataset.n for dataset in workspace.datasets()} == TASKS
    assert _done(workspace) == {task: (n, "done") for task, n in TASKS.items()}
    assert not workspace.needs_first_start()
    chains = workspace.rephrasing().chains("rephrase")
    assert sum(bool(chain.attempts) for chain in chains) > 60
    assert {chain.annotator for chain in chains if chain.attempts} == {"sample"}


@pytest.mark.parametrize("task", list(TASKS))
def test_a_first_start_cut_short_in_any_task_goes_on_where_it_stopped(workspace: Workspace, task: str) -> None:
    def stop(step: RunProgress) -> None:
        runs = workspace.store.runs()
        if runs and runs[0].task == task and step.done:
            workspace.stop()

    with pytest.raises(Cancelled):
        workspace.first_start(stop)
    cut = {run.task: run.done for run in workspace.store.runs()}
    assert 0 < cut[task] < TASKS[task]
    assert workspace.setting(FIRST_START) == "loaded"
    assert workspace.needs_first_start()
    workspace.first_start()
    workspace.close()
    assert _done(workspace) == {task: (n, "done") for task, n in TASKS.items()}
    assert len(workspace.store.runs()) == len(TASKS)
