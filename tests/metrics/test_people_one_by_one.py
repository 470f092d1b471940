"""An answer predicted for each annotator: figures worked by hand, in the shapes of LeWiDi and in our own."""

import json
from pathlib import Path
from typing import Any

import pytest

from emotui.metrics.people_spread import own_answers_report
from tests.conftest import Emotui


def _lewidi(**annotations: dict[str, str]) -> dict[str, Any]:
    return {
        key: {
            "text": {"post": f"Post {key}.", "reply": "A reply."},
            "annotation task": "sarcasm detection",
            "annotators": ",".join(own),
            "annotations": own,
            "number of annotations": len(own),
            "soft_label": {},
            "split": "dev",
            "lang": "en",
            "other_info": {},
        }
        for key, own in annotations.items()
    }


GOLD = _lewidi(a={"Ann1": "1", "Ann2": "5", "Ann3": "1"}, b={"Ann1": "3", "Ann4": "3"})


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(GOLD), encoding="utf-8")
    return path


@pytest.mark.parametrize("shape", ["table", "lewidi", "records"])
def test_figures_worked_by_hand(emotui: Emotui, tmp_path: Path, gold: Path, shape: str) -> None:
    said = {"a": {"Ann1": "1", "Ann2": "4", "Ann3": "2"}, "b": {"Ann1": "3", "Ann4": "1"}}
    pred = tmp_path / {"table": "p.tsv", "lewidi": "p.json", "records": "p.jsonl"}[shape]
    if shape == "table":
        pred.write_text("a\t[1, 4, 2]\nb\t[3, 1.0]\n", encoding="utf-8")
    elif shape == "lewidi":
        pred.write_text(json.dumps(_lewidi(**said)), encoding="utf-8")
    else:
        rows = [
            {"id": key, "text": "t", "annotators": {name: {"label": one} for name, one in own.items()}}
            for key, own in said.items()
        ]
        pred.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    got = emotui("score", "annotators", "--gold", gold, "--pred", pred, "--json").document
    assert (got["n"], got["annotators"], got["answers"]) == (2, 4, 5)
    assert got["error_rate"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    # The scale of people goes from 1 to 5.
    assert got["normalised_absolute_distance"] == pytest.approx(((0 + 1 / 4 + 1 / 4) / 3 + (0 + 2 / 4) / 2) / 2)
    assert got["by_annotator"]["Ann1"] == {"n": 2, "error_rate": 0, "normalised_absolute_distance": 0}
    # One answer for all, the first of those as frequent: 1 for a, 3 for b.
    assert got["same_for_all"] == pytest.approx((1 / 3 + 0) / 2)


def test_an_annotator_without_a_prediction_is_told_wrong_or_left_out(
    emotui: Emotui, tmp_path: Path, gold: Path
) -> None:
    pred = tmp_path / "p.json"
    pred.write_text(json.dumps(_lewidi(a={"Ann1": "1", "Ann2": "5", "Ann3": "1"}, b={"Ann1": "3"})), encoding="utf-8")
    done = emotui("score", "annotators", "--gold", gold, "--pred", pred)
    assert done.status == 2
    assert "no `label` for 1 answers of annotators (b Ann4)" in done.err
    empty = emotui("score", "annotators", "--gold", gold, "--pred", pred, "--missing", "empty", "--json").document
    assert (empty["error_rate"], empty["missing"]) == (pytest.approx((0 + 1 / 2) / 2), 1)
    assert empty["by_annotator"]["Ann4"]["normalised_absolute_distance"] == pytest.approx(2 / 4)
    skip = emotui("score", "annotators", "--gold", gold, "--pred", pred, "--missing", "skip", "--json").document
    assert (skip["error_rate"], skip["answers"]) == (0, 4)
    pred = tmp_path / "p.tsv"
    pred.write_text("a\t[1, 4]\nb\t[3, 1]\n", encoding="utf-8")
    done = emotui("score", "annotators", "--gold", gold, "--pred", pred)
    assert (done.status, "p.tsv:1: must be a list of 3 answers" in done.err) == (2, True)


def test_several_labels_and_numbers_of_each() -> None:
    people = [{"P1": ["joy", "fear"], "P2": []}]
    got = own_answers_report(people, [{"P1": ["joy"], "P2": ["anger"]}], "labels")
    # Of joy and fear, which people name, one is wrong; of these and anger one.
    assert got["error_rate"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert "normalised_absolute_distance" not in got
    people = [{"P1": {"valence": 1.0, "arousal": 2.0}, "P2": {"valence": 3.0, "arousal": 2.0}}]
    got = own_answers_report(people, [{"P1": {"valence": 1.0, "arousal": 2.0}, "P2": None}], "values")
    assert (got["error_rate"], got["normalised_absolute_distance"]) == (0.5, pytest.approx((0 + 1) / 2))
