"""A judge calibrated on how people differ: against grids, small steps and all thresholds that there are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.calibration import (
    Scaling,
    calibration_report,
    fit_temperature,
    fit_thresholds,
    fit_vector,
    loss,
    scaled,
    scores_of,
)

LABELS = ("anger", "joy", "none")


def drawn(seed: int, n: int, *, independent: bool) -> tuple[Any, Any]:
    """Probabilities of a source that is too sure, and shares of people."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, 3))
    if independent:
        truth = 1 / (1 + np.exp(-logits))
        return 1 / (1 + np.exp(-3 * logits)), rng.binomial(5, truth) / 5
    truth = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    sure = np.exp(3 * logits) / np.exp(3 * logits).sum(axis=1, keepdims=True)
    return sure, np.array([rng.multinomial(5, row) for row in truth]) / 5


@pytest.mark.parametrize("independent", [False, True])
def test_the_temperature_is_the_best_of_a_fine_grid(independent: bool) -> None:
    p, q = drawn(1, 60, independent=independent)
    scores = scores_of(p, independent=independent)
    found = fit_temperature(scores, q, independent=independent)
    grid = np.exp(np.linspace(-5, 5, 4001))
    costs = [loss(scores, q, Scaling(np.full(3, w), np.zeros(3)), independent=independent) for w in grid]
    assert found.weights[0] == pytest.approx(grid[int(np.argmin(costs))], rel=0.005)
    # The source is three times as sure as people are.
    assert 1 / found.weights[0] == pytest.approx(3, rel=0.35)


@pytest.mark.parametrize("independent", [False, True])
def test_no_small_step_betters_the_vector(independent: bool) -> None:
    p, q = drawn(2, 80, independent=independent)
    scores = scores_of(p, independent=independent)
    best = fit_vector(scores, q, independent=independent)

    def cost(w: Any, b: Any) -> float:
        return loss(scores, q, Scaling(w, b), independent=independent) + 1e-3 * float(((w - 1) ** 2 + b**2).sum())

    least = cost(best.weights, best.offsets)
    rng = np.random.default_rng(0)
    for _ in range(200):
        w, b = best.weights + rng.normal(size=3) * 0.05, best.offsets + rng.normal(size=3) * 0.05
        assert cost(w, b) >= least - 1e-6
    assert least <= cost(np.ones(3), np.zeros(3))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 4)), min_size=1, max_size=12))
def test_a_threshold_contradicts_as_few_annotators_as_any(rows: list[tuple[int, int]]) -> None:
    p = np.array([[one / 10] for one, _ in rows])
    q = np.array([[share / 4] for _, share in rows])
    (found,) = fit_thresholds(p, q)

    def wrong(cut: float) -> float:
        return sum(1 - share[0] if value[0] >= cut else share[0] for value, share in zip(p, q, strict=True))

    assert wrong(found) == pytest.approx(min(wrong(cut / 20) for cut in range(-1, 23)))
    assert wrong(0.5) > wrong(found) + 1e-9 or found == 0.5


def test_scaling_by_one_changes_nothing() -> None:
    for independent in (False, True):
        p, _ = drawn(3, 10, independent=independent)
        same = scaled(scores_of(p, independent=independent), Scaling(np.ones(3), np.zeros(3)), independent=independent)
        assert same == pytest.approx(p, abs=1e-5)


def report(p: Any, q: Any, *, independent: bool, shared: Any = None) -> dict[str, Any]:
    """Five people, who each give the labels that come to these shares."""
    people = []
    for row in q:
        if independent:
            said = [
                tuple(label for label, s in zip(LABELS, row, strict=True) if who < round(5 * s)) for who in range(5)
            ]
        else:
            said = [(label,) for label, s in zip(LABELS, row, strict=True) for _ in range(round(5 * s))]
        people.append({f"P{who}": labels for who, labels in enumerate(said)})
    chosen = (p >= 0.5).astype(float) if independent else np.eye(3)[p.argmax(axis=1)]
    ids = [f"t{n}" for n in range(len(p))]
    return calibration_report(
        people, p, chosen, LABELS, ids, shared or [None] * len(p), folds=4, independent=independent
    )


@pytest.mark.parametrize("independent", [False, True])
def test_what_is_too_sure_comes_nearer_to_people_on_texts_that_were_not_fitted(independent: bool) -> None:
    p, q = drawn(4, 200, independent=independent)
    found = report(p, q, independent=independent)
    before, after = found["calibrated"]["before"], found["calibrated"]["temperature"]
    for figure in ("manhattan", "cross_entropy", "calibration_error"):
        assert after[figure] < before[figure]
    change, low, high = found["changes"]["temperature"]["cross_entropy"]
    assert low < change < high < 0
    assert change == pytest.approx(after["cross_entropy"] - before["cross_entropy"])
    # A temperature changes no decision, so that the test of the judge stays as it was.
    assert (after["error_rate"], after["winning_rate"]) == (before["error_rate"], before["winning_rate"])
    assert set(found["calibrated"]) == {"before", "temperature", "vector"} | ({"thresholds"} if independent else set())


def test_nothing_of_a_text_is_in_the_fit_that_it_is_told_by() -> None:
    p, q = drawn(5, 40, independent=False)
    whole = report(p, q, independent=False)
    # One text alone against all others: were it in its own fit, it would move it towards itself.
    other = q.copy()
    other[7] = [0, 0, 1] if q[7].argmax() != 2 else [1, 0, 0]
    moved = report(p, other, independent=False)
    assert moved["fitted"]["temperature"] != whole["fitted"]["temperature"]
    # Texts of one passage are in one fold: with as many passages as folds each has a fold of its own.
    by_passage = report(p, q, independent=False, shared=[str(n % 4) for n in range(40)])
    assert by_passage["folds"] == 4
    with pytest.raises(ValueError, match="cannot be dealt"):
        report(p, q, independent=False, shared=[str(n % 3) for n in range(40)])
