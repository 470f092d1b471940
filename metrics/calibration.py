"""A judge calibrated on how people differ: temperature, vector scaling and thresholds, fitted on part of their answers.

What is fitted is a source's probabilities to the shares of annotators who give each label, by cross-entropy, so that a
source that is surer than people are becomes as unsure as they are. All that is told of a text comes from a fit on the
other folds. With gold of one answer a text this is temperature and vector scaling as Guo and others have them.

Sources: Guo, Pleiss, Sun and Weinberger 2017, On Calibration of Modern Neural Networks (section 4); Platt 1999 for
labels that are each yes or no; Baan and others 2022 for people's shares as what is to be met.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit, log_softmax, softmax

from emotui.metrics.alternative_annotator import EPSILON, StandIn, accuracy, similarity, stand_in
from emotui.metrics.nested_cv import assign_folds
from emotui.metrics.people_spread import annotator_places, calibration_error, error_rates, manhattan, soft_cross_entropy
from emotui.metrics.resampling import drawn, interval_of, mean_replicates
from emotui.metrics.states import Floats

SMALLEST = 1e-6
"""No probability counts as less, or as more than 1 less it: its logarithm is what is scaled."""

_REACH = 5.0
"""A temperature lies between exp(-5) and exp(5)."""

_RIDGE = 1e-3
"""What the squared distance of a label's weight from 1 and of its offset from 0 costs, in nats: labels that hardly
anybody gives would else have offsets without end."""

USUAL = 0.5


class Scaling(NamedTuple):
    """By label a weight of the log-odds (of one label a text: of the log-probabilities) and an offset."""

    weights: Floats
    offsets: Floats


def scores_of(probabilities: ArrayLike, *, independent: bool) -> Floats:
    """What is scaled: log-odds of labels that are each yes or no, log-probabilities of one label a text.

    Args:
        probabilities: (n, k) in [0, 1], moved to [SMALLEST, 1 - SMALLEST].
    """
    p = np.clip(np.asarray(probabilities, dtype=np.float64), SMALLEST, 1 - SMALLEST)
    found: Floats = np.log(p) - np.log1p(-p) if independent else np.log(p)
    return found


def scaled(scores: Floats, scaling: Scaling, *, independent: bool) -> Floats:
    """(n, k) probabilities of scores by a scaling; of one label a text each row adds up to 1."""
    moved = scores * scaling.weights + scaling.offsets
    found: Floats = expit(moved) if independent else softmax(moved, axis=1)
    return found


def loss(scores: Floats, shares: Floats, scaling: Scaling, *, independent: bool) -> float:
    """The mean over texts of -sum over labels of share x log probability, in nats; of yes and no both sides count."""
    moved = scores * scaling.weights + scaling.offsets
    if independent:
        return float(-(shares * log_expit(moved) + (1 - shares) * log_expit(-moved)).sum(axis=1).mean())
    return float(-(shares * log_softmax(moved, axis=1)).sum(axis=1).mean())


def fit_temperature(scores: Floats, shares: Floats, *, independent: bool) -> Scaling:
    """One weight for all labels, 1 over the temperature, that meets people's shares best."""
    k = scores.shape[1]

    def cost(log_weight: float) -> float:
        return loss(scores, shares, Scaling(np.full(k, np.exp(log_weight)), np.zeros(k)), independent=independent)

    found = minimize_scalar(cost, bounds=(-_REACH, _REACH), method="bounded", options={"xatol": 1e-6})
    return Scaling(np.full(k, float(np.exp(found.x))), np.zeros(k))


def fit_vector(scores: Floats, shares: Floats, *, independent: bool) -> Scaling:
    """A weight and an offset for each label that meet people's shares best, less a ridge of `_RIDGE`."""
    n, k = scores.shape

    def cost(flat: Floats) -> tuple[float, Floats]:
        scaling = Scaling(flat[:k], flat[k:])
        off = scaled(scores, scaling, independent=independent)
        # Of one label a text the shares of a row add up to 1, so that the gradient is p - q as with yes and no.
        gradient = (off - shares) / n
        away = np.concatenate([flat[:k] - 1, flat[k:]])
        own = np.concatenate([(gradient * scores).sum(axis=0), gradient.sum(axis=0)])
        total = loss(scores, shares, scaling, independent=independent) + _RIDGE * float(away @ away)
        return total, own + 2 * _RIDGE * away

    start = np.concatenate([np.ones(k), np.zeros(k)])
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return Scaling(found.x[:k], found.x[k:])


def fit_thresholds(probabilities: Floats, shares: Floats) -> Floats:
    """(k,) of each label the probability from which on it is given, with which the fewest annotators are contradicted.

    Of several that are as good the one nearest to .5 is taken; it lies in the middle between two probabilities.
    """
    found = np.full(probabilities.shape[1], USUAL)
    for at, (column, share) in enumerate(zip(probabilities.T, shares.T, strict=True)):
        there = np.unique(column)
        cuts = np.concatenate([[0.0], (there[1:] + there[:-1]) / 2, [np.nextafter(1.0, 2.0)], [USUAL]])
        # Sorted by probability, each cut has a no for all below it and a yes for all from it on.
        order = np.argsort(column, kind="stable")
        below = np.searchsorted(column[order], cuts, side="left")
        no, yes = (np.concatenate([[0.0], np.cumsum(each[order])]) for each in (share, 1 - share))
        wrong = np.round(no[below] + yes[-1] - yes[below], 9)
        best = np.flatnonzero(wrong == wrong.min())
        found[at] = cuts[best[np.argmin(np.abs(cuts[best] - USUAL))]]
    return found


def calibration_report(
    people: Sequence[Mapping[str, Sequence[str]]],
    probabilities: ArrayLike,
    chosen: ArrayLike,
    labels: Sequence[str],
    ids: Sequence[str],
    shared: Sequence[str | None],
    *,
    folds: int,
    independent: bool,
    seed: int = 0,
) -> dict[str, Any]:
    """A source before and after calibration, each text by a fit on the other folds.

    Args:
        people: of each text the labels that each of its annotators gives.
        probabilities: (n, k); of one label a text each row adds up to 1.
        chosen: (n, k) of 0 or 1, the labels that count as predicted before.
        ids: of the texts.
        shared: of each text what it shares with others, which are then in one fold.
        independent: whether each label is yes or no, and not one of them a text.

    Returns:
        `calibrated`: by method (`before`, `temperature`, `vector`, of several labels `thresholds`) `manhattan`,
        `cross_entropy`, `calibration_error` and `error_rate` as of `emotui.metrics.people_spread`, and of the
        alternative annotator test `winning_rate` and `advantage`. `changes`: by method how far
        `manhattan`, `cross_entropy` and `error_rate` are from before, `[difference, low, high]`. `fitted`: on all texts
        `temperature`, `vector` `{label: [weight, offset]}` and `thresholds`.

    Raises:
        ValueError: there are fewer texts that share nothing than folds.
    """
    p, before = np.asarray(probabilities, dtype=np.float64), np.asarray(chosen, dtype=np.float64)
    given = _given(people, labels)
    q = np.nanmean(given, axis=1)
    scores = scores_of(p, independent=independent)
    groups = [own if own is not None else f" {key}" for own, key in zip(shared, ids, strict=True)]
    names = list(dict.fromkeys(groups))
    fold_of = dict(zip(names, assign_folds(names, folds, seed).tolist(), strict=True))
    fold = np.array([fold_of[name] for name in groups])
    methods = {"temperature": fit_temperature, "vector": fit_vector}
    spread = {"before": p, **{name: np.empty_like(p) for name in methods}}
    decided = {"before": before} | ({"thresholds": np.empty_like(p)} if independent else {})
    for held in range(folds):
        here, rest = fold == held, fold != held
        for name, fit in methods.items():
            scaling = fit(scores[rest], q[rest], independent=independent)
            spread[name][here] = scaled(scores[here], scaling, independent=independent)
        if independent:
            decided["thresholds"][here] = p[here] >= fit_thresholds(p[rest], q[rest])
    decided |= {name: _decided(spread[name], independent) for name in methods}
    spread |= {"thresholds": p} if independent else {}
    columns = {name: _columns(q, given, spread[name], decided[name], independent) for name in spread}
    tests = {name: _test(people, decided[name], labels, independent) for name in spread}
    calibrated = {
        name: {figure: float(column.mean()) for figure, column in own.items()}
        | {"calibration_error": calibration_error(q, spread[name])}
        | {"winning_rate": tests[name].winning_rate, "advantage": tests[name].advantage}
        for name, own in columns.items()
    }
    by = drawn(shared)
    changes: dict[str, dict[str, Any]] = {}
    for name, own in columns.items():
        if name == "before":
            continue
        apart = np.stack([own[figure] - columns["before"][figure] for figure in own], axis=1)
        ends = [interval_of(one).ends for one in mean_replicates(apart, by, seed=seed, bounds=(-np.inf, np.inf))]
        changes[name] = {
            figure: [float(apart[:, at].mean()), *(ends[at] or (None, None))] for at, figure in enumerate(own)
        }
    temperature = fit_temperature(scores, q, independent=independent)
    vector = fit_vector(scores, q, independent=independent)
    pairs = zip(labels, vector.weights.tolist(), vector.offsets.tolist(), strict=True)
    fitted: dict[str, Any] = {
        "temperature": float(1 / temperature.weights[0]),
        "vector": {name: [weight, offset] for name, weight, offset in pairs},
    }
    if independent:
        fitted["thresholds"] = dict(zip(labels, fit_thresholds(p, q).tolist(), strict=True))
    told = f"{folds} folds of texts, each by a fit on the others, to people's shares (Guo and others 2017)"
    return {
        "n": len(people),
        "folds": folds,
        "calibrated": calibrated,
        "changes": changes,
        "fitted": fitted,
        "conventions": {"calibrated": told, "winning_rate": f"alternative annotator test, epsilon {EPSILON:g}"},
        "notes": {"winning_rate": why} if (why := tests["before"].why) else {},
    }


def _given(people: Sequence[Mapping[str, Sequence[str]]], labels: Sequence[str]) -> Floats:
    """(n, people, k): 1 where somebody gives a label, 0 where not, NaN where somebody says nothing of the text."""
    names, places = annotator_places(people), {name: at for at, name in enumerate(labels)}
    given = np.full((len(people), len(names), len(labels)), np.nan)
    for row, own in zip(given, people, strict=True):
        for name, answer in own.items():
            row[names[name]] = 0.0
            row[names[name], [places[label] for label in answer]] = 1.0
    return given


def _decided(probabilities: Floats, independent: bool) -> Floats:
    found: Floats
    if independent:
        found = (probabilities >= USUAL).astype(np.float64)
    else:
        found = np.eye(probabilities.shape[1])[probabilities.argmax(axis=1)]
    return found


def _columns(q: Floats, given: Floats, p: Floats, decided: Floats, independent: bool) -> dict[str, Floats]:
    """By figure (n,), as `emotui score --against people` has them."""
    if independent:
        people, source = (np.stack([one, 1 - one], axis=-1) for one in (q, p))
        off = error_rates(given, decided[:, None, :])
        return {
            "manhattan": manhattan(people, source).mean(axis=1),
            "cross_entropy": soft_cross_entropy(people, source).mean(axis=1),
            "error_rate": off,
        }
    answers = np.where(np.isnan(given).any(axis=2), np.nan, given.argmax(axis=2))
    off = error_rates(answers, decided.argmax(axis=1)[:, None].astype(np.float64))
    return {"manhattan": manhattan(q, p), "cross_entropy": soft_cross_entropy(q, p), "error_rate": off}


def _test(
    people: Sequence[Mapping[str, Sequence[str]]], decided: Floats, labels: Sequence[str], independent: bool
) -> StandIn:
    """The alternative annotator test of what a source decides."""
    by_name: dict[str, dict[Any, frozenset[str]]] = {}
    for at, own in enumerate(people):
        for name, answer in own.items():
            by_name.setdefault(name, {})[at] = frozenset(answer)
    source: dict[Any, frozenset[str]] = {
        at: frozenset(np.array(labels)[row > 0].tolist()) for at, row in enumerate(decided)
    }
    return stand_in(by_name, source, similarity(_jaccard) if independent else accuracy)


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first or second else 1.0
