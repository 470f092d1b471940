"""Numbers of a source against the spread of people's: by hand, against scipy, and what must always hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy, wasserstein_distance

from emotui.metrics.people_numbers import (
    inside,
    level_shares,
    levels_cross_entropy,
    levels_divergence,
    levels_of,
    wasserstein,
)

NAN = math.nan
rows = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=6), min_size=1, max_size=5)


def table(lists: list[list[int]]) -> np.ndarray:
    found = np.full((len(lists), max(map(len, lists))), NAN)
    for at, one in enumerate(lists):
        found[at, : len(one)] = one
    return found


def test_figures_worked_out_by_hand() -> None:
    people = [[1, 2, 3, NAN], [4, 4, NAN, NAN]]
    assert wasserstein(people, [[2, NAN], [3, 5]]).tolist() == pytest.approx([2 / 3, 1])
    assert inside(people, [[2, NAN], [3, 4]]).tolist() == [1, 0]
    assert inside([[1, 3], [1, 3], [1, 3]], [[1], [3], [0]]).tolist() == [1, 1, 0]  # the ends are inside
    levels = levels_of(people)
    assert levels is not None
    assert levels.tolist() == [1, 2, 3, 4]
    shares = level_shares(people, levels)
    assert shares.tolist() == [[pytest.approx(1 / 3)] * 3 + [0], [0, 0, 0, 1]]
    assert level_shares([[1.5, 1.51, 9, -3]], [1, 2]).tolist() == [[0.5, 0.5]]  # just between: the lower one
    said = level_shares([[2], [4]], levels)
    floored = math.log(1 + 3e-3)
    assert levels_cross_entropy(shares, said).tolist() == pytest.approx([floored - 2 / 3 * math.log(1e-3), floored])
    # Of (1/3, 1/3, 1/3) and (0, 1, 0) the mean is (1/6, 2/3, 1/6).
    apart = math.log2(2) * 2 / 3 + math.log2(1 / 2) / 3 + math.log2(3 / 2)
    assert levels_divergence(shares, said).tolist() == pytest.approx([apart / 2, 0])


def test_more_different_numbers_than_levels_are_none() -> None:
    assert levels_of([list(range(22))]) is None
    assert levels_of([[*range(21), NAN]]) is not None


@given(rows, st.data())
def test_the_distance_is_that_of_scipy_and_0_only_where_both_are_spread_alike(
    people: list[list[int]], data: st.DataObject
) -> None:
    said = [data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)) for _ in people]
    found = wasserstein(table(people), table(said))
    assert found.tolist() == pytest.approx(
        [wasserstein_distance(a, b) for a, b in zip(people, said, strict=True)], abs=1e-12
    )
    assert wasserstein(table(people), table(people)).tolist() == pytest.approx([0] * len(people), abs=1e-12)


@given(rows, rows)
def test_no_shares_are_nearer_to_people_than_their_own(people: list[list[int]], said: list[list[int]]) -> None:
    n = min(len(people), len(said))
    q, p = (level_shares(table(one[:n]), [1, 2, 3, 4, 5]) for one in (people, said))
    assert q.sum(axis=1).tolist() == pytest.approx([1] * n)
    assert (levels_cross_entropy(q, p, 1e-9) >= entropy(q, axis=1) - 1e-6).all()
    divergence = levels_divergence(q, p)
    assert ((divergence >= 0) & (divergence <= 1 + 1e-9)).all()
    assert levels_divergence(p, q).tolist() == pytest.approx(divergence.tolist())
    assert levels_divergence(q, q).tolist() == pytest.approx([0] * n, abs=1e-9)
