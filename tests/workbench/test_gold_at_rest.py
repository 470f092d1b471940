"""Gold is not replaced under a run that goes on, and figures over two versions of gold say so."""

import json
from pathlib import Path

import msgspec
import pytest

from emotui.errors import BadInput
from emotui.store.store import Store
from emotui.workbench.datasets.sources import former_again, make_gold
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import metrics
from tests.conftest import Emotui

RECORDS = [{"id": str(n), "text": "I am glad today", "spans": [[5, 9]], "emotion": "happy"} for n in range(2)]
OTHER = [{**record, "spans": [[0, 1]]} for record in RECORDS]


@pytest.fixture
def store(tmp_path: Path, emotui: Emotui) -> Store:
    for name, records in (("mine", RECORDS), ("other", OTHER)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert emotui("import", "spans", "mine.jsonl", "--db", "w.duckdb").status == 0
    (tmp_path / "said.jsonl").write_text("\n".join(json.dumps({"id": one["id"], "spans": [[5, 9]]}) for one in OTHER))
    said = emotui("import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "eva", "--db", "w.duckdb")
    assert said.status == 0, said.err
    return Store.open(tmp_path / "w.duckdb")


def go_on(store: Store) -> None:
    """A run that a process on another machine is at."""
    config = msgspec.to_builtins(RunConfig(pid=7, host="another machine", boot="another start"))
    store.start_run("going", "identity", "spans", "embedded", 1, config, 2)


def test_replace_gold_is_refused_while_a_run_over_the_dataset_goes_on(store: Store, emotui: Emotui) -> None:
    go_on(store)
    refused = emotui("replace-gold", "mine", "other.jsonl", "--db", store.path)
    assert (refused.status, refused.err.strip()) == (2, "run going is going on: stop it first")
    with pytest.raises(BadInput, match="run going is going on"):
        make_gold(store, "mine", "eva")
    assert store.datasets()[0].gold == 1
    store.set_state("going", "stopped")
    assert emotui("replace-gold", "mine", "other.jsonl", "--db", store.path).status == 0
    store.set_state("going", "running")
    with pytest.raises(BadInput, match="run going is going on"):
        former_again(store, store.datasets()[0], 1)
    assert store.datasets()[0].gold == 2


def test_a_run_that_begins_while_new_gold_is_read_leaves_gold_as_it_is(store: Store) -> None:
    begun: list[str] = []

    def check(runs: object) -> None:
        begun.extend(run.run for run in runs)  # type: ignore[attr-defined]
        raise BadInput("a run is going on")

    with pytest.raises(BadInput, match="going on"):
        store.replace_gold(store.datasets()[0], [], "other", "other", check=check)
    assert begun == [store.runs()[0].run]
    assert store.datasets()[0].gold == 1


def test_figures_over_two_versions_of_gold_say_that_they_are_mixed(store: Store, emotui: Emotui) -> None:
    (run,) = store.runs()
    assert emotui("replace-gold", "mine", "other.jsonl", "--no-sim", "--db", store.path).status == 0
    assert store.golds_of(run.run) == (2,)
    rows = list(store.results(run.run))
    store.commit_batch(run.run, rows[:1], gold=1)
    assert store.golds_of(run.run) == (1, 2)
    notes = msgspec.convert(metrics(store, store.run(run.run))["notes"], dict[str, str])
    assert notes["gold"] == (
        f"mixed: scored partly against version 1 and 2 of gold, and today's is 2: emotui rescore {run.run}"
    )
    shown = emotui("results", run.run, "--db", store.path)
    assert "mixed" in shown.out + shown.err


@pytest.mark.parametrize("config", ["no JSON", "[1]", '{"repeats": "many"}', "null"])
def test_a_run_whose_settings_nobody_can_read_is_listed_told_in_a_line_and_deleted(
    store: Store, emotui: Emotui, config: str
) -> None:
    (run,) = store.runs()
    with store._turns.writing() as connection:
        connection.execute("update runs set config = ?, state = 'running'", [config])
    assert [one["state"] for one in emotui("runs", "--db", store.path, "--json").document] == ["stopped"]
    assert emotui("results", run.run, "--db", store.path).status == 0
    refused = emotui("rescore", run.run, "--db", store.path)
    assert (refused.status, "its settings cannot be read" in refused.err) == (2, True)
    assert emotui("delete", run.run, "--db", store.path).status == 0
