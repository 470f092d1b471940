"""Asking twice costs one lookup; whatever can change an answer makes another run (issue section 1)."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.tasks.scenes.task import Scenes
from emotui.workbench.progress import RunOptions
from emotui.workbench.runs import run as runs_run
from emotui.workbench.workspace import Workspace
from tests.paths import TESTS
from tests.tiny.gguf_copy import copy_gguf

TINY = TESTS / "tiny" / "model"
PROMPTS = {"first-token": {"user": "Think of {subject}. {text}\nDoes {subject} feel {emotion}? Answer Yes or No."}}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    pytest.importorskip("llama_cpp")
    pytest.importorskip("gguf")
    return copy_gguf(TINY / "tiny-Q8_0.gguf", tmp_path / "model.gguf")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every model that is really loaded."""
    found: list[str] = []
    start = ModelProcess._start

    def counted(process: ModelProcess) -> None:
        found.append(process.spec)
        start(process)

    monkeypatch.setattr(ModelProcess, "_start", counted)
    return found


def ask(db: Path, spec: str, **how: Any) -> tuple[str, int]:
    """A run in a session of its own: its id, and how many samples were asked about."""
    told: list[int] = []
    workspace = Workspace.open(str(db))
    try:
        dataset = workspace.store.datasets.get("d")
        if dataset is None:
            path = db.parent / "scenes.jsonl"
            lines = [{"id": str(n), "text": f"Ada {n}", "subject": "Ada", "labels": {"joy": n % 2}} for n in range(3)]
            path.write_text("\n".join(map(json.dumps, lines)))
            dataset = workspace.import_files([str(path)], "d", task="scenes")
        how = {"options": {"prompts": PROMPTS}, **how}
        run = workspace.run_model(
            spec, dataset.dataset, RunOptions(**how), on_progress=lambda step: told.append(step.done)
        )
        assert (run.state, run.failed) == ("done", 0)
        return run.run, max(told, default=0)
    finally:
        workspace.close()


def test_asking_twice_is_one_lookup_and_loads_nothing(db: Path, model: Path, loads: list[str]) -> None:
    spec = f"gguf:{model}"
    first = ask(db, spec)
    assert (first[1], loads) == (3, [spec])
    assert ask(db, spec) == (first[0], 0)
    assert loads == [spec]
    again = ask(db, spec, fresh=True)
    assert again[1] == 3
    assert again[0] != first[0]
    assert loads == [spec, spec]


def other_weights(model: Path) -> None:
    copy_gguf(TINY / "tiny-F16.gguf", model)


def other_template(model: Path) -> None:
    copy_gguf(TINY / "tiny-Q8_0.gguf", model, changes={"tokenizer.chat_template": None})


@pytest.mark.parametrize("change", [other_weights, other_template])
def test_a_changed_file_at_the_same_place_never_hits(db: Path, model: Path, change: Callable[[Path], None]) -> None:
    first = ask(db, f"gguf:{model}")
    change(model)
    second = ask(db, f"gguf:{model}")
    assert second[1] == 3
    assert second[0] != first[0]


def test_a_file_that_was_only_touched_is_loaded_and_hits(db: Path, model: Path, loads: list[str]) -> None:
    first = ask(db, f"gguf:{model}")
    os.utime(model, (1, 1))
    assert ask(db, f"gguf:{model}") == (first[0], 0)
    assert len(loads) == 2


def test_another_precision_prompt_way_or_seed_never_hits(db: Path, model: Path) -> None:
    spec = f"gguf:{model}"
    wording = {"first-token": {"user": PROMPTS["first-token"]["user"] + " "}}
    runs = [
        ask(db, spec)[0],
        ask(db, f"{spec}#kv=f32")[0],
        ask(db, spec, options={"prompts": wording})[0],
        ask(db, spec, seed=1)[0],
    ]
    assert len(set(runs)) == 4


def test_another_version_of_the_task_never_hits(db: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(db, f"gguf:{model}")
    monkeypatch.setattr(Scenes, "version", "another")
    assert ask(db, f"gguf:{model}")[0] != first[0]


def test_another_version_of_the_library_never_hits(db: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(db, f"gguf:{model}")
    load = ModelProcess.load

    def newer(process: ModelProcess, *how: Any, **more: Any) -> ModelCard:
        card = load(process, *how, **more)
        return replace(card, identity={**card.identity, "library": "llama-cpp-python 99"})

    monkeypatch.setattr(ModelProcess, "load", newer)
    monkeypatch.setattr(runs_run, "remembered_card", lambda store, model: None)  # its stamp has the installed version
    assert ask(db, f"gguf:{model}")[0] != first[0]


def test_the_embedded_model_is_not_loaded_twice_either(db: Path, loads: list[str]) -> None:
    first = ask(db, "embedded", options={})
    assert ask(db, "embedded", options={}) == (first[0], 0)
    assert loads == ["embedded"]
