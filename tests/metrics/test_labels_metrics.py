"""Several labels a text: worked by hand, by brute force, and against scikit-learn."""

import json
import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from emotui.errors import BadInput
from emotui.metrics.classes import class_report
from emotui.metrics.labels import (
    confusion_counts,
    jaccard,
    labels_metrics,
    labels_report,
    sample_f1,
)
from emotui.metrics.probabilities import average_precision, brier_score, expected_calibration_error
from emotui.metrics.thresholds import best_threshold, best_thresholds, decided, decided_in_folds

LABELS = ("joy", "fear", "anger")
sets = st.sets(st.sampled_from(LABELS))
tables = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=n, max_size=n),
        # Few different values, so that ties come up.
        st.lists(st.lists(st.integers(0, 8).map(lambda p: p / 8), min_size=3, max_size=3), min_size=n, max_size=n),
    )
)


def test_the_report_worked_by_hand() -> None:
    gold = {"1": ["joy"], "2": ["joy", "fear"], "3": [], "4": {"anger": 1, "joy": 0}}
    said = {
        "1": {"joy": 0.75, "fear": 0.25, "anger": 0.0},
        "2": {"joy": 0.5, "anger": 0.5},
        "3": {"fear": 0.25},
        "4": {"joy": 0.25, "anger": 0.25},
    }
    report = labels_report(gold, said)
    assert report["n"] == 4
    assert report["labels"] == ["joy", "fear", "anger"]
    # Decided: joy; joy and anger; nothing; nothing.
    assert report["jaccard"] == pytest.approx((1 + 1 / 3 + 1 + 0) / 4)
    assert report["samples_f1"] == pytest.approx((1 + 1 / 2 + 1 + 0) / 4)
    assert report["vector_accuracy"] == 0.5
    assert report["hamming_loss"] == pytest.approx(3 / 12)
    assert report["micro_f1"] == pytest.approx(4 / 7)
    assert report["macro_f1"] == pytest.approx(1 / 3)
    assert report["weighted_f1"] == pytest.approx((2 * 1 + 0 + 0) / 4)
    joy = report["by_label"]["joy"]
    assert {name: joy[name] for name in ("precision", "recall", "f1", "support", "threshold")} == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "support": 2,
        "threshold": 0.5,
    }
    assert joy["brier"] == pytest.approx((1 / 16 + 1 / 4 + 0 + 1 / 16) / 4)
    assert joy["average_precision"] == 1.0
    assert report["confusion"] == {"joy": {"joy": 2}, "fear": {"anger": 1}, "anger": {"": 1}, "": {"": 1}}


def test_a_threshold_of_its_own_decides_a_label_and_is_told() -> None:
    gold = {"1": ["joy"], "2": ["fear"]}
    said = {"1": {"joy": 0.4, "fear": 0.6}, "2": {"joy": 0.1, "fear": 0.7}}
    report = labels_report(gold, said, {"joy": 0.4, "fear": 0.65})
    assert report["vector_accuracy"] == 1.0
    assert report["by_label"]["joy"]["threshold"] == 0.4
    assert labels_report(gold, said)["vector_accuracy"] == 0.5


def test_labels_that_the_model_itself_gives_count_unless_there_are_thresholds() -> None:
    gold, said = {"1": ["joy"]}, {"1": {"joy": 0.4, "fear": 0.6}}
    report = labels_report(gold, said, given={"1": ["joy"]})
    assert report["vector_accuracy"] == 1.0
    assert report["by_label"]["joy"]["threshold"] is None
    assert report["by_label"]["joy"]["brier"] == pytest.approx(0.36)
    assert labels_report(gold, said, {}, {"1": ["joy"]})["jaccard"] == 0.0


def test_a_threshold_for_a_label_that_nobody_has_is_told() -> None:
    report = labels_report({"1": ["joy"]}, {"1": {"joy": 0.4}}, {"joi": 0.3})
    assert report["notes"]["thresholds"] == "no record has a label 'joi'"


@pytest.mark.parametrize("said", [["joy"], {"joy": 1, "fear": 0}, {"joy": 1.0}])
def test_figures_of_probabilities_are_undefined_for_what_is_none(said: Any) -> None:
    report = labels_report({"1": ["joy"]}, {"1": said})
    for name in ("brier", "ece", "average_precision"):
        assert report[name] is None
        assert report["notes"][name] == "not all predictions are probabilities"
        assert report["by_label"]["joy"][name] is None


def test_gold_lists_and_gold_objects_mean_the_same() -> None:
    said = {"1": ["joy"], "2": ["fear", "anger"]}
    lists = labels_report({"1": ["joy", "fear"], "2": []}, said)
    objects = labels_report({"1": {"joy": 1, "fear": 1, "anger": 0}, "2": {"joy": 0, "fear": 0, "anger": 0}}, said)
    assert lists == objects


def test_a_label_that_is_never_gold_has_no_average_precision_and_is_left_out_of_the_mean() -> None:
    report = labels_report({"1": ["joy"], "2": []}, {"1": {"joy": 0.6, "fear": 0.2}, "2": {"joy": 0.7, "fear": 0.1}})
    assert report["by_label"]["fear"]["average_precision"] is None
    assert report["average_precision"] == report["by_label"]["joy"]["average_precision"] == 0.5
    assert "1 of 2 labels" in report["notes"]["average_precision"]


def test_over_no_record_every_rate_is_undefined_and_says_why() -> None:
    report = json.loads(json.dumps(labels_report({}, {}), allow_nan=False))
    for name in ("jaccard", "samples_f1", "macro_f1", "brier", "ece", "average_precision"):
        assert report[name] is None
        assert name in report["notes"]


@pytest.mark.parametrize("number", [math.nan, math.inf, 1.2, -0.1])
def test_what_is_no_probability_is_refused_with_its_id(number: float) -> None:
    with pytest.raises(BadInput, match=r"^culprit: "):
        labels_report({"culprit": ["joy"]}, {"culprit": {"joy": number}})
    with pytest.raises(BadInput, match="threshold"):
        labels_report({"1": ["joy"]}, {"1": {"joy": 0.5}}, {"joy": number})


def test_ids_in_one_file_only_are_refused_by_name() -> None:
    with pytest.raises(BadInput) as refusal:
        labels_report({"a": ["joy"]}, {"b": ["joy"]})
    assert [line.split(":")[0] for line in refusal.value.problems] == ["a", "b"]


@given(tables)
def test_every_figure_equals_scikit_learn(table: tuple[list[list[int]], list[list[float]]]) -> None:
    gold, probs = np.array(table[0]), np.array(table[1])
    said = decided(probs, [0.5] * 3)
    report = labels_metrics(gold, said, LABELS, probs)
    assert report["macro_f1"] == pytest.approx(sk.f1_score(gold, said, average="macro", zero_division=0))
    assert report["micro_f1"] == pytest.approx(sk.f1_score(gold, said, average="micro", zero_division=0))
    if gold.any():
        weighted = sk.f1_score(gold, said, average="weighted", zero_division=0)
        assert report["weighted_f1"] == pytest.approx(weighted)
    else:
        assert report["weighted_f1"] is None
        assert report["notes"]["weighted_f1"] == "no label is gold anywhere"
    assert report["samples_f1"] == pytest.approx(sk.f1_score(gold, said, average="samples", zero_division=1))
    empty = (gold.sum(axis=1) + said.sum(axis=1)) == 0
    # scikit-learn's samples F1 with zero_division=1 is 1 only where both are empty; its Jaccard likewise.
    assert report["jaccard"] == pytest.approx(sk.jaccard_score(gold, said, average="samples", zero_division=1))
    assert report["hamming_loss"] == pytest.approx(sk.hamming_loss(gold, said))
    assert report["vector_accuracy"] == pytest.approx(sk.accuracy_score(gold, said))
    assert report["confusion"].get("", {}).get("", 0) == empty.sum()
    for place, name in enumerate(LABELS):
        figures = report["by_label"][name]
        assert figures["brier"] == pytest.approx(((probs[:, place] - gold[:, place]) ** 2).mean())
        if gold[:, place].any():
            expected = sk.average_precision_score(gold[:, place], probs[:, place])
            assert figures["average_precision"] == pytest.approx(expected)
        else:
            assert figures["average_precision"] is None
    json.dumps(report, allow_nan=False)


def test_the_calibration_error_worked_by_hand() -> None:
    # Two bins: .9 and .8 right once (.85 against .5), .1 never (.1 against 0).
    assert expected_calibration_error([0.9, 0.8, 0.1], [1, 0, 0], bins=2) == pytest.approx((2 * 0.35 + 0.1) / 3)
    assert expected_calibration_error([0.95, 0.95, 0.65, 0.65], [1, 1, 1, 0]) == pytest.approx(0.1)
    assert expected_calibration_error([1.0, 0.0], [1, 0]) == 0.0
    assert expected_calibration_error([1.0, 0.25], [0, 1], bins=2) == 0.875  # 1 is in the last bin, and alone there
    assert expected_calibration_error([1.0, 0.75], [0, 1], bins=2) == 0.375  # and here it is not
    # The last of 15 bins begins at .933, that of 16 would at .9375.
    assert expected_calibration_error([0.935, 0.99], [0, 1]) == pytest.approx((0.935 - 0.01) / 2)
    assert expected_calibration_error([], []) is None


def test_figures_of_no_record_are_none() -> None:
    assert brier_score([], []) is None
    assert average_precision([], []) is None
    assert average_precision([0, 0], [0.1, 0.2]) is None


@given(sets, sets)
def test_jaccard_and_f1_of_sets_are_symmetric_bounded_and_1_only_for_equal_sets(one: set[str], other: set[str]) -> None:
    for measure in (jaccard, sample_f1):
        value = measure(one, other)
        assert value == measure(other, one)
        assert 0 <= value <= 1
        assert (value == 1) == (one == other)
    # F1 is twice Jaccard over one more.
    assert sample_f1(one, other) == pytest.approx(2 * jaccard(one, other) / (1 + jaccard(one, other)))


def brute_confusion(gold: list[list[int]], said: list[list[int]], k: int) -> list[list[int]]:
    counts = [[0] * (k + 1) for _ in range(k + 1)]
    for g, p in zip(gold, said, strict=True):
        missed = [i for i in range(k) if g[i] and not p[i]]
        extra = [i for i in range(k) if p[i] and not g[i]]
        for i in range(k):
            counts[i][i] += g[i] and p[i]
        if not any(g) and not any(p):
            counts[k][k] += 1
        for i, j in product(missed, extra):
            counts[i][j] += 1
        for i in missed if not extra else []:
            counts[i][k] += 1
        for j in extra if not missed else []:
            counts[k][j] += 1
    return counts


@given(tables)
def test_the_confusion_matrix_pairs_what_was_missed_with_what_was_given_instead(
    table: tuple[list[list[int]], list[list[float]]],
) -> None:
    gold, probs = table
    said = [[int(p >= 0.5) for p in row] for row in probs]
    assert confusion_counts(gold, said).tolist() == brute_confusion(gold, said, 3)


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=20))
def test_with_one_label_a_text_it_is_the_usual_confusion_matrix(pairs: list[tuple[str, str]]) -> None:
    gold = {str(place): pair[0] for place, pair in enumerate(pairs)}
    said = {str(place): pair[1] for place, pair in enumerate(pairs)}
    usual = class_report(gold, said)
    several = labels_report(
        {key: [label] for key, label in gold.items()}, {key: [label] for key, label in said.items()}
    )
    assert several["confusion"] == usual["confusion"]
    for name in usual["by_label"]:
        for figure in ("precision", "recall", "f1", "support"):
            assert several["by_label"][name][figure] == usual["by_label"][name][figure]


columns = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 10).map(lambda p: p / 10)), min_size=1, max_size=14)


@given(columns)
def test_no_cut_has_a_better_f1_than_the_chosen_threshold(column: list[tuple[int, float]]) -> None:
    gold, probs = [g for g, _ in column], [p for _, p in column]
    chosen = best_threshold(gold, probs)

    def f1(threshold: float) -> Fraction:
        said = [p >= threshold for p in probs]
        size = sum(said) + sum(gold)
        return Fraction(2 * sum(g and s for g, s in zip(gold, said, strict=True)), size) if size else Fraction(0)

    if not any(gold):
        assert (chosen.value, chosen.f1, chosen.ties, chosen.positives) == (0.5, None, 0, 0)
        return
    best = max(f1(cut) for cut in probs)
    assert f1(chosen.value) == best
    assert chosen.f1 == float(best)
    assert chosen.ties == sum(f1(cut) == best for cut in set(probs)) - 1
    assert chosen.positives == sum(gold)


def test_of_equally_good_cuts_the_one_nearest_a_half_is_chosen() -> None:
    # Cuts at .95, .65 and .3 give the label to 1, 2 and 4 records; of two positives: F1 2/3, 1/2 and 2/3.
    gold, probs = [1, 0, 1, 0], [1.0, 0.9, 0.4, 0.4]
    chosen = best_threshold(gold, probs)
    assert chosen.f1 == pytest.approx(2 / 3)
    assert chosen.ties == 1
    assert chosen.value == pytest.approx(0.2)
    # Cuts at .75 and .25 are as near: the higher.
    assert best_threshold(gold, [0.9, 0.6, 0.5, 0.5]).value == 0.75


def test_a_threshold_between_neighbouring_floats_still_tells_them_apart() -> None:
    low = 0.3
    high = math.nextafter(low, 1)
    chosen = best_threshold([1, 0], [high, low])
    assert (decided([[high], [low]], [chosen.value]).ravel() == [1, 0]).all()


def test_in_folds_no_record_helps_to_choose_its_own_threshold() -> None:
    gold = np.array([[1], [0], [1], [0]])
    probs = np.array([[0.9], [0.6], [0.4], [0.1]])
    said = decided_in_folds(gold, probs, [0, 0, 1, 1])
    # Fold 0 is decided by the cut of fold 1 (.25), fold 1 by that of fold 0 (.75).
    assert said.ravel().tolist() == [1, 1, 0, 0]
    # With a third one: cuts of two folds are .25, .75 and .25, though that of the third alone is .98.
    gold, probs = np.tile([[1], [0]], (3, 1)), np.array([[0.9], [0.6], [0.4], [0.1], [0.99], [0.97]])
    assert decided_in_folds(gold, probs, [0, 0, 1, 1, 2, 2]).ravel().tolist() == [1, 1, 0, 0, 1, 1]
    with pytest.raises(ValueError, match="two folds"):
        decided_in_folds(gold[:4], probs[:4], [0, 0, 0, 0])


def test_between_neighbouring_floats_the_cut_is_the_higher_one() -> None:
    higher = float(np.nextafter(0.5, 1))
    assert best_threshold([1, 0], [higher, 0.5]).value == higher


def test_each_label_gets_its_own_threshold() -> None:
    gold, probs = np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.1], [0.5, 0.2]])
    assert [choice.value for choice in best_thresholds(gold, probs)] == pytest.approx([0.7, 0.15])


def test_notes_say_what_probabilities_and_thresholds_lack() -> None:
    gold = {"1": ["joy"], "2": ["fear"]}
    whole = labels_report(gold, {"1": {"joy": 0.9, "fear": 0.2}, "2": {"joy": 0.1, "fear": 0.6}}, shared=[None, None])
    assert {name for name in whole["notes"] if not name.startswith("ci95")} == set()
    assert {"brier", "macro_f1"} <= whole["ci95"].keys()
    named = labels_report(gold, gold, {"joy": 0.4})
    assert named["notes"]["thresholds"] == "predictions are no probabilities: the thresholds change nothing"
    assert labels_report(gold, gold, {"awe": 0.4})["notes"]["thresholds"] == "no record has a label 'awe'"
    assert "thresholds" not in labels_report(gold, gold)["notes"]


def test_what_brier_and_ece_are_over_is_the_number_of_texts_in_each_bin() -> None:
    found = labels_metrics(
        [[1, 0], [0, 0], [1, 0]], [[1, 0], [0, 0], [1, 0]], ["a", "b"], [[1, 0], [0.07, 0], [0.93, 0]]
    )
    first, second = (
        [0, 1, *[0] * 11, 1, 1],
        [3, *[0] * 14],
    )  # 0.07 x 15 = 1.05, 0.93 x 15 = 13.95, and 1 lies in the last bin
    expected = {"bins": 15, "texts": 3, "fewest_filled": 1, "most_filled": 3, "by_label": {"a": first, "b": second}}
    assert found["calibration"] == expected


def test_without_probabilities_there_are_no_bins() -> None:
    assert "calibration" not in labels_metrics([[1, 0]], [[1, 0]], ["a", "b"])
