"""May a model stand in for an annotator? The alternative annotator test.

One annotator after another is left out, and for each item that they labelled it is asked who represents the others who
labelled it better: the model or the one left out. Per annotator j, with d_i = 1 where the annotator is better, -1 where
the model is, 0 where they are equal (W^h - W^f of the paper, each 1 on a tie):

- the advantage probability rho_j: the share of items in which the model is as good or better;
- H0: mean d >= epsilon, against mean d < epsilon, by a one-sided t-test; with fewer than 30 items by Wilcoxon's
  signed-rank test of d - epsilon, as the paper's FAQ advises.

The model wins over the annotators whose H0 is rejected under a false discovery rate of q (Benjamini and Yekutieli
2001). The winning rate omega is their share, and the model may stand in where omega >= 0.5; rho is the mean of rho_j,
and is for comparing models. epsilon is what a person's better work is worth against its cost: the paper advises 0.2 for
experts, 0.15 for skilled annotators, 0.1 for crowd workers.

Source: Calderon, Reichart and Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge", ACL 2025, arXiv
2501.10970. The steps were checked against the authors' published notebook (github.com/nitaytech/AltTest), which leaves
out annotators with fewer than 30 items; the text of the appendices (imbalanced labels, a single expert) was not at hand
and is not implemented.
"""

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import sqrt
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ttest_1samp, wilcoxon

EPSILON = 0.2
FALSE_DISCOVERIES = 0.05
T_TEST_FROM = 30
"""Items from which on the t-test is used."""

T = TypeVar("T")

Alignment = Callable[[T, Sequence[T]], float]
"""How well an answer represents those of the others; more is better."""


class LeftOut(msgspec.Struct, frozen=True):
    """One annotator against the model. `lost`: items in which the annotator represents the others better.

    `p`: None where there is no item. `test`: `t`, `wilcoxon`, or `none`.
    """

    annotator: str
    n: int
    advantage: float | None
    human_advantage: float | None
    p: float | None
    test: str
    won: bool
    lost: Sequence[Hashable] = ()


class StandIn(msgspec.Struct, frozen=True):
    """The test. `winning_rate`, `advantage`: None without an annotator who can be left out; `why` says why."""

    epsilon: float
    q: float
    n: int
    winning_rate: float | None
    advantage: float | None
    passed: bool | None
    annotators: Sequence[LeftOut]
    why: str | None = None


def accuracy(answer: T, others: Sequence[T]) -> float:
    """The share of the others who said the same, in [0, 1]."""
    return sum(answer == other for other in others) / len(others)


def negative_rmse(answer: float, others: Sequence[float]) -> float:
    """Minus the root of the mean squared difference from the others."""
    return -sqrt(sum((answer - other) ** 2 for other in others) / len(others))


def similarity(of_two: Callable[[T, T], float]) -> Alignment[T]:
    """The mean similarity with the others, by a similarity of two answers."""

    def aligned(answer: T, others: Sequence[T]) -> float:
        return sum(of_two(answer, other) for other in others) / len(others)

    return aligned


def stand_in(
    people: Mapping[str, Mapping[Hashable, T]],
    model: Mapping[Hashable, T],
    alignment: Alignment[T],
    *,
    epsilon: float = EPSILON,
    q: float = FALSE_DISCOVERIES,
) -> StandIn:
    """The alternative annotator test.

    Args:
        people: what each annotator said, by item; items of fewer than two annotators do not count.
        model: what the model said, by item; items without its answer do not count.
        alignment: of one answer with those of several others.
    """
    of_item: dict[Hashable, list[str]] = {}
    for name, said in people.items():
        for item in said:
            if item in model:
                of_item.setdefault(item, []).append(name)
    counted = {item: names for item, names in of_item.items() if len(names) > 1}
    found = [_left_out(name, people, model, counted, alignment, epsilon) for name in people]
    tested = [one for one in found if one.p is not None]
    if not tested:
        return StandIn(epsilon, q, 0, None, None, None, found, "no item has two annotators and an answer of the model")
    wins = rejected([one.p for one in tested if one.p is not None], q)
    won = {one.annotator for one, win in zip(tested, wins, strict=True) if win}
    shown = [msgspec.structs.replace(one, won=one.annotator in won) for one in found]
    rate = len(won) / len(tested)
    advantage = sum(one.advantage for one in tested if one.advantage is not None) / len(tested)
    return StandIn(epsilon, q, len(counted), rate, advantage, rate >= 0.5, shown)


def rejected(p: ArrayLike, q: float = FALSE_DISCOVERIES) -> NDArray[np.bool_]:
    """Which hypotheses are rejected under a false discovery rate of q, whatever their dependence.

    Args:
        p: (m,), none of them NaN.

    Source: Benjamini and Yekutieli 2001.
    """
    values = np.asarray(p, dtype=np.float64)
    m = len(values)
    if m == 0:
        return np.zeros(0, dtype=np.bool_)
    order = np.argsort(values, kind="stable")
    ranks = np.arange(1, m + 1)
    below = np.nonzero(values[order] <= ranks / m * q / (1 / ranks).sum())[0]
    found = np.zeros(m, dtype=np.bool_)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found


def _left_out(
    name: str,
    people: Mapping[str, Mapping[Hashable, T]],
    model: Mapping[Hashable, T],
    counted: Mapping[Hashable, Sequence[str]],
    alignment: Alignment[T],
    epsilon: float,
) -> LeftOut:
    differences: list[int] = []
    lost: list[Hashable] = []
    for item, own in people[name].items():
        if item not in counted:
            continue
        others = [people[other][item] for other in counted[item] if other != name]
        of_person, of_model = alignment(own, others), alignment(model[item], others)
        differences.append((of_person > of_model) - (of_model > of_person))
        if of_person > of_model:
            lost.append(item)
    n = len(differences)
    if n == 0:
        return LeftOut(name, 0, None, None, None, "none", False)
    d = np.array(differences, dtype=np.float64)
    p, test = _p(d, epsilon)
    return LeftOut(name, n, float((d <= 0).mean()), float((d >= 0).mean()), p, test, False, lost)


def _p(differences: NDArray[np.float64], epsilon: float) -> tuple[float, str]:
    """One-sided, against a mean below epsilon. Equal differences are certain: 0 below epsilon, else 1."""
    test = "t" if len(differences) >= T_TEST_FROM else "wilcoxon"
    if test == "t" and np.ptp(differences) == 0:
        return float(differences[0] >= epsilon), test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # ties, for which the approximation is corrected
        if test == "t":
            return float(ttest_1samp(differences, epsilon, alternative="less").pvalue), test
        return float(wilcoxon(differences - epsilon, alternative="less").pvalue), test
