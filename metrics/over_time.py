"""Does a model see the turn? Changes from text to text, of labels and of numbers; and labels decoded over turns.

Everything is over sequences: the texts of a conversation, or of a person, in their order. What is drawn, left out or
dealt into folds is always a whole sequence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.label_sums import of_sets
from emotui.metrics.nested_cv import assign_folds, target_figure
from emotui.metrics.resampling import RESAMPLES, convention
from emotui.metrics.states import Bits, Floats
from emotui.metrics.sums import SumFigure, compared_sums, intervals_within, ratio
from emotui.metrics.turn_prior import TurnPrior, best_path, checked_conversations, fit_turn_prior, turn_marginals

WEIGHTS = (0.0, 0.25, 0.5, 1.0)
"""Of the prior within a turn, and of that between turns, to choose from."""

SAME = 1e-9
"""Numbers that differ by no more have not changed."""

Objective = Literal["map", "hamming"]
_FIGURES = ("macro_f1", "micro_f1", "hamming_loss", "vector_accuracy")


# What changes.


def label_changes(gold: Sequence[ArrayLike], predicted: Sequence[ArrayLike], labels: Sequence[str]) -> dict[str, Any]:
    """Which steps from a text to the next change the labels, and which of these a model sees.

    Args:
        gold, predicted: (T, k) of 0 or 1 a sequence, both of the same shapes.
        labels: k names.

    Returns:
        `steps`, `sequences`, `gold` and `predicted` (steps with a change), `precision`, `recall`, `f1` (a change is
        told where there is one), `same` (of gold's changes the share in which the very same labels come and go),
        `steady` (the share of steps without a change of gold in which the model does not change either), `ci95`,
        `by_label` `{label: {comes, goes: {gold, predicted, precision, recall, f1}}}`, `conventions`, `notes`.
        A figure is None where nothing is there to count.

    Raises:
        ValueError: shapes that differ.
    """
    _check_shapes(gold, predicted)
    told = [np.diff(np.asarray(side, dtype=np.int8), axis=0) for side in gold]
    seen = [np.diff(np.asarray(side, dtype=np.int8), axis=0) for side in predicted]
    groups = np.repeat(np.arange(len(told)), [len(one) for one in told])
    g, p = (np.concatenate(side) if side else np.zeros((0, len(labels)), np.int8) for side in (told, seen))
    changed, said = (g != 0).any(axis=1), (p != 0).any(axis=1)
    both, right = changed & said, (g == p).all(axis=1)
    parts = {
        "precision": ratio(both, said),
        "recall": ratio(both, changed),
        "f1": ratio(2 * both, changed.astype(int) + said),
        "same": ratio(changed & right, changed),
        "steady": ratio(~changed & ~said, ~changed),
    }
    by_label = {}
    for at, label in enumerate(labels):
        ways = {}
        for name, step in (("comes", 1), ("goes", -1)):
            there, given = g[:, at] == step, p[:, at] == step
            hits = int((there & given).sum())
            ways[name] = {
                "gold": int(there.sum()),
                "predicted": int(given.sum()),
                "precision": _share(hits, int(given.sum())),
                "recall": _share(hits, int(there.sum())),
                "f1": _share(2 * hits, int(there.sum() + given.sum())),
            }
        by_label[label] = ways
    counts = {"sequences": len(gold), "steps": len(g), "gold": int(changed.sum()), "predicted": int(said.sum())}
    return counts | _with_intervals(parts, groups, len(gold)) | {"by_label": by_label}


def number_changes(gold: Sequence[ArrayLike], predicted: Sequence[ArrayLike]) -> dict[str, Any]:
    """How a number changes from a text to the next, and whether a model's number goes along.

    Args:
        gold, predicted: (T,) a sequence; NaN where nothing is said. A step counts where all four ends are there.

    Returns:
        `steps`, `sequences`, `correlation` (Pearson, of both changes), `mae` (of the change), `mae_of_no_change` (what
        is wrong where nobody ever changes: gold's mean absolute change), `direction` (of gold's changes the share in
        which the model's number goes the same way), `ci95`, `conventions`, `notes`. None where undefined.

    Raises:
        ValueError: shapes that differ.
    """
    _check_shapes(gold, predicted)
    pairs = zip(gold, predicted, strict=True)
    rows = [np.stack([np.diff(np.asarray(side, dtype=np.float64)) for side in pair], axis=1) for pair in pairs]
    groups = np.repeat(np.arange(len(rows)), [len(one) for one in rows])
    table = np.concatenate(rows) if rows else np.zeros((0, 2))
    there = np.isfinite(table).all(axis=1)
    (g, p), groups = table[there].T, groups[there]
    moved = np.abs(g) > SAME
    ones = np.ones(len(g))
    parts = {
        "correlation": SumFigure(np.stack([g, p, g * p, g * g, p * p, ones], 1), _pearson, ones > 0, (-1.0, 1.0)),
        "mae": ratio(np.abs(g - p), ones),
        "mae_of_no_change": ratio(np.abs(g), ones),
        "direction": ratio(moved & (np.sign(g) == np.sign(np.where(np.abs(p) > SAME, p, 0.0))), moved),
    }
    return {"sequences": len(gold), "steps": len(g)} | _with_intervals(parts, groups, len(gold))


def _pearson(sums: Floats) -> Floats:
    x, y, xy, xx, yy, n = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y)))


def _with_intervals(parts: dict[str, SumFigure], groups: NDArray[np.int64], n: int) -> dict[str, Any]:
    every = np.ones(len(groups), dtype=np.bool_)
    figures = {name: figure.over(every) if len(every) else None for name, figure in parts.items()}
    known = [name for name, value in figures.items() if value is not None]
    sure = {name: intervals_within(parts[name], None, [every], groups)[0] for name in known}
    return figures | {
        "ci95": {name: None if one.ends is None else list(one.ends) for name, one in sure.items()},
        "conventions": {"ci95": convention(n, "sequences", RESAMPLES, 0)},
        "notes": {name: one.note for name, one in sure.items() if one.note}
        | {name: "nothing to count" for name, value in figures.items() if value is None},
    }


def _share(above: int, below: int) -> float | None:
    return above / below if below else None


def _check_shapes(gold: Sequence[ArrayLike], predicted: Sequence[ArrayLike]) -> None:
    shapes = [[np.shape(one) for one in side] for side in (gold, predicted)]
    if shapes[0] != shapes[1]:
        raise ValueError("gold and predicted sequences differ in shape")


# Labels decoded over turns, honest in folds.


@dataclass(frozen=True, slots=True)
class Weights:
    """alpha: of the prior within a turn; turns: of the couplings from turn to turn. `figure`: macro F1 where chosen."""

    alpha: float
    turns: float
    figure: float = float("nan")


def decoded_over_turns(
    keys: Sequence[str],
    log_odds: Sequence[ArrayLike],
    gold: Sequence[ArrayLike],
    labels: Sequence[str],
    *,
    folds: int = 5,
    seed: int = 0,
    objective: Objective = "map",
    given: Sequence[ArrayLike] | None = None,
    on_fold: Callable[[int, int], None] = lambda done, n: None,
) -> dict[str, Any]:
    """Labels decoded with a prior within turns and with one over turns, each fitted and weighed without the sequence.

    Each fold's prior is fitted on the other folds; its weights (of `WEIGHTS`) are those with the greatest macro F1 by
    cross-validation among the other folds, where a smaller weight wins of equal figures.

    Args:
        keys: of the sequences, each once.
        log_odds, gold: (T, k) each.
        objective: `map`: the best path; `hamming`: each label by its own posterior probability.
        given: (T, k) each: the labels that the model gives by itself, by thresholds of its own; None: those that are
            likelier than not.
        on_fold: called with how many of how many folds are weighed, all sequences together being the last.

    Returns:
        `n`, `sequences`, `folds`, `alone`, `within` and `over_turns` (figures: macro and micro F1, Hamming loss, vector
        accuracy, and `changes`, the F1 of `label_changes`), `in_sample` (the same fitted and weighed on these very
        sequences: it flatters), `gain` of `over_turns` `{over alone, over within: {figure: {difference, ci95, p}}}`,
        `chosen` (a line a fold) and `chosen_for_all`, `prior` of all sequences (theta, pairs, turns), `predictions`.

    Raises:
        ValueError: fewer than four sequences, or as `fit_turn_prior` and `best_path`.
    """
    truth = checked_conversations(gold)
    odds = [np.asarray(one, dtype=np.float64) for one in log_odds]
    if len(keys) < 4:
        raise ValueError(f"{len(keys)} sequences: choosing weights inside folds needs at least four")
    _check_shapes(truth, odds)
    decoding = _Decoding(tuple(keys), odds, truth, objective)
    every = np.arange(len(keys))
    numbers = assign_folds(keys, min(folds, len(keys)), seed)
    parts: dict[str, list[Bits]] = {name: [np.empty(0, np.uint8)] * len(keys) for name in ("within", "over_turns")}
    chosen = []
    n_folds = int(numbers.max()) + 1
    for fold in range(n_folds):
        on_fold(fold, n_folds + 1)
        held, rest = np.flatnonzero(numbers == fold), np.flatnonzero(numbers != fold)
        prior = fit_turn_prior([truth[at] for at in rest])
        best = decoding.chosen(rest, folds, seed + 1)
        for name, decoded in parts.items():
            for at, vectors in zip(held.tolist(), decoding.decoded(held, prior, best[name]), strict=True):
                decoded[at] = vectors
        chosen.append({"fold": fold, "sequences": len(held)} | {name: _told(one) for name, one in best.items()})
    on_fold(n_folds, n_folds + 1)
    whole = fit_turn_prior(truth)
    best = decoding.chosen(every, folds, seed)
    in_sample = decoding.decoded(every, whole, decoding.best_in_sample(whole))
    on_fold(n_folds + 1, n_folds + 1)
    alone = [one > 0 for one in odds] if given is None else [np.asarray(one) for one in given]
    parts = {"alone": [one.astype(np.uint8) for one in alone], **parts}
    return {
        "n": sum(map(len, truth)),
        "sequences": len(keys),
        "folds": n_folds,
        "objective": objective,
        **{name: _figures(truth, decoded, labels) for name, decoded in parts.items()},
        "in_sample": _figures(truth, in_sample, labels),
        "gain": {
            f"over {name}": _gain(truth, parts["over_turns"], parts[name], labels) for name in ("alone", "within")
        },
        "chosen": chosen,
        "chosen_for_all": {name: _told(one) for name, one in best.items()},
        "prior": _named(whole, labels),
        "predictions": dict(zip(keys, (one.tolist() for one in parts["over_turns"]), strict=True)),
    }


@dataclass(frozen=True, slots=True)
class _Decoding:
    """Sequences with what a model says of them and gold."""

    keys: tuple[str, ...]
    odds: list[Floats]
    truth: list[Floats]
    objective: Objective

    def decoded(self, places: NDArray[np.int64], prior: TurnPrior, weights: Weights) -> list[Bits]:
        """(T, k) of 0 or 1 for each of these sequences."""
        given = [self.odds[at] for at in places]
        if self.objective == "map":
            return best_path(given, prior, weights.alpha, weights.turns)
        if not (weights.alpha or weights.turns):
            return [(one > 0).astype(np.uint8) for one in given]
        return [(one > 0.5).astype(np.uint8) for one in turn_marginals(given, prior, weights.alpha, weights.turns)]

    def chosen(self, places: NDArray[np.int64], folds: int, seed: int) -> dict[str, Weights]:
        """The weights with the greatest macro F1 by cross-validation among these sequences, without and with turns."""
        keys = [self.keys[at] for at in places]
        numbers = assign_folds(keys, min(folds, len(keys)), seed)
        parts = [(places[numbers == fold], places[numbers != fold]) for fold in range(int(numbers.max()) + 1)]
        fitted = [(held, fit_turn_prior([self.truth[at] for at in rest])) for held, rest in parts]
        gold = np.concatenate([self.truth[at] for held, _ in fitted for at in held]).astype(np.uint8)
        tried = []
        for turns, alpha in product(WEIGHTS, WEIGHTS):
            decoded = [self.decoded(held, prior, Weights(alpha, turns)) for held, prior in fitted]
            said = np.concatenate([vectors for part in decoded for vectors in part])
            tried.append(Weights(alpha, turns, target_figure(gold, said, "macro_f1")))
        return {"within": _best([one for one in tried if not one.turns]), "over_turns": _best(tried)}

    def best_in_sample(self, prior: TurnPrior) -> Weights:
        """The weights that do best on the sequences that the prior is fitted on."""
        gold = np.concatenate(self.truth).astype(np.uint8)
        every = np.arange(len(self.keys))
        return _best(
            [
                Weights(alpha, turns, target_figure(gold, np.concatenate(decoded), "macro_f1"))
                for turns, alpha in product(WEIGHTS, WEIGHTS)
                for decoded in [self.decoded(every, prior, Weights(alpha, turns))]
            ]
        )


def _best(tried: Sequence[Weights]) -> Weights:
    """That with the greatest figure, the first of equal ones."""
    best = tried[0]
    for one in tried[1:]:
        if one.figure > best.figure + SAME:
            best = one
    return best


def _told(weights: Weights) -> dict[str, float]:
    return {"alpha": weights.alpha, "turns": weights.turns, "macro_f1": weights.figure}


def _sums(truth: Sequence[Floats], decoded: Sequence[Bits], labels: Sequence[str]) -> dict[str, SumFigure]:
    gold, said = np.concatenate(truth), np.concatenate(decoded)
    figures = of_sets(gold, said, labels, np.ones(len(gold), dtype=np.bool_), single=False)
    return {name: figures[name]() for name in _FIGURES}


def _figures(truth: Sequence[Floats], decoded: Sequence[Bits], labels: Sequence[str]) -> dict[str, float | None]:
    every = np.ones(sum(map(len, truth)), dtype=np.bool_)
    found = {name: figure.over(every) for name, figure in _sums(truth, decoded, labels).items()}
    return found | {"changes": label_changes(truth, decoded, labels)["f1"]}


def _gain(
    truth: Sequence[Floats], first: Sequence[Bits], second: Sequence[Bits], labels: Sequence[str]
) -> dict[str, Any]:
    """First less second: the difference of each figure, with its interval and test over sequences."""
    groups = np.repeat(np.arange(len(truth)), [len(one) for one in truth])
    every = np.ones(len(groups), dtype=np.bool_)
    ours, theirs = _sums(truth, first, labels), _sums(truth, second, labels)
    found = {}
    for name in _FIGURES:
        report = compared_sums(ours[name], theirs[name], every, groups)
        found[name] = {
            "difference": report["mean_difference"],
            "ci95": report["ci95"],
            "p": report["permutation_p"],
        }
    return found


def _named(prior: TurnPrior, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "theta": dict(zip(labels, prior.theta.tolist(), strict=True)),
        "pairs": {
            f"{one} {labels[j]}": float(prior.pairs[i, j])
            for i, one in enumerate(labels)
            for j in range(i + 1, len(labels))
        },
        "turns": {one: dict(zip(labels, prior.turns[i].tolist(), strict=True)) for i, one in enumerate(labels)},
    }
