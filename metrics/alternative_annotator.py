"""May a model stand in for an annotator? The alternative annotator test.

One annotator after another is left out, and for each item that they labelled it is asked who represents the others who
labelled it better: the model or the one left out. Per annotator j, with d_i = 1 where the annotator is better, -1 where
the model is, 0 where they are equal (W^h - W^f of the paper, each 1 on a tie; section 3.2):

- the advantage probability rho_j: the share of items in which the model is as good or better;
- H0: mean d >= epsilon, against mean d < epsilon, by a one-sided t-test; with fewer than 30 items by Wilcoxon's
  signed-rank test of d - epsilon, exact (section 3.3).

The model wins over the annotators whose H0 is rejected under a false discovery rate of q (Benjamini and Yekutieli
2001; appendix C.6). The winning rate omega is their share, and the model may stand in where omega >= 0.5; rho is the
mean of rho_j, and is for comparing models (section 3.4). epsilon is what a person's better work is worth against its
cost: 0.2 for experts, 0.15 for skilled annotators, 0.1 for crowd workers; from 0.05 to 0.3 it makes a difference
(appendix B.1). Several tests, of the aspects or domains of one dataset, are judged by all their p together, and each
has a winning rate of its own (appendix A).

What the appendices add:

- C.1, imbalanced labels: each item counts by the inverse share of its label, which is the others' majority; p is by t
  with the weighted deviation and the effective number of items, less one degree of freedom (which is ours, the paper
  names none). Of a tie the first label in order is taken, where the paper draws one.
- C.2, one expert: who represents the expert better, the model or each of the others? C.5, does the model outperform
  people: the same against gold, with an epsilon of 0.
- C.3, quality: annotators weigh by it in the alignment and in the winning rate.
- A, ranks: numbers as ranks among the own ones of each source (`ranked`), or standardised (`standardised`).

Source: Calderon, Reichart and Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge", ACL 2025, pages
16051-16081 (arXiv 2501.10970, whose appendices are numbered otherwise). The steps were checked against the authors'
published notebook (github.com/nitaytech/AltTest), which leaves out annotators with fewer than 30 items.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import sqrt
from typing import Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, ttest_1samp
from scipy.stats import t as student

from emotui.metrics.paired import wilcoxon_p
from emotui.metrics.resampling import score_differences
from emotui.metrics.significance import adjusted

EPSILON = 0.2
FALSE_DISCOVERIES = 0.05
T_TEST_FROM = 30
"""Items from which on the t-test is used."""

ENOUGH_ITEMS, ENOUGH_PEOPLE = 50, 3
"""What the paper advises at least (section 5.1 and appendix A)."""

_EPSILONS = (0.05, 0.3)
_SKEWED = 0.8
"""The share of one answer from which on it is told that ties make passing easy."""

_OFTEN = "a model that is worse by just epsilon passes it in one of seven sets of 20, not in one of twenty"
"""`benchmarks/soundness/interval_coverage.py`."""

T = TypeVar("T")

Alignment = Callable[[T, Sequence[T], Sequence[float]], float]
"""How well an answer represents those of the others, who weigh so much each; more is better."""

Floats = NDArray[np.float64]


class Compared(msgspec.Struct, Generic[T], frozen=True):
    """What is put to the test.

    `people`: what each annotator said, by item; items of fewer than two annotators do not count. `model`: what the
    model said; items without its answer do not count. `alignment`: of one answer with those of several others.
    `expert`: what the one expert said (C.2), or gold (C.5); then it is the expert who is represented, and items without
    the expert's answer do not count. `quality`: of annotators, above 0; 1 where nothing is said (C.3). `label`: the
    label that an answer is, None where answers are no labels. `balanced`: whether items are, by these labels (C.1).
    """

    people: Mapping[str, Mapping[Hashable, T]]
    model: Mapping[Hashable, T]
    alignment: Alignment[T]
    expert: Mapping[Hashable, T] | None = None
    quality: Mapping[str, float] = {}
    label: Callable[[T], str] | None = None
    balanced: bool = False


class LeftOut(msgspec.Struct, frozen=True):
    """One annotator against the model. `lost`: items in which the annotator represents the others better.

    `p`: None where there is no item. `test`: `t`, `wilcoxon`, `weighted t` or `none`.
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
    """The test. `winning_rate`, `advantage`: None without an annotator who can be left out; `why` says why.

    `advice`: what the paper says against leaning on the verdict, a line each.
    """

    epsilon: float
    q: float
    n: int
    winning_rate: float | None
    advantage: float | None
    passed: bool | None
    annotators: Sequence[LeftOut]
    why: str | None = None
    advice: Sequence[str] = ()


def accuracy(answer: T, others: Sequence[T], weights: Sequence[float] = ()) -> float:
    """The share of the others who said the same, in [0, 1]."""
    return _mean([float(answer == other) for other in others], weights)


def negative_rmse(answer: float, others: Sequence[float], weights: Sequence[float] = ()) -> float:
    """Minus the root of the mean squared difference from the others."""
    return -sqrt(_mean([(answer - other) ** 2 for other in others], weights))


def similarity(of_two: Callable[[T, T], float]) -> Alignment[T]:
    """The mean similarity with the others, by a similarity of two answers."""

    def aligned(answer: T, others: Sequence[T], weights: Sequence[float] = ()) -> float:
        return _mean([of_two(answer, other) for other in others], weights)

    return aligned


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    if not weights or min(weights) == max(weights):  # sums in whole numbers stay exact, so that ties are ties
        return sum(values) / len(values)
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def ranked(said: Mapping[Hashable, float]) -> dict[Hashable, float]:
    """Numbers as their mean ranks among all that the source gave, over how many these are."""
    return dict(zip(said, (rankdata(list(said.values())) / max(1, len(said))).tolist(), strict=True))


def standardised(said: Mapping[Hashable, float]) -> dict[Hashable, float]:
    """Numbers less their mean, over their standard deviation; 0 where all are equal."""
    values = np.array(list(said.values()), dtype=np.float64)
    spread = float(values.std()) if len(values) else 0.0
    return dict(zip(said, ((values - values.mean()) / spread if spread else values * 0).tolist(), strict=True))


def stand_in(
    people: Mapping[str, Mapping[Hashable, T]],
    model: Mapping[Hashable, T],
    alignment: Alignment[T],
    *,
    epsilon: float = EPSILON,
    q: float = FALSE_DISCOVERIES,
) -> StandIn:
    """The alternative annotator test, as the body of the paper has it."""
    return stand_in_tests({"": Compared(people, model, alignment)}, epsilon=epsilon, q=q)[""]


def stand_in_tests(
    compared: Mapping[str, Compared[T]], *, epsilon: float = EPSILON, q: float = FALSE_DISCOVERIES
) -> dict[str, StandIn]:
    """The alternative annotator test of several aspects or domains, judged by all their p together."""
    found = {
        key: [_left_out(name, one, _counted(one), epsilon) for name in one.people] for key, one in compared.items()
    }
    tested = [(key, own.annotator, own.p) for key, left in found.items() for own in left if own.p is not None]
    wins = rejected([p for _, _, p in tested], q)
    won = {(key, name) for (key, name, _), win in zip(tested, wins, strict=True) if win}
    return {key: _judged(key, compared[key], left, won, epsilon, q) for key, left in found.items()}


def _judged(
    key: str, compared: Compared[T], left: Sequence[LeftOut], won: set[tuple[str, str]], epsilon: float, q: float
) -> StandIn:
    known = [one for one in left if one.p is not None]
    if not known:
        of = "the expert" if compared.expert is not None else "two annotators"
        return StandIn(epsilon, q, 0, None, None, None, left, f"no item has {of} and an answer of the model")
    shown = [msgspec.structs.replace(one, won=(key, one.annotator) in won) for one in left]
    weights = {one.annotator: compared.quality.get(one.annotator, 1.0) for one in known}
    rate = sum(weights[one.annotator] for one in shown if one.won) / sum(weights.values())
    advantage = sum(one.advantage for one in known if one.advantage is not None) / len(known)
    n = len(_counted(compared))
    return StandIn(epsilon, q, n, rate, advantage, rate >= 0.5, shown, None, _advice(compared, known, n, epsilon))


def _advice(compared: Compared[T], left: Sequence[LeftOut], n: int, epsilon: float) -> list[str]:
    found = []
    if compared.expert is None and len(left) < ENOUGH_PEOPLE:
        found.append("with two people it only says to whom of the two the model is nearer: three or more (appendix A)")
    few = [one.annotator for one in left if one.n < T_TEST_FROM and one.test != "weighted t"]
    if few:
        used = f"Wilcoxon's test in place of t (section 3.3); {_OFTEN}"
        found.append(f"fewer than {T_TEST_FROM} items of {', '.join(few)}: {used}")
    if n < ENOUGH_ITEMS:
        found.append(f"{n} items: {ENOUGH_ITEMS} to 100 are enough in most cases (section 5.1)")
    if not _EPSILONS[0] <= epsilon <= _EPSILONS[1] and not (compared.expert is not None and epsilon == 0):
        low, high = _EPSILONS
        found.append(f"epsilon {epsilon:g}: below {low:g} hardly any model passes, above {high:g} nearly all (B.1)")
    if compared.label is None or compared.balanced:
        return found
    said = Counter(compared.label(answer) for own in compared.people.values() for answer in own.values())
    share = max(said.values()) / said.total()
    if share >= _SKEWED:
        found.append(f"{share:.0%} of people's answers are the same one: ties make passing easy; balance them (C.1)")
    return found


def rejected(p: ArrayLike, q: float = FALSE_DISCOVERIES) -> NDArray[np.bool_]:
    """Which hypotheses are rejected under a false discovery rate of q, whatever their dependence.

    Args:
        p: (m,), none of them NaN.

    Source: Benjamini and Yekutieli 2001.
    """
    found: NDArray[np.bool_] = adjusted(p, "benjamini-yekutieli") <= q
    return found


def _counted(compared: Compared[T]) -> dict[Hashable, list[str]]:
    """Items that count, with who labelled them."""
    of_item: dict[Hashable, list[str]] = {}
    for name, said in compared.people.items():
        for item in said:
            if item in compared.model:
                of_item.setdefault(item, []).append(name)
    if compared.expert is not None:
        return {item: names for item, names in of_item.items() if item in compared.expert}
    return {item: names for item, names in of_item.items() if len(names) > 1}


def _left_out(name: str, compared: Compared[T], counted: Mapping[Hashable, Sequence[str]], epsilon: float) -> LeftOut:
    sides: list[tuple[float, float]] = []
    items: list[Hashable] = []
    golds: list[str] = []
    for item, own in compared.people[name].items():
        if item not in counted:
            continue
        who = [other for other in counted[item] if other != name]
        others = [compared.people[other][item] for other in who]
        weights = [compared.quality.get(other, 1.0) for other in who]
        if compared.expert is not None:
            others, weights = [compared.expert[item]], [1.0]
        sides.append(
            (compared.alignment(own, others, weights), compared.alignment(compared.model[item], others, weights))
        )
        items.append(item)
        if compared.balanced and compared.label is not None:
            golds.append(_majority([compared.label(other) for other in others]))
    n = len(sides)
    if n == 0:
        return LeftOut(name, 0, None, None, None, "none", False)
    d: Floats = np.sign(score_differences(*np.array(sides).T))
    lost = [item for item, better in zip(items, d > 0, strict=True) if better]
    balance = _inverse_shares(golds) if golds else np.ones(n)
    p, test = _weighted_p(d, balance, epsilon) if golds else _p(d, epsilon)
    model, human = (float((balance * better).sum() / balance.sum()) for better in (d <= 0, d >= 0))
    return LeftOut(name, n, model, human, p, test, False, lost)


def _majority(labels: Sequence[str]) -> str:
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))


def _inverse_shares(labels: Sequence[str]) -> Floats:
    """(items,): how many items there are over how many have the label of the item (C.1)."""
    counts = Counter(labels)
    return np.array([len(labels) / counts[label] for label in labels])


def _weighted_p(differences: Floats, weights: Floats, epsilon: float) -> tuple[float, str]:
    """One-sided, against a weighted mean below epsilon (C.1)."""
    mean = float((weights * differences).sum() / weights.sum())
    spread = sqrt(float((weights * (differences - mean) ** 2).sum() / weights.sum()))
    n = float(weights.sum() ** 2 / (weights**2).sum())
    if spread == 0 or n <= 1:
        return float(mean >= epsilon or n <= 1), "weighted t"
    return float(student.cdf((mean - epsilon) / (spread / sqrt(n)), n - 1)), "weighted t"


def _p(differences: Floats, epsilon: float) -> tuple[float, str]:
    """One-sided, against a mean below epsilon. Equal differences are certain: 0 below epsilon, else 1."""
    if len(differences) < T_TEST_FROM:
        p = wilcoxon_p(differences - epsilon, "less")
        return 1.0 if p is None else p, "wilcoxon"
    if np.ptp(differences) == 0:
        return float(differences[0] >= epsilon), "t"
    return float(ttest_1samp(differences, epsilon, alternative="less").pvalue), "t"
