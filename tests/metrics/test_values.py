"""Figures of numbers: by hand, against brute force, and what always holds."""

from math import sqrt
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from emotui.metrics.values import concordance, mae, pearson, rmse, spearman, values_over_repeats, values_report

Pairs = list[tuple[float, float]]
FIGURES = (pearson, spearman, concordance, rmse, mae)
NUMBERS = st.floats(-100, 100).map(lambda x: round(x, 3))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=12)


def _columns(pairs: Pairs) -> tuple[list[float], list[float]]:
    return [x for x, _ in pairs], [y for _, y in pairs]


def _shared(x: list[float], y: list[float]) -> float:
    return fmean((a - fmean(x)) * (b - fmean(y)) for a, b in zip(x, y, strict=True))


def _ranks(values: list[float]) -> list[float]:
    return [sum(other < one for other in values) + (values.count(one) + 1) / 2 for one in values]


def test_the_figures_are_as_worked_out_by_hand() -> None:
    # Means 2 and 3, variances 2/3 and 2/3, covariance 2/3: a shift by 1 costs concordance and no correlation.
    gold, said = [1, 2, 3], [2, 3, 4]
    assert pearson(gold, said) == pytest.approx(1)
    assert spearman(gold, said) == pytest.approx(1)
    assert concordance(gold, said) == pytest.approx(4 / 7)
    assert (rmse(gold, said), mae(gold, said)) == (1, 1)
    assert rmse([0, 0], [3, 4]) == pytest.approx(sqrt(12.5))


@given(PAIRS)
def test_they_agree_with_brute_force(pairs: Pairs) -> None:
    x, y = _columns(pairs)
    off = [a - b for a, b in pairs]
    assert mae(x, y) == pytest.approx(fmean(map(abs, off)))
    assert rmse(x, y) == pytest.approx(sqrt(fmean(d * d for d in off)))
    below = pstdev(x) ** 2 + pstdev(y) ** 2 + (fmean(x) - fmean(y)) ** 2
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert concordance(x, y) == pytest.approx(2 * _shared(x, y) / below, abs=1e-6)
        assert pearson(x, y) == pytest.approx(_shared(x, y) / (pstdev(x) * pstdev(y)), abs=1e-6)
        r, s = _ranks(x), _ranks(y)
        assert spearman(x, y) == pytest.approx(_shared(r, s) / (pstdev(r) * pstdev(s)), abs=1e-6)


@given(PAIRS)
def test_correlations_are_those_of_scipy(pairs: Pairs) -> None:
    x, y = _columns(pairs)
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert pearson(x, y) == pytest.approx(pearsonr(x, y).statistic, abs=1e-12)
        assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_correlations_of_what_is_very_large_or_very_small_are_those_of_its_shape() -> None:
    x, y = np.array([1.0, 2.0, 4.0, 3.0]), np.array([2.0, 1.0, 5.0, 3.0])
    for size in (1e-300, 1e300):
        assert pearson(x * size, y * size) == pytest.approx(pearson(x, y))


@given(st.lists(NUMBERS, min_size=2, max_size=12, unique=True))
def test_gold_against_itself_is_perfect(gold: list[float]) -> None:
    assert [figure(gold, gold) for figure in FIGURES] == pytest.approx([1, 1, 1, 0, 0])


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_texts_and_of_the_sides_changes_nothing(pairs: Pairs, chance: object) -> None:
    shuffled = pairs.copy()
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    for figure in FIGURES:
        own = figure(*_columns(pairs))
        assert figure(*_columns(shuffled)) == pytest.approx(own, abs=1e-6)
        assert figure(*reversed(_columns(pairs))) == pytest.approx(own, abs=1e-6)


@given(PAIRS)
def test_correlations_and_concordance_are_within_1_and_concordance_is_no_further_from_0(pairs: Pairs) -> None:
    x, y = _columns(pairs)
    found = [figure(x, y) for figure in (pearson, spearman, concordance)]
    assert all(one is None or -1 <= one <= 1 for one in found)
    if found[0] is not None and found[2] is not None:
        assert abs(found[2]) <= abs(found[0]) + 1e-6


@given(st.lists(NUMBERS, min_size=2, max_size=8, unique=True), NUMBERS)
def test_constant_numbers_have_no_correlation_and_a_concordance_of_0(gold: list[float], value: float) -> None:
    constant = [value] * len(gold)
    for x, y in ((gold, constant), (constant, gold)):
        assert (pearson(x, y), spearman(x, y), concordance(x, y)) == (None, None, 0)
    assert concordance(constant, constant) is None
    assert (concordance(gold[:1], gold[:1]), concordance(gold[:1], gold[1:2])) == (None, 0)


def test_nothing_overflows_or_vanishes() -> None:
    assert concordance([0, 1e200], [0, 1e200]) == pytest.approx(1)
    assert concordance([0, 1e-200], [0, 1e-200]) == pytest.approx(1)
    assert rmse([0, 1e200], [0, 0]) == pytest.approx(1e200 / sqrt(2))
    with np.errstate(all="ignore"):
        assert concordance([-1.5e308, 1.5e308], [-1.5e308, 1.5e308]) is None  # they are farther apart than a float


def test_numbers_that_are_equal_but_for_rounding_share_a_rank() -> None:
    gold = [0.1 + 0.2, 0.3, 0.5, 0.7]
    assert spearman(gold, [4, 1, 2, 3]) == pytest.approx(spearman([3, 3, 5, 7], [4, 1, 2, 3]))
    assert spearman(gold[:2], [1, 2]) is None


def test_a_report_counts_by_name_what_both_sides_give_and_notes_the_rest() -> None:
    gold = [{"valence": 1.0, "arousal": 2.0}, {"valence": 3.0}, {"valence": 4.0}]
    said = [{"valence": 1.0, "mood": 9.0}, {"valence": 3.0, "arousal": 1.0}, {}]
    report = values_report(gold, said)
    assert (report["n"], list(report["by_name"])) == (3, ["valence", "arousal"])
    assert report["by_name"]["valence"] | {} == {
        "pearson": pytest.approx(1),
        "spearman": pytest.approx(1),
        "ccc": pytest.approx(1),
        "rmse": 0,
        "mae": 0,
        "n": 2,
        "without": 1,
    }
    assert report["by_name"]["arousal"] == dict.fromkeys(("pearson", "spearman", "ccc", "rmse", "mae")) | {
        "n": 0,
        "without": 1,
    }
    assert report["notes"]["by_name.arousal.ccc"] == "no text has a number for it on both sides"
    assert "1 of 3 texts" in report["notes"]["by_name.valence.n"]
    assert "mood" in report["notes"]["by_name"]


def test_over_repeats_each_figure_is_a_mean_with_its_deviation() -> None:
    gold = [{"v": 1.0}, {"v": 2.0}]
    both = values_over_repeats([values_report(gold, [{"v": 1.0 + d}, {"v": 2.0 + d}]) for d in (0, 1)])
    assert both["by_name"]["v"]["mae"] == 0.5
    assert both["sd"]["v"]["mae"] == pytest.approx(sqrt(0.5))


def test_over_repeats_what_is_no_figure_is_that_of_the_first_and_intervals_stand_beside_one_report() -> None:
    gold, said = [{"v": float(at)} for at in range(6)], [{"v": float(at * at)} for at in range(6)]
    plain, sure = values_report(gold, said), values_report(gold, said, [None] * 6)
    assert "ci95" not in plain
    assert sure["conventions"]["ci95"].startswith("95% BCa bootstrap: 2,000 resamples of 6 samples, seed 0")
    assert sure["notes"]["ci95"] == "Student's t over 6 samples: fewer than 30"
    assert {"by_name.v.pearson", "by_name.v.mae"} <= sure["ci95"].keys()
    both = values_over_repeats([plain, values_report(gold[:3], said[:3])])
    assert (both["n"], both["sd"]["v"]["mae"] > 0) == (6, True)
