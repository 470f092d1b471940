"""`emotui run TASK --dataset D`: any question over any texts."""

import json
from pathlib import Path

import pytest

from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui


@pytest.fixture
def texts(tmp_path: Path, emotui: Emotui) -> str:
    """A dataset of texts with spans, a label and numbers side by side."""
    rows = [
        {"id": "1", "text": "I was so happy that I danced.", "spans": [[2, 14]], "label": "joy"},
        {"id": "2", "text": "The dog died and I cried.", "spans": [[4, 12]], "label": "sadness"},
        {"id": "3", "text": "The shop opens at nine.", "spans": []},
    ]
    (tmp_path / "mixed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert emotui("import", "mixed.jsonl").status == 0
    return "mixed"


def _run(emotui: Emotui, task: str, dataset: str, *more: str) -> dict[str, object]:
    done = emotui("run", task, "--model", "embedded", "--dataset", dataset, "--json", *more)
    assert done.status == 0, done.err
    found: dict[str, object] = json.loads(done.out)
    return found


def test_texts_that_came_with_spans_are_asked_for_labels_and_scored_by_the_labels_beside_them(
    emotui: Emotui, texts: str
) -> None:
    run = _run(emotui, "labels", texts)
    assert run["task"] == "labels"
    assert (run["n"], run["done"]) == (3, 3)
    metrics = run["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["n"] == 2
    assert metrics["unlabelled"] == 1


def test_texts_without_gold_for_a_question_are_asked_and_kept_unscored(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "bare.jsonl").write_text('{"text": "I danced."}\n{"text": "I cried."}\n', encoding="utf-8")
    emotui("import", "bare.jsonl")
    for task in ("spans", "labels", "scenes", "rephrase"):
        if task != "rephrase":
            assert _run(emotui, task, "bare")["done"] == 2
    refused = emotui("run", "rephrase", "--dataset", "bare")
    assert refused.status in (0, 2)


def test_a_question_whose_need_is_not_met_is_refused_in_a_line_that_says_what_would_meet_it(
    emotui: Emotui, texts: str
) -> None:
    for task, need in (("masked", "<mask>"), ("generation", "target")):
        refused = emotui("run", task, "--dataset", texts)
        assert refused.status == 2
        assert len(refused.err.splitlines()) == 1
        assert need in refused.err
        assert "--into mixed" in refused.err


def test_a_run_is_the_same_whichever_question_its_texts_came_for(emotui: Emotui, texts: str, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (tmp_path / "mixed.jsonl").read_text(encoding="utf-8").splitlines()]
    alone = [{key: row[key] for key in ("id", "text", "label") if key in row} for row in rows]
    (tmp_path / "alone.jsonl").write_text("".join(json.dumps(row) + "\n" for row in alone), encoding="utf-8")
    assert emotui("import", "labels", "alone.jsonl").status == 0
    first, second = _run(emotui, "labels", texts), _run(emotui, "labels", "alone")
    runs = {run["run"]: run["identity"] for run in json.loads(emotui("runs", "--json").out)}
    assert runs[str(first["run"])] == runs[str(second["run"])]
    assert first["metrics"] == second["metrics"]


def test_what_a_run_of_another_question_says_is_looked_at_compared_and_counted(
    emotui: Emotui, texts: str, tmp_path: Path
) -> None:
    spans, labels = _run(emotui, "spans", texts), _run(emotui, "labels", texts)
    workspace = Workspace.look_into(tmp_path / "home" / "emotui" / "workspace.duckdb")
    (dataset,) = [one for one in workspace.datasets() if one.name == texts]
    first = workspace.store.samples.file_order(dataset.dataset).start
    shown = workspace.said(dataset.dataset, first, str(labels["run"]))
    assert shown.task == "labels"
    assert [line.gold for line in shown.gold] == ["joy"] or any(line.name == "joy" for line in shown.gold)
    assert workspace.evidence(first, str(spans["run"])).repeats
    assert emotui("results", "--dataset", texts).status == 0
    assert emotui("sources", texts).status == 0
    table = emotui("export", texts, str(labels["run"]), "--to", "out.jsonl", "--with", "text,gold,scores,marks")
    assert table.status == 0, table.err
    row = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert row["spans"] == [{"start": 2, "end": 14}]
    assert "labels" in row["annotators"]["embedded"]
