"""Bootstrap over samples and over groups: all resamples of tiny sets, statsmodels' errors, coverage by simulation."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, stdtrit
from scipy.stats import bootstrap, rankdata

from emotui.metrics.beside import probabilities
from emotui.metrics.resampling import (
    _acceleration,
    convention,
    drawn,
    drawn_by,
    draws,
    estimates,
    group_numbers,
    grouped_sums,
    interval_of,
    mean_replicates,
    replicated_sums,
    resampled_sums,
    resamples_for,
    snapped,
    standard_error,
)


def resampled_means(
    values: np.ndarray, groups: np.ndarray | None = None, *, seed: int = 0, resamples: int = 10_000
) -> np.ndarray:
    """(resamples, k)."""
    by = drawn_by(groups, len(values))
    return np.stack([one.resampled for one in mean_replicates(values, by, seed=seed, resamples=resamples)], axis=1)


def test_resampled_means_of_groups_have_the_distribution_of_all_draws_of_groups() -> None:
    values, groups = np.array([0.0, 2.0, 6.0, 1.0]), group_numbers(["a", "b", "b", None])
    drawn = np.round(resampled_means(values[:, None], groups, seed=1, resamples=60_000)[:, 0], 9)
    whole = {0: [0.0], 1: [2.0, 6.0], 2: [1.0]}
    every = [np.mean([x for one in picked for x in whole[one]]) for picked in itertools.product(range(3), repeat=3)]
    for value in set(np.round(every, 9)):
        assert float((drawn == value).mean()) == pytest.approx(float((np.round(every, 9) == value).mean()), abs=0.01)


def test_many_columns_have_the_draws_that_one_has() -> None:
    values = np.random.default_rng(0).normal(size=(40, 7))
    values[3, 2] = values[5:20, 6] = np.nan
    together = resampled_means(values, seed=5, resamples=300)
    for place in range(7):
        alone = resampled_means(values[:, place : place + 1], seed=5, resamples=300)
        assert together[:, place] == pytest.approx(alone[:, 0])
    apart = resampled_means((values[:, 0] - values[:, 1])[:, None], seed=5, resamples=300)[:, 0]
    assert together[:, 0] - together[:, 1] == pytest.approx(apart)


def test_a_column_without_a_value_in_a_resample_is_undefined_there() -> None:
    values = np.array([[1.0], [np.nan], [np.nan]])
    means = resampled_means(values, seed=0, resamples=2000)[:, 0]
    assert np.isnan(means).mean() == pytest.approx((2 / 3) ** 3, abs=0.03)
    assert set(means[~np.isnan(means)]) == {1.0}


def test_columns_are_added_up_by_group_also_where_some_or_all_groups_have_no_row() -> None:
    columns, groups = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([2, 0, 2])
    assert grouped_sums(columns, groups).tolist() == [[3, 4], [0, 0], [6, 8]]
    assert grouped_sums(columns, groups, 4).tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]]
    assert grouped_sums(columns[:0], groups[:0]).shape == (0, 2)


def test_means_are_drawn_by_seed_0_unless_another_is_named() -> None:
    values = np.random.default_rng(2).normal(size=(30, 1))
    drawn = resampled_means(values, resamples=20)
    assert (drawn == resampled_means(values, seed=0, resamples=20)).all()
    assert (drawn != resampled_means(values, seed=1, resamples=20)).any()


def test_groups_of_one_change_nothing() -> None:
    values = np.random.default_rng(2).normal(size=(30, 1))
    alone = group_numbers([None] * 30)
    assert resampled_means(values, alone, seed=3, resamples=99) == pytest.approx(
        resampled_means(values, seed=3, resamples=99)
    )
    assert standard_error(values[:, 0], alone) == pytest.approx(standard_error(values[:, 0]))


def test_the_interval_is_near_that_of_scipy() -> None:
    values = np.random.default_rng(4).gamma(2.0, size=120)
    low, high = np.quantile(resampled_means(values[:, None], seed=1)[:, 0], [0.025, 0.975])
    theirs = bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=1).confidence_interval
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_the_error_of_grouped_samples_is_that_of_statsmodels() -> None:
    # statsmodels 0.14: OLS on a constant, cov_type="cluster".
    values = np.random.default_rng(0).normal(size=60).round(3)
    assert standard_error(values, np.repeat(np.arange(15), 4)) == pytest.approx(0.13365678, abs=1e-8)
    assert standard_error(values) == pytest.approx(values.std(ddof=1) / np.sqrt(60))
    assert standard_error([1.0]) is None


def test_resamples_become_fewer_where_samples_are_very_many() -> None:
    assert resamples_for(200) == 2000
    assert resamples_for(1_000_000) == 200
    assert resamples_for(0, wanted=50) == 50
    assert convention(200, "passages", 2000, 7) == (
        "95% BCa bootstrap: 2,000 resamples of 200 passages, seed 7; Student's t where these are few"
    )


@given(
    st.integers(1, 9),
    st.sampled_from([30, 1000, 1500]),
    st.integers(1, 4),
    st.sampled_from([2, 3, 1_000_000]),
)
def test_sums_are_those_of_the_rows_that_are_drawn_however_many_are_alike(
    k: int, n: int, seed: int, kinds: int
) -> None:
    columns = np.random.default_rng(seed).integers(0, kinds, (n, k)) / 7
    naive = [columns[row].sum(axis=0) for block in draws(n, 5, seed) for row in block]
    assert resampled_sums(columns, None, seed, 5) == pytest.approx(np.array(naive), rel=1e-12)


@given(
    st.integers(1, 40),
    st.integers(1, 5),
    st.sampled_from(["each its own", "groups of several", "some have no row", "some twice"]),
    st.integers(0, 99),
)
def test_rows_that_are_counted_by_their_kind_add_up_as_those_that_stand_there(
    n: int, k: int, how: str, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    different = np.round(draw.normal(size=(draw.integers(1, 6), k)), 2)
    kinds = draw.integers(0, len(different), n)
    by = drawn_by(draw.integers(0, 5, n) if how == "groups of several" else None, n)
    if how == "some have no row":
        kept = np.flatnonzero(draw.random(n) < 0.7)
        by, kinds = by.rows(kept), kinds[kept]
    if how == "some twice":
        by, kinds = by.rows(np.arange(n) % max(n // 2, 1)), kinds
    by = replace(by, parts=int(draw.integers(1, 9)))
    plain = replicated_sums(different[kinds], by, seed=seed, resamples=7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("emotui.metrics.resampling._KEPT", 0)
        counted = replicated_sums(different, by, seed=seed, resamples=7, kinds=kinds)
    assert counted == pytest.approx(plain, rel=1e-12, abs=1e-12)
    assert np.array_equal(replicated_sums(different, by, seed=seed, resamples=7, kinds=kinds), plain)


def test_nothing_drawn_or_drawn_from_has_sums_of_nothing() -> None:
    assert resampled_sums(np.ones((5, 2)), None, 0, 0).shape == (0, 2)
    assert resampled_sums(np.arange(10.0).reshape(5, 2), None, 0, 0).shape == (0, 2)
    assert resampled_sums(np.empty((0, 2)), None, 0, 3).tolist() == [[0.0, 0.0]] * 3


def _false_positives(simulations: int, resamples: int, members: int) -> float:
    """How often an interval of differences leaves out 0 where there is none; samples of a group share a part."""
    draw, groups = np.random.default_rng(11), 250
    shared = draw.normal(size=(groups, 1, simulations))
    values = (shared + draw.normal(size=(groups, members, simulations))).reshape(groups * members, simulations)
    sums = resampled_sums(values, np.repeat(np.arange(groups), members), 3, resamples)
    low, high = np.quantile(sums, [0.025, 0.975], axis=0)
    return float(((low > 0) | (high < 0)).mean())


@pytest.mark.parametrize("members", [1, 4])
def test_five_in_a_hundred_intervals_of_no_difference_leave_out_0(members: int) -> None:
    assert 0.04 <= _false_positives(3000, 1000, members) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("members", [1, 4])
def test_five_in_a_hundred_intervals_of_no_difference_leave_out_0_in_many_more(members: int) -> None:
    assert 0.045 <= _false_positives(10_000, 2000, members) <= 0.06


def test_the_levels_of_bca_are_those_of_scipy_but_for_their_expansion() -> None:
    values = np.random.default_rng(3).exponential(size=150)
    (made,) = mean_replicates(values[:, None], drawn([None] * 150), seed=1, resamples=20_000)
    expanded = 2 * ndtr(math.sqrt(150 / 149) * stdtrit(149, 0.975)) - 1
    theirs = bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, rng=1, confidence_level=expanded
    ).confidence_interval
    assert interval_of(made).ends == pytest.approx((theirs.low, theirs.high), abs=0.006)


def test_few_groups_have_student_s_interval_and_a_note_says_how_many_there_are() -> None:
    values = np.random.default_rng(5).normal(size=36)
    groups = np.repeat(np.arange(12), 3)
    (made,) = mean_replicates(values[:, None], drawn_by(groups))
    sure = interval_of(made)
    reach = stdtrit(11, 0.975) * (standard_error(values, groups) or 0)
    assert sure.ends == pytest.approx((values.mean() - reach, values.mean() + reach))
    assert (sure.t, sure.note) == (True, "Student's t over 12 groups: fewer than 20")
    # What only some groups have a say in is over those alone: here 9 of the 12.
    (part,) = mean_replicates(np.where(groups < 9, values, np.nan)[:, None], drawn_by(groups))
    alone = interval_of(mean_replicates(values[:27, None], drawn_by(groups[:27]))[0])
    assert (interval_of(part).ends, interval_of(part).note) == (pytest.approx(alone.ends), alone.note)


def test_very_many_groups_are_left_out_in_equal_parts_and_skew_is_the_same() -> None:
    values = np.random.default_rng(6).exponential(size=(4000, 1))
    by = drawn([None] * 4000)
    parts, whole = (mean_replicates(values, one, resamples=200)[0] for one in (by, replace(by, parts=4000)))
    assert (len(parts.left_out), len(whole.left_out)) == (2000, 4000)
    assert _acceleration(parts.left_out) == pytest.approx(_acceleration(whole.left_out), abs=0.003)


def test_differences_that_all_lie_between_0_and_1_are_no_shares_where_their_bounds_are_said() -> None:
    values, by = np.array([[0.1], [0.9], [0.2]]), drawn(["a", "b", "c"])
    (share,) = mean_replicates(values, by)
    (difference,) = mean_replicates(values, by, bounds=(-1.0, 1.0))
    assert interval_of(share).ends == (0.0, 1.0)
    low, high = interval_of(difference).ends or (0.0, 0.0)
    assert (low, high) == (pytest.approx(0.4 - 4.3027 * np.std(values, ddof=1) / 3**0.5, abs=1e-3), 1.0)


def test_a_figure_that_resamples_miss_on_one_side_has_no_interval() -> None:
    # A mean distance is larger in a resample than in the sample.
    draw = np.random.default_rng(7)
    made = estimates(draw.normal(size=(100, 30)), lambda sums: np.abs(sums).sum(axis=1), drawn([None] * 100))
    sure = interval_of(made[0])
    assert sure.ends is None
    assert re.fullmatch(r"no interval: \d+% of resamples lie above it, so that .*", sure.note)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1.0]), min_size=2, max_size=60),
    st.integers(1, 3),
)
def test_an_interval_always_holds_its_figure_or_is_none_and_says_why(values: list[float], size: int) -> None:
    by = drawn_by(np.arange(len(values)) // size)
    for made in mean_replicates(np.array(values)[:, None], by, resamples=200):
        sure = interval_of(made)
        if sure.ends is None:
            assert sure.note.startswith("no interval: ")
        else:
            assert sure.ends[0] <= made.whole <= sure.ends[1]


def test_differences_of_equal_scores_are_ties_and_equal_ones_have_one_size() -> None:
    assert snapped([0.3 - 0.2, 0.2 - 0.1]).tolist() == [0.1, 0.1]
    assert snapped([0.1 + 0.2 - 0.3, -1e-17, 4e-13]).tolist() == [0.0, 0.0, 0.0]
    assert not np.signbit(snapped([-1e-17])).any()
    assert snapped([2e-12]).tolist() == [2e-12]
    # Of scores about 100,000 the rounding is greater: 1e-12 of them.
    assert snapped([100_000.3 - 100_000.2 - 0.1], 1e5).tolist() == [0.0]


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=30))
def test_signs_and_ranks_of_tenths_are_those_of_their_whole_numbers(pairs: list[tuple[int, int]]) -> None:
    tenths = snapped([a / 10 - b / 10 for a, b in pairs])
    whole = np.array([a - b for a, b in pairs])
    assert (np.sign(tenths) == np.sign(whole)).all()
    assert rankdata(np.abs(tenths)).tolist() == rankdata(np.abs(whole)).tolist()


def test_a_calibration_error_of_few_samples_has_no_interval_since_chance_makes_it_greater() -> None:
    # Probabilities that are right as often as they say: the true error is 0, and that of 15 samples near .2.
    draw = np.random.default_rng(0)
    p = draw.random(15)
    found = probabilities((draw.random(15) < p)[:, None], p[:, None], ["x"], drawn([None] * 15))
    assert interval_of(found["ece"]).ends is None
    assert "chance alone makes such a figure greater" in interval_of(found["ece"]).note
    assert interval_of(found["brier"]).ends is not None
