"""Sources against the spread of people's labels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import entropy, wasserstein_distance

from emotui.metrics.people_numbers import class_people_report
from emotui.metrics.people_spread import (
    ADDED,
    FLOOR,
    SMALLEST,
    Bin,
    calibration_error,
    cross_entropy,
    error_rates,
    jensen_shannon,
    label_people_report,
    majority,
    manhattan,
    reliability,
    soft_cross_entropy,
    squared_distance,
)
from emotui.metrics.probabilities import brier_score, expected_calibration_error

UNIT = st.floats(0, 1, allow_subnormal=False)
TABLES = st.tuples(*(arrays.arrays(np.float64, (3, 2), elements=UNIT) for _ in range(2)))


def test_figures_worked_out_by_hand() -> None:
    assert cross_entropy([[0.75]], [[0.5]])[0, 0] == pytest.approx(math.log(2))
    assert cross_entropy([[1.0]], [[0.0]])[0, 0] == pytest.approx(-math.log(FLOOR))
    assert jensen_shannon([[1.0, 0.5]], [[0.0, 0.5]]).tolist() == [[1.0, 0.0]]
    assert jensen_shannon([[0.0, 5e-324]], [[5e-324, 1.0]]).tolist() == [[0.0, 1.0]]
    assert squared_distance([[0.75]], [[0.5]]).tolist() == [[0.0625]]
    assert majority([0.5, 0.51, 1.0]).tolist() == [0.0, 1.0, 1.0]
    assert reliability([0.0, 1.0, 0.5], [0.1, 0.15, 0.9], bins=2) == [Bin(0.125, 0.5, 2), Bin(0.9, 0.5, 1)]
    assert calibration_error([0.0, 1.0, 0.5], [0.1, 0.15, 0.9], bins=2) == pytest.approx((2 * 0.375 + 0.4) / 3)
    assert calibration_error([], []) is None


@given(TABLES)
def test_the_divergence_is_that_of_the_definition_symmetric_and_between_0_and_1(
    tables: tuple[np.ndarray, np.ndarray],
) -> None:
    q, p = tables
    # 1 less the middle of 1 and the number before 1 would be 0, and what is over 0 infinitely far.
    yes, no = (q + p) / 2, ((1 - q) + (1 - p)) / 2
    by_hand = [
        (entropy([a, 1 - a], [m, n], base=2) + entropy([b, 1 - b], [m, n], base=2)) / 2
        for a, b, m, n in zip(q.flat, p.flat, yes.flat, no.flat, strict=True)
    ]
    found = jensen_shannon(q, p)
    assert found.ravel() == pytest.approx(by_hand, abs=1e-7)
    assert found == pytest.approx(jensen_shannon(p, q), abs=1e-9)
    assert ((found >= 0) & (found <= 1 + 1e-9)).all()


@given(TABLES)
def test_no_probability_is_nearer_to_people_than_their_own_share(tables: tuple[np.ndarray, np.ndarray]) -> None:
    q, p = tables
    own = np.clip(q, FLOOR, 1 - FLOOR)
    assert (cross_entropy(q, own) <= cross_entropy(q, p) + 1e-9).all()
    assert (squared_distance(q, q) == 0).all()


@given(arrays.arrays(np.float64, 6, elements=UNIT), arrays.arrays(np.float64, 6, elements=st.sampled_from([0.0, 1.0])))
def test_where_people_agree_it_is_the_calibration_and_brier_score_of_one_gold_label(
    p: np.ndarray, q: np.ndarray
) -> None:
    assert calibration_error(q, p) == pytest.approx(expected_calibration_error(p, q))
    assert squared_distance(q, p).mean() == pytest.approx(brier_score(q, p))


def test_tables_of_two_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="must have one shape"):
        jensen_shannon([[0.0]], [[0.0, 1.0]])


def shares(table: np.ndarray) -> np.ndarray:
    return (table + 1e-6) / (table + 1e-6).sum(axis=-1, keepdims=True)


def test_measures_of_lewidi_worked_out_by_hand() -> None:
    assert manhattan([[0.5, 0.5], [1, 0]], [[1, 0], [0, 1]]).tolist() == [1.0, 2.0]
    assert manhattan([[[0.75, 0.25]]], [[[0.5, 0.5]]]).tolist() == [[0.5]]
    assert soft_cross_entropy([[0.5, 0.5]], [[0.5, 0.5]])[0] == pytest.approx(math.log(2), abs=1e-8)
    assert soft_cross_entropy([[1, 0], [1, 0]], [[0, 1], [1, 0]]).tolist() == pytest.approx(
        [-math.log(SMALLEST + ADDED), 0], abs=1e-8
    )
    nan = math.nan
    assert error_rates([[0, 1, nan], [2, 2, 2]], [[1], [2]]).tolist() == [0.5, 0.0]
    assert error_rates([[0, 1, nan]], [[0, 2, 2]]).tolist() == [0.5]
    # Two annotators, two labels: one of the four decisions is wrong, and the third annotator has no say.
    assert error_rates([[[1, 0], [1, 1], [nan, nan]]], [[[1, 0]]]).tolist() == [0.25]


@given(TABLES)
def test_manhattan_is_a_distance_that_no_order_of_outcomes_changes(tables: tuple[np.ndarray, np.ndarray]) -> None:
    q, p = map(shares, tables)
    apart = manhattan(q, p)
    assert apart == pytest.approx(
        [sum(abs(a - b) for a, b in zip(*rows, strict=True)) for rows in zip(q, p, strict=True)]
    )
    assert apart == pytest.approx(manhattan(p, q))
    assert apart == pytest.approx(manhattan(q[:, ::-1], p[:, ::-1]))
    assert manhattan(q, q).tolist() == [0.0] * len(q)
    assert ((apart >= 0) & (apart <= 2 + 1e-12)).all()
    assert (soft_cross_entropy(q, p) >= soft_cross_entropy(q, q) - 1e-6).all()
    assert soft_cross_entropy(q, q) == pytest.approx(entropy(q, axis=1), abs=1e-7)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=2, max_size=5), min_size=1, max_size=6), st.data())
def test_a_document_of_single_labels_has_what_counting_gives(answers: list[list[str]], data: st.DataObject) -> None:
    people = [{f"P{at}": label for at, label in enumerate(own)} for own in answers]
    guesses = [data.draw(st.sampled_from("abc")) for _ in answers]
    document = class_people_report(people, guesses, guesses, ["a", "b", "c"], [None] * len(people))
    shares_of = [[own.count(label) / len(own) for label in "abc"] for own in answers]
    by_hand = [
        sum(abs(q - (label == guess)) for q, label in zip(own, "abc", strict=True))
        for own, guess in zip(shares_of, guesses, strict=True)
    ]
    assert document["manhattan"] == pytest.approx(np.mean(by_hand))
    wrong = [[label != guess for label in own] for own, guess in zip(answers, guesses, strict=True)]
    assert document["error_rate"] == pytest.approx(np.mean([np.mean(own) for own in wrong]))
    assert document["entropy"] == pytest.approx(np.mean([entropy(own) for own in shares_of]), abs=1e-6)
    for at in range(max(map(len, answers))):
        own = [row[at] for row in wrong if len(row) > at]
        assert document["by_annotator"][f"P{at}"] == {"n": len(own), "error_rate": pytest.approx(np.mean(own))}
    assert "wasserstein" not in document
    order = list(reversed(range(len(people))))
    turned = class_people_report(
        [people[at] for at in order],
        [guesses[at] for at in order],
        [guesses[at] for at in order],
        ["c", "a", "b"],
        [None] * len(people),
    )
    assert [turned[key] for key in ("manhattan", "error_rate", "cross_entropy")] == pytest.approx(
        [document[key] for key in ("manhattan", "error_rate", "cross_entropy")]
    )


@given(st.lists(st.lists(st.integers(1, 6), min_size=2, max_size=5), min_size=1, max_size=6), st.data())
def test_labels_that_are_numbers_are_a_scale(answers: list[list[int]], data: st.DataObject) -> None:
    people = [{f"P{at}": str(label) for at, label in enumerate(own)} for own in answers]
    labels = ["6", "2", "3", "1", "5", "4"]
    spread = [
        dict(zip(labels, data.draw(arrays.arrays(np.float64, 6, elements=UNIT)) + 0.1, strict=True)) for _ in answers
    ]
    spread = [{label: p / sum(own.values()) for label, p in own.items()} for own in spread]
    chosen = [max(own, key=lambda label: own[label]) for own in spread]
    document = class_people_report(people, spread, chosen, labels, [None] * len(people))
    numbers = [int(label) for label in labels]
    by_hand = [
        wasserstein_distance(own, numbers, None, [*each.values()]) for own, each in zip(answers, spread, strict=True)
    ]
    assert document["wasserstein"] == pytest.approx(np.mean(by_hand))
    off = [np.mean([abs(int(one) - a) / 5 for a in own]) for own, one in zip(answers, chosen, strict=True)]
    assert document["normalised_absolute_distance"] == pytest.approx(np.mean(off))
    assert document["notes"].get("manhattan") is None


def test_no_answer_is_as_far_as_an_answer_can_be() -> None:
    people = [{"A": "1", "B": "2"}, {"A": "6", "B": "6"}]
    document = class_people_report(people, [{}, "6"], ["", "6"], ["1", "2", "6"], [None, None])
    assert document["manhattan"] == (2 + 0) / 2
    assert document["error_rate"] == 0.5
    # From 1 and 2 the farther end is 6.
    assert document["wasserstein"] == pytest.approx(((5 + 4) / 2 + 0) / 2)
    assert document["normalised_absolute_distance"] == pytest.approx(((5 + 4) / 2 / 5 + 0) / 2)


def test_probabilities_that_do_not_add_up_to_1_are_made_to_and_told() -> None:
    document = class_people_report(
        [{"A": "joy", "B": "fear"}], [{"joy": 0.9, "fear": 0.9}], ["joy"], ["joy", "fear"], [None]
    )
    assert document["manhattan"] == pytest.approx(0)
    assert document["notes"]["manhattan"] == "probabilities of 1 text do not add up to 1, and are made to"


def test_of_several_labels_each_is_yes_or_no_and_means_are_over_labels_and_texts() -> None:
    people: list[dict[str, tuple[str, ...]]] = [
        {"A": ("joy",), "B": ("joy", "fear"), "C": ()},
        {"A": ("fear",), "C": ("fear",)},
    ]
    said = [{"joy": 0.5, "fear": 0.0}, {"joy": 0.0, "fear": 1.0}]
    document = label_people_report(people, said, [["joy"], ["fear"]], ["joy", "fear"], [None, None])
    # Of the first text 2 |2/3 - 1/2| and 2 |1/3 - 0|; of the second nothing.
    assert document["manhattan"] == pytest.approx((2 / 6 + 2 / 3) / 2 / 2)
    assert document["by_label"]["joy"]["manhattan"] == pytest.approx(2 / 6 / 2)
    assert document["error_rate"] == pytest.approx((2 / 6 + 0) / 2)
    assert document["by_annotator"] == {
        "A": {"n": 2, "error_rate": 0.0},
        "B": {"n": 1, "error_rate": 0.5},
        "C": {"n": 2, "error_rate": 0.25},
    }
    joy = (-math.log(0.5), 0.0)
    fear = (-math.log(SMALLEST + ADDED) / 3, 0.0)
    assert document["cross_entropy"] == pytest.approx((sum(joy) + sum(fear)) / 4, abs=1e-6)


def test_intervals_hold_their_figures_and_keep_to_what_can_be() -> None:
    draw = np.random.default_rng(4)
    people = [{name: str(draw.integers(1, 4)) for name in "ABC"} for _ in range(60)]
    guesses = [str(draw.integers(1, 4)) for _ in people]
    document = class_people_report(people, guesses, guesses, ["1", "2", "3"], [str(at // 2) for at in range(60)])
    assert "30 groups of samples" in document["conventions"]["ci95"]
    assert set(document["ci95"]) == {
        "manhattan",
        "cross_entropy",
        "entropy",
        "error_rate",
        "wasserstein",
        "normalised_absolute_distance",
    }
    for figure, (low, high) in document["ci95"].items():
        assert 0 <= low < document[figure] < high, figure
    assert document["ci95"]["manhattan"][1] <= 2


def test_nothing_to_score_is_null() -> None:
    document = class_people_report([], [], [], [], [])
    assert (document["n"], document["manhattan"], document["by_annotator"]) == (0, None, {})
    assert label_people_report([], [], [], [], [])["manhattan"] is None
