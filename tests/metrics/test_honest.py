"""Choices made inside folds: nothing of a held-out record reaches them, and the paper's finding on synthetic data."""

import itertools
import math

import numpy as np
import pytest

from emotui.metrics.decoding import posterior_marginals
from emotui.metrics.expected import (
    Objective,
    decode_expected_hamming,
    decode_expected_macro_f1,
    decode_marginals,
    expected_f1_exact,
    expected_f1_plug_in,
)
from emotui.metrics.ising import Ising, fit_paper
from emotui.metrics.nested_cv import Grid, assign_folds, decode_honestly, sweep_alphas, target_figure
from emotui.metrics.scenes import label_counts, scenes_metrics
from emotui.metrics.states import Bits, Floats, all_vectors
from emotui.metrics.temperature import fit_temperature

LABELS = [str(i) for i in range(8)]


def synthetic_scenes(n: int, bias: float, seed: int) -> tuple[list[str], Floats, Bits]:
    """Gold vectors of an Ising model with base rates like emotions', and the log-odds of a model that sees each alone.

    It sees each label through Gaussian noise and is calibrated when bias is 0; a positive bias makes it say yes too
    often.
    """
    draw = np.random.default_rng(seed)
    pairs = np.triu(draw.normal(0, 0.7, (8, 8)), 1)
    prior = Ising(np.array([-0.6, -1.2, -1.5, -2.0, -1.4, -2.2, -1.8, -0.7]), pairs)
    weights = np.exp(prior.energies())
    gold = all_vectors(8)[draw.choice(256, n, p=weights / weights.sum())]
    rate = prior.moments().diagonal()
    # With x ~ N(+-m, 1) the log-likelihood ratio is 2 m x; adding the base rate makes the log-odds calibrated.
    strength = 1.0
    seen = draw.normal((2.0 * gold - 1) * strength, 1.0)
    odds = 2 * strength * seen + np.log(rate / (1 - rate)) + bias
    return [f"s{i}" for i in range(n)], odds, gold


def macro_f1(gold: Bits, predicted: Bits) -> float:
    return float(label_counts(gold, predicted).f1.mean())


def test_an_over_predicting_model_gains_and_a_calibrated_one_does_not() -> None:
    """EmoScene, Table 1: Qwen2.5-7B and Gemma-2-2b, which say yes too often, gain; the others stay where they were."""
    grid = Grid(priors=("paper",))
    ids, odds, gold = synthetic_scenes(1500, bias=2.0, seed=1)
    loud = decode_honestly(ids, odds, gold, grid)
    assert loud.alone.sum() > 1.5 * gold.sum()
    assert macro_f1(gold, loud.nested_cv) > macro_f1(gold, loud.alone) + 0.03
    before, after = (scenes_metrics(gold, vectors, LABELS) for vectors in (loud.alone, loud.nested_cv))
    assert after["hamming_loss"] < before["hamming_loss"] - 0.03
    assert after["vector_accuracy"] > before["vector_accuracy"] + 0.03

    ids, odds, gold = synthetic_scenes(1500, bias=0.0, seed=1)
    calm = decode_honestly(ids, odds, gold, grid)
    assert abs(macro_f1(gold, calm.nested_cv) - macro_f1(gold, calm.alone)) < 0.01


def test_adding_base_rates_twice_hurts_a_calibrated_model_and_couplings_alone_do_not() -> None:
    ids, odds, gold = synthetic_scenes(2500, bias=0.0, seed=2)
    alone = (odds > 0).astype(np.uint8)
    twice = sweep_alphas(ids, odds, gold, "paper", [1.0]).out_of_fold[0]
    ratio = sweep_alphas(ids, odds, gold, "exact-dependence", [1.0]).out_of_fold[0]
    assert macro_f1(gold, twice) < macro_f1(gold, alone) - 0.01
    assert macro_f1(gold, ratio) > macro_f1(gold, alone)
    assert (ratio != gold).mean() < (alone != gold).mean()


def test_what_a_fold_chooses_does_not_change_with_the_gold_of_what_it_holds_out() -> None:
    ids, odds, gold = synthetic_scenes(60, bias=1.0, seed=3)
    grid = Grid(priors=("paper", "paper-couplings"), temperatures=(1.0, "fitted"), alphas=(0.0, 0.5, 1.0))
    first = decode_honestly(ids, odds, gold, grid, folds=4)
    held = np.array(first.fold_of) == 2
    spoilt = gold.copy()
    spoilt[held] = 1 - spoilt[held]
    second = decode_honestly(ids, odds, spoilt, grid, folds=4)
    assert second.folds[2] == first.folds[2]
    assert (second.nested_cv[held] == first.nested_cv[held]).all()
    assert (second.nested_cv != first.nested_cv).any()
    before, after = (sweep_alphas(ids, odds, each, "paper", [1.0], folds=4).out_of_fold[0] for each in (gold, spoilt))
    assert (after[held] == before[held]).all()
    assert (after != before).any()


def test_every_record_is_held_out_once_and_its_fold_is_kept() -> None:
    ids, odds, gold = synthetic_scenes(23, bias=0.0, seed=4)
    decoding = decode_honestly(ids, odds, gold, Grid(priors=("paper",), alphas=(0.0, 1.0)), folds=5)
    held = [key for fold in decoding.folds for key in fold.held_out]
    assert sorted(held) == sorted(ids)
    assert all(ids[row] in decoding.folds[fold].held_out for row, fold in enumerate(decoding.fold_of))


def test_folds_follow_the_ids_and_not_the_order_of_the_file() -> None:
    ids = [f"s{i}" for i in range(31)]
    folds = dict(zip(ids, assign_folds(ids, 4), strict=True))
    turned = list(reversed(ids))
    assert dict(zip(turned, assign_folds(turned, 4), strict=True)) == folds
    assert sorted(np.bincount(list(folds.values()))) == [7, 8, 8, 8]
    assert (assign_folds(ids, 4, seed=1) != assign_folds(ids, 4)).any()


def test_on_noise_the_leaked_figure_promises_more_than_the_honest_one_keeps() -> None:
    """Evidence that knows nothing: choosing among many on the scored records still finds something to praise."""
    in_sample, nested_cv = [], []
    for seed in range(6):
        draw = np.random.default_rng(seed)
        gold = (draw.random((40, 8)) < 0.3).astype(np.uint8)
        odds = draw.normal(0, 1, (40, 8))
        decoding = decode_honestly([str(i) for i in range(40)], odds, gold, Grid(priors=("paper", "paper-couplings")))
        in_sample.append(macro_f1(gold, decoding.in_sample))
        nested_cv.append(macro_f1(gold, decoding.nested_cv))
        assert decoding.in_sample_choice.figure == pytest.approx(in_sample[-1])
    assert np.mean(in_sample) > np.mean(nested_cv) + 0.005


def test_the_leaked_choice_is_the_best_of_the_whole_grid_on_the_records_that_it_is_scored_on() -> None:
    ids, odds, gold = synthetic_scenes(50, bias=1.0, seed=5)
    grid = Grid(priors=("paper",), alphas=(0.0, 0.25, 1.0), target="vector_accuracy")
    figures = [
        target_figure(gold, vectors, "vector_accuracy")
        for vectors in sweep_alphas(ids, odds, gold, "paper", grid.alphas).in_sample
    ]
    choice = decode_honestly(ids, odds, gold, grid).in_sample_choice
    assert choice.figure == max(figures)
    assert choice.alpha == grid.alphas[figures.index(max(figures))]


def test_of_equal_figures_the_first_combination_is_chosen() -> None:
    ids, odds, gold = synthetic_scenes(20, bias=0.0, seed=6)
    decoding = decode_honestly(ids, odds, gold, Grid(priors=("paper", "exact-smoothed"), alphas=(0.0,)))
    assert decoding.chosen.prior == "paper"
    assert decoding.chosen.alpha == 0.0
    assert (decoding.nested_cv == decoding.alone).all()


@pytest.mark.parametrize("objective", ["hamming", "macro-f1"])
def test_other_objectives_and_a_fitted_temperature_can_be_chosen_inside_folds(objective: Objective) -> None:
    ids, odds, gold = synthetic_scenes(80, bias=1.5, seed=7)
    grid = Grid(priors=("paper",), temperatures=("fitted",), alphas=(1.0,), objective=objective)
    decoding = decode_honestly(ids, odds * 3, gold, grid, folds=3)
    assert (decoding.nested_cv != gold).mean() < (decoding.alone != gold).mean()
    assert all(fold.choice.temperature > 1.5 for fold in decoding.folds)


def test_what_a_fold_chooses_is_what_its_other_records_choose_among_themselves_with_the_next_seed() -> None:
    ids, odds, gold = synthetic_scenes(40, bias=1.0, seed=12)
    grid = Grid(priors=("paper",), alphas=tuple(at / 16 for at in range(17)))
    found = decode_honestly(ids, odds, gold, grid)
    assert len(found.folds) == 5
    for number, fold in enumerate(found.folds):
        rest = [row for row, own in enumerate(found.fold_of) if own != number]
        alone = decode_honestly([ids[row] for row in rest], odds[rest], gold[rest], grid, seed=1)
        assert fold.choice == alone.chosen
    assert found.fold_of == tuple(assign_folds(ids, 5, seed=0).tolist())
    curve = sweep_alphas(ids, odds, gold, "paper", [1.0]).out_of_fold
    assert (curve == sweep_alphas(ids, odds, gold, "paper", [1.0], folds=5, seed=0).out_of_fold).all()
    assert (curve != sweep_alphas(ids, odds, gold, "paper", [1.0], seed=1).out_of_fold).any()


def test_the_target_of_a_choice_is_larger_where_it_is_better() -> None:
    gold = np.array([[1, 0], [0, 0], [0, 1]], dtype=np.uint8)
    predicted = np.array([[1, 1], [0, 0], [0, 1]], dtype=np.uint8)
    assert target_figure(gold, predicted, "macro_f1") == pytest.approx((1 + 2 / 3) / 2)
    assert target_figure(gold, predicted, "vector_accuracy") == pytest.approx(2 / 3)
    assert target_figure(gold, predicted, "hamming_loss") == pytest.approx(-1 / 6)


def test_a_best_vector_by_half_the_temperature_is_one_by_half_the_alpha() -> None:
    ids, odds, gold = synthetic_scenes(60, bias=1.0, seed=13)
    halves = Grid(priors=("paper",), temperatures=(0.5,), alphas=(0.0, 0.5, 1.0))
    found = decode_honestly(ids, odds, gold, halves)
    plain = decode_honestly(ids, odds, gold, Grid(priors=("paper",), alphas=(0.0, 0.25, 0.5)))
    assert (found.nested_cv == plain.nested_cv).all()
    curve = sweep_alphas(ids, odds, gold, "paper", [0.5, 1.0], scaling=0.5)
    halved = sweep_alphas(ids, odds, gold, "paper", [0.25, 0.5])
    assert (curve.out_of_fold == halved.out_of_fold).all()
    assert (curve.in_sample == halved.in_sample).all()
    assert [(fold.choice.alpha / 2, fold.choice.figure) for fold in found.folds] == [
        (fold.choice.alpha, fold.choice.figure) for fold in plain.folds
    ]


def test_four_records_are_enough_and_even_odds_alone_are_no_label() -> None:
    odds = np.array([[0.0], [1.0], [-1.0], [0.0]])
    found = decode_honestly(list("abcd"), odds, [[1], [1], [0], [0]], Grid(priors=("paper",), alphas=(0.0,)))
    assert found.alone.tolist() == [[0], [1], [0], [0]]


def test_the_same_input_gives_the_same_choices() -> None:
    ids, odds, gold = synthetic_scenes(30, bias=0.5, seed=8)
    first, second = (decode_honestly(ids, odds, gold) for _ in range(2))
    assert first.folds == second.folds
    assert first.chosen == second.chosen


@pytest.mark.parametrize("n", [0, 1, 3])
def test_too_few_records_to_choose_inside_folds_are_refused(n: int) -> None:
    ids, odds, gold = synthetic_scenes(10, bias=0.0, seed=9)
    with pytest.raises(ValueError, match="record"):
        decode_honestly(ids[:n], odds[:n], gold[:n])
    with pytest.raises(ValueError, match="twice"):
        assign_folds(["a", "a"], 2)
    with pytest.raises(ValueError, match="empty"):
        decode_honestly(ids, odds, gold, Grid(alphas=()))


def test_the_fitted_temperature_recovers_the_one_that_the_log_odds_were_made_too_sure_by() -> None:
    draw = np.random.default_rng(0)
    true_odds = draw.normal(0, 2, (4000, 4))
    gold = (draw.random((4000, 4)) < 1 / (1 + np.exp(-true_odds))).astype(int)
    for temperature in (0.5, 1.0, 3.0):
        assert fit_temperature(true_odds * temperature, gold) == pytest.approx(temperature, rel=0.1)


@pytest.mark.parametrize(("best", "found"), [(0.015, 0.02), (0.03, 0.03), (40.0, 40.0), (60.0, 50.0)])
def test_the_temperature_of_one_sureness_makes_it_the_share_of_right_ones(best: float, found: float) -> None:
    # Three of four are right: the most likely log-odds are log 3.
    assert fit_temperature([[best * math.log(3)]] * 4, [[1], [1], [1], [0]]) == pytest.approx(found, rel=1e-5)


def test_a_temperature_stays_in_its_range_where_there_is_no_maximum() -> None:
    assert fit_temperature([[5.0], [-5.0]], [[1], [0]]) == 0.02
    assert fit_temperature([[5.0], [-5.0]], [[0], [1]]) == 50.0
    assert fit_temperature([[0.0], [0.0]], [[0], [1]]) == 50.0
    with pytest.raises(ValueError):
        fit_temperature(np.empty((0, 2)), np.empty((0, 2)))


def plain_expected_f1(q: list[float], chosen: tuple[int, ...]) -> float:
    """Over all gold outcomes of a few records; F1 of nothing against nothing is 0."""
    total = 0.0
    for gold in itertools.product((0, 1), repeat=len(q)):
        chance = math.prod(p if g else 1 - p for p, g in zip(q, gold, strict=True))
        size = sum(gold) + sum(chosen)
        total += chance * (2 * sum(g * c for g, c in zip(gold, chosen, strict=True)) / size if size else 0.0)
    return total


@pytest.mark.parametrize("seed", range(5))
def test_expected_f1_equals_the_sum_over_all_outcomes_and_its_best_choice_is_the_best_of_all(seed: int) -> None:
    q = np.random.default_rng(seed).random((7, 1))
    ranked = sorted(q[:, 0].tolist(), reverse=True)
    by_size = expected_f1_exact(np.array(ranked)[:, None])[:, 0]
    for m in range(8):
        chosen = (1,) * m + (0,) * (7 - m)
        assert by_size[m] == pytest.approx(plain_expected_f1(ranked, chosen))
    decoded = decode_expected_macro_f1(q)[:, 0]
    best = max(plain_expected_f1(q[:, 0].tolist(), chosen) for chosen in itertools.product((0, 1), repeat=7))
    assert plain_expected_f1(q[:, 0].tolist(), tuple(decoded.tolist())) == pytest.approx(best)


def test_the_plug_in_comes_near_the_exact_expectation_as_records_grow() -> None:
    draw = np.random.default_rng(1)
    gaps = []
    for n in (20, 200):
        ranked = np.sort(draw.random(n))[::-1]
        gaps.append(np.abs(expected_f1_exact(ranked[:, None]) - expected_f1_plug_in(ranked[:, None])).max())
    assert gaps[1] < gaps[0] / 3
    assert gaps[1] < 0.005


def test_the_least_expected_hamming_loss_is_a_threshold_at_one_half() -> None:
    assert decode_expected_hamming([[0.2, 0.5, 0.51]]).tolist() == [[0, 0, 1]]


def test_each_decoding_is_best_at_its_own_figure_on_labels_drawn_from_the_posterior() -> None:
    draw = np.random.default_rng(2)
    _, odds, train = synthetic_scenes(400, bias=0.0, seed=10)
    marginals = posterior_marginals(odds, fit_paper(train), 0.5)
    threshold, ranked = decode_expected_hamming(marginals), decode_expected_macro_f1(marginals)
    hamming, f1 = [], []
    for _ in range(30):
        drawn = (draw.random(marginals.shape) < marginals).astype(np.uint8)
        hamming.append((threshold != drawn).mean() - (ranked != drawn).mean())
        f1.append(macro_f1(drawn, ranked) - macro_f1(drawn, threshold))
    assert np.mean(hamming) < 0
    assert np.mean(f1) > 0


def test_nothing_possible_is_decoded_to_nothing() -> None:
    assert decode_expected_macro_f1(np.zeros((5, 2))).sum() == 0
    assert decode_expected_macro_f1(np.empty((0, 2))).shape == (0, 2)
    assert decode_expected_macro_f1(np.ones((3, 1))).tolist() == [[1], [1], [1]]


def test_marginals_are_decoded_for_the_figure_that_is_asked_for() -> None:
    # Of .4 and .3 none is over one half; the first alone is expected to have an F1 above that of nothing, 0.
    assert decode_marginals([[0.4], [0.3]], "hamming").tolist() == [[0], [0]]
    assert decode_marginals([[0.4], [0.3]], "macro_f1").any()
