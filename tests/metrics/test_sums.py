"""Figures made of sums: worked by hand, against means, by brute force, and under hypotheses that hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, ttest_ind
from sklearn.metrics import f1_score

from emotui.metrics.label_sums import of_pairs, of_sets
from emotui.metrics.paired import compared
from emotui.metrics.sums import (
    OF_RANKS,
    SumFigure,
    compared_sums,
    contrasts,
    divided,
    of_numbers_sums,
    over_repeats,
    placed,
    pseudo_values,
    ratio,
    welch_p,
)
from emotui.metrics.values import values_report

EVERY = np.ones(4, dtype=bool)


def test_a_rate_is_of_sums_and_no_mean_of_rates_by_sample() -> None:
    # Passages with 1 of 1, 0 of 3, 1 of 2 and no neutral sentence.
    rate = ratio([1, 0, 1, 0], [1, 3, 2, 0])
    assert rate.over(EVERY) == pytest.approx(2 / 6)
    assert rate.over(np.array([True, False, True, False])) == pytest.approx(2 / 3)
    assert rate.over(np.array([False, False, False, True])) is None
    assert rate.by_sample[:3] == pytest.approx([1, 0, 0.5])
    assert np.isnan(rate.by_sample[3])


def test_two_rates_are_compared_by_all_exchanges_of_samples() -> None:
    hits, other, below = np.array([1, 0, 2, 1]), np.array([0, 0, 1, 1]), np.array([1, 3, 2, 2])
    found = compared_sums(ratio(hits, below), ratio(other, below), EVERY)
    assert (found["mean_a"], found["mean_b"]) == (4 / 8, 2 / 8)
    assert found["mean_difference"] == pytest.approx(2 / 8)
    every = [
        abs(sum((a - b) * sign for a, b, sign in zip(hits, other, signs, strict=True))) / 8
        for signs in itertools.product((1, -1), repeat=4)
    ]
    assert found["permutation_p"] == pytest.approx(np.mean([one >= 2 / 8 - 1e-9 for one in every]))
    assert (found["won"], found["lost"], found["tied"]) == (2, 0, 2)
    assert found["wilcoxon_p"] is None
    assert found["notes"]["wilcoxon_p"] == "the figure is no mean over samples"
    low, high = found["ci95"]
    assert low <= found["mean_difference"] <= high


def test_a_mean_compared_as_sums_has_the_difference_and_the_power_of_the_paired_mean() -> None:
    draw = np.random.default_rng(5)
    a, b = draw.random(40), draw.random(40)
    groups = np.repeat(np.arange(20), 2)
    for of in (None, groups):
        by_mean = compared(a, b, of, seed=2)
        by_sums = compared_sums(ratio(a, np.ones(40)), ratio(b, np.ones(40)), np.ones(40, dtype=bool), of, seed=2)
        for key in ("n", "mean_a", "mean_b", "mean_difference", "won", "lost", "tied", "smallest_difference"):
            assert by_sums[key] == pytest.approx(by_mean[key], rel=1e-6), key
        assert by_sums.get("groups") == by_mean.get("groups")


def test_an_undefined_rate_is_null_and_says_so() -> None:
    found = compared_sums(ratio([0, 0], [0, 0]), ratio([0, 1], [1, 1]), np.ones(2, dtype=bool))
    assert found["mean_a"] is None
    assert found["mean_difference"] is None
    assert found["notes"]["ci95"] == "undefined in one"


def test_samples_whose_own_figures_are_equal_but_for_rounding_are_tied() -> None:
    found = compared_sums(ratio([0.1 + 0.2] * 4, [1] * 4), ratio([0.3] * 4, [1] * 4), np.ones(4, dtype=bool))
    assert (found["won"], found["lost"], found["tied"]) == (0, 0, 4)


def test_pseudo_values_of_a_mean_are_the_values() -> None:
    values = np.array([0.2, 0.9, 0.4, 0.7])
    assert pseudo_values(ratio(values, np.ones(4)).columns, divided) == pytest.approx(values)


def test_a_part_against_the_rest_is_welchs_test_where_the_figure_is_a_mean() -> None:
    draw = np.random.default_rng(3)
    values, inside = draw.random(30), np.arange(30) < 12
    (found,) = contrasts(ratio(values, np.ones(30)), None, [(inside, ~inside)])
    assert found.difference == pytest.approx(values[inside].mean() - values[~inside].mean())
    assert found.p == pytest.approx(ttest_ind(values[inside], values[~inside], equal_var=False).pvalue)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.difference < found.high
    assert (found.n, found.rest) == (12, 18)


@pytest.mark.parametrize(("n", "few"), [(2, True), (29, True), (30, False)])
def test_a_part_of_a_few_equal_values_is_tested_by_ranks_and_says_so(n: int, few: bool) -> None:
    values = np.concatenate([np.ones(n), np.random.default_rng(3).random(200).round(1)])
    inside = np.arange(len(values)) < n
    (found,) = contrasts(ratio(values, np.ones(len(values))), None, [(inside, ~inside)])
    sides = values[inside], values[~inside]
    p = mannwhitneyu(*sides).pvalue if few else ttest_ind(*sides, equal_var=False).pvalue
    assert found.p == pytest.approx(p)
    assert (OF_RANKS in found.note) is few
    assert welch_p(*reversed(sides)) == pytest.approx(p)
    assert welch_p(np.ones(50), np.zeros(50)) is None


def test_an_interaction_is_the_difference_of_differences_worked_by_hand() -> None:
    # A: 1 of 2 inside and 3 of 4 outside; B: 0 of 2 and 3 of 4.
    a, b = ratio([1, 0, 2, 1], [1, 1, 2, 2]), ratio([0, 0, 2, 1], [1, 1, 2, 2])
    inside = np.array([True, True, False, False])
    (found,) = contrasts(a, b, [(inside, ~inside)])
    assert (found.inside, found.outside, found.difference) == (0.5, 0.0, 0.5)


def test_five_in_a_hundred_contrasts_of_parts_that_are_alike_are_significant() -> None:
    """A rate over two to six sentences a passage, whose chance is the same in both parts."""
    draw, simulations = np.random.default_rng(8), 600
    inside, significant, covered = np.arange(60) < 25, 0, 0
    for _ in range(simulations):
        below = draw.integers(2, 7, 60)
        (found,) = contrasts(ratio(draw.binomial(below, 0.3), below), None, [(inside, ~inside)])
        significant += found.p is not None and found.p <= 0.05
        covered += found.low is not None and found.high is not None and found.low <= 0 <= found.high
    assert 0.03 <= significant / simulations <= 0.07
    assert 0.91 <= covered / simulations <= 0.975


@given(st.data())
def test_figures_of_labels_are_those_of_scikit_learn_in_any_part(data: st.DataObject) -> None:
    rows = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=6, max_size=6)
    gold, said = np.array(data.draw(rows)), np.array(data.draw(rows))
    figures = of_sets(gold, said, ("a", "b", "c"), np.ones(6, dtype=bool), single=False)
    part = np.arange(6) < data.draw(st.integers(1, 6))
    micro = figures["micro_f1"]().over(part)
    assert micro == pytest.approx(f1_score(gold[part], said[part], average="micro", zero_division=0))
    weighted = figures["weighted_f1"]().over(part)
    if gold[part].any():
        assert weighted == pytest.approx(f1_score(gold[part], said[part], average="weighted", zero_division=0))
    else:
        assert weighted is None
    occurs = [at for at in range(3) if (gold | said)[part][:, at].any()]
    macro = figures["macro_f1"]().over(part)
    if occurs:
        expected = f1_score(gold[part], said[part], labels=occurs, average="macro", zero_division=0)
        assert macro == pytest.approx(expected)
    else:
        assert macro is None


def test_shares_of_a_confusion_are_of_the_samples_with_the_gold_label() -> None:
    gold = np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=bool)
    said = np.array([[0, 1], [1, 0], [0, 1], [0, 1]], dtype=bool)
    figures = of_sets(gold, said, ("joy", "sadness"), EVERY, single=False)
    # Of three texts with gold joy one is given sadness in its place, one joy, and one misses it without any other.
    for name, share in (("confusion.joy.sadness", 1), ("confusion.joy.joy", 1), ("confusion.joy.", 1)):
        assert figures[name]().over(EVERY) == pytest.approx(share / 3)


def test_labels_of_pairs_count_each_thing_of_a_sample() -> None:
    pairs = {("joy", "joy"): np.array([2.0, 0.0]), ("joy", "fear"): np.array([0.0, 1.0])}
    figures, both = of_pairs(pairs, np.ones(2, dtype=bool)), np.ones(2, dtype=bool)
    assert figures["accuracy"]().over(both) == pytest.approx(2 / 3)
    assert figures["confusion.joy.fear"]().over(both) == pytest.approx(1 / 3)
    assert figures["by_label.joy.f1"]().over(both) == pytest.approx(2 * 2 / (3 + 2))


def test_figures_of_numbers_are_those_of_their_report_far_from_zero_too() -> None:
    draw = np.random.default_rng(2)
    gold = draw.random(30) + 1e5
    said = gold + draw.normal(0, 0.3, 30)
    figures = of_numbers_sums(gold, said, np.ones(30, dtype=bool))
    report = values_report([{"v": one} for one in gold], [{"v": one} for one in said])["by_name"]["v"]
    for name, make in figures.items():
        assert make().over(np.ones(30, dtype=bool)) == pytest.approx(report[name], rel=1e-6), name


def test_of_repeats_a_figure_is_the_mean_of_those_that_are_defined() -> None:
    each = [ratio([1, 0], [1, 1]), ratio([1, 1], [1, 1]), ratio([0, 0], [0, 0])]
    mean = over_repeats(each)
    assert mean.over(np.ones(2, dtype=bool)) == pytest.approx((0.5 + 1) / 2)
    moved: SumFigure = placed(each[0], np.array([3, 1]), 4)
    assert moved.there.tolist() == [False, True, False, True]
    assert moved.by_sample[[1, 3]] == pytest.approx([0, 1])
