"""A machine with a clock that goes back, few open files, or a prompt file of any bytes costs a line at most."""

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.store import datasets, runs
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from tests.effort import MINUTES, times, tried
from tests.paths import CHECKOUT
from tests.store import store_samples

GOLD = '{"id": "1", "text": "I was so glad.", "spans": [[6, 13]]}\n'
GOOD = b"""[retrieve]
system = "You mark evidence."
user = '''Mark what shows a feeling: {text}'''

[highlight]
user = "Write it again with ** around evidence: {text}"
"""
DAMAGE = (
    b'"',
    b"'''",
    b"[",
    b"]",
    b"=",
    b"{text}",
    b"{",
    b"\n",
    b"\xff",
    b"\0",
    b"\\u",
    b"9" * 5000,
    b".a" * 300,
    b"[[",
)


@pytest.mark.fuzz
@given(seed=st.integers(0, 2**32))
@settings(max_examples=times(100, 40_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_prompt_file_is_prompts_or_lines_that_name_it(tmp_path: Path, seed: int) -> None:
    chance, content = random.Random(seed), bytearray(GOOD)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content))
        content[at : at + chance.randint(0, 8)] = chance.choice(DAMAGE)
    path = tmp_path / "prompts.toml"
    path.write_bytes(content)
    tried("bad inputs")
    read = task_named("spans").asking.prompts
    assert read is not None
    problems: tuple[str, ...] = ()
    try:
        read(str(path))
    except BadInput as refusal:
        problems = refusal.problems
    assert [line for line in problems if not line.startswith(str(path)) or "\n" in line] == []


@pytest.mark.faults
def test_a_clock_that_goes_back_loses_no_run_and_keeps_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    for year in (2030, 2001, 1969):
        for module in (datasets, runs):
            monkeypatch.setattr(module, "now", lambda year=year: f"{year}-01-01T00:00:00.000+00:00")
        dataset = store.datasets.add(str(year), "spans", store_samples.samples(2), "a file", str(year)).dataset
        store.runs.start(
            run=f"run-{year}", identity=str(year), task="spans", model="m", dataset=dataset, config={"seed": 0}, n=2
        )
        store.runs.set_state(f"run-{year}", "done")
    assert [run.run for run in store.runs.all()] == ["run-1969", "run-2001", "run-2030"]
    assert [run.state for run in store.runs.all()] == ["done"] * 3
    assert {dataset.name for dataset in store.datasets.all()} == {"2030", "2001", "1969"}


@pytest.mark.faults
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.skipif(not MINUTES, reason="a model is loaded in a process of its own")
def test_sixty_four_open_files_are_enough_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(
        '{"id": "1", "text": "I was so glad.", "spans": [[6, 13]]}\n', encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "emotui", "run", "spans", "--dataset", "gold.jsonl", "--db", "w.duckdb", "--json"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
    )
    assert done.returncode == 0, done.stderr
    (run,) = Store.open(tmp_path / "w.duckdb").runs.all()
    assert run.state == "done"
