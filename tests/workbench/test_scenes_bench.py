"""Re-decoding a stored run: honest by folds, exact under clamps, and quick enough for a slider."""

import itertools
import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.metrics.decode_report import decode_folds_report
from emotui.metrics.decoding import PAPER_ALPHAS
from emotui.metrics.expected import Objective, decode_expected_macro_f1
from emotui.metrics.nested_cv import Grid
from emotui.metrics.priors import PRIORS
from emotui.metrics.reliability import NONE, alone, fit_reliability, hard_answers
from emotui.metrics.states import Bits, Floats
from emotui.records import PLUTCHIK
from emotui.store.query import Run
from emotui.tasks.published import published_table
from emotui.workbench.scenes.decoding import (
    ABOUT_PRIORS,
    ALPHAS,
    Answer,
    Redecoding,
    SceneRun,
    Tuning,
    pair_figures,
)
from emotui.workbench.scenes.service import tuning_from
from tests.screens.scenes_workspace import add_scenes_run, log_odds, scenarios, workspace

NO_RUN = Run("r", "scenes", "m", 1, "i", {}, "done", "", None, 0, 0, 0, None)


def run_of(odds: Floats, gold: Bits) -> SceneRun:
    n = len(gold)
    alone = (odds > 0).astype(np.uint8)
    numbers = tuple(range(1, n + 1))
    ids = tuple(f"s{number}" for number in numbers)
    places = {number: place for place, number in enumerate(numbers)}
    return SceneRun(NO_RUN, PLUTCHIK[: gold.shape[1]], numbers, ids, odds, gold, alone, places, 0)


def known(n: int = 40) -> SceneRun:
    samples = scenarios(n)
    gold = np.array([[sample.labels[name] for name in PLUTCHIK] for sample in samples], dtype=np.uint8)
    return run_of(log_odds(samples), gold)


@pytest.mark.parametrize("prior", list(PRIORS))
def test_alpha_0_is_the_model_alone_under_every_prior(prior: str) -> None:
    redecoding = Redecoding(known(), Tuning(prior))
    decoded = redecoding.decoded(0.0, 0.0)
    assert (decoded.now == redecoding.scenes.alone).all()
    assert decoded.flips.gains == decoded.flips.losses == decoded.flips.even == []


@pytest.mark.parametrize("prior", list(PRIORS))
def test_alpha_0_is_what_the_model_said_where_it_says_yes_and_no_in_words(prior: str) -> None:
    logits = known()
    draw = np.random.default_rng(8)
    for said in ((logits.log_odds > 0), draw.integers(-1, 2, logits.gold.shape)):  # right mostly; and by chance
        answers = hard_answers(said.astype(int))
        decoded = Redecoding(replace(logits, log_odds=answers, alone=alone(answers)), Tuning(prior)).decoded(0.0, 0.0)
        assert decoded.flips.gains == decoded.flips.losses == decoded.flips.even == []


def test_a_hard_answer_is_told_with_its_rates_on_the_other_folds() -> None:
    logits = known()
    said = (logits.log_odds > 0).astype(int)
    said[7, 2] = NONE
    redecoding = Redecoding(replace(logits, log_odds=hard_answers(said)), Tuning())
    others = redecoding.folds != redecoding.fold(7)
    weight = fit_reliability(hard_answers(said[others]), logits.gold[others])
    found = redecoding.answer(7, 3)
    assert found == Answer(bool(said[7, 3]), weight.sensitivity[3], weight.specificity[3])
    assert redecoding.at_alphas(7, (0.0,)).own[3] == pytest.approx(
        math.log(found.sensitivity / (1 - found.specificity))
        if found.said
        else math.log((1 - found.sensitivity) / found.specificity)
    )
    silent = redecoding.answer(7, 2)
    assert silent is not None
    assert (silent.said, silent.word) == (None, "neither yes nor no")
    assert Redecoding(logits, Tuning()).answer(7, 2) is None


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 39), st.sampled_from(["paper", "paper-couplings", "exact-smoothed"]), st.integers(0, 255))
def test_what_gold_says_of_a_scenario_never_changes_how_that_scenario_is_decoded(
    place: int, prior: str, vector: int
) -> None:
    scenes = known()
    gold = scenes.gold.copy()
    gold[place] = [vector >> bit & 1 for bit in range(8)]
    for scaling in (1.0, "fitted"):
        one = Redecoding(scenes, Tuning(prior, scaling=scaling))  # type: ignore[arg-type]
        other = Redecoding(run_of(scenes.log_odds, gold), Tuning(prior, scaling=scaling))  # type: ignore[arg-type]
        alphas = (0.25, 1.0, 5.0)
        assert (one.vectors(alphas)[:, place] == other.vectors(alphas)[:, place]).all()


@pytest.mark.parametrize("alpha", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("clamps", [{}, {0: 1}, {2: 0, 4: 1}, dict.fromkeys(range(8), 1)])
def test_rows_are_the_exact_conditional_posterior_and_its_best_vector(alpha: float, clamps: dict[int, int]) -> None:
    redecoding = Redecoding(known(), Tuning("exact-smoothed"))
    place = 7
    odds, prior = redecoding.scenes.log_odds[place], redecoding.priors[redecoding.fold(place)]
    weights = {}
    for vector in product((0, 1), repeat=8):
        if all(vector[label] == value for label, value in clamps.items()):
            on = [i for i in range(8) if vector[i]]
            pairs = sum(prior.pairs[i, j] for i in on for j in on if i < j)
            weights[vector] = sum(odds[i] for i in on) + alpha * (sum(prior.theta[i] for i in on) + pairs)
    best = max(weights, key=lambda vector: weights[vector])
    total = sum(np.exp(value) for value in weights.values())
    rows = redecoding.rows(place, alpha, clamps)
    assert tuple(row.now for row in rows) == best
    for i, row in enumerate(rows):
        expected = sum(np.exp(value) for vector, value in weights.items() if vector[i]) / total
        assert row.posterior == pytest.approx(expected)
        assert row.clamp == clamps.get(i)


def test_the_terms_of_an_emotion_add_up_to_its_row() -> None:
    redecoding = Redecoding(known(), Tuning())
    for place in range(10):
        for label, row in enumerate(redecoding.rows(place, 0.75)):
            terms = redecoding.why(place, 0.75, label)
            assert sum(term.value for term in terms) == pytest.approx(row.total)
            sizes = [abs(term.value) for term in terms]
            assert sizes == sorted(sizes, reverse=True)


def test_rows_and_the_whole_set_are_decoded_alike() -> None:
    redecoding = Redecoding(known(), Tuning("exact-dependence", scaling="fitted"))
    decoded = redecoding.decoded(1.0)
    for place in range(len(redecoding.scenes.ids)):
        assert [row.now for row in redecoding.rows(place, 1.0)] == decoded.now[place].tolist()


@pytest.mark.parametrize("objective", ["map", "hamming", "macro-f1"])
@pytest.mark.parametrize("clamps", [{}, {0: 1, 3: 0}])
def test_ribbons_are_the_rows_at_every_step_of_the_slider(objective: Objective, clamps: dict[int, int]) -> None:
    redecoding = Redecoding(known(24), Tuning(objective=objective))
    ribbons = redecoding.ribbons(5, clamps)
    assert redecoding.kept_ribbons(5, clamps) is ribbons
    for step in (0, 2, 10, 30, len(ALPHAS) - 1):
        assert ribbons.rows(step) == redecoding.rows(5, ALPHAS[step], clamps)
        assert ribbons.wrong[step] == sum(row.now != row.gold for row in ribbons.rows(step))
    if not clamps:
        assert (ribbons.on == redecoding.vectors(ALPHAS)[:, 5]).all()


def test_ribbons_flip_where_the_decoding_of_the_command_does() -> None:
    scenes = known()
    scores = {
        key: {name: (float(value), 0.0) for name, value in zip(scenes.labels, odds, strict=True)}
        for key, odds in zip(scenes.ids, scenes.log_odds, strict=True)
    }
    gold = {
        key: dict(zip(scenes.labels, vector, strict=True))
        for key, vector in zip(scenes.ids, scenes.gold.tolist(), strict=True)
    }
    document = decode_folds_report(scores, gold, Grid(priors=("paper",)), 5)
    redecoding = Redecoding(scenes, Tuning())
    flipped = 0
    for place, key in enumerate(scenes.ids):
        ribbons = redecoding.ribbons(place)
        for result in document["results"]:
            at = ALPHAS.index(result["alpha"])
            assert ribbons.on[at].tolist() == result["predictions"][key]
        for label in range(8):
            state = bool(ribbons.on[0, label])
            for alpha, on in ribbons.flips(label):
                assert on is not state
                assert bool(ribbons.on[ALPHAS.index(alpha), label]) is on
                state, flipped = on, flipped + 1
            assert state is bool(ribbons.on[-1, label])
    assert flipped > 20


def test_the_sweep_has_the_figures_of_every_step_and_the_papers_alphas_are_steps() -> None:
    redecoding = Redecoding(known(), Tuning())
    sweep = redecoding.sweep()
    assert set(PAPER_ALPHAS) <= set(sweep.alphas)
    for alpha in PAPER_ALPHAS:
        assert sweep.nested_cv[ALPHAS.index(alpha)] == redecoding.decoded(alpha).figures


def test_the_choice_is_scored_honestly_and_the_leaked_figure_is_never_below_the_model_alone() -> None:
    chosen = Redecoding(known(), Tuning()).choose()
    assert chosen.choice.alpha in PAPER_ALPHAS
    assert len(chosen.by_fold) == 5
    assert chosen.in_sample.macro_f1 >= chosen.alone.macro_f1


def test_one_scenario_alone_is_decoded_by_a_prior_of_its_own_and_says_why_it_cannot_choose() -> None:
    one = known(1)
    redecoding = Redecoding(one, Tuning())
    assert (redecoding.decoded(0.0).now == one.alone).all()
    assert redecoding.sweep().nested_cv
    with pytest.raises(BadInput, match="at least four records"):
        redecoding.choose()


def test_a_run_without_answers_and_a_prior_that_cannot_be_fitted_are_told_in_words() -> None:
    with pytest.raises(BadInput, match="no answers yet"):
        Redecoding(run_of(np.zeros((0, 8)), np.zeros((0, 8), dtype=np.uint8)), Tuning())
    with pytest.raises(BadInput, match="needs smoothing above 0"):
        Redecoding(known(6), Tuning("paper", smoothing=0.0))


def _posteriors(redecoding: Redecoding, place: int, alpha: float, clamps: dict[int, int]) -> Floats:
    """(k,): P(yes) of every emotion, by a sum over all vectors that hold the clamps."""
    odds = redecoding.scenes.log_odds[place] / redecoding.temperatures[redecoding.fold(place)]
    prior = redecoding.priors[redecoding.fold(place)]
    k = len(odds)
    total, with_label = 0.0, np.zeros(k)
    for bits in itertools.product((0, 1), repeat=k):
        if any(bits[at] != value for at, value in clamps.items()):
            continue
        e = np.array(bits, dtype=float)
        weight = float(np.exp(odds @ e + alpha * (prior.theta @ e + e @ prior.pairs @ e)))
        total += weight
        with_label += weight * e
    return with_label / total


CLAMPS = pytest.mark.parametrize("clamps", [{}, {0: 1}, {0: 1, 5: 0}, dict.fromkeys(range(8), 1)], ids=str)


@CLAMPS
def test_decoding_for_hamming_takes_the_vector_of_least_expected_loss_of_all_that_hold_the_clamps(
    clamps: dict[int, int],
) -> None:
    redecoding = Redecoding(known(), Tuning("exact-smoothed", objective="hamming"))
    for place in (0, 7, 21):
        chances = _posteriors(redecoding, place, 0.5, clamps)
        losses = {
            bits: sum(1 - p if bit else p for p, bit in zip(chances, bits, strict=True))
            for bits in itertools.product((0, 1), repeat=8)
            if all(bits[at] == value for at, value in clamps.items())
        }
        assert tuple(redecoding.vector(place, 0.5, clamps).tolist()) == min(losses, key=losses.__getitem__)
        rows = redecoding.rows(place, 0.5, clamps)
        assert [row.posterior for row in rows] == pytest.approx(chances.tolist())


@CLAMPS
def test_decoding_for_macro_f1_is_of_the_whole_set_with_the_scenario_as_it_is_given_its_clamps(
    clamps: dict[int, int],
) -> None:
    redecoding = Redecoding(known(20), Tuning(objective="macro-f1", scaling="fitted"))
    chances = np.array([_posteriors(redecoding, place, 0.5, {}) for place in range(20)])
    chances[3] = _posteriors(redecoding, 3, 0.5, clamps)
    assert (redecoding.vector(3, 0.5, clamps) == decode_expected_macro_f1(chances)[3]).all()


@pytest.mark.parametrize("objective", ["map", "hamming", "macro-f1"])
def test_the_whole_set_the_sweep_and_each_scenario_are_decoded_for_one_objective(objective: Objective) -> None:
    redecoding = Redecoding(known(), Tuning(objective=objective))
    decoded, sweep = redecoding.decoded(0.5), redecoding.sweep([0.0, 0.5])
    assert sweep.nested_cv[1] == decoded.figures
    for place in range(40):
        assert (redecoding.vector(place, 0.5, {}) == decoded.now[place]).all()
    assert redecoding.choose().by_fold[0].prior == "paper"


def test_prior_and_temperature_are_chosen_inside_folds_that_are_told() -> None:
    redecoding = Redecoding(known(), Tuning())
    chosen = redecoding.choose_prior()
    assert len(chosen.fold_of) == len(redecoding.scenes.ids)
    assert set(chosen.fold_of) == set(range(len(chosen.by_fold)))
    assert {one.scaling for one in chosen.by_fold} <= {1.0, "fitted"}


def test_what_is_given_is_the_rows_emotion() -> None:
    redecoding = Redecoding(known(), Tuning())
    pairs = pair_figures(redecoding.decoded(0.5), redecoding.scenes)
    gold = redecoding.scenes.gold.astype(bool)
    assert pairs["given"]["gold"][0, 1] == pytest.approx(gold[gold[:, 0], 1].mean())
    assert pairs["given"]["gold"][1, 0] == pytest.approx(gold[gold[:, 1], 0].mean())


def test_pairs_count_the_share_of_scenarios_with_both() -> None:
    redecoding = Redecoding(known(), Tuning())
    pairs = pair_figures(redecoding.decoded(0.5), redecoding.scenes)
    both = (redecoding.scenes.gold[:, 0] & redecoding.scenes.gold[:, 1]).mean()
    assert pairs["together"]["gold"][0, 1] == pytest.approx(both)
    difference = pairs["information"]["now"] - pairs["information"]["gold"]
    assert np.allclose(pairs["information"]["now − gold"], difference)


def test_a_stored_run_is_loaded_with_its_gold_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    opened = workspace(tmp_path / "w.duckdb", n=0, spans=False)
    from emotui.workbench.datasets.samples import add_samples

    samples = scenarios(12)
    dataset = add_samples(opened.store, "scenes", "scenes", samples, "here")
    run = add_scenes_run(opened, dataset, samples, done=10)
    scenes = opened.scenes().load(run)
    assert scenes.ids == tuple(sample.id for sample in samples[:10])
    assert scenes.silent == 2
    assert np.allclose(scenes.log_odds, log_odds(samples)[:10])
    assert scenes.gold.tolist() == [list(sample.labels.values()) for sample in samples[:10]]
    assert opened.scenes().load(run) is scenes
    assert set(opened.scenes().by_emotion(opened.runs(dataset.dataset))) == {run.run}


def test_the_published_table_is_in_shares() -> None:
    cite, rows = published_table()
    assert "Table 1" in cite
    qwen = next(row for row in rows if row.model.startswith("Qwen"))
    assert qwen.before["macro_f1"] == 0.428
    assert qwen.after["hamming_loss"] == pytest.approx(0.1778)


@pytest.mark.parametrize("value", [None, 3, {"prior": "no such"}, {"smoothing": -1, "scaling": "hot"}, {"scaling": 0}])
def test_what_was_remembered_wrongly_is_left_at_its_default(value: object) -> None:
    assert tuning_from(value) == Tuning()


def test_every_prior_is_explained() -> None:
    assert set(ABOUT_PRIORS) == set(PRIORS)
