"""Baselines and added metrics in the tables of Results, and the tables of every task that a dataset was asked."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from emotui.metrics.metric import Metric
from emotui.tasks import added_metrics as added
from emotui.workbench.results.forests import forest_of, lower_of
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui

TEXTS = (
    {"id": "1", "labels": ["joy"], "values": {"valence": 4, "arousal": 1}},
    {"id": "2", "labels": ["joy"], "values": {"valence": 2, "arousal": 3}},
    {"id": "3", "labels": ["joy", "fear"], "values": {"valence": 3, "arousal": 2}},
    {"id": "4", "labels": [], "values": {"valence": 3, "arousal": 2}},
)
BASELINES = {"Baseline: majority", "Baseline: random"}


def write(path: Path, records: Any) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path.name


@pytest.fixture
def store(emotui: Emotui, tmp_path: Path) -> str:
    """Texts with labels and numbers, and a source of each: of labels of all texts, of numbers of two."""
    gold = write(tmp_path / "g.jsonl", [one | {"text": f"text {one['id']}"} for one in TEXTS])
    labels = write(tmp_path / "l.jsonl", [{"id": one["id"], "labels": one["labels"]} for one in TEXTS])
    values = write(
        tmp_path / "v.jsonl", [{"id": one["id"], "values": {"valence": 3, "arousal": 2}} for one in TEXTS[:2]]
    )
    assert emotui("import", gold, "--as", "labels", "--name", "d", "--db", "w.duckdb").status == 0
    for kind, file in (("labels", labels), ("values", values)):
        source = ("--dataset", "d", "--source", f"my-{kind}", "--as", kind, "--missing", "skip", "--db", "w.duckdb")
        done = emotui("import", "predictions", file, *source)
        assert done.status == 0, done.err
    return "w.duckdb"


def tables(emotui: Emotui, *args: str) -> dict[str, Any]:
    done = emotui("results", *args, "--dataset", "d", "--db", "w.duckdb", "--json")
    assert done.status == 0, done.err
    return {table["key"]: table for table in done.document["tables"]}


def rows(table: Any, kind: str) -> dict[str, Any]:
    return {row["label"]: row for row in table["rows"] if row["kind"] == kind}


def test_a_dataset_has_the_tables_of_every_task_that_it_was_asked(emotui: Emotui, store: str) -> None:
    found = tables(emotui)
    assert list(found)[:2] == ["labels", "labels-my-labels"]  # its own task first
    assert "values" in found
    assert set(tables(emotui, "my-values")) == set(found) - {key for key in found if key.startswith(("labels", "conf"))}


def test_runs_of_two_tasks_have_each_their_own_tables(emotui: Emotui, store: str, tmp_path: Path) -> None:
    assert set(tables(emotui, "my-values", "my-labels")) == set(tables(emotui))
    assert emotui("report", "my-values", "my-labels", "--to", "r.md", "--db", store).status == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "Dataset d, Several labels a text" in text
    assert "Dataset d, Numbers" in text


def test_without_the_option_no_baseline_stands_there(emotui: Emotui, store: str) -> None:
    assert not any(rows(table, "baseline") for table in tables(emotui).values())


def test_baselines_stand_under_the_runs_of_labels(emotui: Emotui, store: str) -> None:
    found = tables(emotui, "--baselines")
    there = rows(found["labels"], "baseline")
    assert there.keys() == BASELINES
    cells = there["Baseline: majority"]["cells"]
    # joy, gold in three of four texts, is given to all: of joy F1 is 2*3/(3+4), of fear 0; 3 of 4 sets share something.
    assert cells["macro_f1"]["value"] == pytest.approx((6 / 7) / 2)
    assert cells["jaccard"]["value"] == pytest.approx((1 + 1 + 1 / 2 + 0) / 4)
    assert cells["vector_accuracy"]["value"] == pytest.approx(2 / 4)
    assert cells["brier"]["why"]  # it gives no probabilities
    assert there["Baseline: majority"]["source"] == "4 samples"
    # Tables that are of one run alone have no row for it.
    assert not rows(found["labels-my-labels"], "baseline")


def test_baselines_of_numbers_have_a_row_a_name_over_the_texts_that_the_run_answers(emotui: Emotui, store: str) -> None:
    there = rows(tables(emotui, "--baselines")["values"], "baseline")
    assert there.keys() == {"Baseline: mean valence", "Baseline: mean arousal"}
    cells = there["Baseline: mean valence"]["cells"]
    assert cells["n"]["value"] == 2
    assert cells["mae"]["value"] == pytest.approx(1)  # 4 and 2 around their mean, 3
    assert cells["pearson"]["value"] is None
    assert cells["pearson"]["why"]


def test_runs_over_other_texts_have_baselines_of_their_own(emotui: Emotui, store: str, tmp_path: Path) -> None:
    few = write(tmp_path / "f.jsonl", [{"id": "4", "labels": []}, {"id": "3", "labels": ["joy"]}])
    source = ("--dataset", "d", "--source", "few", "--as", "labels", "--missing", "skip", "--db", store)
    assert emotui("import", "predictions", few, *source).status == 0
    there = rows(tables(emotui, "--baselines")["labels"], "baseline")
    assert there.keys() == {f"{name}, n {n}" for name in BASELINES for n in (2, 4)}
    assert there["Baseline: majority, n 2"]["remark"] == "over the 2 samples of few"


def test_baselines_reach_a_report_and_the_forest(emotui: Emotui, store: str, tmp_path: Path) -> None:
    assert emotui("report", "my-labels", "--baselines", "--to", "r.md", "--db", store).status == 0
    assert "Baseline: majority" in (tmp_path / "r.md").read_text(encoding="utf-8")
    with closing(Workspace.open(tmp_path / "w.duckdb")) as workspace:
        (table, *_) = workspace.results().tables("d", ["my-labels"], baselines=True)
    forest = forest_of(table, "Hamming loss")
    assert forest.lower
    assert next(point.label for point in forest.points if point.kind == "baseline") == "Baseline: majority"


def test_baselines_of_scenes_stand_under_the_run_and_beside_the_paper(emotui: Emotui, tmp_path: Path) -> None:
    afraid = {"1": 0, "2": 0, "3": 1, "4": 0, "5": 1}
    vectors = {key: {"joy": 1, "fear": fear} for key, fear in afraid.items()}
    gold = write(tmp_path / "g.jsonl", [{"id": key, "text": key, "labels": one} for key, one in vectors.items()])
    scores = [{"id": key, "scores": {"joy": [1.0, 0.0], "fear": [0.0, 1.0]}} for key in vectors]
    assert emotui("import", "scenes", gold, "--name", "s", "--db", "w.duckdb").status == 0
    source = ("--dataset", "s", "--source", "mine", "--db", "w.duckdb")
    assert emotui("import", "predictions", write(tmp_path / "p.jsonl", scores), *source).status == 0
    done = emotui("results", "mine", "--baselines", "--db", "w.duckdb", "--json")
    there = rows(done.document["tables"][0], "baseline")
    assert there["Baseline: majority"]["cells"]["vector_accuracy"]["value"] == pytest.approx(3 / 5)
    done = emotui("report", "mine", "--baselines", "--to", "r.csv", "--db", "w.duckdb")
    assert done.status == 0, done.err
    lines = [line for line in (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines() if "majority" in line]
    assert lines
    assert all("alone" in line.lower() for line in lines)  # nothing decodes them


def test_every_baseline_of_spans_stands_in_each_table_of_sources(emotui: Emotui, tmp_path: Path) -> None:
    record = {"id": "1", "text": "I wept", "spans": [{"start": 2, "end": 6}], "emotion": "sad"}
    gold = write(tmp_path / "g.jsonl", [record])
    said = write(tmp_path / "p.jsonl", [{"id": "1", "spans": [{"start": 0, "end": 6}]}])
    assert emotui("import", "spans", gold, "--name", "d", "--db", "w.duckdb").status == 0
    source = ("--dataset", "d", "--source", "mine", "--no-sim", "--db", "w.duckdb")
    assert emotui("import", "predictions", said, *source).status == 0
    best, each = (tables(emotui, "--no-sim", *more) for more in ((), ("--baselines",)))
    assert rows(best["task-1"], "baseline").keys() == {"Baseline: everything"}
    names = {"Baseline: nothing", "Baseline: everything", "Baseline: keywords"}
    for key in ("task-1", "errors-task-1", "labels-task-1"):
        assert rows(each[key], "baseline").keys() == names
    # "I wept" against "wept": one word of two is right.
    everything = rows(each["labels-task-1"], "baseline")["Baseline: everything"]
    assert everything["cells"]["emotion/sad"]["value"] == pytest.approx(2 / 3)


def test_an_added_metric_stands_in_the_main_table_with_its_direction(
    emotui: Emotui, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = Metric("given", (0, None), False, "labels given", "Given")
    one = added.AddedMetric(metric, ("labels",), lambda sample, record: len(record.labels))
    monkeypatch.setattr(added, "_all", lambda: (one,))
    assert emotui("rescore", "my-labels", "--db", store).status == 0
    with closing(Workspace.open(tmp_path / "w.duckdb")) as workspace:
        table = workspace.results().tables("d", ["my-labels"])[0]
    cells = dict(zip((column.key for column in table.columns), table.rows[0].cells, strict=True))
    assert cells["given"].value == pytest.approx((1 + 1 + 2 + 0) / 4)
    assert "Given" in lower_of(table)
    assert forest_of(table, "Given").lower
