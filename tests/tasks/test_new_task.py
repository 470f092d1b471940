"""A task of another package: the template of docs/new_task.md, from a file to a table of Results."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.store.query import ListQuery
from emotui.tasks import registry
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, SetLabels
from emotui.workbench.said import SaidLine, said_of
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.tasks.installed_task import install_task

TEXTS = [
    {"id": "a", "text": "I am so happy, thank you!", "felt": 1},
    {"id": "b", "text": "The train leaves at noon.", "felt": 0},
]


def template() -> str:
    (code,) = re.findall(r"^```python\n(.*?)^```", (CHECKOUT / "docs" / "new_task.md").read_text(), re.M | re.S)
    return str(code)


@pytest.fixture
def felt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The template is installed, and its texts are in a file."""
    install_task(monkeypatch, tmp_path / "site", "felt", template(), "felt:Felt")
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, TEXTS)))
    yield tmp_path
    registry.forget()


def test_the_template_is_short() -> None:
    assert len(template().splitlines()) < 150


def test_a_task_of_another_package_goes_from_a_file_to_a_table(emotui: Emotui, felt: Path) -> None:
    db = ("--db", "w.duckdb")
    assert emotui("import", "felt", "texts.jsonl", *db, "--json").document["task"] == "felt"
    ran = emotui("run", "felt", "--dataset", "texts", *db, "--json").document
    assert (ran["task"], ran["done"], ran["failed"]) == ("felt", 2, 0)
    assert ran["metrics"] == {"n": 2, "accuracy": 1.0, "unlabelled": 0}
    assert emotui("export", ran["run"], "--to", "run.jsonl", *db).status == 0
    predicted = emotui("predict", "felt", "--records", "texts.jsonl", "--to", "file.jsonl", "--json").document
    assert (predicted["kind"], predicted["n"], predicted["failed"]) == ("felt", 2, 0)
    for file in ("run.jsonl", "file.jsonl"):
        scored = emotui("score", "felt", "--gold", "texts.jsonl", "--pred", file, "--json").document
        assert scored == {"n": 2, "accuracy": 1.0, "unlabelled": 0}
    assert emotui("probe", "I am glad.", "--task", "felt", "--json").document["tasks"]["felt"]["parsed"]["felt"] == 1
    (table,) = emotui("results", "--dataset", "texts", *db, "--json").document["tables"]
    assert (table["title"], table["rows"][0]["cells"]["accuracy"]["value"]) == ("Texts with a feeling", 1.0)
    assert emotui("report", ran["run"], "--to", "r.md", *db).status == 0
    assert "Texts with a feeling" in (felt / "r.md").read_text()


def test_its_samples_are_listed_with_its_metric_and_read_in_lines(emotui: Emotui, felt: Path) -> None:
    emotui("import", "felt", "texts.jsonl", "--db", "w.duckdb")
    run = emotui("run", "felt", "--dataset", "texts", "--db", "w.duckdb", "--json").document["run"]
    workspace = Workspace.open(felt / "w.duckdb")
    (dataset,) = workspace.datasets()
    assert [metric.name for metric in workspace.metrics(dataset.dataset)] == ["accuracy"]
    numbers = workspace.order(ListQuery(dataset=dataset.dataset, run=run))
    rows = workspace.page([int(number) for number in numbers], run)
    assert [(row.id, row.emotion, dict(row.values)) for row in rows] == [
        ("a", "yes", {"accuracy": 1.0}),
        ("b", "no", {"accuracy": 1.0}),
    ]
    said = said_of(workspace.store, dataset.dataset, int(numbers[0]), run)
    assert (said.text, said.gold) == (TEXTS[0]["text"], (SaidLine("felt", "yes", ""),))
    ((line,),) = [one.lines for one in said.answers]
    assert (line.predicted, line.mark) == ("yes", "")
    workspace.close()


def test_its_texts_are_annotated_asked_in_sql_compared_and_exported_with_all_that_gold_says(
    emotui: Emotui, felt: Path
) -> None:
    db = ("--db", "w.duckdb")
    assert emotui("import", "felt", "texts.jsonl", *db).status == 0
    run = emotui("run", "felt", "--dataset", "texts", *db, "--json").document["run"]
    (felt / "theirs.jsonl").write_text('{"id": "a", "felt": 0}\n{"id": "b", "felt": 0}\n')
    assert emotui("import", "predictions", "theirs.jsonl", "--dataset", "texts", "--source", "theirs", *db).status == 0
    (felt / "spans.jsonl").write_text('{"id": "a", "spans": [[5, 13, "joy"]], "label": "joy"}\n')
    assert emotui("import", "spans.jsonl", "--into", "texts", *db).status == 0
    (listed,) = emotui("datasets", *db, "--json").document
    assert listed["said"] == {"spans": 1, "label": 1, "felt": 2}
    workspace = Workspace.open(felt / "w.duckdb")
    try:
        work = Desk(workspace.store).begin("texts", "ann")
        first = workspace.store.samples.file_order(workspace.datasets()[0].dataset).start
        work.do(first, AddSpan(SpanMark(id="s", start=0, end=4)), SetLabels(("joy",)), Accept())
        assert work.publish() == 1
    finally:
        workspace.close()
    asked = emotui("sql", "select source, part, label, value from said where id = 'a' order by all", *db, "--json")
    rows = [row for row in asked.document["rows"] if row[1] != "answer" or row[2] == "felt"]
    assert sorted(rows, key=lambda row: ["ann", "gold", run, "theirs"].index(row[0])) == [
        ["ann", "label", "joy", 1.0],
        ["ann", "span", None, None],
        ["gold", "answer", "felt", 1.0],
        ["gold", "label", "joy", 1.0],
        ["gold", "span", "joy", None],
        [run, "answer", "felt", 1.0],
        ["theirs", "answer", "felt", 0.0],
    ]
    compared = emotui("compare", "--runs", run, "theirs", *db, "--json").document
    assert (compared["n"], compared["mean_a"], compared["mean_b"]) == (2, 1.0, 0.5)
    assert emotui("export", "texts", run, "theirs", "--to", "all.jsonl", "--with", "text,gold", *db).status == 0
    record, _ = map(json.loads, (felt / "all.jsonl").read_text().splitlines())
    assert (record["felt"], record["label"]) == (1, "joy")
    assert record["spans"] == [{"start": 5, "end": 13, "label": "joy"}]
    assert [record["annotators"][name]["felt"] for name in ("embedded", "theirs")] == [1, 0]
    scored = emotui(
        "score", "felt", "--gold", "texts.jsonl", "--pred", "theirs.jsonl", "--baselines", "--json"
    ).document
    assert (scored["accuracy"], scored["baselines"]["always"]["accuracy"]) == (0.5, 0.5)


def test_texts_that_came_for_another_question_are_scored_by_what_their_own_columns_say_and_not_without(
    emotui: Emotui, felt: Path
) -> None:
    db = ("--db", "w.duckdb")
    (felt / "plain.jsonl").write_text('{"id": "a", "text": "So happy!", "felt": 1}\n{"id": "b", "text": "At noon."}\n')
    assert emotui("import", "plain.jsonl", "--as", "spans", *db).status == 0
    ran = emotui("run", "felt", "--dataset", "plain", *db, "--json").document
    assert (ran["done"], ran["metrics"]) == (2, {"n": 1, "accuracy": 1.0, "unlabelled": 1})


def test_what_it_says_stays_where_datasets_are_joined(emotui: Emotui, felt: Path) -> None:
    db = ("--db", "w.duckdb")
    assert emotui("import", "felt", "texts.jsonl", *db).status == 0
    spans = [{"id": one["id"], "text": one["text"], "spans": []} for one in TEXTS]
    (felt / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    assert emotui("import", "spans.jsonl", *db).status == 0
    assert emotui("datasets", "join", "spans", "texts", *db).status == 0
    ran = emotui("run", "felt", "--dataset", "spans", *db, "--json").document
    assert ran["metrics"] == {"n": 2, "accuracy": 1.0, "unlabelled": 0}


def test_a_wrong_record_and_a_wrong_option_are_told_by_line_and_by_name(emotui: Emotui, felt: Path) -> None:
    (felt / "bad.jsonl").write_text('{"id": "a", "text": "t", "felt": 3}')
    done = emotui("import", "felt", "bad.jsonl", "--db", "w.duckdb")
    assert (done.status, done.err) == (2, "bad.jsonl:1: `felt` must be 0 or 1\n")
    done = emotui("run", "felt", "--dataset", "texts.jsonl", "--temperature", 1, "--db", "w.duckdb")
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert "temperature" in done.err


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise RuntimeError('it is broken')", "it is broken"),
        ("class Felt:\n    name = 'felt'", "it has no version, sample"),
        ("from emotui.tasks.scenes.task import Scenes as Felt", "there is a task 'scenes' already"),
        ("", "has no attribute 'Felt'"),
    ],
)
def test_a_package_that_is_broken_costs_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, emotui: Emotui, code: str, why: str
) -> None:
    install_task(monkeypatch, tmp_path / "site", "wrong", code, "wrong:Felt")
    try:
        assert list(registry.tasks()) == list(registry.BUILT_IN)
        done = emotui("import", "felt", "texts.jsonl", "--db", "w.duckdb")
        assert done.status == 2
        (line,) = [line for line in done.err.splitlines() if "is left out" in line]
        assert line.startswith("the task 'wrong' of wrong is left out: ")
        assert why in line
        with pytest.raises(BadInput, match="does not know the task 'felt'; it knows spans"):
            registry.task_named("felt")
    finally:
        registry.forget()


def test_a_task_of_this_package_is_found_without_a_look_at_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: pytest.fail("looked"))
    registry.forget()
    assert [registry.task_named(name).name for name in registry.BUILT_IN] == list(registry.BUILT_IN)
