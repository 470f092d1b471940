"""A run, its export and its tables have the same figures, whatever failed; a run in which all failed is not done."""

import json
from pathlib import Path

import pytest

from emotui.store.store import Store
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

GOLD = [
    {"id": "a", "text": "I was unafraid, then afraid.", "spans": [[21, 27, "fear"]]},
    {"id": "b", "text": "I am so very glad.", "spans": [[8, 17, "joy"], [5, 17, "joy"]]},
    {"id": "c", "text": "REFUSE the bus.", "spans": []},
    {"id": "d", "text": "REFUSE what is sad.", "spans": [[15, 18, "sadness"]]},
    {"id": "e", "text": "OUTSIDE of it all, sad.", "spans": [[19, 22, "sadness"]]},
    {"id": "f", "text": "Nobody has said what is so very glad here."},
]


@pytest.fixture
def gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install_kind(monkeypatch, "marking", "tests.backends.marking_backend:load")
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in GOLD))
    return path


def _without_sim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emotui.workbench.runs.run.Embedder", lambda model, cancelled: None)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_a_run_with_failed_answers_overlapping_spans_and_labels_has_the_figures_of_its_export(
    emotui: Emotui, gold: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_sim(monkeypatch)
    db = ("--db", "w.duckdb")
    done = emotui("run", "spans", "--model", "marking:", "--dataset", gold, *db, "--json")
    assert (done.status, done.document["done"], done.document["failed"]) == (0, 3, 3), done.err
    assert emotui("export", done.document["run"], "--to", f"p.{ending}", *db).status == 0
    scored = emotui("score", "spans", "--gold", gold, "--pred", f"p.{ending}", "--no-sim", "--json").document
    run = done.document["metrics"]
    assert {name: run[name] for name in scored if name != "notes"} == {
        name: value for name, value in scored.items() if name != "notes"
    }
    assert scored["ci95"]["f1"][0] < scored["f1"] < scored["ci95"]["f1"][1]
    # a: "afraid" inside another word, F1 1; b: both met, one by a wrong label; c: silent and right; d, e: silent.
    assert (run["n"], run["unlabelled"], run["f1"]) == (5, 1, pytest.approx(3 / 5))
    assert run["labelled_f1"] == pytest.approx((1 + 0.5 + 1) / 5)
    assert run["labels"]["confusion"] == {"fear": {"fear": 1}, "joy": {"joy": 1, "love": 1}}
    assert (run["precision"], run["recall"]) == (1, pytest.approx(3 / 5))
    # The place of "afraid" inside "unafraid" is no gold token; 3 of b are.
    assert run["tokens"]["precision"] == pytest.approx(3 / 4)
    again = emotui("rescore", done.document["run"], "--no-sim", *db, "--json").document["metrics"]
    assert again == run
    table = emotui("results", "--dataset", "gold", "--no-sim", "--table", "task-1", *db, "--json").document["tables"][0]
    cells = table["rows"][0]["cells"]
    assert cells["own/f1"]["value"] == pytest.approx(run["f1"])
    assert cells["own/recall"]["value"] == pytest.approx(run["recall"])
    tables = emotui("results", "--dataset", "gold", "--no-sim", *db, "--json").document["tables"]
    found = {table["key"]: table for table in tables}
    further = found["metrics-task-1"]["rows"][0]["cells"]
    assert further["labelled_f1"]["value"] == pytest.approx(run["labelled_f1"])
    confused = found[f"span-labels-task-1-{done.document['run']}"]
    counts = {
        row["label"]: {name: cell["value"] for name, cell in row["cells"].items() if cell["value"]}
        for row in confused["rows"]
    }
    assert counts == {"fear": {"label/fear": 1}, "joy": {"label/joy": 1, "label/love": 1}}


def test_failed_answers_count_as_silent_ones_in_the_store_and_wrong_labels_have_their_mark(
    emotui: Emotui, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_sim(monkeypatch)
    run = emotui("run", "spans", "--model", "marking:", "--dataset", gold, "--db", "w.duckdb", "--json").document["run"]
    rows = list(Store.open(gold.parent / "w.duckdb").results.of_run(run))
    assert [row.score.marks if row.score else None for row in rows] == ["", "L", "", "M", "M", ""]
    assert [row.score.values["f1"] if row.score else None for row in rows] == [1, 1, 1, 0, 0, None]
    assert [row.score.values.get("labelled_f1") if row.score else None for row in rows] == [1, 0.5] + [None] * 4
    assert [row.prediction is None for row in rows] == [False, False, True, True, True, False]


def test_a_run_in_which_every_answer_failed_is_failed_and_exits_with_1(
    emotui: Emotui, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_sim(monkeypatch)
    gold.write_text("".join(json.dumps(one) + "\n" for one in GOLD[2:5]))
    done = emotui("run", "spans", "--model", "marking:", "--dataset", gold, "--db", "w.duckdb", "--json")
    assert (done.status, done.document["done"], done.document["failed"]) == (1, 0, 3)
    assert "every answer failed: the text is longer than the context" in done.err
    (listed,) = emotui("runs", "--db", "w.duckdb", "--json").document
    assert (listed["state"], listed["failed"]) == ("failed", 3)
    # It is asked again, not found again as if it were done.
    again = emotui("run", "spans", "--model", "marking:", "--dataset", gold, "--db", "w.duckdb", "--json")
    assert (again.status, again.document["run"] == done.document["run"]) == (1, False)


def test_a_run_over_texts_without_gold_says_what_it_asked_and_kept_and_how_to_see_it(
    emotui: Emotui, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_sim(monkeypatch)
    plain = gold.with_name("plain.jsonl")
    plain.write_text("".join(json.dumps({"id": one["id"], "text": one["text"]}) + "\n" for one in GOLD))
    run = ("run", "spans", "--model", "marking:", "--dataset", plain, "--db", "w.duckdb")
    said = emotui(*run).out
    assert "6 texts asked, 3 answers kept. No text has gold: there is nothing to score." in said
    assert "--to answers.jsonl" in said
    assert "replace-gold plain FILE" in said
    assert "–" not in said
    figures = json.loads(emotui(*run, "--json").out)["metrics"]
    assert (figures["n"], figures["unlabelled"]) == (0, 6)


def test_texts_without_gold_beside_others_are_told_in_a_line(
    emotui: Emotui, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_sim(monkeypatch)
    said = emotui("run", "spans", "--model", "marking:", "--dataset", gold, "--db", "w.duckdb").out
    assert "texts without gold: 1; what the model said of them is kept, and in no figure" in said
