"""`emotui agreement --stand-in`: the alternative annotator test over the sources of a dataset."""

import json
from pathlib import Path

import numpy as np
import pytest

from emotui.errors import BadInput
from emotui.metrics.alternative_annotator import accuracy, negative_rmse, stand_in
from emotui.records import LabelsGold, Mark, ScenesGold, SpanSample, ValuesGold
from emotui.store.store import Store
from emotui.workbench.agreement.standing_in import stand_in_tables, stand_in_test
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs.elsewhere import Said, keep_said
from tests.conftest import Emotui


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "w.duckdb")


def test_of_labels_it_is_the_test_over_what_people_say(store: Store) -> None:
    draw = np.random.default_rng(0)
    truth = ["xyz"[draw.integers(3)] for _ in range(40)]
    people = {name: [t if draw.random() < 0.7 else "xyz"[draw.integers(3)] for t in truth] for name in ("a", "b", "c")}
    samples = [
        LabelsGold(id=f"t{at}", text="a", labels=(t,), annotators={name: (said[at],) for name, said in people.items()})
        for at, t in enumerate(truth)
    ]
    add_samples(store, "labels", "mine", samples, "here")
    found = stand_in_test(store, "mine", "gold", epsilon=0.15)
    (test,) = found.tests.values()
    plain = stand_in(
        {name: dict(enumerate(said)) for name, said in people.items()}, dict(enumerate(truth)), accuracy, epsilon=0.15
    )
    assert (test.winning_rate, test.advantage, test.passed) == (plain.winning_rate, plain.advantage, plain.passed)
    assert [one.p for one in test.annotators] == [one.p for one in plain.annotators]
    assert found.alignment == "accuracy"
    assert list(found.people) == ["a", "b", "c"]
    lost = {item for one in plain.annotators for item in one.lost}
    assert {number - 1 for number, _ in found.lost} == lost
    tables = stand_in_tables(found)
    assert tables[0].title == "May gold stand in for an annotator?"
    assert [row.label for row in tables[1].rows] == ["a", "b", "c"]


def test_of_vectors_each_label_can_be_an_item_as_in_the_paper(store: Store) -> None:
    vectors = {"a": {"joy": 1, "fear": 0}, "b": {"joy": 1, "fear": 0}, "c": {"joy": 0, "fear": 0}}
    samples = [ScenesGold(id=f"s{at}", labels={"joy": 1, "fear": 1}, text="a", annotators=vectors) for at in range(2)]
    add_samples(store, "scenes", "scenes", samples, "here")
    by_label = next(iter(stand_in_test(store, "scenes", "gold", alignment="by-label").tests.values()))
    assert by_label.n == 4
    whole = next(iter(stand_in_test(store, "scenes", "gold").tests.values()))
    assert whole.n == 2
    # Against b and c: a has (1 + 0) / 2 by labels in common, gold (1/2 + 0) / 2.
    assert {one.annotator: one.advantage for one in whole.annotators} == {"a": 0.0, "b": 0.0, "c": 1.0}


def test_of_spans_words_or_places_are_compared(store: Store) -> None:
    text = "I was glad at first and then so very afraid"
    near = {"a": (Mark(37, 43),), "b": (Mark(32, 43),), "c": (Mark(37, 43),)}
    add_samples(store, "spans", "mine", [SpanSample(id="t", text=text, spans=(Mark(32, 43),), annotators=near)], "here")
    words = next(iter(stand_in_test(store, "mine", "gold").tests.values()))
    # Against b and c: a has (2/3 + 1) / 2, gold (1 + 2/3) / 2: equal. Against a and c: b and gold are the same.
    assert {one.annotator: one.advantage for one in words.annotators} == {"a": 1.0, "b": 1.0, "c": 1.0}
    exact = next(iter(stand_in_test(store, "mine", "gold", alignment="exact").tests.values()))
    assert {one.annotator: one.human_advantage for one in exact.annotators} == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_of_numbers_there_is_a_test_by_name(store: Store) -> None:
    people = {name: [float(at % 5 + shift) for at in range(35)] for name, shift in {"a": 0, "b": 1, "c": 2}.items()}
    samples = [
        ValuesGold(
            id=f"t{at}", text="a", annotators={name: {"values": {"v": said[at]}} for name, said in people.items()}
        )
        for at in range(35)
    ]
    dataset = add_samples(store, "values", "numbers", samples, "here")
    first = store.samples.file_order(dataset.dataset)[0]
    model = [float(at % 5 + 1) for at in range(35)]
    keep_said(store, dataset, "m", "file", [Said(first + at, 0, {"values": {"v": n}}) for at, n in enumerate(model)])
    found = stand_in_test(store, "numbers", "m")
    plain = stand_in(
        {name: dict(enumerate(said)) for name, said in people.items()}, dict(enumerate(model)), negative_rmse
    )
    assert found.tests["v"].winning_rate == plain.winning_rate
    assert found.tests["v"].advantage == plain.advantage


def test_what_cannot_be_tested_is_one_line(store: Store) -> None:
    samples = [LabelsGold(id="t", text="a", labels=("x",), annotators={"a": ("x",)})]
    add_samples(store, "labels", "mine", samples, "here")
    with pytest.raises(BadInput, match="needs two people, better three; mine has 1"):
        stand_in_test(store, "mine", "gold")
    more = [LabelsGold(id="t", text="a", labels=("x",), annotators={"a": ("x",), "b": ("y",)})]
    add_samples(store, "labels", "more", more, "here")
    with pytest.raises(BadInput, match="no alignment 'rmse' for label; there are: accuracy"):
        stand_in_test(store, "more", "gold", alignment="rmse")


def test_the_command_prints_the_test(tmp_path: Path, emotui: Emotui) -> None:
    rows = [
        {"id": f"t{at}", "text": "a", "labels": [own], "annotators": {"a": [own], "b": [own], "c": ["joy"]}}
        for at, own in enumerate(["joy", "fear"] * 20)
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    emotui("import", "labels", file)
    document = emotui("agreement", "--dataset", "mine", "--stand-in", "gold", "--epsilon", "0.1", "--json").document
    assert (document["model"], document["people"], document["epsilon"]) == ("gold", ["a", "b", "c"], 0.1)
    assert (document["winning_rate"], document["passed"]) == (1.0, True)
    assert document["n_items"] == 0
    assert {one["test"] for one in document["annotators"]} == {"t"}
    assert "may stand in" in emotui("agreement", "--dataset", "mine", "--stand-in", "gold").out
    assert "--epsilon is for --stand-in" in emotui("agreement", "--dataset", "mine", "--epsilon", "0.1").err


def test_a_model_can_be_compared_with_people_over_what_an_expert_or_gold_says(store: Store) -> None:
    truth = ["x", "y"] * 20
    people = {"a": truth, "b": ["x"] * 40, "c": ["y"] * 40}
    samples = [
        LabelsGold(id=f"t{at}", text="a", labels=(t,), annotators={name: (said[at],) for name, said in people.items()})
        for at, t in enumerate(truth)
    ]
    dataset = add_samples(store, "labels", "mine", samples, "here")
    first = store.samples.file_order(dataset.dataset)[0]
    keep_said(store, dataset, "m", "file", [Said(first + at, 0, {"labels": [t]}) for at, t in enumerate(truth)])
    found = stand_in_test(store, "mine", "m", ["b", "c"], expert="gold")
    (test,) = found.tests.values()
    assert (found.expert, test.epsilon, test.winning_rate) == ("gold", 0.0, 1.0)
    assert next(iter(stand_in_test(store, "mine", "m", expert="a").tests.values())).epsilon == 0.2
    assert stand_in_tables(found)[0].title == "Does m represent gold better than people do?"
    weighed = stand_in_test(store, "mine", "m", quality={"a": 2}, balanced=True)
    assert (weighed.quality, weighed.balanced) == ({"a": 2}, True)
    # In every second text b is nearer to the others than the model is, in the others c.
    assert [number for number, _ in weighed.of_one[""]["a"]] == []
    for wrong, why in (
        ({"quality": {"z": 1}}, "a quality for 'z', who is none of the people"),
        ({"quality": {"a": 0}}, "quality of a has to be above 0"),
        ({"expert": "m"}, "m is the model"),
    ):
        with pytest.raises(BadInput, match=why):
            stand_in_test(store, "mine", "m", **wrong)


def test_several_numbers_are_several_tests_of_which_it_is_told_how_many_are_passed(store: Store) -> None:
    people = {name: {"v": float(at), "w": float(-at)} for at, name in enumerate("abc")}
    samples = [
        ValuesGold(id=f"t{at}", text="a", annotators={name: {"values": said} for name, said in people.items()})
        for at in range(35)
    ]
    dataset = add_samples(store, "values", "numbers", samples, "here")
    first = store.samples.file_order(dataset.dataset)[0]
    keep_said(store, dataset, "m", "file", [Said(first + at, 0, {"values": {"v": 1.0, "w": 9.0}}) for at in range(35)])
    found = stand_in_test(store, "numbers", "m")
    assert {name: test.passed for name, test in found.tests.items()} == {"v": True, "w": False}
    passed = stand_in_tables(found)[0]
    assert (passed.rows[0].cells[0].value, passed.rows[0].cells[0].samples) == ("1 of 2", tuple(range(1, 36)))
    assert stand_in_test(store, "numbers", "m", alignment="ranks").alignment == "ranks"


def test_the_command_takes_an_expert_and_qualities(tmp_path: Path, emotui: Emotui) -> None:
    rows = [
        {"id": f"t{at}", "text": "a", "labels": [own], "annotators": {"a": [own], "b": ["joy"]}}
        for at, own in enumerate(["joy", "fear"] * 20)
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    emotui("import", "labels", file)
    given = ("agreement", "--dataset", "mine", "--stand-in", "a", "--expert", "gold", "--sources", "b")
    document = emotui(*given, "--quality", "b=2", "--balanced", "--items", "1", "--json").document
    assert (document["expert"], document["quality"], document["balanced"]) == ("gold", {"b": 2}, True)
    assert document["annotators"][0]["test"] == "weighted t"
    assert "write NAME=NUMBER" in emotui(*given, "--quality", "b").err
    assert "--expert is for --stand-in" in emotui("agreement", "--dataset", "mine", "--expert", "gold").err
