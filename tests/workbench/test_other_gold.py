"""A run's identity depends on what can change its answers, not on gold: other gold asks no model again."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emotui.store.query import Dataset, Run
from emotui.workbench.progress import RunOptions, RunProgress
from emotui.workbench.runs import plan
from emotui.workbench.runs.run import rescore
from emotui.workbench.runs.scores import metrics
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind

GOLD = [[[0, 5]], [], [[6, 9]]]
TEXTS = ["happy day one", "quiet day two", "sadly the end"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "contract", "tests.backends.contract_backend:load")
    made = Workspace.open(tmp_path / "w.duckdb")
    yield made
    made.close()


@pytest.fixture
def load(workspace: Workspace, tmp_path: Path) -> Callable[..., Dataset]:
    """Import the texts under a name, with this gold."""

    def loaded(name: str, gold: list[list[list[int]]] = GOLD, texts: list[str] = TEXTS) -> Dataset:
        rows = [
            {"id": str(place), "text": text, "spans": spans}
            for place, (text, spans) in enumerate(zip(texts, gold, strict=True))
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return workspace.import_files([str(tmp_path / f"{name}.jsonl")], name)

    return loaded


@pytest.fixture
def ask(workspace: Workspace) -> Callable[..., tuple[Run, int]]:
    """Run a model; the run, and how many answers it was told of after the first look."""

    def asked(dataset: Dataset, **how: object) -> tuple[Run, list[int]]:
        told: list[int] = []

        def tell(step: RunProgress) -> None:
            if step.run:
                told.append(step.done)

        run = workspace.run_model("contract:", dataset.dataset, RunOptions(**how), on_progress=tell)  # type: ignore[arg-type]
        return run, told

    return asked


def test_a_dataset_that_differs_in_gold_alone_takes_the_answers_and_is_scored_by_its_own(
    workspace: Workspace, load: Callable[..., Dataset], ask: Callable[..., tuple[Run, list[int]]]
) -> None:
    first, told = ask(load("first"))
    assert told == [0, 3]
    other = load("other", [[], [[0, 5]], []])
    second, told = ask(other)
    assert told == [3]
    assert (second.dataset, second.done, second.state) == (other.dataset, 3, "done")
    outputs = [[row.raw for row in workspace.store.results.of_run(run.run)] for run in (first, second)]
    assert outputs[0] == outputs[1]
    assert metrics(workspace.store, second) == metrics(workspace.store, rescore(workspace.store, second.run, sim=True))
    assert ask(other)[0].run == second.run


def test_other_texts_ids_or_orders_ask_again(
    load: Callable[..., Dataset], ask: Callable[..., tuple[Run, list[int]]]
) -> None:
    ask(load("first"))
    assert ask(load("texts", texts=[*TEXTS[:2], "another end"]))[1] == [0, 3]
    assert ask(load("order", texts=TEXTS[::-1], gold=[[], [], []]))[1] == [0, 3]


def test_a_run_of_before_that_named_its_dataset_by_its_own_records_is_found(
    workspace: Workspace,
    load: Callable[..., Dataset],
    ask: Callable[..., tuple[Run, list[int]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dataset = load("first")
    identity = plan.identity

    def as_before(task: object, of: object, *rest: object) -> str:
        return identity(task, {"dataset": dataset.fingerprint}, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as before:
        before.setattr(plan, "identity", as_before)
        old, _ = ask(dataset)
    assert ask(dataset)[0].run == old.run
    twin = load("twin", [[], [], []])
    assert ask(twin)[1] == [3]


def test_what_is_asked_about_is_worked_out_once_a_dataset(
    workspace: Workspace, load: Callable[..., Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = load("first")
    with workspace.store._turns.writing() as connection:
        connection.execute("update datasets set asked = null")
    (old,) = workspace.store.datasets.all()
    counted: list[str] = []
    work_out = plan.asked_fingerprint

    def count(*given: object) -> str:
        counted.append("once")
        return work_out(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(plan, "asked_fingerprint", count)
    assert [plan.asked_of(workspace.store, old) for _ in range(3)] == [dataset.asked] * 3
    assert counted == ["once"]
