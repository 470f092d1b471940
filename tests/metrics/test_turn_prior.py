"""The prior over turns against brute force over all paths, and what it is on hand-made conversations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.decoding import decode_map, posterior_marginals
from emotui.metrics.ising import Ising
from emotui.metrics.turn_prior import TurnPrior, _expected, best_path, fit_turn_prior, turn_marginals


def drawn(k: int, seed: int, size: float = 1.0) -> TurnPrior:
    rng = np.random.default_rng(seed)
    pairs = np.triu(rng.normal(0, size, (k, k)), 1)
    return TurnPrior(rng.normal(0, size, k), pairs, rng.normal(0, size, (k, k)))


def score(path: np.ndarray, odds: np.ndarray, prior: TurnPrior, alpha: float, weight: float) -> float:
    total = 0.0
    for t, vector in enumerate(path):
        total += vector @ odds[t] + alpha * (vector @ prior.theta + vector @ prior.pairs @ vector)
        if t:
            total += weight * (path[t - 1] @ prior.turns @ vector)
    return float(total)


def by_hand(odds: np.ndarray, prior: TurnPrior, alpha: float, weight: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Marginals, the best path and log Z over all (2^k)^T paths."""
    turns, k = odds.shape
    paths = [np.array(bits).reshape(turns, k) for bits in product((0, 1), repeat=turns * k)]
    scores = np.array([score(path, odds, prior, alpha, weight) for path in paths])
    weights = np.exp(scores - scores.max())
    marginals = np.tensordot(weights / weights.sum(), np.array(paths, dtype=float), axes=1)
    return marginals, paths[int(scores.argmax())], float(scores.max() + np.log(weights.sum()))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 999), st.sampled_from((0.0, 0.5, 1.0, 2.0)))
def test_marginals_and_the_best_path_are_those_of_all_paths(k: int, turns: int, seed: int, weight: float) -> None:
    odds = np.random.default_rng(seed + 1).normal(0, 2, (turns, k))
    prior = drawn(k, seed)
    marginals, path, _ = by_hand(odds, prior, 0.7, weight)
    assert turn_marginals([odds], prior, 0.7, weight)[0] == pytest.approx(marginals, abs=1e-12)
    assert (best_path([odds], prior, 0.7, weight)[0] == path).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 999))
def test_without_couplings_in_time_every_turn_is_decoded_as_a_text_of_its_own(k: int, turns: int, seed: int) -> None:
    odds = np.random.default_rng(seed).normal(0, 2, (turns, k))
    prior = drawn(k, seed)
    alone = Ising(prior.theta, prior.pairs)
    assert turn_marginals([odds], prior, 0.5, 0.0)[0] == pytest.approx(posterior_marginals(odds, alone, 0.5))
    assert (best_path([odds], prior, 0.5, 0.0)[0] == decode_map(odds, alone, [0.5])[0]).all()
    assert (best_path([odds], prior, 0.0, 0.0)[0] == (odds > 0)).all()


def test_conversations_decoded_together_are_as_each_alone_whatever_their_lengths() -> None:
    rng = np.random.default_rng(3)
    prior = drawn(4, 3)
    many = [rng.normal(0, 2, (turns, 4)) for turns in rng.integers(1, 12, 150)]
    together = turn_marginals(many, prior, 1.0, 1.0)
    for odds, found in zip(many, together, strict=True):
        assert found == pytest.approx(turn_marginals([odds], prior, 1.0, 1.0)[0], abs=1e-12)


def test_the_normaliser_and_the_expected_counts_are_those_of_all_paths_of_all_lengths() -> None:
    prior = drawn(2, 5)
    lengths = np.array([0, 2, 0, 1, 3])  # two of one turn, one of three, three of four
    log_z, expected = _expected(prior, lengths)
    whole, labels, pairs, moves = 0.0, np.zeros(2), 0.0, np.zeros((2, 2))
    for turns, n in enumerate(lengths.tolist()):
        if not n:
            continue
        paths = [np.array(bits).reshape(turns, 2) for bits in product((0, 1), repeat=turns * 2)]
        scores = np.array([score(path, np.zeros((turns, 2)), prior, 1, 1) for path in paths])
        z = np.log(np.exp(scores).sum())
        whole += n * z
        for path, value in zip(paths, scores, strict=True):
            p = n * np.exp(value - z)
            labels += p * path.sum(axis=0)
            pairs += p * (path[:, 0] * path[:, 1]).sum()
            moves += p * (path[:-1].T @ path[1:])
    assert log_z == pytest.approx(whole)
    assert expected == pytest.approx(np.concatenate([labels, [pairs], moves.ravel()]))


def test_a_fitted_prior_finds_the_couplings_that_conversations_were_drawn_from() -> None:
    truth = TurnPrior(np.array([-1.0, -0.5]), np.array([[0.0, -1.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [0.0, -1.5]]))
    rng = np.random.default_rng(0)
    states = np.array(list(product((0, 1), repeat=2)), dtype=float)
    own = np.array([vector @ truth.theta + vector @ truth.pairs @ vector for vector in states])
    behind = [np.ones(4)]
    for _ in range(5):
        behind.append(np.exp(states @ truth.turns @ states.T) @ (behind[-1] * np.exp(own)))
    conversations = []
    for _ in range(3000):
        path: list[int] = []
        for t in range(6):
            weights = np.exp(own + (states[path[-1]] @ truth.turns @ states.T if path else 0)) * behind[5 - t]
            path.append(int(rng.choice(4, p=weights / weights.sum())))
        conversations.append(states[path])
    fitted = fit_turn_prior(conversations)
    assert fitted.theta == pytest.approx(truth.theta, abs=0.2)
    assert fitted.pairs[0, 1] == pytest.approx(-1.0, abs=0.2)
    assert fitted.turns == pytest.approx(truth.turns, abs=0.2)
    # At the maximum the counts are those expected, less what the penalty of 1 takes of each coupling.
    _, expected = _expected(fitted, np.bincount([6] * 3000))
    counts = sum(path.T @ path for path in conversations)
    moves = sum(path[:-1].T @ path[1:] for path in conversations)
    held = np.concatenate([[0.0, 0.0, fitted.pairs[0, 1]], fitted.turns.ravel()])
    seen = np.concatenate([np.diagonal(counts), [counts[0, 1]], moves.ravel()])
    assert expected + held == pytest.approx(seen, abs=0.01)


def test_a_label_that_is_always_there_has_couplings_that_stay_finite() -> None:
    fitted = fit_turn_prior([[[1, 0], [1, 1], [1, 0]], [[1, 0]]])
    assert np.isfinite(fitted.theta).all()
    assert np.abs(fitted.turns).max() < 5


def test_a_mood_that_lasts_carries_a_turn_without_evidence() -> None:
    prior = TurnPrior(np.zeros(1), np.zeros((1, 1)), np.array([[3.0]]))
    odds = [np.array([[4.0], [-1.0], [4.0]])]
    assert best_path(odds, prior, 1.0, 0.0)[0].ravel().tolist() == [1, 0, 1]
    assert best_path(odds, prior, 1.0, 1.0)[0].ravel().tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("conversations", "why"),
    [
        ([], "at least one conversation"),
        ([np.zeros((0, 2))], "a turn at least"),
        ([np.zeros((2, 9))], "9 labels"),
        ([np.full((2, 2), 0.5)], "only 0 and 1"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], r"\(turns, 2\)"),
    ],
)
def test_what_is_no_conversation_is_refused(conversations: list[np.ndarray], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        fit_turn_prior(conversations)


def test_log_odds_and_couplings_that_cannot_be_decoded_are_refused() -> None:
    prior = drawn(2, 1)
    for odds in ([[np.nan, 0.0]], np.zeros((0, 2)), [[0.0, 0.0, 0.0]]):
        with pytest.raises(ValueError):
            best_path([odds], prior, 1.0, 1.0)
    with pytest.raises(ValueError, match="not finite"):
        turn_marginals([[[0.0, 0.0]]], prior, 1.0, float("inf"))
    with pytest.raises(ValueError, match="span more than"):
        turn_marginals([[[0.0, 0.0]]], prior, 1.0, 1e4)
