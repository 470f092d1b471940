"""Numbers of a source against the spread of people's: by hand, against scipy, and what must always hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy, wasserstein_distance

from emotui.metrics.people_numbers import (
    distances_of_answers,
    inside,
    level_shares,
    levels_cross_entropy,
    levels_divergence,
    levels_of,
    number_people_report,
    scale_of,
    wasserstein,
    wasserstein_of_shares,
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


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=6), st.permutations(range(6)))
def test_wasserstein_of_shares_is_scipys_symmetric_and_0_of_itself(
    counts: list[tuple[int, int]], order: list[int]
) -> None:
    levels = np.array([1, 2, 3, 5, 8, 9][: len(counts)], dtype=float)
    table = np.array(counts, dtype=float).T + 0.5
    q, p = (row[None] / row.sum() for row in table)
    apart = wasserstein_of_shares(q, p, levels)
    assert apart[0] == pytest.approx(wasserstein_distance(levels, levels, q[0], p[0]))
    assert apart == pytest.approx(wasserstein_of_shares(p, q, levels))
    assert wasserstein_of_shares(q, q, levels).tolist() == [0.0]
    assert 0 <= apart[0] <= levels[-1] - levels[0]
    turn = [at for at in order if at < len(levels)]
    assert wasserstein_of_shares(q[:, turn], p[:, turn], levels[turn]) == pytest.approx(apart)


def test_distance_and_scale_worked_out_by_hand() -> None:
    assert distances_of_answers([[1, 6, NAN]], [[2]], 1, 6).tolist()[0][:2] == pytest.approx([0.2, 0.8])
    assert distances_of_answers([[3.0]], [[3.0]], 3, 3).tolist() == [[0.0]]
    levels = scale_of(["2", "-1", "0.5"])
    assert levels is not None
    assert levels.tolist() == [2, -1, 0.5]
    assert [scale_of(labels) for labels in (["joy", "1"], ["1"], ["1", "1.0"], ["1", "nan"], [])] == [None] * 5


@given(rows, st.data())
def test_a_document_of_numbers_has_what_counting_gives(people: list[list[int]], data: st.DataObject) -> None:
    said = [data.draw(st.floats(0, 6)) for _ in people]
    answers = [{f"P{at}": {"valence": float(a)} for at, a in enumerate(own)} for own in people]
    document = number_people_report(answers, [{"valence": x} for x in said], {"valence": (1, 5)}, [None] * len(said))
    several = [(own, x) for own, x in zip(people, said, strict=True) if len(own) >= 2]
    if not several:
        assert document["by_name"] == {}
        return
    valence = document["by_name"]["valence"]
    assert valence["n"] == len(several)
    off = [np.mean([abs(x - a) for a in own]) for own, x in several]
    assert valence["normalised_absolute_distance"] == pytest.approx(np.mean(off) / 4)
    low, high = (pick([a for own in people for a in own]) for pick in (min, max))
    levels = range(low, high + 1)
    near = [min(levels, key=lambda level, x=x: (abs(level - x), level)) for _, x in several]  # type: ignore[misc]
    moved = [np.mean([abs(level - a) for a in own]) for (own, _), level in zip(several, near, strict=True)]
    assert valence["wasserstein"] == pytest.approx(np.mean(moved))
    wrong = [np.mean([a != level for a in own]) for (own, _), level in zip(several, near, strict=True)]
    assert valence["error_rate"] == pytest.approx(np.mean(wrong))
    shared = [np.mean([a == level for a in own]) for (own, _), level in zip(several, near, strict=True)]
    assert valence["manhattan"] == pytest.approx(2 * (1 - np.mean(shared)))
    for at in range(max(len(own) for own, _ in several)):
        own_off = [abs(x - own[at]) / 4 for own, x in several if len(own) > at]
        assert document["by_annotator"][f"P{at}"] == {"n": len(own_off), "valence": pytest.approx(np.mean(own_off))}


def test_wasserstein_is_of_shares_of_levels_and_the_absolute_distance_of_the_number_as_it_is() -> None:
    people = [{"A": {"valence": 1.0}, "B": {"valence": 2.0}}, {"A": {"valence": 4.0}, "B": {"valence": 4.0}}]
    document = number_people_report(people, [{"valence": 2.4}, {"valence": 3.2}], {}, [None] * 2)
    valence = document["by_name"]["valence"]
    # 2.4 stands at 2, half a point from people in the mean; 3.2 stands at 3, one point from both.
    assert valence["wasserstein"] == pytest.approx((0.5 + 1) / 2)
    assert valence["normalised_absolute_distance"] == pytest.approx(((1.4 + 0.4) / 2 + 0.8) / 2 / 3)
    many = [{"A": {"valence": at / 2}, "B": {"valence": at / 2 + 50}} for at in range(30)]
    found = number_people_report(many, [{"valence": at / 2 + 0.1} for at in range(30)], {}, [None] * 30)
    # Of more than 21 different numbers none is a level, and the number stays where it is.
    assert found["by_name"]["valence"]["wasserstein"] == pytest.approx((0.1 + 49.9) / 2)


def test_texts_without_a_number_are_left_out_and_counted() -> None:
    people = [{"A": {"valence": 1.0}, "B": {"valence": 5.0}}] * 2 + [{"A": {"arousal": 1.0}, "B": {"valence": 2.0}}]
    document = number_people_report(people, [{"valence": 3.0}, {}, {"valence": 1.0}], {}, [None] * 3)
    valence = document["by_name"]["valence"]
    assert (valence["n"], valence["without"], valence["low"], valence["high"]) == (1, 1, 1.0, 5.0)
    assert valence["normalised_absolute_distance"] == 0.5
    assert document["notes"]["by_name.valence.n"] == "1 of 2 texts have no number for it and are left out"
    assert list(document["by_name"]) == ["valence"]  # of arousal nobody is a distribution
