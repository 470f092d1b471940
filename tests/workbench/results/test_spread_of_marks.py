"""Sources against the spread of people's spans, numbers and words for masks, from a store."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from emotui.metrics.people_spread import FLOOR
from emotui.tables import Cell, ResultsTable
from emotui.workbench.runs.elsewhere import Said, keep_said
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui

CERTAIN = -math.log(1 - FLOOR)


def tables(emotui: Emotui, folder: Path, kind: str, gold: list[Any], said: list[Any]) -> dict[str, ResultsTable]:
    for name, records in (("g.jsonl", gold), ("p.jsonl", said)):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    assert emotui("import", kind, "g.jsonl", "--name", "d", "--db", "w.duckdb").status == 0
    source = ("--dataset", "d", "--source", "half", "--missing", "skip", "--db", "w.duckdb")
    assert emotui("import", "predictions", "p.jsonl", *source).status == 0
    workspace = Workspace.open(folder / "w.duckdb")
    found = workspace.results().tables("d", ["half"], sim=False, baselines=False)
    return {table.key: table for table in found}


def row(table: ResultsTable, label: str) -> dict[str, Cell]:
    (found,) = [one for one in table.rows if one.label.startswith(label)]
    return {column.key: cell for column, cell in zip(table.columns, found.cells, strict=True)}


def test_spans_are_compared_word_by_word_and_by_label(emotui: Emotui, tmp_path: Path) -> None:
    text = "I am so happy now"  # of its five words ann marks so and happy, bob happy
    people = {"ann": [[5, 13, "joy"]], "bob": [[8, 13, "joy"]]}
    gold = {"id": "1", "text": text, "spans": [[8, 13, "joy"]], "annotators": people}
    alone = {"id": "2", "text": text, "spans": [], "annotators": {"ann": []}}
    said = [{"start": 9, "end": 15, "label": "fear", "score": 0.5}]
    found = tables(emotui, tmp_path, "spans", [gold, alone], [{"id": "1", "spans": said}])
    words = row(found["spread-words"], "half")
    # It marks happy and now with .5 each: shares 1 and 0 there, 1/2 at "so", which it leaves out.
    assert words["brier_shares"].value == pytest.approx(0.75 / 5)
    left_out = -math.log(FLOOR) / 2 + CERTAIN / 2
    assert words["cross_entropy"].value == pytest.approx((2 * math.log(2) + left_out + 2 * CERTAIN) / 5)
    assert words["micro_f1_majority"].value == pytest.approx(2 / 3)  # half of two are no majority: happy alone is one
    assert "macro_f1_majority" not in words
    assert [cell.value for cell in found["reliability-words-half"].rows[1].cells] == [0.5, 0.5, 2]
    labels = row(found["spread-labels"], "half")
    assert labels["brier_shares"].value == 1.0  # of joy alone, which everybody gives and the source does not
    assert row(found["spread-annotators-words"], "ann")["f1/half"].value == pytest.approx(0.5)
    assert row(found["spread-words"], "Annotators")["brier_shares"].value == pytest.approx(1 / 5)
    assert "spread-sentences" not in found


def test_numbers_are_compared_with_the_distribution_of_answers(emotui: Emotui, tmp_path: Path) -> None:
    def record(key: str, answers: list[float]) -> dict[str, Any]:
        people = {name: {"values": {"valence": one}} for name, one in zip("abc", answers, strict=False)}
        return {"id": key, "text": f"t{key}", "values": {"valence": 3}, "annotators": people}

    gold = [record("1", [1, 2, 3]), record("2", [5, 5]), record("3", [4])]
    said = [{"id": key, "values": {"valence": one}} for key, one in (("1", 2), ("2", 4))]
    found = tables(emotui, tmp_path, "values", gold, said)
    half = row(found["spread-1"], "half")
    assert half["wasserstein"].value == pytest.approx((2 / 3 + 1) / 2)
    assert half["inside"].value == 0.5
    assert half["mae_mean"].value == pytest.approx(0.5)
    assert half["brier_mean"].value == pytest.approx((0 + (1 / 4) ** 2) / 2)  # on the scale from 1 to 5
    assert half["ece_mean"].value == pytest.approx((0 + 1 / 4) / 2)
    # On the levels 1, 2, 3 and 5 the 4 is put to 3: nothing in common with people there.
    assert half["jensen_shannon"].value == pytest.approx((0.45914791702724 + 1) / 2)
    assert len(half["wasserstein"].samples) == 2
    assert row(found["spread-annotators-1"], "a")["mae/half"].value == pytest.approx(1.0)
    people = row(found["spread-1"], "Annotators")["mae_mean"]
    # a: |1 - 2.5| and 0, b: 0 and 0, c: |3 - 1.5|; the means of a, b and c.
    assert people.value == pytest.approx((0.75 + 0 + 1.5) / 3)
    points = found["reliability-1-half"].plot
    assert points is not None
    assert points.points == (pytest.approx((2, 2)), pytest.approx((4, 5)))


def test_words_for_masks_are_compared_with_the_shares_of_those_who_write_them(emotui: Emotui, tmp_path: Path) -> None:
    gold = {"id": "1", "text": "I was <mask> and <mask>.", "labels": ["sad", "tired"]}
    (tmp_path / "g.jsonl").write_text(json.dumps(gold))
    assert emotui("import", "masked", "g.jsonl", "--name", "d", "--db", "w.duckdb").status == 0
    workspace = Workspace.open(tmp_path / "w.duckdb")
    dataset = workspace.store.datasets.get("d")
    assert dataset is not None
    for name, words in (("ann", ["Sad", "angry"]), ("bob", ["sad", "tired"])):
        said = [Said(workspace.store.samples.file_order(dataset.dataset).start, 0, {"labels": words})]
        keep_said(workspace.store, dataset, name, "person", said)
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "1", "labels": ["sad", "glad"]}))
    emotui("import", "predictions", "p.jsonl", "--dataset", "d", "--source", "half", "--db", "w.duckdb")
    found = workspace.results().spread("d")
    masks = row(next(one for one in found if one.key == "spread-masks"), "half")
    # Questions: sad (share 1, given), angry and tired (1/2 each, not given).
    assert masks["brier_shares"].value == pytest.approx((0 + 0.25 + 0.25) / 3)
