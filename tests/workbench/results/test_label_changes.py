"""What became right and wrong from one run to another, by gold label, and what one run gave for what."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.tables import ResultsTable
from emotui.tasks.label_answers import ALL_LABELS, LabelAnswers, change_tables, confusion_table
from tests.conftest import Emotui

GOLD = (["joy"], ["joy"], ["fear"], ["joy", "fear"], [])
FIRST = (["joy"], ["fear"], ["fear"], ["joy"], ["joy"])
SECOND = (["joy"], ["joy"], [], ["fear"], [])


def _answers(run: str, gold: Any, said: Any, numbers: Any = None) -> LabelAnswers:
    names = ("joy", "fear", "anger")
    tables = (np.array([[name in labels for name in names] for labels in side], np.uint8) for side in (gold, said))
    return LabelAnswers(run, run, names, np.array(numbers or range(len(gold)), np.int64), *tables)


def _moves(table: ResultsTable, row: str) -> list[Any]:
    return [cell.value for cell in next(one for one in table.rows if one.label == row).cells]


def test_from_one_run_to_another_labels_become_right_and_wrong_by_gold_label() -> None:
    (table,) = change_tables([_answers("a", GOLD, FIRST), _answers("b", GOLD, SECOND)])
    assert table.key == "changes-a-b"
    assert [column.key for column in table.columns] == [
        *("right_right", "right_wrong", "wrong_right", "wrong_wrong"),
        *("lacks_right_wrong", "lacks_wrong_right"),
    ]
    # Text 0 stays right, 1 and 4 are mended, 2 is lost; text 3 is wrong both times.
    assert _moves(table, ALL_LABELS) == [1, 1, 2, 1, None, None]
    # joy is gold in 0, 1 and 3: kept, found, lost; the text 4 without it no longer gets it.
    assert _moves(table, "joy") == [1, 1, 1, 0, 0, 1]
    # fear is gold in 2 and 3: lost, found; the text 1 without it no longer gets it.
    assert _moves(table, "fear") == [0, 1, 1, 0, 0, 1]
    joy = next(row for row in table.rows if row.label == "joy")
    assert [cell.samples for cell in joy.cells] == [(0,), (3,), (1,), (), (), (4,)]
    assert {cell.run for cell in joy.cells} == {"b"}


def test_every_run_is_set_beside_the_first_and_texts_of_one_run_alone_are_left_out_and_told() -> None:
    runs = [_answers("a", GOLD, FIRST), _answers("b", GOLD[:2], SECOND[:2]), _answers("c", GOLD[:1], FIRST[:1], [9])]
    (table,) = change_tables(runs)
    assert table.key == "changes-a-b"
    assert _moves(table, ALL_LABELS) == [1, 0, 1, 0, None, None]
    assert "3 answers that only one of a and b has: left out." in table.notes


def test_repeats_are_set_beside_the_same_repeats() -> None:
    one = _answers("a", [["joy"]] * 4, [["joy"], ["fear"], ["joy"], ["joy"]], [0, 1, 0, 1])
    other = _answers("b", [["joy"]] * 4, [["joy"], ["joy"], ["fear"], ["joy"]], [0, 1, 0, 1])
    (table,) = change_tables([one, other])
    assert _moves(table, "joy")[:4] == [2, 1, 1, 0]
    assert table.rows[1].cells[0].samples == (0, 1)


_SETS = st.sets(st.sampled_from(("joy", "fear", "anger"))).map(sorted)


@given(st.lists(st.tuples(_SETS, _SETS, _SETS), min_size=1, max_size=12))
def test_counts_of_a_label_are_of_all_its_texts_and_give_both_recalls(rows: list[tuple[Any, Any, Any]]) -> None:
    gold, first, second = zip(*rows, strict=True)
    (table,) = change_tables([_answers("a", gold, first), _answers("b", gold, second)])
    for name in ("joy", "fear", "anger"):
        kept, lost, found, never, extra, cleared = _moves(table, name)
        assert kept + lost + found + never == sum(name in labels for labels in gold)
        assert kept + lost == sum(name in g and name in a for g, a in zip(gold, first, strict=True))
        assert kept + found == sum(name in g and name in b for g, b in zip(gold, second, strict=True))
        over = [sum(name not in g and name in s for g, s in zip(gold, side, strict=True)) for side in (first, second)]
        assert extra - cleared == over[1] - over[0]
    assert sum(_moves(table, ALL_LABELS)[:4]) == len(rows)


def test_a_confusion_of_one_label_a_text_has_a_column_for_no_answer_only_where_there_is_one() -> None:
    whole = confusion_table(_answers("a", [["joy"], ["fear"]], [["fear"], ["fear"]]))
    assert [column.title for column in whole.columns] == ["joy", "fear", "anger"]
    assert _moves(whole, "joy") == [0, 1, 0]
    silent = confusion_table(_answers("a", [["joy"], ["fear"]], [[], ["fear"]]))
    assert [column.title for column in silent.columns] == ["joy", "fear", "anger", "no label"]
    assert _moves(silent, "joy") == [0, 0, 0, 1]
    assert [row.label for row in silent.rows] == ["joy", "fear", "anger"]


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("kind", ["class", "labels"])
def test_results_and_reports_of_labels_have_the_confusion_of_each_source_and_what_changed(
    emotui: Emotui, tmp_path: Path, kind: str
) -> None:
    def says(label: str) -> dict[str, Any]:
        return {"label": label} if kind == "class" else {"labels": [label]}

    gold = ["joy", "joy", "fear", "anger"]
    answers = {"one": ["joy", "fear", "fear", "joy"], "other": ["joy", "joy", "joy", "joy"]}
    db = ("--db", tmp_path / "w.duckdb")
    rows = [{"id": str(at), "text": f"text {at}", **says(label)} for at, label in enumerate(gold)]
    emotui("import", kind, _write(tmp_path / "g.jsonl", rows), "--name", "set", *db)
    runs = []
    for name, said in answers.items():
        path = _write(tmp_path / f"{name}.jsonl", [{"id": str(at), **says(label)} for at, label in enumerate(said)])
        assert emotui("import", "predictions", path, "--dataset", "set", "--source", name, *db).status == 0
        runs.append(name)
    found = emotui("results", *runs, *db, "--json", "--samples").document["tables"]
    tables = {table["key"]: table for table in found}
    kept = {row["model"]: row["run"] for row in emotui("runs", *db, "--json").document}
    confusion = tables[f"confusion-{kept['one']}"]
    cells = {row["label"]: {key: one["value"] for key, one in row["cells"].items()} for row in confusion["rows"]}
    assert {key: n for key, n in cells["joy"].items() if n} == {"joy": 1, "fear": 1}
    changes = tables[f"changes-{kept['one']}-{kept['other']}"]
    joy = next(row for row in changes["rows"] if row["label"] == "joy")["cells"]
    assert (joy["right_right"]["value"], joy["wrong_right"]["value"], joy["wrong_right"]["samples"]) == (1, 1, ["1"])
    assert joy["lacks_right_wrong"]["samples"] == ["2"]
    target = tmp_path / "r.md"
    assert emotui("report", *runs, "--to", target, *db).status == 0
    assert "right → wrong" in target.read_text()
    assert emotui("results", *runs, "--table", changes["key"], *db).status == 0
