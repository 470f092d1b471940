"""Scores by a lexicon of one's own: kept with it, renewed without the file, and never mixed with others in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Emotui

GOLD = [("a", ["sad", "angry"]), ("b", ["happy"])]
SAID = [("a", ["glum", "angry"]), ("b", ["glad"])]
LEXICON = "word,anger,joy,sadness\nsad,0,0,1\nglum,0,0,1\nangry,1,0,0\nhappy,0,1,0\nglad,1,0,0\n"


@pytest.fixture
def folder(emotui: Emotui, tmp_path: Path) -> Path:
    """A dataset, predictions of it, and a lexicon in which glum is as sad."""

    def write(name: str, rows: list[tuple[str, list[str]]], *, text: bool = False) -> None:
        each = [{"id": key, "labels": said} | ({"text": " <mask>" * len(said)} if text else {}) for key, said in rows]
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in each))

    write("gold.jsonl", GOLD, text=True)
    write("said.jsonl", SAID)
    write("again.jsonl", [("a", ["sad", "sad"]), ("b", ["happy"])])
    (tmp_path / "l.csv").write_text(LEXICON)
    assert emotui("import", "masked", "gold.jsonl", "--name", "d", "--db", "w.duckdb").status == 0
    return tmp_path


def bring(emotui: Emotui, file: str, source: str, *more: str) -> dict[str, Any]:
    asked = ("import", "predictions", file, "--dataset", "d", "--source", source, "--db", "w.duckdb", "--json", *more)
    found: dict[str, Any] = emotui(*asked).document["metrics"]
    return found


def test_scores_are_by_the_lexicon_that_was_given_and_are_renewed_without_its_file(
    emotui: Emotui, folder: Path
) -> None:
    by_own = bring(emotui, "said.jsonl", "theirs", "--lexicon", "l.csv")
    assert (by_own["f1_v"], by_own["acc_v"]) == (2 / 3, 2 / 3)
    assert "l.csv" in by_own["notes"]["lexicon"]
    (folder / "l.csv").unlink()
    assert emotui("rescore", "theirs", "--db", "w.duckdb", "--json").document["metrics"] == by_own
    usual = emotui("rescore", "theirs", "--lexicon", "emotui", "--db", "w.duckdb", "--json").document["metrics"]
    assert usual["f1_v"] != by_own["f1_v"]
    assert "lexicon" not in usual["notes"]
    assert usual["lexicon"]["name"] == "EmoLex with emotui's supplement"


def test_the_same_predictions_with_another_lexicon_are_scored_again(emotui: Emotui, folder: Path) -> None:
    first = bring(emotui, "said.jsonl", "theirs")
    assert bring(emotui, "said.jsonl", "theirs", "--lexicon", "l.csv")["f1_v"] == 2 / 3 != first["f1_v"]
    assert bring(emotui, "said.jsonl", "theirs")["f1_v"] == 2 / 3  # without the option they stay as they are


def test_a_run_is_scored_by_the_lexicon_that_was_given_and_a_finished_one_again(emotui: Emotui, folder: Path) -> None:
    asked = ("run", "masked", "--dataset", "d", "--db", "w.duckdb", "--json")
    usual = emotui(*asked).document
    own = emotui(*asked, "--lexicon", "l.csv").document
    assert own["run"] == usual["run"]
    assert own["metrics"]["lexicon"]["name"] == "l.csv"
    fresh = emotui(*asked, "--lexicon", "l.csv", "--outside", "express", "--fresh").document
    assert fresh["run"] != own["run"]
    assert fresh["metrics"]["lexicon"]["outside"] == "express"


def test_scores_by_two_lexicons_are_not_compared_and_results_has_all_by_one(emotui: Emotui, folder: Path) -> None:
    bring(emotui, "said.jsonl", "theirs", "--lexicon", "l.csv")
    bring(emotui, "again.jsonl", "others")
    refused = emotui("compare", "--runs", "theirs", "others", "--db", "w.duckdb")
    assert refused.status == 2
    assert "scores by two lexicons cannot be compared: theirs by l.csv (itself), others by EmoLex" in refused.err
    assert emotui("masked", "compare", "--runs", "theirs", "others", "--db", "w.duckdb").status == 2
    asked = ("results", "theirs", "others", "--dataset", "d", "--table", "masked", "--db", "w.duckdb", "--json")
    table = emotui(*asked).document["tables"][0]
    assert [row["remark"] for row in table["rows"][:2]] == [None, "its kept scores are by another lexicon"]
    by = {row["cells"]["f1_v"]["convention"] for row in table["rows"]}
    assert len(by) == 1
    assert "l.csv" in by.pop()
    alone = emotui(*asked, "--lexicon", "emolex").document["tables"][0]
    assert alone["notes"][0].startswith("Vectors: EmoLex, ")
    assert emotui("rescore", "others", "--lexicon", "l.csv", "--db", "w.duckdb").status == 0
    assert emotui("compare", "--runs", "theirs", "others", "--db", "w.duckdb").status == 0


def test_a_study_is_about_words_that_differ_by_the_lexicon_that_was_given(emotui: Emotui, folder: Path) -> None:
    bring(emotui, "said.jsonl", "theirs")
    begin = ("masked", "study", "begin", "--dataset", "d", "--b", "theirs", "--db", "w.duckdb", "--json")
    made = emotui(*begin, "s1", "--lexicon", "l.csv").document
    assert made["texts"] == 1  # glum is as sad there, glad is not as happy
    assert made["lexicon"].startswith("l.csv, itself, ")
    assert "l.csv" in emotui("masked", "study", "results", "s1", "--db", "w.duckdb", "--json").document["lexicon"]


def test_a_lexicon_is_for_masked_words(emotui: Emotui, folder: Path) -> None:
    (folder / "t.jsonl").write_text('{"id": "a", "text": "So glad.", "labels": ["joy"]}\n')
    done = emotui("run", "labels", "--dataset", "t.jsonl", "--lexicon", "l.csv", "--db", "w.duckdb")
    assert done.status == 2
    assert "are for masked words, not for the labels task" in done.err
