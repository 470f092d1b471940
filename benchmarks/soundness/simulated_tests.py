"""What `coverage.py` simulates of tests: every kind that the program prints, where nothing differs."""

from collections.abc import Callable, Iterator

import numpy as np
from simulated_intervals import (
    RARE,
    THREE,
    Cell,
    Draw,
    answers,
    grouped,
    label_figure,
    part_of,
    rate_of,
)

from emotui.metrics.alternative_annotator import Compared as StoodIn
from emotui.metrics.alternative_annotator import accuracy, stand_in_tests
from emotui.metrics.metric_trust import permutation_p
from emotui.metrics.paired import group_means, wilcoxon_p
from emotui.metrics.permutation import exchange_p, one_hot, permutation_f1s
from emotui.metrics.resampling import drawn_by, interval_of, mean_replicates
from emotui.metrics.significance import Correction, adjusted, mcnemar_p
from emotui.metrics.slice_rules import find_rules
from emotui.metrics.sums import SumFigure, contrasts, of_numbers_sums, ratio

PERMUTATIONS = 500


def tests() -> Iterator[Cell]:
    """All of them; of a family of tests how often any p, corrected, is at most .05."""
    yield from _of_pairs()
    yield from _of_exchanges()
    yield from _of_parts()
    yield from _of_families()


def _equals(name: str, n: str, p: Callable[[Draw], float | None], goal: bool = True) -> Cell:
    return Cell(name, n, p, goal, is_test=True)


def _of_pairs() -> Iterator[Cell]:
    def tenths(draw: Draw, n: int) -> float | None:
        return wilcoxon_p(draw.integers(0, 4, n) / 10 - draw.integers(0, 4, n) / 10)

    for n in (6, 12, 30, 200):
        yield _equals("Wilcoxon, normal differences", f"{n} samples", lambda d, n=n: wilcoxon_p(d.normal(size=n)))
    for n in (6, 12, 30, 200):
        yield _equals("Wilcoxon, tenths with ties", f"{n} samples", lambda d, n=n: tenths(d, n))
    for groups in (6, 12, 40):
        yield _equals("Wilcoxon, means of groups of 1 to 9", f"{groups} groups", lambda d, g=groups: _of_groups(d, g))
    for n in (20, 60, 200):
        yield _equals("McNemar, one of ten differs", f"{n} samples", lambda d, n=n: _mcnemar(d, n))
    for n in (8, 15, 30, 60, 200):
        yield _equals("interval of a difference leaves out 0", f"{n} samples", lambda d, n=n: _leaves_out_0(d, n, 1))
    for groups in (5, 10, 20, 40):
        name = "interval of a difference leaves out 0, groups of 5"
        yield _equals(name, f"{groups} groups", lambda d, g=groups: _leaves_out_0(d, g, 5))
    for n in (5, 12):
        yield _equals("order of a correlation with people", f"{n} models", lambda d, n=n: _of_correlation(d, n))


def _of_groups(draw: Draw, groups: int) -> float | None:
    owner, values = grouped(draw, groups, uneven=True)
    return wilcoxon_p(group_means(values, owner))


def _mcnemar(draw: Draw, n: int) -> float | None:
    first, second, _ = draw.multinomial(n, [0.05, 0.05, 0.9]).tolist()
    return mcnemar_p(first, second)


def _leaves_out_0(draw: Draw, groups: int, size: int) -> float:
    """As a p of 0 or 1."""
    if size == 1:
        owner, values = None, draw.normal(size=groups)
    else:
        owner, values = grouped(draw, groups)
    seed = int(draw.integers(1 << 30))
    (made,) = mean_replicates(values[:, None], drawn_by(owner, len(values)), seed=seed, resamples=1000)
    sure = interval_of(made).ends
    return 1.0 if sure is None or sure[0] <= 0 <= sure[1] else 0.0


def _of_correlation(draw: Draw, n: int) -> float | None:
    return permutation_p(draw.normal(size=n).tolist(), draw.normal(size=n).tolist())


def _of_exchanges() -> Iterator[Cell]:
    for n in (20, 200):
        yield _equals("exchange: macro F1, 3 classes", f"{n} samples", lambda d, n=n: _f1(d, n)[0])
    for n in (60, 200):
        yield _equals("exchange: macro F1, 4 rare of 7 classes", f"{n} samples", lambda d, n=n: _f1(d, n, RARE)[0])
    for n in (20, 200):
        yield _equals("exchange: micro F1", f"{n} samples", lambda d, n=n: _f1(d, n)[1])
    for n in (20, 200):
        yield _equals("exchange: weighted F1", f"{n} samples", lambda d, n=n: _f1(d, n)[2])
    for n in (20, 200):
        yield _equals("exchange: F1 of a label", f"{n} samples", lambda d, n=n: _f1(d, n)[3])
    for groups in (10, 40):
        yield _equals("exchange: macro F1, groups of 5", f"{groups} groups", lambda d, g=groups: _f1_of_groups(d, g))
    figures: dict[str, Callable[[Draw, int], tuple[SumFigure, SumFigure]]] = {
        "a rate over spans": lambda draw, n: (rate_of(draw, n), rate_of(draw, n)),
        "a share of a confusion": _shares,
        "a correlation": _correlations,
    }
    for name, two in figures.items():
        for n in (20, 200):
            yield _equals(f"exchange: {name}", f"{n} samples", lambda d, n=n, two=two: _exchanged(*two(d, n)))


def _f1(draw: Draw, n: int, classes: tuple[list[float], list[float]] = THREE) -> list[float]:
    """p of macro, micro and weighted F1, and of one label's."""
    k = len(classes[0])
    gold = draw.choice(k, n, p=classes[0])
    first, second = (one_hot(answers(draw, gold, classes), k) for _ in range(2))
    found = permutation_f1s(one_hot(gold, k), first, second, permutations=PERMUTATIONS)
    return [found.macro.p, found.micro.p, found.weighted.p, found.by_label[-1].p]


def _f1_of_groups(draw: Draw, groups: int) -> float:
    """A group is easy for one source or for the other."""
    owner = np.repeat(np.arange(groups), 5)
    gold = draw.choice(3, len(owner), p=THREE[0])
    easy = draw.random(groups)[owner]
    sides = [np.where(draw.random(len(owner)) < share, gold, draw.choice(3, len(owner))) for share in (easy, 1 - easy)]
    found = permutation_f1s(*(one_hot(one, 3) for one in (gold, *sides)), owner, permutations=PERMUTATIONS)
    return found.macro.p


def _shares(draw: Draw, n: int) -> tuple[SumFigure, SumFigure]:
    gold = draw.choice(3, n, p=THREE[0])
    first, second = (label_figure(gold, answers(draw, gold, THREE), "confusion.0.1") for _ in range(2))
    return first, second


def _correlations(draw: Draw, n: int) -> tuple[SumFigure, SumFigure]:
    gold, there = draw.normal(size=n), np.ones(n, dtype=bool)
    first, second = (of_numbers_sums(gold, gold + draw.normal(size=n), there)["pearson"]() for _ in range(2))
    return first, second


def _exchanged(first: SumFigure, second: SumFigure) -> float:
    statistics = first.statistic, second.statistic
    return exchange_p(first.columns, second.columns, *statistics, permutations=PERMUTATIONS)[0]


def _of_parts() -> Iterator[Cell]:
    def mean(draw: Draw, n: int) -> SumFigure:
        return ratio(draw.normal(size=n), np.ones(n))

    def macro(draw: Draw, n: int) -> SumFigure:
        gold = draw.choice(3, n, p=THREE[0])
        return label_figure(gold, answers(draw, gold, THREE))

    kinds = {"a mean": (mean, (5, 10, 30, 100)), "a rate over spans": (rate_of, (10, 30, 100))}
    kinds |= {"macro F1": (macro, (30, 100, 200))}
    for name, (figure, sizes) in kinds.items():
        for inside in sizes:

            def apart(draw: Draw, n: int = inside, figure: Callable[[Draw, int], SumFigure] = figure) -> float | None:
                side = part_of(draw, 3 * n, n)
                return contrasts(figure(draw, 3 * n), None, [(side, ~side)])[0].p

            yield _equals(f"part against the rest: {name} (Welch)", f"{inside} samples in the part", apart)
    for name, figure in {"means": mean, "rates": rate_of}.items():
        for inside in (10, 30, 100):

            def more(draw: Draw, n: int = inside, figure: Callable[[Draw, int], SumFigure] = figure) -> float | None:
                side = part_of(draw, 3 * n, n)
                return contrasts(figure(draw, 3 * n), figure(draw, 3 * n), [(side, ~side)])[0].p

            yield _equals(f"interaction: {name} (Welch)", f"{inside} samples in the part", more)
    for groups in (10, 20, 40):

        def in_both(draw: Draw, groups: int = groups) -> float | None:
            owner, values = grouped(draw, groups)
            side = draw.random(len(owner)) < 1 / 3
            return contrasts(ratio(values, np.ones(len(values))), None, [(side, ~side)], owner)[0].p

        yield _equals("part against the rest: a mean, groups of 5 in both", f"{groups} groups", in_both)


def _of_families() -> Iterator[Cell]:
    corrections: tuple[Correction, ...] = ("holm", "benjamini-hochberg")
    for by in corrections:

        def against_first(draw: Draw, by: Correction = by) -> float:
            table = draw.normal(size=(40, 5)) + draw.normal(size=(40, 1))
            return float(adjusted([wilcoxon_p(table[:, 0] - table[:, at]) or 1.0 for at in range(1, 5)], by).min())

        yield _equals(f"four runs against one: any p by {by.title()}", "40 samples", against_first)
    for n in (200, 1000):
        yield _equals("rules in noise: any p by Holm", f"{n} samples", lambda d, n=n: _rules(d, n))
    for n in (20, 50, 200):
        told = "alternative annotator: a model that is worse by just epsilon"
        yield _equals(told, f"{n} samples", lambda d, n=n: _stands_in(d, n), n >= 30)


def _rules(draw: Draw, n: int) -> float | None:
    conditions = draw.random((n, 12)) < 0.3
    found = find_rules(draw.normal(size=n), conditions, list(range(12)), seed=int(draw.integers(1 << 30)))
    return min((rule.adjusted for rule in found if rule.adjusted is not None), default=None)


def _stands_in(draw: Draw, n: int) -> float | None:
    """The annotator is right in .8 of the items, the model in .6: the hypothesis that is to be rejected just holds."""
    gold = dict.fromkeys(range(n), 1)
    person, model = ({at: int(right) for at, right in enumerate(draw.random(n) < p)} for p in (0.8, 0.6))
    found = stand_in_tests({"": StoodIn({"a": person}, model, accuracy, expert=gold)})[""]
    return found.annotators[0].p
