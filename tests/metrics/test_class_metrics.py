"""One label a text: worked by hand and against scikit-learn."""

import json
import random

import pytest
from sklearn.metrics import accuracy_score, f1_score

from emotui.errors import BadInput
from emotui.metrics.classes import chosen_label, class_report


def test_the_report_worked_by_hand() -> None:
    gold = {"1": "joy", "2": "joy", "3": "fear", "4": "anger"}
    report = class_report(gold, {"1": "joy", "2": "fear", "3": "fear", "4": "sadness"})
    assert report["n"] == 4
    assert report["accuracy"] == 0.5
    assert report["by_label"]["joy"] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2}
    assert report["by_label"]["fear"] == {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "support": 1}
    assert report["by_label"]["anger"] == {"precision": None, "recall": 0.0, "f1": 0.0, "support": 1}
    assert report["by_label"]["sadness"] == {"precision": 0.0, "recall": None, "f1": 0.0, "support": 0}
    assert report["macro_f1"] == pytest.approx(1 / 3)
    # Joy is gold twice, fear and anger once, sadness never.
    assert report["weighted_f1"] == pytest.approx((2 * 2 / 3 + 2 / 3 + 0) / 4)
    assert report["confusion"] == {"joy": {"joy": 1, "fear": 1}, "fear": {"fear": 1}, "anger": {"sadness": 1}}
    assert set(report["notes"]) == {"by_label.anger.precision", "by_label.sadness.recall"}


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_and_f1_over_labels_equal_scikit_learn(seed: int) -> None:
    draw = random.Random(seed)
    gold = {str(i): draw.choice("abcd") for i in range(30)}
    predicted = {key: draw.choice("bcdef") for key in gold}
    report = class_report(gold, predicted)
    truth, guesses = list(gold.values()), [predicted[key] for key in gold]
    assert report["accuracy"] == pytest.approx(accuracy_score(truth, guesses))
    for average in ("macro", "weighted"):
        expected = f1_score(truth, guesses, average=average, zero_division=0)
        assert report[f"{average}_f1"] == pytest.approx(expected)


def test_no_answer_counts_as_wrong_and_is_told() -> None:
    report = class_report({"1": "joy", "2": "fear", "3": "fear"}, {"1": "joy", "2": "", "3": ""})
    assert (report["accuracy"], report["notes"]["n"]) == (1 / 3, "2 records without an answer count as wrong")
    assert report["by_label"].keys() == {"joy", "fear"}


def test_the_most_probable_label_is_the_answer_and_the_first_of_equals() -> None:
    assert chosen_label({"joy": 0.2, "fear": 0.5, "anger": 0.5}) == "fear"
    assert class_report({"1": "fear"}, {"1": {"joy": 0.9, "fear": 0.95}})["accuracy"] == 1.0


@pytest.mark.parametrize("answer", [{}, {"joy": float("nan")}, {"joy": float("inf")}, {"joy": 1.2}, {"joy": -0.1}])
def test_probabilities_that_are_none_are_refused_with_their_id(answer: dict[str, float]) -> None:
    with pytest.raises(BadInput, match=r"^culprit: "):
        class_report({"culprit": "joy"}, {"culprit": answer})


def test_ids_in_one_file_only_are_refused_by_name() -> None:
    with pytest.raises(BadInput) as refusal:
        class_report({"a": "joy"}, {"b": "joy"})
    assert [line.split(":")[0] for line in refusal.value.problems] == ["a", "b"]


def test_over_no_record_every_rate_is_undefined_and_says_why() -> None:
    report = json.loads(json.dumps(class_report({}, {}), allow_nan=False))
    assert report["accuracy"] is None
    assert report["macro_f1"] is None
    assert report["weighted_f1"] is None
    assert set(report["notes"]) == {"accuracy", "macro_f1", "weighted_f1"}


def test_a_probability_may_be_0_or_1_and_without_any_there_is_no_label() -> None:
    assert chosen_label({"joy": 0.0, "fear": 1.0}) == "fear"
    with pytest.raises(ValueError, match="neither a label nor a probability"):
        chosen_label({})
