"""Corrections, McNemar and power: against statsmodels' figures (version 0.14, recorded), scipy and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from emotui.metrics.resampling import standard_error
from emotui.metrics.significance import adjusted, adjusted_known, mcnemar_p, smallest_difference

P = [0.01, 0.04, 0.03, 0.005, 0.2, 0.5, 0.04]


def test_corrections_over_a_family_are_those_of_statsmodels() -> None:
    # multipletests(P, method="holm") and "fdr_bh".
    assert adjusted(P, "holm") == pytest.approx([0.06, 0.16, 0.15, 0.035, 0.4, 0.5, 0.16])
    assert adjusted(P, "benjamini-hochberg") == pytest.approx([0.035, 0.056, 0.056, 0.035, 0.7 / 3, 0.5, 0.056])
    assert len(adjusted([])) == 0


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_a_test_alone_and_bonferroni_and_keeps_the_order(p: list[float]) -> None:
    found = adjusted(p)
    assert (found >= p).all()
    assert (found <= np.minimum(np.array(p) * len(p), 1) + 1e-15).all()
    assert (np.diff(found[np.argsort(p, kind="stable")]) >= 0).all()


def test_a_test_that_could_not_be_made_is_none_of_the_family() -> None:
    assert adjusted_known([0.02, None, 0.03]) == [pytest.approx(0.04), None, pytest.approx(0.04)]


def test_mcnemar_is_the_exact_one_of_statsmodels() -> None:
    # mcnemar([[10, 3], [11, 20]], exact=True), mcnemar([[0, 40], [60, 0]], exact=True).
    assert mcnemar_p(3, 11) == pytest.approx(0.057373046875)
    assert mcnemar_p(40, 60) == pytest.approx(0.05688793364098089)
    assert mcnemar_p(0, 0) is None
    assert mcnemar_p(3, 3) == 1


@pytest.mark.parametrize(
    ("n", "effect"), [(5, 1.6819970833232674), (20, 0.6604416544380312), (200, 0.19906465946973934)]
)
def test_the_smallest_difference_is_that_of_the_power_of_statsmodels(n: int, effect: float) -> None:
    # TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8), in standard deviations of the differences.
    assert smallest_difference(3.0 / np.sqrt(n), n) == pytest.approx(3.0 * effect, rel=1e-5)
    assert smallest_difference(None, n) is None


def test_corrections_mcnemar_power_and_grouped_errors_are_those_of_statsmodels_where_it_is_installed() -> None:
    """statsmodels is no dependency: the figures above are recorded from it."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    power = pytest.importorskip("statsmodels.stats.power")
    linear = pytest.importorskip("statsmodels.regression.linear_model")
    draw = np.random.default_rng(12)
    for _ in range(20):
        p = draw.random(int(draw.integers(1, 15))) ** 2
        assert adjusted(p, "holm") == pytest.approx(multitest.multipletests(p, method="holm")[1])
        assert adjusted(p, "benjamini-hochberg") == pytest.approx(multitest.multipletests(p, method="fdr_bh")[1])
        first, second = (int(n) for n in draw.integers(0, 40, 2) + 1)
        assert mcnemar_p(first, second) == pytest.approx(tables.mcnemar([[5, first], [second, 9]], exact=True).pvalue)
        n = int(draw.integers(4, 300))
        wanted = power.TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
        assert smallest_difference(1 / np.sqrt(n), n) == pytest.approx(wanted, rel=1e-4)
        groups = np.arange(60) // 4
        values = draw.normal(size=15)[groups] + draw.normal(size=60)
        fitted = linear.OLS(values, np.ones(60)).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
        )
        # statsmodels without its small-sample correction; G / (G - 1) is the only one here.
        assert standard_error(values, groups) == pytest.approx(float(fitted.bse[0]) * np.sqrt(15 / 14))


def test_tests_of_the_same_are_one_of_the_family() -> None:
    p = [0.01, 0.01, None, 0.04]
    assert adjusted_known(p, same=["a", "a", "a", "b"]) == pytest.approx([0.02, 0.02, None, 0.04])
    assert adjusted_known(p) == pytest.approx([0.03, 0.03, None, 0.04])
    assert adjusted_known([None], same=["a"]) == [None]


def test_of_sets_with_the_smallest_difference_four_in_five_show_it() -> None:
    draw, n = np.random.default_rng(8), 25
    least = smallest_difference(1 / np.sqrt(n), n)
    assert least is not None
    shown = ttest_rel(draw.normal(least, 1, (n, 8000)), np.zeros((n, 8000))).pvalue < 0.05
    assert shown.mean() == pytest.approx(0.8, abs=0.015)


def test_two_pairs_have_a_smallest_difference_and_a_weak_power_a_small_one() -> None:
    assert smallest_difference(1.0, 1) is None
    two, weak = smallest_difference(1.0, 2), smallest_difference(1.0, 100, power=0.1)
    assert two is not None
    assert weak is not None
    assert 0 < weak < 1 < two
    assert len(adjusted([], "benjamini-hochberg")) == 0
