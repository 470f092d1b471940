"""The figures of the paper beside its accuracies, from files; and its tables as they are printed."""

import json
from pathlib import Path
from statistics import mean

import pytest

from emotui.tasks.published import EXPRESS_TABLES, express_table
from tests.conftest import Emotui

GOLD = '{"id": "a", "labels": ["sad", "angry"], "text": "<mask> <mask>", "meta": {"topic": "work"}}\n'


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "g.jsonl"
    path.write_text(GOLD + '{"id": "b", "labels": ["happy"]}\n')
    return path


def said(tmp_path: Path, name: str, first: str, second: str) -> Path:
    path = tmp_path / name
    path.write_text(f'{{"id": "a", "labels": {first}}}\n{{"id": "b", "labels": {second}}}\n')
    return path


def test_errors_and_differences_of_two_files_of_predictions(emotui: Emotui, tmp_path: Path, gold: Path) -> None:
    one = said(tmp_path, "1.jsonl", '["sad", "happy"]', '["happy"]')
    two = said(tmp_path, "2.jsonl", '["happy"]', '["sad"]')
    told = emotui("masked", "errors", "--gold", gold, "--pred", f"A={one}", "--pred", f"B={two}", "--json").document
    assert [(row["label"], row["predicted"], row["share"]) for row in told["mispredictions"]] == [
        ("angry", "happy", 0.5),
        ("happy", "sad", 0.5),
        ("sad", "happy", 0.5),
    ]
    assert told["words"][0] == {"word": "happy", "gold": 1, "models": {"A": 2, "B": 1}, "difference": 0.5}
    asked = ("masked", "compare", "--gold", gold, "--a", one, "--b", two, "--score", "acc_l")
    paired = emotui(*asked, "--alternative", "greater", "--json").document
    assert (paired["masks"], paired["mean_a"], paired["mean_b"], paired["better"]) == (3, 2 / 3, 0, 2)
    assert paired["wilcoxon_p"] < emotui(*asked, "--json").document["wilcoxon_p"]
    lacking = tmp_path / "3.jsonl"
    lacking.write_text('{"id": "c", "labels": []}\n')
    done = emotui("masked", "errors", "--gold", gold, "--pred", lacking)
    assert done.status == 2
    assert done.err.splitlines() == [
        f"{lacking}:1: c: no record of {gold} has this id",
        f"{lacking}: 2 of 2 gold ids have no prediction (a, b)",
    ]


def test_accuracy_stands_against_size_with_the_papers_models(emotui: Emotui, tmp_path: Path, gold: Path) -> None:
    own = said(tmp_path, "1.jsonl", '["sad", "angry"]', '["happy"]')
    told = emotui("masked", "sizes", "--gold", gold, "--model", "mine", "0.02", own, "--json").document["models"]
    assert told[0] | {"acc_v": 1.0} == told[0]
    assert (told[0]["model"], told[0]["published"]) == ("mine", False)
    assert [row["size_b"] for row in told] == sorted(row["size_b"] for row in told)
    assert len(told) == 15
    drawn = emotui("masked", "sizes", "--gold", gold, "--model", "mine", "0.02", own).out
    assert "● mine" in drawn
    assert "GPT-4o † ○" in drawn
    assert emotui("masked", "sizes", "--model", "mine", "1", own).status == 2


def test_topics_are_scored_apart_where_records_name_them(emotui: Emotui, tmp_path: Path, gold: Path) -> None:
    own = said(tmp_path, "1.jsonl", '["sad", "happy"]', '["happy"]')
    told = emotui("score", "masked", "--gold", gold, "--pred", own, "--json").document
    assert told["by_topic"]["work"] | {"n": 1, "masks": 2, "acc_l": 0.5} == told["by_topic"]["work"]
    assert list(told["by_topic"]) == ["work"]


@pytest.mark.parametrize("table", EXPRESS_TABLES)
def test_every_table_of_the_paper_is_printed_with_its_source(emotui: Emotui, table: str) -> None:
    done = emotui("masked", "published", table)
    assert done.status == 0
    assert f"EXPRESS, Table {table}" in done.out
    assert emotui("masked", "published", table, "--json").document["rows"]


def test_a_table_that_is_not_here_is_refused_with_those_that_are(emotui: Emotui) -> None:
    done = emotui("masked", "published", "9")
    assert (done.status, done.err) == (2, "there is no table 9 here: 3, 4, A.6, A.7, A.10, A.11\n")


def test_the_averages_of_table_3_are_those_of_its_rows_but_for_the_noted_ones() -> None:
    table = express_table("3")
    causal = [row["settings"] for row in table["rows"] if row["kind"] == "causal LM"]
    (printed,) = [row["settings"] for row in table["rows"] if row["kind"] == "printed average"]
    assert len(causal) == 7
    for way, figures in printed.items():
        for name, value in figures.items():
            computed = mean(row[way][name] for row in causal)
            if way == "zero-shot":
                assert computed == pytest.approx({"acc_l": 0.216, "acc_v": 0.288, "f1_v": 0.635}[name], abs=6e-4)
            else:
                assert computed == pytest.approx(value, abs=1.1e-3)


def test_the_codes_of_table_a7_add_up_to_the_assignments_of_the_text() -> None:
    table = express_table("A.7")
    assert sum(row.get("sd", 0) for row in table["rows"]) == table["totals"]["sd"] == 277
    assert sum(row.get("llm", 0) for row in table["rows"]) == table["totals"]["llm"] == 300
    majority = table["majority"]
    assert sum(majority[name] for name in ("sd", "llm", "both", "all_differ")) == majority["posts"]


def test_words_have_bars_and_those_of_the_supplement_their_sign(emotui: Emotui, tmp_path: Path, gold: Path) -> None:
    one = said(tmp_path, "1.jsonl", '["sad", "happy"]', '["happy"]')
    shown = emotui("masked", "errors", "--gold", gold, "--pred", f"A={one}").out
    lines = [line.split() for line in shown.splitlines() if "█" in line]
    half = "█" * 10
    assert lines == [["happy", "1", half, "2", 2 * half], ["sad°", "1", half, "1", half], ["angry", "1", half, "0"]]
    assert "emotui's supplement" in shown
    plain = emotui("masked", "errors", "--gold", gold, "--pred", f"A={one}", "--no-supplement").out
    assert "°" not in plain


def test_runs_of_the_store_are_compared_mask_by_mask(emotui: Emotui, tmp_path: Path, gold: Path) -> None:
    records = [
        {"id": "a", "text": "<mask> and <mask>", "labels": ["sad", "angry"]},
        {"id": "b", "text": "<mask>", "labels": ["happy"]},
    ]
    (tmp_path / "m.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    emotui("import", "masked", "m.jsonl", "--name", "m", "--db", "w.duckdb")
    files = {"A": said(tmp_path, "1.jsonl", '["sad", "angry"]', '["sad"]')}
    files["B"] = said(tmp_path, "2.jsonl", '["sad", "happy"]', '["happy"]')
    for name, file in files.items():
        emotui("import", "predictions", file, "--dataset", "m", "--source", name, "--db", "w.duckdb")
    asked = ("masked", "compare", "--runs", "A", "B", "--score", "acc_l", "--alternative", "greater", "--json")
    of_runs = emotui(*asked, "--db", "w.duckdb").document
    of_files = emotui(
        *("masked", "compare", "--gold", gold, "--a", files["A"], "--b", files["B"]),
        *("--score", "acc_l", "--alternative", "greater", "--json"),
    ).document
    assert {key: of_runs[key] for key in of_files} == of_files
    assert (of_runs["dataset"], of_runs["texts"], of_runs["better"], of_runs["worse"]) == ("m", 2, 1, 1)
    for wrong in (("--runs", "A", "C"), ("--gold", gold), ("--runs", "A", "B", "--gold", gold)):
        assert emotui("masked", "compare", *wrong, "--db", "w.duckdb").status == 2
