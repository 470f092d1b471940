"""Corrections, McNemar and power: against statsmodels' figures (version 0.14, recorded), scipy and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

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


@pytest.mark.parametrize(
    ("n", "effect"), [(5, 1.6819970833232674), (20, 0.6604416544380312), (200, 0.19906465946973934)]
)
def test_the_smallest_difference_is_that_of_the_power_of_statsmodels(n: int, effect: float) -> None:
    # TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8), in standard deviations of the differences.
    assert smallest_difference(3.0 / np.sqrt(n), n) == pytest.approx(3.0 * effect, rel=1e-5)
    assert smallest_difference(None, n) is None


def test_of_sets_with_the_smallest_difference_four_in_five_show_it() -> None:
    draw, n = np.random.default_rng(8), 25
    least = smallest_difference(1 / np.sqrt(n), n)
    assert least is not None
    shown = ttest_rel(draw.normal(least, 1, (n, 8000)), np.zeros((n, 8000))).pvalue < 0.05
    assert shown.mean() == pytest.approx(0.8, abs=0.015)
