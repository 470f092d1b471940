"""Rules that were found on one half and tested on the other."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import ttest_ind

from emotui.metrics.significance import adjusted
from emotui.metrics.slice_rules import _picked, _tested, _variance, find_rules


def made(n: int, seed: int, effect: float = 0.0) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Values and six columns of three facets; where the first and the third hold, values are lower by `effect`."""
    draw = np.random.default_rng(seed)
    facets = [0, 0, 1, 1, 2, 2]
    either = draw.random((n, 3)) < 0.5
    columns = np.stack([side for facet in range(3) for side in (either[:, facet], ~either[:, facet])], axis=1)
    values = draw.normal(size=n) - effect * (columns[:, 0] & columns[:, 2])
    return values, columns, facets


def test_a_rule_of_two_conditions_is_found_and_its_figures_are_of_the_other_half() -> None:
    values, columns, facets = made(600, 1, effect=2.0)
    rules = find_rules(values, columns, facets, seed=3)
    assert rules[0].columns == (0, 2)
    order = np.random.default_rng(3).permutation(600)
    other = np.ones(600, dtype=bool)
    other[order[:300]] = False
    holds = columns[:, 0] & columns[:, 2]
    inside, outside = values[other & holds], values[other & ~holds]
    assert (rules[0].n, rules[0].mean, rules[0].rest) == (
        len(inside),
        pytest.approx(inside.mean()),
        pytest.approx(outside.mean()),
    )
    assert rules[0].p == pytest.approx(ttest_ind(inside, outside, equal_var=False, alternative="less").pvalue)
    assert rules[0].low is not None
    assert rules[0].high is not None
    assert rules[0].low < rules[0].difference < rules[0].high < 0
    known = [rule.p for rule in rules if rule.p is not None]
    assert [rule.adjusted for rule in rules] == pytest.approx(adjusted(known).tolist())


def test_by_chance_alone_few_families_have_a_rule_that_is_significant() -> None:
    positive = sum(
        any(
            rule.adjusted is not None and rule.adjusted < 0.05
            for rule in find_rules(*made(200, seed), direction="both")
        )
        for seed in range(100)
    )
    assert positive <= 0.11 * 100  # 5%, and three standard deviations of 100 tries


def test_samples_of_one_group_are_in_one_half_and_count_once() -> None:
    values, columns, facets = made(100, 5, effect=2.0)
    alone = find_rules(values, columns, facets, seed=1)
    groups = np.repeat(np.arange(100), 4)
    four_times = find_rules(np.repeat(values, 4), np.repeat(columns, 4, axis=0), facets, groups, seed=1, fewest=40)
    assert alone
    assert [(rule.columns, rule.p) for rule in four_times] == [(rule.columns, pytest.approx(rule.p)) for rule in alone]


def test_two_conditions_of_one_facet_and_rules_of_few_samples_are_none() -> None:
    values, columns, facets = made(400, 7, effect=1.0)
    both = [rule.columns for rule in find_rules(values, columns, facets, direction="both")]
    assert not {(0, 1), (2, 3), (4, 5)} & set(both)
    assert find_rules(values, columns, facets, fewest=300) == []
    assert find_rules(values[:0], columns[:0], facets) == []


def test_where_values_are_higher_is_found_too_and_samples_without_a_value_are_left_out() -> None:
    values, columns, facets = made(600, 9, effect=-2.0)
    values[::7] = np.nan
    assert find_rules(values, columns, facets, direction="low")[:1] != find_rules(
        values, columns, facets, direction="high"
    )
    best = find_rules(values, columns, facets, direction="high")[0]
    assert best.columns == (0, 2)
    assert best.difference > 0


def test_where_neither_side_varies_p_is_the_chance_of_the_split() -> None:
    holds = np.arange(40) % 4 == 0
    (rule,) = find_rules(1.0 - holds, holds[:, None], [0], fewest=2)
    assert (rule.mean, rule.rest, rule.p) == (0.0, 1.0, 1 / comb(20, rule.n))


def by_looking_at_all(
    v: np.ndarray, x: np.ndarray, facets: list[int], side: int, fewest: int
) -> list[tuple[tuple[int, ...], float]]:
    """The rules that stand first, one at a time; `side` is -1 where lower values are sought, else 1."""
    every = [(i,) for i in range(len(facets))]
    every += [(i, j) for i, j in combinations(range(len(facets)), 2) if facets[i] != facets[j]]
    found: dict[tuple[int, ...], tuple[float, float]] = {}
    for rule in every:
        holds = x[:, list(rule)].all(axis=1)
        if min(holds.sum(), (~holds).sum()) >= fewest:
            t = ttest_ind(v[holds], v[~holds], equal_var=False).statistic
            found[rule] = (side * t, v[holds].mean() - v[~holds].mean())
    ordered: list[tuple[int, ...]] = []
    for rule in sorted(found, key=lambda one: -found[one][0]):
        alone = [side * found[(part,)][1] for part in rule if len(rule) > 1 and (part,) in found]
        holds = x[:, list(rule)].all(axis=1)
        others = [x[:, list(other)].all(axis=1) for other in ordered]
        alike = any((holds & other).sum() > 0.8 * (holds | other).sum() for other in others)
        if found[rule][0] > 0 and all(side * found[rule][1] > one for one in alone) and not alike:
            ordered.append(rule)
    return [(rule, found[rule][1]) for rule in ordered]


@pytest.mark.parametrize("seed", range(4))
def test_rules_stand_by_welchs_t_and_those_of_nearly_the_same_samples_once(seed: int) -> None:
    values, columns, facets = made(90, seed, effect=0.7)
    columns[:, 4] = columns[:, 0] | (np.arange(90) < 5)  # nearly the first
    for direction, side in (("low", -1), ("high", 1)):
        found = list(_picked(values, columns, np.array(facets), direction, 10, 99))  # type: ignore[arg-type]
        expected = by_looking_at_all(values, columns, facets, side, 10)
        assert [rule for rule, _ in found] == [rule for rule, _ in expected]
        assert [apart for _, apart in found] == pytest.approx([apart for _, apart in expected])
        assert list(_picked(values, columns, np.array(facets), direction, 10, 2)) == found[:2]  # type: ignore[arg-type]
        higher = _picked(values + 5, columns, np.array(facets), direction, 10, 99)  # type: ignore[arg-type]
        assert [rule for rule, _ in higher] == [rule for rule, _ in expected]  # it is no matter where a scale begins
    assert _variance(np.array(14.0), np.array(2.0), np.array(3.0)) == 1.0  # of 1, 2, 3


def test_a_rule_and_that_of_the_rest_are_one() -> None:
    draw = np.random.default_rng(2)
    yes = draw.random(200) < 0.5
    values = draw.normal(size=200) + yes
    (rule,) = find_rules(values, np.stack([yes, ~yes], axis=1), [0, 0], direction="both")
    assert rule.adjusted == rule.p


def test_a_rule_is_tested_where_enough_samples_and_two_groups_are_on_either_side() -> None:
    values = np.array([0.0, 1.0, 2.0, 5.0, 6.0, 8.0])
    holds = np.array([[True], [True], [True], [False], [False], [False]])
    alone = np.arange(6)
    rule = _tested(values, holds, alone, (0,), -1.0, 3)
    assert rule is not None
    assert rule.p == pytest.approx(ttest_ind(values[:3], values[3:], equal_var=False, alternative="less").pvalue)
    assert _tested(values, holds, alone, (0,), -1.0, 4) is None
    assert _tested(values[:5], holds[:5], alone[:5], (0,), -1.0, 3) is None
    assert _tested(values[1:], holds[1:], alone[1:], (0,), -1.0, 3) is None
    for groups in (np.array([0, 0, 0, 1, 2, 3]), np.array([0, 1, 2, 3, 3, 3])):
        one = _tested(values, holds, groups, (0,), -1.0, 3)
        assert one is not None
        assert (one.n, one.mean, one.p, one.low) == (3, 1.0, None, None)
