"""Gold is not replaced under a run that goes on, and figures over two versions of gold say so."""

import json
from pathlib import Path

import msgspec
import pytest

from emotui.errors import BadInput, StoreError
from emotui.store.store import Store
from emotui.workbench.compare.sources import comparable
from emotui.workbench.datasets.sources import former_again, make_gold
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import metrics
from tests.conftest import Emotui
from tests.templates import copy_of

RECORDS = [{"id": str(n), "text": "I am glad today", "spans": [[5, 9]], "emotion": "happy"} for n in range(2)]
OTHER = [{**record, "spans": [[0, 1]]} for record in RECORDS]


@pytest.fixture
def store(tmp_path: Path, emotui: Emotui) -> Store:
    for name, records in (("mine", RECORDS), ("other", OTHER)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "said.jsonl").write_text("\n".join(json.dumps({"id": one["id"], "spans": [[5, 9]]}) for one in OTHER))

    def make(template: Path) -> None:
        assert emotui("import", "spans", "mine.jsonl", "--db", template).status == 0
        said = emotui("import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "eva", "--db", template)
        assert said.status == 0, said.err

    copy_of(tmp_path / "w.duckdb", __name__, make)
    return Store.open(tmp_path / "w.duckdb")


def go_on(store: Store) -> None:
    """A run that a process on another machine is at."""
    config = msgspec.to_builtins(RunConfig(pid=7, host="another machine", boot="another start"))
    store.runs.start("going", "identity", "spans", "embedded", 1, config, 2)


def test_replace_gold_is_refused_while_a_run_over_the_dataset_goes_on(store: Store, emotui: Emotui) -> None:
    go_on(store)
    refused = emotui("replace-gold", "mine", "other.jsonl", "--db", store.path)
    assert (refused.status, refused.err.strip()) == (2, "run going is going on: stop it first")
    with pytest.raises(BadInput, match="run going is going on"):
        make_gold(store, "mine", "eva")
    assert store.datasets.all()[0].gold == 1
    store.runs.set_state("going", "stopped")
    assert emotui("replace-gold", "mine", "other.jsonl", "--db", store.path).status == 0
    store.runs.set_state("going", "running")
    with pytest.raises(BadInput, match="run going is going on"):
        former_again(store, store.datasets.all()[0], 1)
    assert store.datasets.all()[0].gold == 2


def test_a_run_that_begins_while_new_gold_is_read_leaves_gold_as_it_is(store: Store) -> None:
    begun: list[str] = []

    def check(runs: object) -> None:
        begun.extend(run.run for run in runs)  # type: ignore[attr-defined]
        raise BadInput("a run is going on")

    with pytest.raises(BadInput, match="going on"):
        store.gold.replace(store.datasets.all()[0], [], "other", "other", check=check)
    assert begun == [store.runs.all()[0].run]
    assert store.datasets.all()[0].gold == 1


def test_figures_over_two_versions_of_gold_say_that_they_are_mixed(store: Store, emotui: Emotui) -> None:
    (run,) = store.runs.all()
    assert emotui("replace-gold", "mine", "other.jsonl", "--no-sim", "--db", store.path).status == 0
    assert store.gold.all_scored_under(run.run) == (2,)
    rows = list(store.results.of_run(run.run))
    store.results.commit(run.run, rows[:1], gold=1)
    assert store.gold.all_scored_under(run.run) == (1, 2)
    notes = msgspec.convert(metrics(store, store.runs.get(run.run))["notes"], dict[str, str])
    assert notes["gold"] == (
        f"mixed: scored partly against version 1 and 2 of gold, and today's is 2: emotui rescore {run.run}"
    )
    shown = emotui("results", run.run, "--db", store.path)
    assert "mixed" in shown.out + shown.err
    emotui(
        "import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "ben", "--no-sim", "--db", store.path
    )
    told = f"{run.run} is mixed: scored partly against version 1 and 2 of gold"
    compared = emotui("compare", "--runs", "eva", "ben", "--metric", "f1", "--db", store.path, "--json").document
    assert told in compared["notes"]["gold"]
    rate = emotui("compare", "--runs", "eva", "ben", "--metric", "precision", "--db", store.path, "--json").document
    assert told in rate["notes"]["gold"]
    parts = emotui("slices", "figures", "mine", "--of", "eva", "--metric", "f1", "--db", store.path, "--json").document
    assert told in parts["convention"]
    (choice,) = [one for one in comparable(store, store.datasets.all()[0]) if one.name == "eva"]
    assert "mixed" in choice.told


def test_a_run_is_not_scored_anew_while_it_goes_on(store: Store, emotui: Emotui) -> None:
    (run,) = store.runs.all()
    rows = list(store.results.of_run(run.run))
    config = msgspec.to_builtins(RunConfig(pid=7, host="another machine", boot="another start"))
    with store._turns.writing() as connection:
        connection.execute("update runs set config = ?, state = 'running'", [json.dumps(config)])
    refused = emotui("rescore", run.run, "--db", store.path)
    assert (refused.status, refused.err.strip()) == (2, f"run {run.run} is going on: stop it first")
    # It may begin while it is scored: what was answered meanwhile keeps its score.
    store.results.commit(run.run, [msgspec.structs.replace(rows[0], attempt=1, output=None)])
    with pytest.raises(StoreError, match="has been answered more meanwhile"):
        store.results.replace_scores(run.run, rows, of=len(rows))
    assert sum(row.score is not None for row in store.results.of_run(run.run)) == len(rows)


@pytest.mark.parametrize("config", ["no JSON", "[1]", '{"repeats": "many"}', "null"])
def test_a_run_whose_settings_nobody_can_read_is_listed_told_in_a_line_and_deleted(
    store: Store, emotui: Emotui, config: str
) -> None:
    (run,) = store.runs.all()
    with store._turns.writing() as connection:
        connection.execute("update runs set config = ?, state = 'running'", [config])
    assert [one["state"] for one in emotui("runs", "--db", store.path, "--json").document] == ["stopped"]
    assert emotui("results", run.run, "--db", store.path).status == 0
    refused = emotui("rescore", run.run, "--db", store.path)
    assert (refused.status, "its settings cannot be read" in refused.err) == (2, True)
    assert emotui("delete", run.run, "--db", store.path).status == 0


def test_a_source_whose_task_nobody_knows_is_left_out_of_comparisons(store: Store, emotui: Emotui) -> None:
    with store._turns.writing() as connection:
        connection.execute("update runs set task = 'odd'")
    refused = emotui("compare", "--runs", "eva", "eva", "--db", store.path)
    assert (refused.status, len(refused.err.splitlines())) == (2, 1)


HOSTILE = {
    "an answer that is no JSON": "update predictions set record = 'no' where run = {run}",
    "an answer of another kind": "update predictions set record = 'null' where run = {run}",
    "details of no score": "update scores set detail = '[1]' where run = {run}",
    "a score of no metrics": "update scores set metric_set = 99 where run = {run}",
    "answers about no text": "update outputs set sample = 99 where run = {run}",
    "answers about the text before the first": "update outputs set sample = -1 where run = {run}",
}


@pytest.mark.parametrize("change", HOSTILE)
def test_whatever_stands_in_a_store_about_a_run_is_a_line_and_the_others_are_shown(
    store: Store, emotui: Emotui, change: str
) -> None:
    emotui(
        "import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "ben", "--no-sim", "--db", store.path
    )
    (eva,) = [run for run in store.runs.all() if run.model == "eva"]
    (ben,) = [run for run in store.runs.all() if run.model == "ben"]
    with store._turns.writing() as connection:
        (number,) = connection.execute("select number from runs where run = ?", [eva.run]).fetchall()[0]
        connection.execute(HOSTILE[change].format(run=number))
    for named in ((), (eva.run, ben.run)):
        shown = emotui("results", *named, "--no-sim", "--json", "--db", store.path)
        assert shown.status == 0, shown.err
        assert any(ben.run in row["source"] for table in shown.document["tables"] for row in table["rows"])
    alone = emotui("results", eva.run, "--no-sim", "--db", store.path)
    assert (alone.status, len(alone.err.splitlines())) in ((0, 0), (2, 1))
    for command in (("rescore", eva.run, "--no-sim"), ("runs", "pack", eva.run, "--to", "a.run")):
        done = emotui(*command, "--db", store.path)
        assert done.status in (0, 2)
        assert len(done.err.splitlines()) == (done.status == 2)
    assert emotui("delete", eva.run, "--db", store.path).status == 0
    assert [run["run"] for run in emotui("runs", "--json", "--db", store.path).document] == [ben.run]


def test_a_run_whose_answers_cannot_be_read_is_named_and_scored_anew(store: Store, emotui: Emotui) -> None:
    (run,) = store.runs.all()
    assert emotui("rescore", run.run, "--no-sim", "--db", store.path).status == 0
    before = emotui("results", run.run, "--no-sim", "--json", "--db", store.path).document
    with store._turns.writing() as connection:
        connection.execute("update predictions set record = 'no'")
    told = emotui("results", run.run, "--no-sim", "--db", store.path)
    assert told.status == 2
    assert told.err.startswith(f"run {run.run} is left out, because what is kept of it cannot be read (DecodeError:")
    assert emotui("rescore", run.run, "--no-sim", "--db", store.path).status == 0
    assert emotui("results", run.run, "--no-sim", "--json", "--db", store.path).document == before


@pytest.mark.parametrize("record", ["no", "null", "[1]", "{}", chr(27) + "[2J"])
def test_a_text_that_nobody_can_read_is_a_line_and_datasets_are_listed(
    store: Store, emotui: Emotui, record: str
) -> None:
    with store._turns.writing() as connection:
        connection.execute("update samples set record = ? where id = '0'", [record])
    listed = emotui("datasets", "--json", "--db", store.path)
    assert (listed.status, [one["dataset"] for one in listed.document]) == (0, ["mine"])
    (run,) = store.runs.all()
    for command in (
        ("results",),
        ("results", run.run),
        ("rescore", run.run, "--no-sim"),
        ("export", "mine", "--to", "o.jsonl"),
    ):
        done = emotui(*command, "--db", store.path)
        assert (done.status, len(done.err.splitlines())) in ((1, 1), (2, 1)), done.err
        assert done.err.rstrip("\n").isprintable()
    assert emotui("delete", "mine", "--db", store.path).status == 0
    assert emotui("runs", "--json", "--db", store.path).document == []


def test_settings_that_nobody_can_read_are_as_if_there_were_none(store: Store) -> None:
    with store._turns.writing(shown=False) as connection:
        connection.execute("insert into settings values ('a', 'no'), ('b', ?)", ["[" * 5000])
    assert (store.settings.get("a", 3), store.settings.get("b", 3)) == (3, 3)
    assert store.settings.beginning("") | {"a": None, "b": None} == store.settings.beginning("")
