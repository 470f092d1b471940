"""`emotui score labels` and `emotui thresholds`, as a script calls them."""

import json
from pathlib import Path
from typing import Any

import pytest

from emotui.commands.output import folded
from tests.conftest import Emotui


def _write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return _write(
        tmp_path / "gold.jsonl",
        {"id": "a", "text": "So happy.", "labels": ["joy"]},
        {"id": "b", "text": "Happy and afraid.", "labels": {"joy": 1, "fear": 1}},
        {"id": "c", "text": "The bus was late.", "labels": []},
        {"id": "d", "text": "Nobody has looked at this yet."},
    )


@pytest.fixture
def pred(tmp_path: Path) -> Path:
    return _write(
        tmp_path / "pred.jsonl",
        {"id": "a", "labels": {"joy": 0.9, "fear": 0.2}},
        {"id": "b", "labels": {"joy": 0.7, "fear": 0.4}},
        {"id": "c", "labels": {}},
        {"id": "d", "labels": {"joy": 1}},
    )


def test_unlabelled_gold_is_left_out_and_counted(emotui: Emotui, gold: Path, pred: Path) -> None:
    got = emotui("score", "labels", "--gold", gold, "--pred", pred, "--json").document
    assert (got["n"], got["unlabelled"], got["labels"]) == (3, 1, ["joy", "fear"])
    assert got["jaccard"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert got["by_label"]["fear"]["recall"] == 0.0
    assert got["notes"]["n"] == "1 record without an answer: counted as no label predicted"


def test_thresholds_chosen_on_one_file_decide_another(emotui: Emotui, gold: Path, pred: Path, tmp_path: Path) -> None:
    for name in ("chosen.toml", "chosen.json"):
        to = tmp_path / name
        chosen = emotui("thresholds", "--gold", gold, "--pred", pred, "--to", to, "--json").document
        assert chosen["thresholds"] == pytest.approx({"joy": 0.35, "fear": 0.3})
        assert chosen["by_label"]["joy"] == pytest.approx({"threshold": 0.35, "f1": 1.0, "ties": 0, "support": 2})
        got = emotui("score", "labels", "--gold", gold, "--pred", pred, "--thresholds", to, "--json").document
        assert got["macro_f1"] == 1.0
        assert got["by_label"]["fear"]["threshold"] == pytest.approx(0.3)
    whole = tmp_path / "document.json"
    whole.write_text(json.dumps(chosen))
    assert emotui("score", "labels", "--gold", gold, "--pred", pred, "--thresholds", whole, "--json").document == got


def test_wide_tables_are_scored_for_labels_and_for_scenes(emotui: Emotui, tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.csv", tmp_path / "pred.tsv"
    gold.write_text("id,text,joy,fear\n1,a,3,0\n2,b,1,2\n")
    pred.write_text("id\tjoy\tfear\n1\t1\t0\n2\t1\t1\n")
    for task in ("labels", "scenes"):
        done = emotui("score", task, "--gold", gold, "--pred", pred, "--json")
        assert done.status == 2
        assert done.err.startswith(f"{gold}:2: 'joy' is 3.0, and a label is 0 or 1")
        assert len(done.err.splitlines()) == 1
        got = emotui("score", task, "--gold", gold, "--pred", pred, "--label-threshold", "2", "--json").document
        assert got["vector_accuracy"] == 0.5
    gold.write_text("id,text,rater,joy,fear\n1,a,7,1,0\n2,b,8,0,1\n")
    pred.write_text("id\trater\tjoy\tfear\n1\t0\t1\t0\n2\t0\t1\t1\n")
    for task in ("labels", "scenes"):
        got = emotui("score", task, "--gold", gold, "--pred", pred, "--labels", "joy,fear", "--json").document
        assert got["lexical_accuracy"] == 0.75


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("t.toml", "joy = 2\n", "joy: must be a number from 0 to 1, not 2"),
        ("t.toml", "joy = true\n", "joy: must be a number from 0 to 1, not True"),
        ("t.toml", "\njoy 0.2\n", ":2: this is no TOML"),
        ("t.json", "[1]", "there is no threshold in it"),
        ("t.json", '{\n"joy": 0.1,,}', ":2: this is no JSON"),
        ("t.json", '{"joy": NaN}', "joy: must be a number from 0 to 1, not nan"),
    ],
)
def test_a_bad_file_of_thresholds_is_one_line(
    emotui: Emotui, gold: Path, pred: Path, tmp_path: Path, name: str, content: str, what: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    done = emotui("score", "labels", "--gold", gold, "--pred", pred, "--thresholds", path, "--json")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(str(path))
    assert what in done.err
    assert len(done.err.splitlines()) == 1


def test_surplus_ids_are_named_by_their_line_and_missing_ones_counted(
    emotui: Emotui, gold: Path, tmp_path: Path
) -> None:
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "labels": []}, {"id": "zz", "labels": []})
    done = emotui("score", "labels", "--gold", gold, "--pred", pred, "--json")
    assert done.status == 2
    surplus, missing = done.err.splitlines()
    assert surplus.startswith(f"{pred}:2: zz: ")
    assert missing.startswith(f"{pred}: no prediction for 2 of 3 gold ids ('b', 'c'): ")


def test_predictions_without_probabilities_have_no_threshold(emotui: Emotui, gold: Path, tmp_path: Path) -> None:
    pred = _write(tmp_path / "p.jsonl", *({"id": key, "labels": ["joy"]} for key in "abc"))
    done = emotui("thresholds", "--gold", gold, "--pred", pred)
    assert done.status == 2
    assert "no probabilities" in done.err
    assert "classify, heads, nli and score give them" in done.err
    people = emotui("score", "labels", "--gold", gold, "--pred", pred).out
    assert "by_label" in people
    assert "not all predictions are probabilities" in people


def test_labels_that_are_never_predicted_stand_in_one_line() -> None:
    notes = {f"by_label.{name}.precision": f"{name} is never predicted" for name in ("joy", "a.b", "fear")}
    notes |= {"by_label.joy.recall": "joy is never gold", "f1": "no samples", "sim": "no samples", "n": "2 are missing"}
    assert folded(notes) == [
        "by_label.*.precision: 3 labels are never predicted: joy, a.b, fear",
        "by_label.joy.recall: joy is never gold",
        "f1, sim: no samples",
        "n: 2 are missing",
    ]


# Against the distribution of people's answers.


def _people(emotui: Emotui, kind: str, gold: Path, pred: Path, *more: str) -> Any:
    got = emotui("score", kind, "--gold", gold, "--pred", pred, "--against", "people", *more, "--json").document
    plain = emotui("score", kind, "--gold", gold, "--pred", pred, *more, "--json").document
    assert {name: value for name, value in got.items() if name != "people"} == plain  # nothing else has changed
    return got["people"]


def test_single_labels_are_scored_against_people_with_or_without_gold(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(
        tmp_path / "gold.jsonl",
        {
            "id": "a",
            "text": "Rain.",
            "label": "5",
            "annotators": {"P1": {"label": "5"}, "P2": "3", "P3": {"labels": ["6"]}},
        },
        {"id": "b", "text": "Sun.", "annotators": {"P1": {"label": "1"}, "P3": {"label": "2"}}},
        {"id": "c", "text": "Wind.", "label": "4", "annotators": {"P2": {"label": "4"}, "P3": {"note": "no idea"}}},
    )
    probs = {"1": 0.1, "3": 0.3, "5": 0.4, "6": 0.2}
    pred = _write(
        tmp_path / "pred.jsonl", {"id": "a", "probs": probs}, {"id": "b", "label": "1"}, {"id": "c", "label": "4"}
    )
    people = _people(emotui, "class", gold, pred)
    assert (people["n"], people["annotators"]) == (2, 3)
    assert people["notes"]["n"] == "1 record with the answer of one annotator alone is left out"
    assert people["manhattan"] == pytest.approx((0.1 + (1 / 3 - 0.3) + (0.4 - 1 / 3) + (1 / 3 - 0.2) + 1) / 2)
    # Cuts of 1 to 6: below 3 is .1 against 0, below 5 .4 against 1/3 (two points wide), below 6 .8 against 2/3.
    assert people["wasserstein"] == pytest.approx((0.1 * 2 + (0.4 - 1 / 3) * 2 + (0.8 - 2 / 3) + 0.5) / 2)
    assert people["error_rate"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert people["normalised_absolute_distance"] == pytest.approx(((0 + 2 + 1) / 3 / 5 + (0 + 1) / 2 / 5) / 2)
    assert people["by_annotator"]["P3"] == {
        "n": 2,
        "error_rate": 1.0,
        "normalised_absolute_distance": pytest.approx(0.2),
    }
    assert set(people["ci95"]) >= {"manhattan", "wasserstein", "cross_entropy", "error_rate"}
    assert "LeWiDi" in people["conventions"]["people"]
    shown = emotui("score", "class", "--gold", gold, "--pred", pred, "--against", "people").out
    assert "against people" in shown
    assert "wasserstein" in shown


def test_several_labels_are_scored_against_people_by_the_labels_that_count_as_predicted(
    emotui: Emotui, tmp_path: Path
) -> None:
    gold = _write(
        tmp_path / "gold.jsonl",
        {"id": "a", "text": "Rain.", "labels": ["anger"], "annotators": {"P1": ["anger"], "P2": ["anger", "fear"]}},
        {"id": "b", "text": "Sun.", "annotators": {"P1": {"joy": 1, "fear": 0}, "P3": []}},
    )
    pred = _write(
        tmp_path / "pred.jsonl", {"id": "a", "labels": {"anger": 0.9, "fear": 0.4}}, {"id": "b", "labels": {"joy": 0.5}}
    )
    people = _people(emotui, "labels", gold, pred)
    assert people["manhattan"] == pytest.approx((2 * (0.1 + 0.1 + 0) / 3 + 0) / 2)
    assert people["error_rate"] == pytest.approx(((0 + 1 / 3) / 2 + (0 + 1 / 3) / 2) / 2)
    cut = tmp_path / "cut.toml"
    cut.write_text("fear = 0.3\n")
    assert _people(emotui, "labels", gold, pred, "--thresholds", str(cut))["by_annotator"]["P2"]["error_rate"] == 0.0


def test_numbers_are_scored_against_people_on_a_scale_that_is_seen_or_given(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(
        tmp_path / "gold.jsonl",
        {"id": "a", "text": "Rain.", "annotators": {"P1": {"values": {"joy": 0}}, "P2": {"values": {"joy": 3}}}},
        {"id": "b", "text": "Sun.", "values": {"joy": 2}, "annotators": {"P1": {"values": {"joy": 2}}}},
    )
    pred = _write(tmp_path / "pred.jsonl", {"id": "a", "values": {"joy": 1.2}}, {"id": "b", "values": {"joy": 2}})
    joy = _people(emotui, "values", gold, pred)["by_name"]["joy"]
    assert joy["wasserstein"] == pytest.approx(1.5)
    assert joy["normalised_absolute_distance"] == pytest.approx(0.5)
    assert (joy["n"], joy["error_rate"], joy["manhattan"]) == (1, 1.0, 2.0)
    wide = _people(emotui, "values", gold, pred, "--scale", "joy 0..6")["by_name"]["joy"]
    assert wide["normalised_absolute_distance"] == pytest.approx(0.25)
    call = ("score", "values", "--gold", gold, "--pred", pred, "--against", "people", "--scale")
    assert "a scale is a name and its ends" in emotui(*call, "joy").err
    assert "no annotator gives a number 'fear'" in emotui(*call, "fear 1..2").err


def test_people_need_annotators_and_a_prediction_of_each_of_their_texts(emotui: Emotui, tmp_path: Path) -> None:
    gold = _write(
        tmp_path / "gold.jsonl",
        {"id": "a", "text": "Rain.", "label": "joy"},
        {"id": "b", "text": "Sun.", "annotators": {"P1": {"label": "joy"}, "P2": {"label": "fear"}}},
    )
    pred = _write(tmp_path / "pred.jsonl", {"id": "a", "label": "joy"})
    call = ("score", "class", "--gold", gold, "--pred", pred, "--against", "people")
    assert "no prediction for 1 of 2 gold ids ('b')" in emotui(*call).err
    empty = emotui(*call, "--missing", "empty", "--json").document["people"]
    assert (empty["n"], empty["manhattan"], empty["error_rate"]) == (1, 2.0, 1.0)
    skipped = emotui(*call, "--missing", "skip", "--json").document["people"]
    assert (skipped["n"], skipped["manhattan"]) == (0, None)
    alone = _write(tmp_path / "alone.jsonl", {"id": "a", "text": "Rain.", "label": "joy"})
    assert (
        "there are no people to score against"
        in emotui("score", "class", "--gold", alone, "--pred", pred, "--against", "people").err
    )


@pytest.mark.parametrize("kind", ["class", "labels"])
def test_a_judge_is_calibrated_on_people_and_told_before_and_after(emotui: Emotui, tmp_path: Path, kind: str) -> None:
    def said(name: str) -> Any:
        return {"label": name} if kind == "class" else {"labels": [name]}

    # Two of three people say joy of every text; the source is all but sure of it, and of one text of the other.
    people = {"P1": said("joy"), "P2": said("joy"), "P3": said("fear")}
    gold = _write(tmp_path / "g.jsonl", *({"id": f"t{n}", "text": "Rain.", "annotators": people} for n in range(20)))
    key = "probs" if kind == "class" else "labels"
    rows = [{"joy": 0.98, "fear": 0.02} if n else {"joy": 0.02, "fear": 0.98} for n in range(20)]
    pred = _write(tmp_path / "p.jsonl", *({"id": f"t{n}", key: row} for n, row in enumerate(rows)))
    found = _people(emotui, kind, gold, pred)
    assert "calibration" not in found
    with_it = emotui(
        *("score", kind, "--gold", gold, "--pred", pred, "--against", "people", "--calibrate", "4", "--json")
    ).document["people"]
    assert {name: value for name, value in with_it.items() if name != "calibration"} == found
    calibration = with_it["calibration"]
    before, vector = calibration["calibrated"]["before"], calibration["calibrated"]["vector"]
    for figure in ("manhattan", "cross_entropy", "error_rate"):
        assert before[figure] == pytest.approx(found[figure])
        assert vector[figure] <= before[figure]
    assert vector["cross_entropy"] < before["cross_entropy"]
    assert calibration["fitted"]["temperature"] > 1
    shown = emotui("score", kind, "--gold", gold, "--pred", pred, "--against", "people", "--calibrate", "4").out
    assert "calibrated on people" in shown
    refused = emotui("score", kind, "--gold", gold, "--pred", pred, "--calibrate", "4")
    assert (refused.status, "give --against people too" in refused.err) == (2, True)
    refused = emotui("score", kind, "--gold", gold, "--pred", pred, "--against", "people", "--calibrate", "21")
    assert (refused.status, "20 records with several annotators cannot be dealt" in refused.err) == (2, True)
