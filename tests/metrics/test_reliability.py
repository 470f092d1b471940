"""Hard answers as evidence: rates counted by hand, Bayes' posterior by brute force, nothing of a held-out record."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.metrics.decode_report import decode_folds_report, decode_report
from emotui.metrics.decoding import decode_map, posterior_marginals
from emotui.metrics.ising import Ising, fit_exact
from emotui.metrics.nested_cv import Grid, assign_folds, decode_honestly, sweep_alphas
from emotui.metrics.reliability import NONE, PSEUDO, HardAnswers, Reliability, alone, fit_reliability, hard_answers
from emotui.metrics.states import all_vectors


def test_rates_are_counts_shrunk_towards_those_of_all_labels() -> None:
    said = hard_answers([[1, 0], [1, NONE], [0, 0], [1, 1]])
    gold = [[1, 0], [1, 1], [1, 0], [0, 1]]
    found = fit_reliability(said, gold)
    # There: the first label 3 times (2 said), the second once with an answer (1). Not there: once (0 no), twice (2).
    pooled_yes, pooled_no = 3.5 / 5, 2.5 / 4
    assert PSEUDO == 2
    assert found.sensitivity == pytest.approx([(2 + 2 * pooled_yes) / 5, (1 + 2 * pooled_yes) / 3])
    assert found.specificity == pytest.approx([(0 + 2 * pooled_no) / 3, (2 + 2 * pooled_no) / 4])


def test_an_answer_counts_for_the_ratio_of_its_likelihoods_and_none_for_nothing() -> None:
    rates = Reliability(np.array([0.8]), np.array([0.9]))
    odds = rates.log_odds(hard_answers([[1], [0], [NONE]]))[:, 0]
    assert odds == pytest.approx([math.log(0.8 / 0.1), math.log(0.2 / 0.9), 0.0])


def test_a_label_without_any_gold_is_worth_what_all_labels_are_and_no_gold_at_all_is_worth_nothing() -> None:
    none = fit_reliability(HardAnswers(np.empty((0, 3), dtype=np.int8)), np.empty((0, 3)))
    assert none.log_odds(hard_answers([[1, 0, 1]])).tolist() == [[0.0, 0.0, 0.0]]
    found = fit_reliability(hard_answers([[1, 0]] * 9), [[1, 0]] * 9)
    assert found.sensitivity[1] == pytest.approx(9.5 / 10)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_a_whole_prior_and_alpha_1_give_bayes_posterior(seed: int, k: int) -> None:
    draw = np.random.default_rng(seed)
    prior = Ising(draw.normal(0, 1, k), np.triu(draw.normal(0, 1, (k, k)), 1))
    rates = Reliability(draw.uniform(0.05, 0.95, k), draw.uniform(0.05, 0.95, k))
    said = draw.integers(-1, 2, (5, k))
    odds = rates.log_odds(hard_answers(said))
    vectors = all_vectors(k)
    weights = np.exp(prior.energies())
    for row, answers in enumerate(said):
        joint = np.array(
            [
                weight * math.prod(_likelihood(rates, i, int(e), int(answers[i])) for i, e in enumerate(vector))
                for weight, vector in zip(weights, vectors, strict=True)
            ]
        )
        posterior = joint / joint.sum()
        assert posterior_marginals(odds, prior, 1.0)[row] == pytest.approx(posterior @ vectors, abs=1e-9)
        ordered = np.sort(posterior)
        if len(ordered) > 1 and ordered[-1] - ordered[-2] > 1e-9:
            assert decode_map(odds, prior, [1.0])[0, row].tolist() == vectors[posterior.argmax()].tolist()


def _likelihood(rates: Reliability, label: int, there: int, said: int) -> float:
    if said == NONE:
        return 1.0
    yes = rates.sensitivity[label] if there else 1 - rates.specificity[label]
    return float(yes if said else 1 - yes)


def best_of_all(odds: list[float], prior: Ising, alpha: float) -> tuple[tuple[int, ...], list[float]]:
    """The best of the 2^k vectors and P(yes) of each label, by a sum over all of them, term by term."""
    k = len(odds)
    weights = {}
    for vector in itertools.product((0, 1), repeat=k):
        pairs = sum(prior.pairs[i, j] * vector[i] * vector[j] for i in range(k) for j in range(i + 1, k))
        energy = sum(prior.theta[i] * vector[i] for i in range(k)) + pairs
        weights[vector] = math.exp(sum(odds[i] * vector[i] for i in range(k)) + alpha * energy)
    total = sum(weights.values())
    shares = [sum(weight for vector, weight in weights.items() if vector[i]) / total for i in range(k)]
    return max(weights, key=weights.__getitem__), shares


def eight(seed: int) -> Ising:
    draw = np.random.default_rng(seed)
    return Ising(draw.uniform(-1, 1, 8), np.triu(draw.uniform(-1, 1, (8, 8)), 1))


@pytest.mark.parametrize("seed", range(4))
def test_eight_hard_answers_are_decoded_to_the_best_of_all_256_vectors(seed: int) -> None:
    draw = np.random.default_rng(seed)
    gold = draw.integers(0, 2, (40, 8))
    said = np.where(draw.random((40, 8)) < 0.75, gold, draw.integers(-1, 2, (40, 8)))
    weight = fit_reliability(hard_answers(said[5:]), gold[5:])
    odds = weight.log_odds(hard_answers(said[:5]))
    prior, alphas = eight(seed), (0.0, 0.5, 1.0, 2.0)
    decoded = decode_map(odds, prior, alphas)
    for a, alpha in enumerate(alphas):
        shares = posterior_marginals(odds, prior, alpha)
        for row in range(5):
            best, expected = best_of_all(odds[row].tolist(), prior, alpha)
            assert tuple(decoded[a, row].tolist()) == best
            assert shares[row] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 2))
def test_answers_that_are_never_wrong_are_what_is_decoded_and_those_of_a_coin_leave_the_prior(
    seed: int, alpha: float
) -> None:
    prior, said = eight(seed), np.random.default_rng(seed + 1).integers(0, 2, (6, 8))
    # A label's term and its seven couplings are at most 8 nats, twice that with alpha 2; such an answer counts for 27.
    sure = Reliability(np.full(8, 1 - 1e-12), np.full(8, 1 - 1e-12))
    assert (decode_map(sure.log_odds(hard_answers(said)), prior, [alpha])[0] == said).all()
    coin = Reliability(np.full(8, 0.5), np.full(8, 0.5)).log_odds(hard_answers(said))
    assert posterior_marginals(coin, prior, alpha) == pytest.approx(
        posterior_marginals(np.zeros((6, 8)), prior, alpha), abs=1e-12
    )
    assert (decode_map(coin, prior, [alpha])[0] == decode_map(np.zeros((1, 8)), prior, [alpha])[0, 0]).all()


def test_an_answer_never_speaks_for_its_opposite() -> None:
    # There 4 times, said 1 of them; not there 6 times, said 3 of them: less often where it is there.
    gold = [[1]] * 4 + [[0]] * 6
    said = hard_answers([[1], [0], [0], [0], [1], [1], [1], [0], [0], [0]])
    found = fit_reliability(said, gold)
    yes = (1 + PSEUDO * 1.5 / 5) / 6, (3 + PSEUDO * (1 - 3.5 / 7)) / 8
    either = (6 * yes[0] + 8 * yes[1]) / 14
    assert yes[0] < yes[1]
    assert found.sensitivity == pytest.approx([either])
    assert found.specificity == pytest.approx([1 - either])
    odds = found.log_odds(hard_answers([[1], [0]]))[:, 0]
    assert odds == pytest.approx([0, 0], abs=1e-7)
    assert odds[0] > 0 > odds[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 8))
def test_alpha_0_is_what_the_model_said_however_wrong_it_is(seed: int, n: int, k: int) -> None:
    draw = np.random.default_rng(seed)
    said, gold = draw.integers(-1, 2, (n, k)), draw.integers(0, 2, (n, k))
    answers = hard_answers(said)
    odds = fit_reliability(answers, gold).log_odds(answers)
    prior = Ising(draw.normal(0, 1, k), np.triu(draw.normal(0, 1, (k, k)), 1))
    assert (decode_map(odds, prior, [0.0])[0] == alone(answers)).all()


def answered(
    n: int, seed: int, *, together: float = 0.9, sensitivity: float = 0.7, specificity: float = 0.9
) -> tuple[np.ndarray, np.ndarray]:
    """Gold of two labels that go together, and answers of this reliability."""
    draw = np.random.default_rng(seed)
    first = draw.random(n) < 0.4
    gold = np.stack([first, np.where(draw.random(n) < together, first, ~first)], 1).astype(np.uint8)
    yes = np.where(gold == 1, draw.random((n, 2)) < sensitivity, draw.random((n, 2)) >= specificity)
    return yes.astype(np.int8), gold


def test_the_rates_that_made_the_answers_are_found() -> None:
    found = fit_reliability(hard_answers(answered(20_000, 1)[0]), answered(20_000, 1)[1])
    assert found.sensitivity == pytest.approx([0.7, 0.7], abs=0.02)
    assert found.specificity == pytest.approx([0.9, 0.9], abs=0.02)


def test_couplings_mend_hard_answers_in_honest_folds() -> None:
    said, gold = answered(600, 2, together=0.98, sensitivity=0.5, specificity=0.95)
    ids = [str(i) for i in range(600)]
    grid = Grid(priors=("exact",), alphas=(0.0, 0.5, 1.0), target="hamming_loss")
    found = decode_honestly(ids, hard_answers(said), gold, grid)
    assert (found.alone == said).all()
    assert (found.nested_cv != gold).mean() < (found.alone != gold).mean() - 0.02


def test_a_held_out_record_is_weighed_and_decoded_by_the_others_alone() -> None:
    said, gold = answered(60, 3)
    ids = [str(i) for i in range(60)]
    folds = assign_folds(ids, 5)
    out = sweep_alphas(ids, hard_answers(said), gold, "exact-smoothed", (0.0, 1.0)).out_of_fold
    changed = gold.copy()
    changed[folds == 2] = 1 - changed[folds == 2]
    other = sweep_alphas(ids, hard_answers(said), changed, "exact-smoothed", (0.0, 1.0)).out_of_fold
    assert (out[:, folds == 2] == other[:, folds == 2]).all()
    assert (out != other).any()
    rest = folds != 2
    weight = fit_reliability(hard_answers(said[rest]), gold[rest]).log_odds(hard_answers(said[~rest]))
    by_hand = decode_map(weight, fit_exact(gold[rest], 0.5), [1.0])[0]
    assert (out[1][~rest] == by_hand).all()


def test_a_fold_is_decoded_and_its_prior_temperature_and_alpha_chosen_without_its_gold() -> None:
    said, gold = answered(60, 5)
    ids = [str(i) for i in range(60)]
    held = assign_folds(ids, 5) == 2
    changed = gold.copy()
    changed[held] = 1 - changed[held]
    grid = Grid(alphas=(0.0, 0.5, 1.0), temperatures=(1.0, "fitted"))
    found, other = (decode_honestly(ids, hard_answers(said), truth, grid, 5) for truth in (gold, changed))
    assert found.folds[2] == other.folds[2]
    assert (found.nested_cv[held] == other.nested_cv[held]).all()
    assert found.chosen != other.chosen


def test_documents_have_the_rates_and_say_what_they_rest_on() -> None:
    said, gold = answered(40, 4)
    rows = [dict(zip("ab", row, strict=True)) for row in said.tolist()]
    rows[0]["a"] = None
    scores = {f"r{i}": row for i, row in enumerate(rows)}
    golds = {f"r{i}": dict(zip("ab", row, strict=True)) for i, row in enumerate(gold.tolist())}
    document = decode_folds_report(scores, golds, Grid(), 4)
    array = np.array([[NONE if v is None else v for v in row.values()] for row in rows])
    expected = fit_reliability(hard_answers(array), gold)
    assert document["reliability"]["b"]["sensitivity"] == pytest.approx(expected.sensitivity[1])
    assert "without probabilities" in document["notes"]["reliability"]
    assert document["alone"]["predictions"]["r0"][0] == 0
    plain = decode_report(golds, scores, golds, [1.0], "exact-smoothed")
    assert plain["reliability"] == document["reliability"]
    weight = expected.log_odds(hard_answers(array))
    assert plain["results"][0]["predictions"]["r7"] == decode_map(weight, fit_exact(gold, 0.5), [1.0])[0, 7].tolist()


def test_hard_answers_without_gold_and_among_logits_are_told_in_a_line() -> None:
    golds = {"g": {"a": 1}, "h": {"a": 0}}
    with pytest.raises(BadInput, match="that needs gold labels of some"):
        decode_report(golds, {"x": {"a": 1}})
    with pytest.raises(BadInput, match="g: a hard answer among logits"):
        decode_report(golds, {"g": {"a": 1}, "h": {"a": (0.5, 0.1)}}, golds)
    with pytest.raises(ValueError, match="only 0, 1 and -1"):
        hard_answers([[2]])
