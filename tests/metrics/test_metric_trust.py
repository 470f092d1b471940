"""Correlations over models with what they can and cannot say, and over texts."""

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from emotui.metrics.metric_trust import interval, permutation_p, trust
from emotui.metrics.significance import adjusted
from emotui.metrics.text_trust import text_trust
from emotui.metrics.values import pearson, spearman

HUMAN = [0.736, 0.711, 0.627, 0.614, 0.580]
DEEPSEEK = [0.671, 0.675, 0.563, 0.566, 0.545]
numbers = st.lists(st.integers(-9, 9), min_size=5, max_size=5)


@given(numbers, numbers)
def test_both_correlations_are_scipys(x: list[int], y: list[int]) -> None:
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert pearson(x, y) is spearman(x, y) is None
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)


def test_values_that_are_equal_but_for_rounding_share_a_rank() -> None:
    x = [0.1 + 0.2, 0.3, 0.5, 0.7]
    assert x[0] != x[1]
    assert spearman(x, [4, 1, 2, 3]) == spearman([0.3, 0.3, 0.5, 0.7], [4, 1, 2, 3])
    assert spearman(x[:2], [1, 2]) is None


def test_five_points_leave_a_wide_interval() -> None:
    r = pearson(HUMAN, DEEPSEEK)
    assert r == pytest.approx(0.976, abs=5e-4)
    low, high = interval(r, 5) or (0, 0)
    theirs = stats.pearsonr(HUMAN, DEEPSEEK).confidence_interval()
    assert (low, high) == pytest.approx((theirs.low, theirs.high))
    assert low < 0.7
    assert interval(0.5, 3) is None
    assert interval(1.0, 5) is None
    assert interval(None, 5) is None
    wider = interval(0.5, 10, of_ranks=True) or (0, 0)
    assert wider[1] == pytest.approx(math.tanh(math.atanh(0.5) + 1.959964 * math.sqrt(1.125 / 7)))


def test_p_is_the_share_of_all_orders_that_are_as_far_from_none() -> None:
    r = abs(stats.pearsonr(HUMAN, DEEPSEEK).statistic)
    orders = [abs(stats.pearsonr(HUMAN, order).statistic) >= r - 1e-9 for order in permutations(DEEPSEEK)]
    assert permutation_p(HUMAN, DEEPSEEK) == pytest.approx(sum(orders) / 120)
    assert permutation_p([1, 1, 1], [1, 2, 3]) is None


def test_of_many_points_orders_are_drawn_by_the_seed() -> None:
    x = list(range(12))
    assert permutation_p(x, x, seed=1) == permutation_p(x, x, seed=1) == 1 / 10_000


def test_p_values_are_corrected_for_their_number() -> None:
    assert adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_a_metric_that_is_better_when_lower_is_turned() -> None:
    human = dict(zip("abcde", HUMAN, strict=True))
    r3 = dict(zip("abcde", [10.84, 13.63, 15.32, 14.73, 13.39], strict=True))
    found = trust(human, {"r3_m": r3, "ers": human, "eas": dict.fromkeys("abcde")})
    assert found["r3_m"]["pearson"] == pytest.approx(-0.654, abs=5e-4)
    assert found["r3_m"]["oriented_pearson"] == pytest.approx(0.654, abs=5e-4)
    assert found["ers"]["oriented_pearson"] == pytest.approx(1)
    assert found["ers"]["ci"] is None
    assert found["eas"]["n"] == 0
    assert "at least three" in found["eas"]["why"]
    assert found["ers"]["p_holm"] == pytest.approx(2 * found["ers"]["p"])
    assert "p_bh" in found["eas"]


def test_texts_are_correlated_with_whole_models_drawn() -> None:
    draw = np.random.default_rng(3)
    people = draw.random(60).tolist()
    models = [name for name in "abc" for _ in range(20)]
    noise = [one + 0.1 * more for one, more in zip(people, draw.random(60).tolist(), strict=True)]
    by_model = [float("abc".index(name)) for name in models]
    none: list[float | None] = [None] * 60
    found = text_trust({"ers": noise, "r1_m": by_model, "eas": none, "ppl": none}, people, models, resamples=200)
    assert found["ers"]["spearman"] == pytest.approx(stats.spearmanr(noise, people).statistic)
    low, high = found["ers"]["ci"]
    assert low <= found["ers"]["spearman"] <= high
    assert (found["ers"]["n"], found["ers"]["models"]) == (60, 3)
    inside = [stats.spearmanr(noise[at : at + 20], people[at : at + 20]).statistic for at in (0, 20, 40)]
    assert found["ers"]["within"] == pytest.approx(np.mean(inside))
    assert found["r1_m"]["within"] is None
    assert (found["ers"]["oriented_spearman"], found["r1_m"]["oriented_spearman"]) == (
        found["ers"]["spearman"],
        -found["r1_m"]["spearman"],
    )
    assert found["eas"]["spearman"] is found["eas"]["oriented_spearman"] is found["ppl"]["oriented_spearman"] is None
    assert found["eas"]["why"].startswith("fewer than two texts")
    again = text_trust({"ers": noise}, people, models, resamples=200)
    assert again["ers"] == found["ers"]


def test_fewer_than_twenty_models_have_student_s_interval_and_it_is_told() -> None:
    draw = np.random.default_rng(6)
    people, values = draw.random(75).tolist(), draw.random(75).tolist()

    def of(models: int, **how: int) -> dict[str, Any]:
        return text_trust({"ers": values}, people, [str(at % models) for at in range(75)], **how)["ers"]

    for models in (2, 9, 19):
        assert of(models)["why"] == f"Student's t over {models} groups: fewer than 20"
        assert of(models)["ci"] is not None
    assert of(25)["ci"] is not None
    assert of(25) == of(25, seed=0, resamples=1000) != of(25, seed=1, resamples=1000)
    assert of(25) != of(25, seed=0, resamples=1001)


def test_one_model_alone_has_no_interval() -> None:
    found = text_trust({"ers": [0, 1, 1, 0]}, [0.1, 0.9, 0.8, None], ["m"] * 4)
    assert found["ers"]["n"] == 3
    assert found["ers"]["ci"] is None
    assert "draws models" in found["ers"]["why"]


def test_the_interval_of_ranks_is_wider_and_orders_are_drawn_by_seed_0() -> None:
    draw = np.random.default_rng(2)
    human = {str(at): draw.random() for at in range(12)}
    metric = {"eas": {name: one + draw.random() for name, one in human.items()}}
    found = trust(human, metric)
    rho = found["eas"]["spearman"]
    assert found["eas"]["ci_spearman"] == list(interval(rho, 12, of_ranks=True) or ())
    assert found == trust(human, metric, seed=0) != trust(human, metric, seed=1)


def test_two_models_have_no_correlation_since_any_two_points_lie_on_a_line() -> None:
    found = trust({"a": 0.2, "b": 0.6}, {"eas": {"a": 1.0, "b": 3.0}})["eas"]
    assert (found["pearson"], found["spearman"], found["oriented_pearson"], found["p"]) == (None,) * 4
    assert found["why"].startswith("a correlation over models needs at least three")
    three = trust({"a": 0.2, "b": 0.6, "c": 0.5}, {"eas": {"a": 1.0, "b": 3.0, "c": 2.0}})["eas"]
    assert three["pearson"] is not None
