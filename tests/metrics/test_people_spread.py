"""Sources against the spread of people's labels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import entropy

from emotui.metrics.people_spread import (
    FLOOR,
    Bin,
    calibration_error,
    cross_entropy,
    jensen_shannon,
    majority,
    reliability,
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
