"""A foreign program that holds the store open costs a run time, not its life."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.backends.host import Cancelled
from emotui.workbench.progress import RunOptions, RunProgress
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.store.test_sharing import HOLDER, heard, program

SAMPLES = 96
"""Six batches: what is under way beside the first answers leaves some that nobody has asked yet."""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "contract", "tests.backends.contract_backend:load")
    rows = [{"id": str(n), "text": f"Yes it is number {n}.", "spans": []} for n in range(SAMPLES)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    made = Workspace.open(tmp_path / "w.duckdb")
    made.import_files([str(tmp_path / "d.jsonl")], "d")
    yield made
    made.close()


class Holder:
    """Takes the file once a run has begun to answer, and keeps it until the run has waited so long."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.seconds = path, seconds
        self.process: subprocess.Popen[str] | None = None
        self.waits: list[str] = []
        self.begun = 0.0

    def told(self, step: RunProgress) -> None:
        if step.done and self.process is None:
            self.process, self.begun = program("-c", HOLDER, self.path), time.monotonic()
            assert heard(self.process) == "held\n"
        if step.waiting is not None:
            assert step.n == SAMPLES
            self.waits.append(step.waiting)
            if self.process is not None and time.monotonic() - self.begun > self.seconds:
                self.process.communicate()


def test_a_run_waits_says_for_whom_and_goes_on(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace.store._turns, "patience", 0.1)
    holder = Holder(workspace.store.path, 1.0)
    run = workspace.run_model("contract:", "d", on_progress=holder.told)
    assert (run.state, run.done, run.failed) == ("done", SAMPLES, 0)
    assert holder.process is not None
    assert holder.waits
    assert all(f"(pid {holder.process.pid})" in who for who in holder.waits)


def test_a_run_that_waits_can_be_stopped_and_finished_later(workspace: Workspace) -> None:
    holder = Holder(workspace.store.path, 60)

    def told(step: RunProgress) -> None:
        holder.told(step)
        if step.waiting is not None:
            workspace.stop()

    with pytest.raises(Cancelled):
        workspace.run_model("contract:", "d", on_progress=told)
    assert holder.process is not None
    holder.process.communicate()
    (stopped,) = workspace.runs(1)
    assert stopped.state == "stopped"
    assert 0 < stopped.done < SAMPLES
    assert workspace.run_model("contract:", "d", RunOptions(resume=stopped.run)).done == SAMPLES


@pytest.mark.slow
def test_a_minute_of_it_costs_a_minute(workspace: Workspace) -> None:
    holder = Holder(workspace.store.path, 60)
    assert workspace.run_model("contract:", "d", on_progress=holder.told).done == SAMPLES
    assert time.monotonic() - holder.begun > 60
