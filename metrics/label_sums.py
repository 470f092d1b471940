"""Figures of labels as sums over samples: F1 and its averages, precision, recall, shares of a confusion."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.permutation import f1_of_sums, weighted_f1_of_sums
from emotui.metrics.states import Floats
from emotui.metrics.sums import SHARE, Bools, SumFigure, ratio

Figures = dict[str, Callable[[], SumFigure]]
"""By name what makes a figure: of many labels there are hundreds, of which few are asked for."""


def counted(hits: Floats, given: Floats, there: Floats, labels: Sequence[str], scored: Bools) -> Figures:
    """F1 over all labels, and F1, precision and recall of each (`by_label.LABEL.f1`).

    Macro F1 is over the labels that occur, in gold or in what is given, among the samples that it is of; a label that
    occurs in none of all the samples has F1 0, as in the report of a run.

    Args:
        hits, given, there: (n, k) how often a sample's answer rightly says a label, says it, and gold says it.
        scored: (n,) as `SumFigure.there`.
    """
    k = len(labels)
    every = np.concatenate([hits, given, there], axis=1)
    nowhere = int(((given + there).sum(axis=0) == 0).sum())

    def over(statistic: Callable[[Floats, Floats, Floats], Floats]) -> Callable[[], SumFigure]:
        def of_blocks(sums: Floats) -> Floats:
            return statistic(*np.split(sums, 3, axis=1))

        return lambda: SumFigure(every, of_blocks, scored, SHARE, tuple(labels))

    def macro(hits: Floats, given: Floats, there: Floats) -> Floats:
        size = given + there
        occurs = (size > 0).sum(axis=-1)
        mean: Floats = f1_of_sums(hits, size, "macro", known=True) * occurs / (occurs + nowhere)
        return mean

    figures: Figures = {
        "macro_f1": over(macro),
        "micro_f1": over(lambda h, g, t: f1_of_sums(h, g + t, "micro")),
        "weighted_f1": over(weighted_f1_of_sums),
    }
    for at in range(k):
        h, g, t = hits[:, at], given[:, at], there[:, at]
        name = f"by_label.{labels[at]}"
        figures[f"{name}.f1"] = _ratio(2 * h, g + t, scored)
        figures[f"{name}.precision"] = _ratio(h, g, scored)
        figures[f"{name}.recall"] = _ratio(h, t, scored)
    return figures


def of_sets(gold: ArrayLike, said: ArrayLike, labels: Sequence[str], scored: Bools, *, single: bool) -> Figures:
    """All figures of one label, or several, a sample.

    `confusion.GOLD.GIVEN` is the share of the samples with a gold label in which it was given (GOLD twice), or was
    missed and another one given that gold does not say; with nothing behind the dot, nothing was.

    Args:
        gold, said: (n, k) of 0 or 1.
        single: every sample has one label.
    """
    g, p = (np.asarray(side, dtype=bool) & scored[:, None] for side in (gold, said))
    k, ones = g.shape[1], scored.astype(np.float64)
    both, either, size = (g & p).sum(axis=1), (g | p).sum(axis=1), g.sum(axis=1) + p.sum(axis=1)
    right = (g == p).sum(axis=1) * ones
    exact = _ratio((g == p).all(axis=1) * ones, ones, scored)
    figures: Figures = {"accuracy" if single else "vector_accuracy": exact}
    hits, given, there = (np.asarray(each, dtype=np.float64) for each in (g & p, p, g))
    figures |= counted(hits, given, there, labels, scored)
    if single:
        del figures["micro_f1"]
    else:
        figures |= {
            "lexical_accuracy": _ratio(right, ones * k, scored),
            "hamming_loss": _ratio(ones * k - right, ones * k, scored),
            "jaccard": _ratio(np.divide(both, either, out=np.ones(len(g)), where=either > 0) * ones, ones, scored),
            "samples_f1": _ratio(np.divide(2 * both, size, out=np.ones(len(g)), where=size > 0) * ones, ones, scored),
        }
    missed, extra = g & ~p, p & ~g
    nothing = ~extra.any(axis=1)
    for at in range(k):
        for other in range(k):
            met = g[:, at] & p[:, at] if at == other else missed[:, at] & extra[:, other]
            figures[f"confusion.{labels[at]}.{labels[other]}"] = _ratio(met, g[:, at], scored)
        figures[f"confusion.{labels[at]}."] = _ratio(missed[:, at] & nothing, g[:, at], scored)
    return figures


def of_probabilities(gold: ArrayLike, given: ArrayLike, labels: Sequence[str], scored: Bools) -> Figures:
    """The Brier score over all labels and of each. Args: gold, given: (n, k) of 0 or 1, and probabilities."""
    off = (np.asarray(given, dtype=np.float64) - np.asarray(gold, dtype=np.float64)) ** 2 * scored[:, None]
    figures: Figures = {"brier": _ratio(off.mean(axis=1), scored, scored)}
    return figures | {f"by_label.{label}.brier": _ratio(off[:, at], scored, scored) for at, label in enumerate(labels)}


def of_pairs(pairs: Mapping[tuple[str, str], Floats], scored: Bools) -> Figures:
    """Of (gold, given) labels of things of which a sample has any number. Args: pairs: (n,) how often each is there."""
    labels = list(dict.fromkeys(name for pair in pairs for name in pair))
    place = {name: at for at, name in enumerate(labels)}
    hits, given, there = (np.zeros((len(scored), len(labels))) for _ in range(3))
    for (gold, said), times in pairs.items():
        there[:, place[gold]] += times
        given[:, place[said]] += times
        if gold == said:
            hits[:, place[gold]] += times
    figures = counted(hits, given, there, labels, scored)
    figures["accuracy"] = _ratio(hits.sum(axis=1), there.sum(axis=1), scored)
    never = np.zeros(len(scored))
    for gold in labels:
        for said in labels:
            figures[f"confusion.{gold}.{said}"] = _ratio(pairs.get((gold, said), never), there[:, place[gold]], scored)
    return figures


def _ratio(above: NDArray[np.generic], below: NDArray[np.generic], scored: Bools) -> Callable[[], SumFigure]:
    return lambda: ratio(above, below, scored)
