"""The Ising prior: the closed form by hand and in plain Python, the exact fit against the data's own moments."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.ising import (
    Ising,
    couplings_only,
    dependence_only,
    fit_exact,
    fit_moments,
    fit_paper,
    has_empty_cell,
    smoothed_moments,
)
from emotui.metrics.states import all_vectors, energies, label_moments, pair_moments, state_sums, vectors_of


def random_vectors(n: int, k: int, seed: int, share: float = 0.4) -> list[list[int]]:
    draw = random.Random(seed)
    return [[int(draw.random() < share) for _ in range(k)] for _ in range(n)]


def plain_closed_form(rows: list[list[int]], s: float) -> tuple[list[float], dict[tuple[int, int], float]]:
    """Equation 4 with FORMATS.md's smoothing, one loop a count."""
    n, k = len(rows), len(rows[0])
    p = [(sum(row[i] for row in rows) + s) / (n + 2 * s) for i in range(k)]
    pairs = {}
    for i in range(k):
        for j in range(i + 1, k):
            p_ij = (sum(row[i] * row[j] for row in rows) + s / 2) / (n + 2 * s)
            pairs[i, j] = math.log(p_ij / (p[i] * p[j]))
    return [math.log(value / (1 - value)) for value in p], pairs


def plain_distribution(prior: Ising) -> dict[tuple[int, ...], float]:
    """P(E) by equation 3, one vector at a time."""
    weights = {}
    for vector in itertools.product((0, 1), repeat=prior.k):
        energy = sum(prior.theta[i] * vector[i] for i in range(prior.k))
        for i in range(prior.k):
            for j in range(i + 1, prior.k):
                energy += prior.pairs[i, j] * vector[i] * vector[j]
        weights[vector] = math.exp(energy)
    total = sum(weights.values())
    return {vector: weight / total for vector, weight in weights.items()}


def test_the_closed_form_of_two_labels_worked_by_hand() -> None:
    # N = 4, n = (2, 2), n_12 = 2, s = 1: p = 3/6, p_12 = 2.5/6.
    prior = fit_paper([[1, 1], [1, 1], [0, 0], [0, 0]], smoothing=1)
    assert prior.theta == pytest.approx([0.0, 0.0])
    assert prior.pairs[0, 1] == pytest.approx(math.log((2.5 / 6) / 0.25))
    assert prior.pairs[1, 0] == 0
    assert prior.pairs[0, 0] == 0


@pytest.mark.parametrize("smoothing", [0.5, 1.0, 3.25])
@pytest.mark.parametrize("k", [1, 2, 5, 8])
def test_the_closed_form_equals_plain_python_counting(k: int, smoothing: float) -> None:
    rows = random_vectors(37, k, seed=k)
    prior = fit_paper(rows, smoothing)
    theta, pairs = plain_closed_form(rows, smoothing)
    assert prior.theta == pytest.approx(theta, abs=1e-12)
    for (i, j), value in pairs.items():
        assert prior.pairs[i, j] == pytest.approx(value, abs=1e-12)
    assert not np.tril(prior.pairs).any()


def test_labels_that_are_independent_in_the_data_get_no_coupling_from_the_closed_form() -> None:
    prior = fit_paper([[0, 0], [0, 1], [1, 0], [1, 1]], smoothing=0.5)
    assert prior.pairs[0, 1] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("rows", [[[0, 0], [0, 1]], [[1, 0], [1, 1]], [[1, 0], [0, 1]]])
def test_the_closed_form_without_smoothing_refuses_what_would_be_infinite(rows: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="smoothing"):
        fit_paper(rows, smoothing=0)
    assert np.isfinite(fit_paper(rows, smoothing=0.5).theta).all()


@pytest.mark.parametrize("rows", [[[0] * 8] * 5, [[1] * 8] * 5, [[1, 0, 0, 1, 0, 0, 0, 1]]])
def test_all_zero_all_one_and_single_records_give_finite_parameters_either_way(rows: list[list[int]]) -> None:
    for prior in (fit_paper(rows), fit_exact(rows), fit_exact(rows, smoothing=0.5)):
        assert np.isfinite(prior.theta).all()
        assert np.isfinite(prior.pairs).all()
    assert fit_exact(rows).moments() == pytest.approx(smoothed_moments(rows, 0), abs=1e-5)


def test_one_label_alone_is_its_log_odds_by_both_fits() -> None:
    rows = [[1], [0], [0], [0]]
    assert fit_paper(rows, 0).theta[0] == pytest.approx(math.log(1 / 3))
    assert fit_exact(rows).theta[0] == pytest.approx(math.log(1 / 3))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 60), st.integers(0, 10**6), st.floats(0.05, 0.95))
def test_the_exact_fit_has_the_moments_of_the_data(k: int, n: int, seed: int, share: float) -> None:
    rows = random_vectors(n, k, seed, share)
    model = plain_distribution(fit_exact(rows))
    for i, j in itertools.product(range(k), repeat=2):
        in_model = sum(p for vector, p in model.items() if vector[i] and vector[j])
        assert in_model == pytest.approx(sum(row[i] * row[j] for row in rows) / n, abs=5e-6)


def test_the_exact_fit_of_eight_labels_matches_within_1e_9_where_every_cell_is_seen() -> None:
    rows = random_vectors(2000, 8, seed=3)
    assert not has_empty_cell(rows)
    assert fit_exact(rows).moments() == pytest.approx(smoothed_moments(rows, 0), abs=1e-9)


def test_the_exact_fit_recovers_the_model_that_the_moments_came_from() -> None:
    draw = np.random.default_rng(5)
    truth = Ising(draw.normal(size=6), np.triu(draw.normal(size=(6, 6)), 1))
    fitted, gap = fit_moments(truth.moments())
    assert gap < 1e-10
    assert fitted.theta == pytest.approx(truth.theta, abs=1e-6)
    assert fitted.pairs == pytest.approx(truth.pairs, abs=1e-6)


def test_no_other_parameters_near_the_exact_fit_are_more_likely() -> None:
    rows = random_vectors(300, 4, seed=11)
    best = fit_exact(rows)

    def log_likelihood(prior: Ising) -> float:
        chances = plain_distribution(prior)
        return sum(math.log(chances[tuple(row)]) for row in rows)

    peak = log_likelihood(best)
    draw = np.random.default_rng(0)
    for _ in range(50):
        moved = Ising(best.theta + draw.normal(0, 0.05, 4), best.pairs + np.triu(draw.normal(0, 0.05, (4, 4)), 1))
        assert log_likelihood(moved) < peak


def test_a_pair_that_never_meets_is_matched_and_stays_finite() -> None:
    rows = [[1, 0]] * 30 + [[0, 1]] * 20 + [[0, 0]] * 50
    prior = fit_exact(rows)
    assert prior.moments() == pytest.approx(np.array([[0.3, 0.0], [0.0, 0.2]]), abs=1e-7)
    assert -40 < prior.pairs[0, 1] < -10


def test_a_maximum_that_only_three_labels_together_put_at_infinity_is_found_finite() -> None:
    # Every pair shows all four combinations, but never an odd number of labels is on: parity cannot be finite.
    rows = [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]] * 5
    assert not has_empty_cell(rows)
    prior = fit_exact(rows)
    assert np.isfinite(prior.pairs).all()
    assert prior.moments() == pytest.approx(smoothed_moments(rows, 0), abs=1e-5)


def test_smoothing_the_exact_fit_matches_the_smoothed_moments() -> None:
    rows = [[1, 0, 0]] * 7 + [[0, 1, 1]]
    assert fit_exact(rows, smoothing=0.5).moments() == pytest.approx(smoothed_moments(rows, 0.5), abs=1e-9)


def test_the_closed_form_is_not_the_maximum_entropy_solution_that_the_paper_calls_it() -> None:
    rows = [[1, 1]] * 40 + [[1, 0]] * 10 + [[0, 1]] * 10 + [[0, 0]] * 40
    wrong_by = abs(fit_paper(rows, 0).moments() - smoothed_moments(rows, 0)).max()
    assert wrong_by > 0.05
    assert abs(fit_exact(rows).moments() - smoothed_moments(rows, 0)).max() < 1e-9


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(5)), st.integers(0, 1000))
def test_the_order_of_the_labels_does_not_matter_to_a_fit(order: list[int], seed: int) -> None:
    rows = np.array(random_vectors(80, 5, seed))
    for fit in (fit_paper, fit_exact):
        straight, shuffled = fit(rows), fit(rows[:, order])
        assert shuffled.theta == pytest.approx(straight.theta[order], abs=1e-5)
        assert shuffled.couplings == pytest.approx(straight.couplings[np.ix_(order, order)], abs=1e-5)


def test_twenty_labels_can_be_fitted_exactly() -> None:
    rows = random_vectors(3000, 20, seed=1)
    assert fit_exact(rows).moments() == pytest.approx(smoothed_moments(rows, 0), abs=1e-6)


@pytest.mark.parametrize("rows", [[], [[0, 2]], [[0.5, 1]], [0, 1], [[]], [[0] * 21]])
def test_vectors_that_no_prior_can_be_fitted_to_are_refused(rows: list[object]) -> None:
    with pytest.raises(ValueError):
        fit_exact(np.array(rows))
    with pytest.raises(ValueError):
        fit_paper(np.array(rows))


@pytest.mark.parametrize("smoothing", [-1.0, math.nan, math.inf])
def test_a_smoothing_that_is_no_count_is_refused(smoothing: float) -> None:
    with pytest.raises(ValueError, match="smoothing"):
        fit_paper([[0, 1]], smoothing)


def test_couplings_only_drops_the_biases_and_keeps_the_couplings() -> None:
    prior = fit_paper(random_vectors(30, 4, seed=2))
    assert not couplings_only(prior).theta.any()
    assert (couplings_only(prior).pairs == prior.pairs).all()


def test_dependence_only_is_the_ratio_of_the_joint_to_the_product_of_the_marginals() -> None:
    prior = fit_exact(random_vectors(200, 4, seed=4))
    joint = plain_distribution(prior)
    p = [sum(chance for vector, chance in joint.items() if vector[i]) for i in range(4)]
    ratio = dependence_only(prior)
    none = (0, 0, 0, 0)
    for vector, chance in joint.items():
        product = math.prod(p[i] if vector[i] else 1 - p[i] for i in range(4))
        alone = math.prod(1 - q for q in p)
        expected = math.log(chance / product) - math.log(joint[none] / alone)
        on = [i for i in range(4) if vector[i]]
        energy = sum(ratio.theta[i] for i in on) + sum(ratio.pairs[i, j] for i, j in itertools.combinations(on, 2))
        assert energy == pytest.approx(expected, abs=1e-8)


def test_independent_labels_leave_nothing_of_dependence_only() -> None:
    prior = fit_exact([[0, 0], [0, 1], [0, 0], [0, 1], [1, 0], [1, 1]])
    assert dependence_only(prior).theta == pytest.approx([0, 0], abs=1e-8)
    assert dependence_only(fit_exact([[1], [0], [0]])).theta == pytest.approx([0])


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_sums_and_moments_over_all_vectors_equal_the_table_of_vectors(k: int) -> None:
    draw = np.random.default_rng(k)
    table = np.array(list(itertools.product((0, 1), repeat=k)))
    assert (all_vectors(k) == table).all()
    assert (vectors_of(np.arange(2**k), k) == table).all()
    terms, weights = draw.normal(size=(5, k)), draw.random((5, 2**k))
    assert state_sums(terms) == pytest.approx(terms @ table.T)
    assert label_moments(weights) == pytest.approx(weights @ table)
    assert pair_moments(weights[0]) == pytest.approx(table.T @ (table * weights[0][:, None]))
    theta, pairs = draw.normal(size=k), np.triu(draw.normal(size=(k, k)), 1)
    assert energies(theta, pairs) == pytest.approx(table @ theta + ((table @ pairs) * table).sum(axis=1))
