"""Sources that answer another question than the dataset came for: kept, scored, compared, made gold, exported."""

import json
from pathlib import Path

import pytest

from tests.conftest import Emotui
from tests.sample_data.mixed_corpus import LABELS, NUMBERS, mixed_workspace, written

DB = ("--db", "mixed.duckdb")


@pytest.fixture
def mixed(emotui: Emotui, tmp_path: Path) -> str:
    mixed_workspace(emotui, tmp_path)
    return "mixed"


def _runs(emotui: Emotui) -> dict[str, dict[str, object]]:
    return {run["run"]: run for run in json.loads(emotui("runs", "--json", *DB).out)}


def test_a_file_of_predictions_is_kept_as_what_it_says_or_as_what_it_is_called(
    emotui: Emotui, mixed: str, tmp_path: Path
) -> None:
    assert {name: run["task"] for name, run in _runs(emotui).items()} == {
        "marks": "spans",
        "numbers": "values",
        "plain": "labels",
    }
    one = written(tmp_path, "one.jsonl", [{"id": row["id"], "label": "joy"} for row in LABELS])
    done = emotui("import", "predictions", one, "--dataset", mixed, "--source", "one", "--as", "class", *DB, "--json")
    assert (done.document["task"], done.document["metrics"]["accuracy"]) == ("rephrase", 0.5)
    refused = emotui("import", "predictions", one, "--dataset", mixed, "--source", "two", "--as", "values", *DB)
    assert (refused.status, len(refused.err.splitlines())) == (2, 1)
    assert "nothing in it says values" in refused.err


def test_two_sources_are_compared_by_the_question_that_both_answer(emotui: Emotui, mixed: str, tmp_path: Path) -> None:
    other = written(tmp_path, "other.jsonl", [{"id": row["id"], "labels": ["joy"]} for row in LABELS])
    assert emotui("import", "predictions", other, "--dataset", mixed, "--source", "other", *DB).status == 0
    found = emotui("compare", "--runs", "other", "plain", *DB, "--json").document
    assert (found["metric"], found["n"], found["mean_a"], found["mean_b"]) == ("f1", 2, 0.5, 0.5)
    refused = emotui("compare", "--runs", "plain", "numbers", *DB)
    assert refused.err == ("plain answers labels and numbers values: compare sources that answer one question\n")
    assert refused.status == 2


def test_a_source_of_another_kind_is_made_gold_of_that_kind_and_all_else_that_is_said_stays(
    emotui: Emotui, mixed: str, tmp_path: Path
) -> None:
    before = _exported(emotui, tmp_path)
    assert emotui("make-gold", mixed, "numbers", *DB).status == 0
    after = _exported(emotui, tmp_path)
    assert [row["values"] for row in after] == [row["values"] for row in NUMBERS]
    assert [{**row, "values": None} for row in after] == [{**row, "values": None} for row in before]
    assert emotui("rescore", "numbers", *DB, "--json").document["metrics"]["by_name"]["effort"]["mae"] == 0


def test_what_runs_of_every_task_say_goes_out_with_gold(emotui: Emotui, mixed: str, tmp_path: Path) -> None:
    parts = "text,gold,scores,marks"
    done = emotui("export", mixed, "marks", "numbers", "plain", "--to", "all.jsonl", "--with", parts, *DB)
    assert done.status == 0
    first = json.loads((tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()[0])
    people = first["annotators"]
    assert people["marks"] == {"spans": [{"start": 0, "end": 5}]}
    assert people["numbers"] == {"values": {"suddenness": 3.5, "effort": -1}}
    assert people["plain"] == {"labels": ["fear"]}
    assert first["meta"]["plain: marks"] == "MX"


def test_an_import_says_what_is_said_beside_and_lists_it_among_no_columns(emotui: Emotui, mixed: str) -> None:
    told = emotui("import", "mixed.jsonl", "--dry-run", *DB).out
    assert "label (2 texts) are said beside" in told
    assert "own columns, kept: topic\n" in told


def _exported(emotui: Emotui, folder: Path) -> list[dict[str, object]]:
    assert emotui("export", "mixed", "--to", "gold.jsonl", "--force", *DB).status == 0
    return [json.loads(line) for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()]


def test_agreement_is_of_the_kind_that_is_asked_for(emotui: Emotui, mixed: str) -> None:
    asked = ("agreement", "--dataset", mixed, "--sources", "ann,gold", "--bootstrap", "0", "--json", *DB)
    for kind, agree in (("spans", "spans"), ("labels", "label"), ("values", "values")):
        done = emotui(*asked, "--as", kind)
        assert done.status == 0, done.err
        assert done.document["kind"] == agree


def test_a_file_that_says_what_gold_does_not_is_refused_unless_it_is_called_what_it_is(
    emotui: Emotui, tmp_path: Path
) -> None:
    bare = written(tmp_path, "bare.jsonl", [{"id": "1", "text": "I ran.", "labels": ["joy"]}])
    assert emotui("import", bare, *DB).status == 0
    said = written(tmp_path, "said.jsonl", [{"id": "1", "values": {"valence": 1}}])
    refused = emotui("import", "predictions", said, "--dataset", "bare", "--source", "a", *DB)
    assert (refused.status, "nothing in it says labels but values" in refused.err) == (2, True)
    kept = emotui("import", "predictions", said, "--dataset", "bare", "--source", "a", "--as", "values", *DB, "--json")
    assert (kept.document["task"], kept.document["metrics"]["unlabelled"]) == ("values", 1)
