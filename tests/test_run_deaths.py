"""A model that dies in the middle of a run costs one line: what was done is kept, and the run can be finished."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from emotui.errors import ModelError
from emotui.workbench.workspace import Workspace


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSEGV])
def test_what_was_done_is_kept_and_a_fresh_process_finishes_the_run(tmp_path: Path, blow: signal.Signals) -> None:
    workspace = Workspace.open(str(tmp_path / "w.duckdb"))
    try:
        from emotui.workbench.samples import add_sample_data

        dataset = add_sample_data(workspace.store)
        killed: list[int] = []

        def strike(step: Any) -> None:
            pid = workspace.model("embedded").pid
            if step.done >= 16 and pid is not None and not killed:
                killed.append(pid)
                os.kill(pid, blow)

        with pytest.raises(ModelError, match=f"was killed by {blow.name}"):
            workspace.run_model("embedded", dataset.dataset, limit=40, on_progress=strike)
        (stopped,) = workspace.runs(dataset.dataset)
        assert (stopped.state, stopped.done, stopped.failed) == ("failed", 16, 0)
        kept = {row.sample: row.raw for row in workspace.store.results(stopped.run)}
        finished = workspace.run_model("embedded", dataset.dataset, resume=stopped.run)
        assert (finished.state, finished.done, finished.failed) == ("done", 40, 0)
        assert workspace.model("embedded").pid not in (None, *killed)
        assert kept.items() <= {row.sample: row.raw for row in workspace.store.results(stopped.run)}.items()
    finally:
        workspace.close()
