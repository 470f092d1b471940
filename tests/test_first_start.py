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


MIXED = {"spans": (6, "done"), "labels": (6, "done"), "scenes": (6, "done")}
"""What is asked of the texts of which all is said."""


def _done(workspace: Workspace, dataset: str = "") -> dict[str, tuple[int, str]]:
    """By task of the runs over a dataset, or over those that came for the task alone."""
    mixed = [one.dataset for one in workspace.datasets() if one.name == "mixed"]
    found = [run for run in workspace.store.runs.all() if (run.dataset in mixed) == bool(dataset)]
    return {run.task: (run.done, run.state) for run in found}


def test_every_task_has_samples_and_a_run_over_all_of_them(workspace: Workspace) -> None:
    assert workspace.needs_first_start()
    workspace.first_start()
    workspace.close()
    assert {one.task: one.n for one in workspace.datasets() if one.name != "mixed"} == TASKS
    assert _done(workspace) == {task: (n, "done") for task, n in TASKS.items()}
    assert _done(workspace, "mixed") == MIXED
    assert not workspace.needs_first_start()
    chains = workspace.rephrasing().chains("rephrase")
    assert sum(bool(chain.attempts) for chain in chains) > 60
    assert {chain.annotator for chain in chains if chain.attempts} == {"sample"}


def test_a_new_workspace_has_texts_of_which_everything_is_said_at_once(workspace: Workspace) -> None:
    workspace.first_start()
    (mixed,) = [one for one in workspace.datasets() if one.name == "mixed"]
    runs = workspace.runs(mixed.dataset)
    first = workspace.store.samples.file_order(mixed.dataset).start
    gold, *people, _, _, _ = voices = workspace.voices(first, [run.run for run in runs])
    assert gold.spans
    assert gold.told is not None
    assert [one.name for one in gold.told] == ["label", "joy", "surprise"]
    assert set(gold.values) == {"valence", "arousal", "dominance"}
    assert [(one.name, one.kind) for one in people] == [("A1", "person"), ("A2", "person")]
    assert {one.task for one in voices[3:]} == set(MIXED)
    workspace.close()


@pytest.mark.parametrize("task", list(TASKS))
def test_a_first_start_cut_short_in_any_task_goes_on_where_it_stopped(workspace: Workspace, task: str) -> None:
    def stop(step: RunProgress) -> None:
        runs = workspace.store.runs.all()
        if runs and runs[0].task == task and step.done:
            workspace.stop()

    with pytest.raises(Cancelled):
        workspace.first_start(stop)
    cut = {run.task: run.done for run in workspace.store.runs.all()}
    assert 0 < cut[task] < TASKS[task]
    assert workspace.setting(FIRST_START) == "loaded"
    assert workspace.needs_first_start()
    workspace.first_start()
    workspace.close()
    assert _done(workspace) == {task: (n, "done") for task, n in TASKS.items()}
    assert len(workspace.store.runs.all()) == len(TASKS) + len(MIXED)
