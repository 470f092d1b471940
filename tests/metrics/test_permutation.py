"""The permutation test of F1: all exchanges by brute force, scipy's own test, scikit-learn's F1."""

import itertools
from typing import get_args

import numpy as np
import pytest
from scipy.stats import permutation_test
from sklearn.metrics import f1_score

from emotui.metrics.permutation import Average, f1, one_hot, permutation_f1, permutation_f1s
from emotui.metrics.resampling import group_numbers

AVERAGES: tuple[Average, ...] = get_args(Average)


def _sets(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    gold = draw.random((n, k)) < 0.4
    return gold, gold ^ (draw.random((n, k)) < 0.1), gold ^ (draw.random((n, k)) < 0.25)


@pytest.mark.parametrize("average", AVERAGES)
def test_f1_is_that_of_scikit_learn(average: Average) -> None:
    gold, first, _ = _sets(30, 4, 1)
    assert f1(gold, first, average) == pytest.approx(f1_score(gold, first, average=average, zero_division=0))
    labels, said = np.array([0, 1, 2, 2, 1, 0]), np.array([0, 2, 2, 1, 1, -1])
    theirs = f1_score(labels, said, average=average, labels=[0, 1, 2], zero_division=0)
    assert f1(one_hot(labels, 3), one_hot(said, 3), average) == pytest.approx(theirs)


@pytest.mark.parametrize("average", AVERAGES)
def test_of_few_samples_all_exchanges_are_tried(average: Average) -> None:
    gold, first, second = _sets(9, 3, 5)

    def apart(exchanged: tuple[bool, ...]) -> float:
        swap = np.array(exchanged)[:, None]
        return f1(gold, np.where(swap, second, first), average) - f1(gold, np.where(swap, first, second), average)

    seen = abs(apart((False,) * 9))
    every = [abs(apart(signs)) for signs in itertools.product((False, True), repeat=9)]
    found = permutation_f1(gold, first, second, average)
    assert found.exact
    assert found.difference == pytest.approx(f1(gold, first, average) - f1(gold, second, average))
    assert found.p == pytest.approx(float(np.mean([one >= seen - 1e-9 for one in every])))


def test_of_many_samples_the_p_value_is_that_of_scipy() -> None:
    draw = np.random.default_rng(3)
    gold = draw.integers(0, 3, 60)
    first = np.where(draw.random(60) < 0.75, gold, draw.integers(0, 3, 60))
    second = np.where(draw.random(60) < 0.55, gold, draw.integers(0, 3, 60))

    def statistic(x: np.ndarray, y: np.ndarray) -> float:
        return f1(one_hot(gold, 3), one_hot(x, 3)) - f1(one_hot(gold, 3), one_hot(y, 3))

    theirs = permutation_test((first, second), statistic, permutation_type="samples", n_resamples=3000, rng=1)
    found = permutation_f1(one_hot(gold, 3), one_hot(first, 3), one_hot(second, 3))
    assert not found.exact
    assert found.difference == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue, abs=0.03)


def test_answers_of_a_group_change_sides_together() -> None:
    gold, first, second = _sets(12, 3, 7)
    groups = group_numbers(["a"] * 6 + ["b"] * 6)
    # Of two groups there are four exchanges, of which the seen one and its mirror are as far apart.
    assert permutation_f1(gold, first, second, groups=groups).p in (0.5, 1.0)


def test_sources_that_say_the_same_do_not_differ() -> None:
    gold, first, _ = _sets(12, 3, 7)
    found = permutation_f1(gold, first, first)
    assert (found.difference, found.p) == (0.0, 1.0)


def test_five_in_a_hundred_tests_of_sources_that_are_alike_are_significant() -> None:
    draw, n, simulations = np.random.default_rng(2), 40, 3000
    gold = draw.integers(0, 3, (simulations, n))
    first, second = (np.where(draw.random(gold.shape) < 0.6, gold, draw.integers(0, 3, gold.shape)) for _ in range(2))
    significant = 0
    for seed in range(simulations):
        each = (one_hot(side[seed], 3) for side in (gold, first, second))
        significant += permutation_f1(*each, seed=seed, permutations=99).p <= 0.05
    assert 0.04 <= significant / simulations <= 0.06


def test_weighted_f1_is_tested_by_exchanging_answers_whose_gold_stays() -> None:
    gold, first, second = _sets(9, 3, 5)

    def apart(exchanged: tuple[bool, ...]) -> float:
        swap = np.array(exchanged)[:, None]
        sides = np.where(swap, second, first), np.where(swap, first, second)
        one, other = (f1_score(gold, side, average="weighted", zero_division=0) for side in sides)
        return float(one - other)

    every = [apart(signs) for signs in itertools.product((False, True), repeat=9)]
    found = permutation_f1s(gold, first, second).weighted
    assert found.difference == pytest.approx(every[0])
    assert found.difference == pytest.approx(f1(gold, first, "weighted") - f1(gold, second, "weighted"))
    assert found.p == pytest.approx(np.mean(np.abs(every) >= abs(every[0]) - 1e-9))


def test_macro_micro_and_each_label_are_tested_over_the_same_exchanges() -> None:
    gold, first, second = _sets(40, 3, 5)
    every = permutation_f1s(gold, first, second, seed=4, permutations=500)
    for average, one in zip(AVERAGES, (every.macro, every.micro), strict=True):
        assert one == permutation_f1(gold, first, second, average, seed=4, permutations=500)
        assert one.difference == pytest.approx(f1(gold, first, average) - f1(gold, second, average))
    for at, one in enumerate(every.by_label):
        columns = [table[:, [at]] for table in (gold, first, second)]
        assert one.difference == pytest.approx(f1(columns[0], columns[1]) - f1(columns[0], columns[2]))
        assert one.p == pytest.approx(permutation_f1(*columns, seed=9, permutations=4000).p, abs=0.06)


def test_of_many_samples_no_p_is_below_one_in_all_that_were_tried_and_a_label_nobody_has_differs_by_nothing() -> None:
    gold = np.ones((40, 2), dtype=bool)
    gold[:, 1] = False
    first, second = gold, np.zeros_like(gold)
    found = permutation_f1s(gold, first, second, permutations=99)
    assert (found.by_label[0].difference, found.by_label[0].p, found.by_label[0].exact) == (1.0, 0.01, False)
    assert (found.by_label[1].difference, found.by_label[1].p) == (0.0, 1.0)
    gold, first, second = _sets(60, 2, 3)
    drawn = permutation_f1s(gold, first, second, permutations=200)
    assert drawn == permutation_f1s(gold, first, second, seed=0, permutations=200)
    assert drawn != permutation_f1s(gold, first, second, seed=1, permutations=200)
