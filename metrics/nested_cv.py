"""Choosing a prior, a temperature and an alpha without looking at the records that are then scored.

EmoScene tries eight alphas (section 5) and prints one figure a model (Table 1), without saying which alpha it is or on
which records it was chosen. One model changes by exactly 0 in all four metrics, which is what alpha 0 gives: it looks
as if the best alpha was taken on the records that are scored. Here the choice is nested: each fold is decoded with what
the other folds chose, by cross-validation among themselves. The leaked figure, chosen and scored on the same records,
stands beside it.

What is fitted includes how far hard answers (yes and no in words) can be believed: `emotui.metrics.reliability`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.decoding import PAPER_ALPHAS
from emotui.metrics.expected import Objective, decode_for
from emotui.metrics.ising import label_vectors
from emotui.metrics.priors import fit_prior
from emotui.metrics.reliability import Evidence, HardAnswers, alone, checked_evidence, log_odds_given, shape_of
from emotui.metrics.scenes import label_counts
from emotui.metrics.states import Bits
from emotui.metrics.temperature import fit_temperature

Target = Literal["macro_f1", "hamming_loss", "vector_accuracy"]
Scaling = float | Literal["fitted"]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What there is to choose from, in order of preference: of equal figures the first combination wins.

    temperatures: numbers, or "fitted" for the most likely temperature of the records at hand.
    """

    priors: Sequence[str] = ("paper", "exact-smoothed", "paper-couplings", "exact-dependence")
    temperatures: Sequence[Scaling] = (1.0,)
    alphas: Sequence[float] = PAPER_ALPHAS
    smoothing: float = 0.5
    target: Target = "macro_f1"
    objective: Objective = "map"


@dataclass(frozen=True, slots=True)
class Choice:
    """One combination, and the figure (`target_figure`) that it won with on the records that chose it.

    `scaling` is the grid's entry and `temperature` its value on those records: the same number, unless it was fitted.
    """

    prior: str
    scaling: Scaling
    temperature: float
    alpha: float
    figure: float


@dataclass(frozen=True, slots=True)
class Fold:
    """The ids that were held out, and what the other records chose for them."""

    held_out: tuple[str, ...]
    choice: Choice


@dataclass(frozen=True, slots=True)
class HonestDecoding:
    """(n, k) vectors each: decoded honestly, decoded by the leaked choice, and by the model alone (alpha 0).

    `fold_of` numbers every record's fold. `chosen` is what cross-validation over all records chooses, for others.
    """

    folds: tuple[Fold, ...]
    fold_of: tuple[int, ...]
    nested_cv: Bits
    in_sample: Bits
    alone: Bits
    in_sample_choice: Choice
    chosen: Choice


def assign_folds(ids: Sequence[str], folds: int, seed: int = 0) -> Rows:
    """Deal records into folds of equal size (but for one) by a hash of their ids, so that their order does not matter.

    Returns:
        (n,), fold numbers from 0.

    Raises:
        ValueError: fewer than two folds, fewer records than folds, or an id twice.
    """
    if not 2 <= folds <= len(ids):
        raise ValueError(f"{len(ids)} records cannot be dealt into {folds} folds")
    if len(set(ids)) != len(ids):
        raise ValueError("an id stands twice")
    digests = [hashlib.sha256(f"{seed}:{key}".encode()).digest() for key in ids]
    numbers = np.empty(len(ids), dtype=np.int64)
    numbers[sorted(range(len(ids)), key=digests.__getitem__)] = np.arange(len(ids)) % folds
    return numbers


def target_figure(gold: Bits, predicted: Bits, target: Target) -> float:
    """The figure to be made large: the macro F1, the vector accuracy, or minus the Hamming loss."""
    if target == "macro_f1":
        return float(label_counts(gold, predicted).f1.mean())
    if target == "hamming_loss":
        return -float((gold != predicted).mean())
    return float((gold == predicted).all(axis=1).mean())


def decode_honestly(
    ids: Sequence[str],
    log_odds: ArrayLike | HardAnswers,
    gold: ArrayLike,
    grid: Grid | None = None,
    folds: int = 5,
    seed: int = 0,
) -> HonestDecoding:
    """Decode every record with a prior, temperature and alpha that were fitted and chosen without it.

    Args:
        ids: n, each once.
        log_odds: (n, k), or hard answers.
        gold: (n, k) of 0 or 1.
        grid: what to choose from.
        folds: outer folds; the choice inside each uses as many (or fewer, where there are fewer records).
        seed: of the folds.

    Raises:
        ValueError: fewer than four records, or as `assign_folds`, `checked_evidence`, `fit_prior`.
    """
    grid = grid or Grid()
    odds, truth = checked_evidence(log_odds), label_vectors(gold)
    if shape_of(odds) != truth.shape or len(truth) != len(ids):
        raise ValueError(f"{len(ids)} ids, log-odds {shape_of(odds)} and gold {truth.shape} must agree")
    if len(ids) < 4:
        raise ValueError("choosing inside folds needs at least four records")
    numbers = assign_folds(ids, min(folds, len(ids)), seed)
    nested_cv = np.empty_like(truth)
    kept = []
    for fold in range(int(numbers.max()) + 1):
        held, rest = np.flatnonzero(numbers == fold), np.flatnonzero(numbers != fold)
        choice = _choose(ids, odds, truth, rest, grid, folds, seed + 1)
        prior = fit_prior(truth[rest], choice.prior, grid.smoothing)
        scaled = log_odds_given(odds, truth, rest, held) / choice.temperature
        nested_cv[held] = decode_for(scaled, prior, [choice.alpha], grid.objective)[0]
        kept.append(Fold(tuple(ids[row] for row in held.tolist()), choice))

    everything = np.arange(len(ids))
    in_sample, in_sample_choice = _leak(odds, truth, grid)
    return HonestDecoding(
        folds=tuple(kept),
        fold_of=tuple(numbers.tolist()),
        nested_cv=nested_cv,
        in_sample=in_sample,
        alone=alone(odds),
        in_sample_choice=in_sample_choice,
        chosen=_choose(ids, odds, truth, everything, grid, folds, seed),
    )


@dataclass(frozen=True, slots=True)
class Sweep:
    """(len(alphas), n, k) each: decoded with a prior fitted on the other folds, and with one fitted on all records."""

    out_of_fold: Bits
    in_sample: Bits


def sweep_alphas(
    ids: Sequence[str],
    log_odds: ArrayLike | HardAnswers,
    gold: ArrayLike,
    prior: str,
    alphas: Sequence[float],
    *,
    smoothing: float = 0.5,
    scaling: Scaling = 1.0,
    objective: Objective = "map",
    folds: int = 5,
    seed: int = 0,
) -> Sweep:
    """Every alpha with one kind of prior, for a curve: no record's own gold vector is in what decodes `out_of_fold`.

    Args:
        ids: n, each once.
        log_odds: (n, k), or hard answers.
        gold: (n, k) of 0 or 1.
        scaling: what log-odds are divided by, or "fitted" on the other folds.

    Raises:
        ValueError: as `decode_honestly`.
    """
    odds, truth = checked_evidence(log_odds), label_vectors(gold)
    numbers = assign_folds(ids, min(folds, len(ids)), seed)
    out_of_fold = np.empty((len(alphas), *truth.shape), dtype=np.uint8)
    for fold in range(int(numbers.max()) + 1):
        held, rest = np.flatnonzero(numbers == fold), np.flatnonzero(numbers != fold)
        fitted, temperature = fit_prior(truth[rest], prior, smoothing), _temperature(odds, truth, rest, scaling)
        scaled = log_odds_given(odds, truth, rest, held) / temperature
        out_of_fold[:, held] = decode_for(scaled, fitted, alphas, objective)
    every = np.arange(len(truth))
    scaled = log_odds_given(odds, truth, every, every) / _temperature(odds, truth, every, scaling)
    return Sweep(out_of_fold, decode_for(scaled, fit_prior(truth, prior, smoothing), alphas, objective))


def _choose(ids: Sequence[str], odds: Evidence, truth: Bits, rows: Rows, grid: Grid, folds: int, seed: int) -> Choice:
    """The combination with the best figure over `rows`, each row decoded with what the other folds of `rows` fitted."""
    numbers = assign_folds([ids[row] for row in rows], min(folds, len(rows)), seed)
    decoded = {
        (prior, scaling): np.empty((len(grid.alphas), len(rows), truth.shape[1]), dtype=np.uint8)
        for prior in grid.priors
        for scaling in grid.temperatures
    }
    for fold in range(int(numbers.max()) + 1):
        held = numbers == fold
        trained, decoded_rows = rows[~held], rows[held]
        temperatures = {scaling: _temperature(odds, truth, trained, scaling) for scaling in grid.temperatures}
        given = log_odds_given(odds, truth, trained, decoded_rows)
        for name in grid.priors:
            prior = fit_prior(truth[trained], name, grid.smoothing)
            for scaling, temperature in temperatures.items():
                guesses = decode_for(given / temperature, prior, grid.alphas, grid.objective)
                decoded[name, scaling][:, held] = guesses
    return _best(decoded, odds, truth, rows, grid)


def _leak(odds: Evidence, truth: Bits, grid: Grid) -> tuple[Bits, Choice]:
    """Fit, choose and decode on the same records."""
    rows = np.arange(len(truth))
    given = log_odds_given(odds, truth, rows, rows)
    decoded = {}
    for name in grid.priors:
        prior = fit_prior(truth, name, grid.smoothing)
        for scaling in grid.temperatures:
            temperature = _temperature(odds, truth, rows, scaling)
            decoded[name, scaling] = decode_for(given / temperature, prior, grid.alphas, grid.objective)
    choice = _best(decoded, odds, truth, rows, grid)
    return decoded[choice.prior, choice.scaling][list(grid.alphas).index(choice.alpha)], choice


def _best(decoded: dict[tuple[str, Scaling], Bits], odds: Evidence, truth: Bits, rows: Rows, grid: Grid) -> Choice:
    best: Choice | None = None
    for (name, scaling), by_alpha in decoded.items():
        for alpha, guesses in zip(grid.alphas, by_alpha, strict=True):
            figure = target_figure(truth[rows], guesses, grid.target)
            if best is None or figure > best.figure + 1e-12:
                best = Choice(name, scaling, _temperature(odds, truth, rows, scaling), alpha, figure)
    if best is None:
        raise ValueError("the grid is empty: it needs a prior, a temperature and an alpha")
    return best


def _temperature(odds: Evidence, truth: Bits, rows: Rows, scaling: Scaling) -> float:
    if scaling != "fitted":
        return float(scaling)
    return fit_temperature(log_odds_given(odds, truth, rows, rows), truth[rows])
