"""Krippendorff's alpha: the published example, the package as oracle, and what always holds."""

from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.alpha import LEVELS, Level, alpha, coded, item_disagreement
from emotui.metrics.resampling import interval_of
from tests.metrics.resampled import replicates_by_hand

_ = np.nan
# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section D: four observers, twelve units.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_the_published_example_has_its_published_values(level: Level, value: float) -> None:
    found = alpha(PUBLISHED, level)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.n == 11  # the twelfth unit has one value


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_with_missing_ratings_equals_the_package(level: Level, seed: int) -> None:
    draw = np.random.default_rng(seed)
    table = draw.integers(0, 5, (40, 4)).astype(float)
    table[draw.random(table.shape) < 0.3] = np.nan
    expected = krippendorff.alpha(table.T, level_of_measurement=level)
    assert alpha(table, level).value == pytest.approx(expected)


tables = st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=3, max_size=3), min_size=1, max_size=12
).map(lambda rows: np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=float))


@given(tables, st.sampled_from(LEVELS))
def test_alpha_is_the_same_whoever_the_raters_are_and_at_most_1(table: np.ndarray, level: Level) -> None:
    found = alpha(table, level)
    for order in permutations(range(3)):
        other = alpha(table[:, order], level)
        assert other.value == pytest.approx(found.value) if found.value is not None else other.value is None
    assert found.value is None or found.value <= 1 + 1e-12
    assert (found.value is None) == (found.why is not None)


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=10).filter(lambda row: len(set(row)) > 1), st.sampled_from(LEVELS)
)
def test_raters_who_always_agree_have_an_alpha_of_1(row: list[int], level: Level) -> None:
    table = np.array([row, row]).T
    assert alpha(table, level).value == pytest.approx(1)
    assert item_disagreement(table, level).max() == 0


@given(tables)
def test_ordinal_values_may_be_stretched_as_long_as_their_order_stays(table: np.ndarray) -> None:
    assert alpha(table, "ordinal").value == alpha(table**3 + 7, "ordinal").value


@pytest.mark.parametrize("level", LEVELS)
def test_without_items_or_without_variety_alpha_is_undefined_and_says_why(level: Level) -> None:
    assert alpha(np.empty((0, 3)), level).why == "no item has two ratings"
    assert alpha([[1, np.nan], [np.nan, 2]], level).value is None
    assert "equal" in (alpha([[1, 1], [1, 1]], level).why or "")


def test_a_ratio_scale_has_no_values_below_zero() -> None:
    with pytest.raises(ValueError, match="begins at 0"):
        alpha([[-1, 2], [1, 1]], "ratio")


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_is_around_the_value_and_the_same_for_the_same_seed(level: Level) -> None:
    draw = np.random.default_rng(1)
    base = draw.integers(0, 5, 60)
    table = np.stack([base, np.where(draw.random(60) < 0.8, base, draw.integers(0, 5, 60))], axis=1).astype(float)
    found = alpha(table, level, resamples=300, seed=4)
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert found.low < found.value < found.high
    assert alpha(table, level, resamples=300, seed=4) == found


@pytest.mark.parametrize("n", [12, 40])
@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_is_that_of_alpha_of_texts_left_out_and_drawn(level: Level, n: int) -> None:
    draw = np.random.default_rng(8)
    truth = draw.integers(1, 4, 2 * n)
    table = np.where(draw.random((2 * n, 3)) < 0.6, truth[:, None], draw.integers(1, 4, (2 * n, 3))).astype(float)
    texts = np.arange(2 * n) // 2
    found = alpha(table, level, resamples=100, texts=texts.tolist())
    made = replicates_by_hand(lambda rows: alpha(table[rows], level).value, texts, 100, bounds=(-np.inf, 1.0))
    if n == 12:  # Student's t, which no draw has a part in
        assert (found.low, found.high) == pytest.approx(interval_of(made).ends)
        assert found.note == "Student's t over 12 groups: fewer than 20"
    else:  # texts with the same items are drawn as one kind, by other draws
        assert (found.low, found.high) == pytest.approx(interval_of(made).ends, abs=0.05)


@pytest.mark.parametrize("level", LEVELS)
def test_items_with_the_same_ratings_are_one_kind_whoever_gave_them(level: Level) -> None:
    table = np.array([[1, 2, _], [2, _, 1], [3, 3, 3], [1, 2, _], [2, 3, 1]])
    once = alpha(table, level)
    assert once.value == pytest.approx(krippendorff.alpha(table.T, level_of_measurement=level))
    # Texts of five items each: all of them are alike, so that no resample differs from the whole.
    found = alpha(np.tile(table, (30, 1)), level, resamples=100, texts=np.repeat(range(30), 5).tolist())
    assert (found.low, found.why) == (None, "no interval: no resample differs, which does not make it certain")


def test_disagreement_is_worst_where_ratings_are_furthest_apart() -> None:
    worst = item_disagreement([[1, 1, 1], [1, 2, np.nan], [1, 5, 1], [3, np.nan, np.nan]], "interval")
    assert list(np.argsort(-worst[:3])) == [2, 1, 0]
    assert np.isnan(worst[3])
    # On a scale from -1 to 1 the values 1 and 5 are 2 apart: four of six ordered pairs; 1 and 2 are 1/2 apart.
    assert worst[:3].tolist() == [0.0, 0.25, pytest.approx(4 * 4 / 6)]


def test_labels_are_numbered_and_none_is_missing() -> None:
    table = coded([["joy", None], ["fear", "joy"]])
    assert table[0, 0] == table[1, 1] != table[1, 0]
    assert np.isnan(table[0, 1])
