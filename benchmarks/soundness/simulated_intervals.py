"""What `coverage.py` simulates of intervals: every kind that the program prints, over data whose truth is known."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.alpha import Level, alpha
from emotui.metrics.beside import drawn as drawn
from emotui.metrics.beside import intervals as of_repeats
from emotui.metrics.beside import numbers, probabilities, ratios, single_labels
from emotui.metrics.figure import Figure
from emotui.metrics.gamma import gamma
from emotui.metrics.label_sums import of_sets
from emotui.metrics.metric_trust import interval as fisher_interval
from emotui.metrics.permutation import one_hot
from emotui.metrics.rating_tables import table_agreement
from emotui.metrics.resampled_order import resampled_spearman
from emotui.metrics.resampling import Interval, drawn_by, interval_of, mean_replicates
from emotui.metrics.slice_rules import find_rules
from emotui.metrics.sums import SumFigure, contrasts, intervals_within, of_numbers_sums, ratio
from emotui.metrics.unitizing import MarkedText, unitizing_alpha
from emotui.metrics.values import pearson, spearman
from emotui.records import Mark
from emotui.workbench.results.spread.tables import Side, of_sums, parts_of, resampled

RESAMPLES = 1000
Draw = np.random.Generator
Array = NDArray[np.float64]
Sure = tuple[Interval, float]
"""An interval, and the truth."""


@dataclass(frozen=True)
class Cell:
    """`once`: from a draw to an interval and the truth, or to a p-value. `most`: simulations of one that takes long."""

    name: str
    n: str
    once: Callable[[Draw], Sure | float | None]
    goal: bool = False
    is_test: bool = False
    most: int = 1_000_000


def intervals() -> Iterator[Cell]:
    """All of them."""
    yield from _means()
    yield from _labels()
    yield from _numbers_and_probabilities()
    yield from _differences()
    yield from _parts()
    yield from _agreement()
    yield from _spread()
    yield from _trust()


# Means, rates and their differences.


def _means() -> Iterator[Cell]:
    def thirds(draw: Draw, n: int) -> Array:
        return draw.choice([-1.0, 0.0, 1.0], n, p=[0.15, 0.7, 0.15])

    for n in (8, 15, 30, 60, 200):
        yield _mean("difference, normal", n, lambda draw, n: draw.normal(size=n), 0.0, n >= 30)
    for n in (8, 15, 30, 60, 200):
        yield _mean("difference of right and wrong", n, thirds, 0.0, n >= 30)
    for n in (30, 200):
        yield _mean("mean of shares", n, lambda draw, n: draw.beta(2, 2, n), 0.5, True)
    for n in (30, 200):
        yield Cell("mean of three repeats", f"{n} samples", lambda draw, n=n: _three_repeats(draw, n), True)
    for n in (30, 200):
        yield _mean("mean, exponential (skew)", n, lambda draw, n: draw.exponential(size=n), 1.0, False)
    for n in (30, 200):
        yield _mean("mean, lognormal (skew)", n, lambda draw, n: draw.lognormal(size=n), float(np.exp(0.5)), False)
    for n in (30, 200):
        yield _mean("accuracy of .9 (skew)", n, lambda draw, n: (draw.random(n) < 0.9) * 1.0, 0.9, False)
    for groups in (5, 10, 19, 20, 40):
        yield _mean_of_groups(groups, groups >= 10)
    for groups in (5, 10, 19, 20, 40):
        yield _mean_of_groups(groups, False, uneven=True)
    for n in (30, 60, 200):
        yield Cell("rate of .5 over 0 to 6 spans", f"{n} samples", lambda draw, n=n: _rate(draw, n, 0.5), True)
    for n in (30, 60, 200):
        yield Cell("rate of .9 over 0 to 6 spans (skew)", f"{n} samples", lambda draw, n=n: _rate(draw, n, 0.9))


def _mean(name: str, n: int, values: Callable[[Draw, int], Array], truth: float, goal: bool) -> Cell:
    def once(draw: Draw) -> Sure:
        seed = int(draw.integers(1 << 30))
        (made,) = mean_replicates(values(draw, n)[:, None], drawn_by(None, n), seed=seed, resamples=RESAMPLES)
        return interval_of(made), truth

    return Cell(name, f"{n} samples", once, goal)


def _three_repeats(draw: Draw, n: int) -> Sure:
    """A sample's repeats have half of their variance in common."""
    by, own = drawn([None] * n), draw.normal(size=n)
    each = [ratios({"mean": (own + draw.normal(size=n), np.ones(n))}, by) for _ in range(3)]
    return of_repeats(each)["mean"], 0.0


def grouped(draw: Draw, groups: int, uneven: bool = False) -> tuple[NDArray[np.int64], Array]:
    """The group of each sample, and values half of whose variance is their group's."""
    sizes = draw.integers(1, 10, groups) if uneven else np.full(groups, 5)
    owner = np.repeat(np.arange(groups), sizes)
    return owner, draw.normal(size=groups)[owner] + draw.normal(size=len(owner))


def _mean_of_groups(groups: int, goal: bool, uneven: bool = False) -> Cell:
    def once(draw: Draw) -> Sure:
        owner, values = grouped(draw, groups, uneven)
        seed = int(draw.integers(1 << 30))
        (made,) = mean_replicates(values[:, None], drawn_by(owner), seed=seed, resamples=RESAMPLES)
        return interval_of(made), 0.0

    return Cell("mean, groups of 1 to 9" if uneven else "mean, groups of 5", f"{groups} groups", once, goal)


def _rate(draw: Draw, n: int, share: float) -> Sure:
    """Over what some samples have none of, as precision over predicted spans."""
    below = draw.poisson(1.5, n)
    return interval_of(ratios({"rate": (draw.binomial(below, share), below)}, drawn([None] * n))["rate"]), share


# Labels.

EVEN = [1 / 7] * 7, [0.7] * 7
THREE = [0.5, 0.3, 0.2], [0.9, 0.8, 0.7]
RARE = [0.6, 0.3, 0.05, 0.02, 0.01, 0.01, 0.01], [0.9, 0.8, 0.6, 0.5, 0.4, 0.5, 0.6]
Classes = tuple[list[float], list[float]]
"""How often each label is gold, and how often it is answered rightly; mistakes go by how often labels are gold."""


def joint(classes: Classes) -> Array:
    """(k, k): how often each gold label is answered by each label."""
    shares, right = (np.array(each) for each in classes)
    table: Array = shares[:, None] * (1 - right)[:, None] * shares[None, :] / (1 - shares)[:, None]
    np.fill_diagonal(table, shares * right)
    return table


def answers(draw: Draw, gold: NDArray[np.int64], classes: Classes) -> NDArray[np.int64]:
    """To these gold labels."""
    table = joint(classes)
    ends = np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1)
    return np.minimum((draw.random(len(gold))[:, None] > ends[gold]).sum(axis=1), len(ends) - 1)


def label_figures(classes: Classes) -> dict[str, float]:
    """What they come to in a set without end."""
    table = joint(classes)
    hits, gold, said = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    f1 = 2 * hits / (gold + said)
    found = {"accuracy": hits.sum(), "macro_f1": f1.mean(), "weighted_f1": (f1 * gold).sum()}
    found |= {f"by_label.{at}.f1": value for at, value in enumerate(f1)}
    found |= {f"by_label.{at}.recall": value for at, value in enumerate(hits / gold)}
    found |= {f"by_label.{at}.precision": value for at, value in enumerate(hits / said)}
    return {name: float(value) for name, value in found.items()}


def _labels() -> Iterator[Cell]:
    for n in (60, 100, 200, 500):
        yield _of_labels("macro F1, 7 even classes", n, EVEN, "macro_f1", n >= 200)
    for n in (60, 100, 200, 500):
        yield _of_labels("macro F1, 3 classes", n, THREE, "macro_f1", n >= 200)
    for n in (200, 500, 2000):
        yield _of_labels("macro F1, 4 rare of 7 classes", n, RARE, "macro_f1", False)
    for n in (60, 200):
        yield _of_labels("weighted F1, 7 even classes", n, EVEN, "weighted_f1", False)
    for n in (200, 500):
        yield _of_labels("weighted F1, 4 rare of 7 classes", n, RARE, "weighted_f1", False)
    for n in (60, 200):
        yield _of_labels("F1 of a label, 3 classes", n, THREE, "by_label.2.f1", False)
    for n in (60, 200):
        yield _of_labels("precision of a label, 3 classes", n, THREE, "by_label.2.precision", False)
    for n in (60, 200):
        yield _of_labels("recall of a label, 3 classes", n, THREE, "by_label.2.recall", False)
    for n in (200, 500):
        yield _of_labels("recall of a label with 5% of the texts", n, RARE, "by_label.2.recall", False)


def _of_labels(name: str, n: int, classes: Classes, figure: str, goal: bool) -> Cell:
    names, truth = [str(at) for at in range(len(classes[0]))], label_figures(classes)[figure]

    def once(draw: Draw) -> Sure:
        gold = draw.choice(len(names), n, p=classes[0])
        said = answers(draw, gold, classes)
        texts = [[names[at] for at in side] for side in (gold, said)]
        return interval_of(single_labels(*texts, names, drawn([None] * n))[figure]), truth

    return Cell(name, f"{n} samples", once, goal)


# Numbers and probabilities.


def _numbers_and_probabilities() -> Iterator[Cell]:
    for figure in ("pearson", "spearman", "ccc", "rmse", "mae"):
        for n in (20, 60, 200):
            yield _of_numbers(figure, n)
    for figure in ("brier", "average_precision"):
        for n in (30, 200):
            yield _of_probabilities(figure, n, 0.1, f"{figure.replace('_', ' ')} of probabilities")
    for off in (0.0, 0.1, 0.25):
        for n in (200, 1000):
            yield _of_probabilities("ece", n, off, f"calibration error of {_ece(off):.3f}")


def two_normal(draw: Draw, n: int, rho: float = 0.6) -> tuple[Array, Array]:
    """Two variables that correlate so."""
    x = draw.normal(size=n)
    return x, rho * x + np.sqrt(1 - rho * rho) * draw.normal(size=n)


def _of_numbers(figure: str, n: int, rho: float = 0.6) -> Cell:
    spread = np.sqrt(2 * (1 - rho))  # of the difference of both
    truth = {"pearson": rho, "spearman": 6 / np.pi * np.arcsin(rho / 2), "ccc": rho, "rmse": spread}
    truth["mae"] = spread * np.sqrt(2 / np.pi)

    def once(draw: Draw) -> Sure:
        return interval_of(numbers(*two_normal(draw, n, rho), drawn([None] * n))[figure]), float(truth[figure])

    return Cell({"rmse": "RMSE", "mae": "MAE", "ccc": "concordance"}.get(figure, figure), f"{n} samples", once)


def _right(p: Array, off: float) -> Array:
    """How often what is given this probability is so: off by a sine of this height."""
    return np.clip(p + off * np.sin(6 * p), 0, 1)


def _ece(off: float) -> float:
    grid = (np.arange(600_000) + 0.5) / 600_000
    bins = np.minimum((grid * 15).astype(int), 14)
    return float(np.abs(np.bincount(bins, grid - _right(grid, off))).sum() / len(grid))


@cache
def _truth_of_probabilities(figure: str, off: float) -> float:
    """Brier score and average precision: by the areas under what is right at each probability."""
    grid = (np.arange(600_000) + 0.5) / 600_000
    right = _right(grid, off)
    if figure == "brier":
        return float((right * (1 - grid) ** 2 + (1 - right) * grid**2).mean())
    hits, given = np.cumsum(right[::-1]), np.arange(1, len(grid) + 1)
    return float((hits / given * right[::-1]).sum() / hits[-1])


def _of_probabilities(figure: str, n: int, off: float, name: str) -> Cell:
    def once(draw: Draw) -> Sure:
        p = draw.random(n)
        gold = draw.random(n) < _right(p, off)
        found = probabilities(gold[:, None], p[:, None], ["x"], drawn([None] * n))
        truth = _ece(off) if figure == "ece" else _truth_of_probabilities(figure, off)
        return interval_of(found[f"by_label.x.{figure}" if f"by_label.x.{figure}" in found else figure]), truth

    return Cell(name, f"{n} samples", once)


# Differences of two sources in figures that are no means over samples, and between parts of a set.


def rate_of(draw: Draw, n: int, share: float = 0.5) -> SumFigure:
    """A rate over what samples have none, one or several of."""
    below = draw.poisson(1.5, n)
    return ratio(draw.binomial(below, share), below)


def label_figure(gold: NDArray[np.int64], said: NDArray[np.int64], figure: str = "macro_f1", k: int = 3) -> SumFigure:
    """One of one label a sample."""
    names = [str(at) for at in range(k)]
    return of_sets(one_hot(gold, k), one_hot(said, k), names, np.ones(len(gold), dtype=bool), single=True)[figure]()


def _differences() -> Iterator[Cell]:
    better, worse = THREE, (THREE[0], [0.8, 0.7, 0.6])
    truth = label_figures(better)["macro_f1"] - label_figures(worse)["macro_f1"]

    def of_rates(draw: Draw, n: int) -> tuple[SumFigure, SumFigure, float]:
        return rate_of(draw, n, 0.6), rate_of(draw, n, 0.5), 0.1

    def of_macro(draw: Draw, n: int) -> tuple[SumFigure, SumFigure, float]:
        gold = draw.choice(3, n, p=THREE[0])
        return *(label_figure(gold, answers(draw, gold, each)) for each in (better, worse)), truth  # type: ignore[return-value]

    def of_cell(draw: Draw, n: int) -> tuple[SumFigure, SumFigure, float]:
        gold = draw.choice(3, n, p=THREE[0])
        sides = [label_figure(gold, answers(draw, gold, each), "confusion.0.0") for each in (better, worse)]
        return sides[0], sides[1], 0.1

    def of_correlations(draw: Draw, n: int) -> tuple[SumFigure, SumFigure, float]:
        gold, said = two_normal(draw, n)
        other, there = 0.6 * gold + 0.8 * draw.normal(size=n), np.ones(n, dtype=bool)
        return of_numbers_sums(gold, said, there)["pearson"](), of_numbers_sums(gold, other, there)["pearson"](), 0.0

    kinds = {
        "difference of rates over spans": (of_rates, (30, 60, 200), 30),
        "difference of macro F1, 3 classes": (of_macro, (60, 200, 500), 200),
        "difference of shares of a confusion": (of_cell, (60, 200), 60),
        "difference of correlations": (of_correlations, (30, 200), None),
    }
    for name, (of_two, sizes, start) in kinds.items():
        for n in sizes:

            def once(draw: Draw, n: int = n, of_two: Callable[[Draw, int], tuple] = of_two) -> Sure:
                first, second, apart = of_two(draw, n)
                return intervals_within(first, second, [np.ones(n, dtype=bool)])[0], apart

            yield Cell(name, f"{n} samples", once, start is not None and n >= start)


def part_of(draw: Draw, n: int, inside: int) -> NDArray[np.bool_]:
    """So many of n samples."""
    found = np.zeros(n, dtype=bool)
    found[draw.permutation(n)[:inside]] = True
    return found


def _parts() -> Iterator[Cell]:
    def mean(draw: Draw, n: int) -> tuple[SumFigure, SumFigure | None]:
        return ratio(draw.normal(size=n), np.ones(n)), None

    def interaction(draw: Draw, n: int) -> tuple[SumFigure, SumFigure | None]:
        return ratio(draw.normal(size=n), np.ones(n)), ratio(draw.normal(size=n), np.ones(n))

    def rate(draw: Draw, n: int) -> tuple[SumFigure, SumFigure | None]:
        return rate_of(draw, n), None

    def of_rates(draw: Draw, n: int) -> tuple[SumFigure, SumFigure | None]:
        return rate_of(draw, n), rate_of(draw, n)

    def macro(draw: Draw, n: int) -> tuple[SumFigure, SumFigure | None]:
        gold = draw.choice(3, n, p=THREE[0])
        return label_figure(gold, answers(draw, gold, THREE)), None

    kinds = {
        "part less the rest: mean": (mean, (10, 30, 100), 30),
        "part less the rest: rate over spans": (rate, (10, 30, 100), 30),
        "part less the rest: macro F1": (macro, (60, 200), 200),
        "interaction: difference of means": (interaction, (10, 30, 100), 30),
        "interaction: difference of rates": (of_rates, (10, 30, 100), 30),
    }
    for name, (made, sizes, start) in kinds.items():
        for inside in sizes:

            def once(draw: Draw, inside: int = inside, made: Callable[[Draw, int], tuple] = made) -> Sure:
                side = part_of(draw, 3 * inside, inside)
                (found,) = contrasts(*made(draw, 3 * inside), [(side, ~side)])
                return Interval(found.low, found.high, found.note), 0.0

            yield Cell(name, f"{inside} samples in the part", once, inside >= start)
    for groups in (10, 20, 40):

        def within(draw: Draw, groups: int = groups) -> Sure:
            owner, values = grouped(draw, groups)
            side = draw.random(len(owner)) < 1 / 3
            (found,) = contrasts(ratio(values, np.ones(len(values))), None, [(side, ~side)], owner)
            return Interval(found.low, found.high, found.note), 0.0

        yield Cell("part less the rest: mean, groups of 5 in both", f"{groups} groups", within, True)
    for n in (200, 1000):
        yield Cell("a rule that is found, in noise", f"{n} samples", lambda draw, n=n: _rule(draw, n, False))
    for n in (200, 1000):
        yield Cell("the rule of the least p, in noise", f"{n} samples", lambda draw, n=n: _rule(draw, n, True))


def _rule(draw: Draw, n: int, first: bool) -> Sure:
    """The first of the rules, or any of them."""
    conditions, facets = draw.random((n, 12)) < 0.3, list(range(12))
    rules = find_rules(draw.normal(size=n), conditions, facets, seed=int(draw.integers(1 << 30)))
    rule = rules[0 if first else int(draw.integers(len(rules)))] if rules else None
    return (Interval() if rule is None else Interval(rule.low, rule.high)), 0.0


# Agreement.


def ratings(draw: Draw, n: int, values: int = 3) -> Array:
    """(n, 3): three raters of so many labels, each right seven times of ten."""
    gold = draw.integers(0, values, n)
    return np.where(draw.random((n, 3)) < 0.7, gold[:, None], draw.integers(0, values, (n, 3))).astype(float)


def _agreement() -> Iterator[Cell]:
    same = 0.8**2 + 2 * 0.1**2
    kappa = (same - 1 / 3) / (1 - 1 / 3)
    truths = {"percent agreement": same, "Fleiss' kappa": kappa, "Cohen's kappa": kappa, "mean Cohen's kappa": kappa}
    for name, truth in truths.items():
        for n in (15, 60, 200):

            def once(draw: Draw, n: int = n, name: str = name, truth: float = truth) -> Sure:
                seed = int(draw.integers(1 << 30))
                every = table_agreement(ratings(draw, n), list("abc"), list("xyz"), resamples=RESAMPLES, seed=seed)
                found = {
                    "percent agreement": every.percent,
                    "Fleiss' kappa": every.fleiss_kappa,
                    "Cohen's kappa": every.pairs[0].kappa,
                    "mean Cohen's kappa": every.mean_cohen_kappa,
                }
                return _of_figure(found[name]), truth

            yield Cell(name, f"{n} samples", once)
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval")
    for level in levels:
        for n in (15, 60, 200):

            def of_level(draw: Draw, n: int = n, level: Level = level) -> Sure:
                found = alpha(ratings(draw, n, 5), level, RESAMPLES, int(draw.integers(1 << 30)))
                return _of_figure(found), _true_alpha(level)

            yield Cell(f"alpha, {level}", f"{n} samples", of_level)
    for n in (15, 60):

        def of_masks(draw: Draw, n: int = n) -> Sure:
            found = alpha(ratings(draw, 3 * n), "nominal", RESAMPLES, 0, np.repeat(np.arange(n), 3).tolist())
            return _of_figure(found), kappa

        yield Cell("alpha, three masks a text", f"{n} samples", of_masks)
    for figure in ("u_alpha", "binary", "coding"):
        for n in (20, 60):

            def of_spans(draw: Draw, n: int = n, figure: str = figure) -> Sure:
                found = unitizing_alpha([_marked(draw) for _ in range(n)], RESAMPLES, int(draw.integers(1 << 30)))
                return _of_figure(getattr(found, figure)), _true_unitizing()[figure]

            names = {"u_alpha": "u-alpha", "binary": "|u-alpha, marked or not", "coding": "cu-alpha, labels"}
            yield Cell(names[figure], f"{n} samples", of_spans)
    for figure in ("gamma", "gamma-cat"):

        def of_gamma(draw: Draw, figure: str = figure) -> Sure:
            found = gamma([_marked(draw) for _ in range(30)], list("ab"), resamples=RESAMPLES, seed=0)
            return _of_figure(found.gamma if figure == "gamma" else found.cat), _true_gamma()[figure]

        yield Cell(figure, "30 samples", of_gamma, most=100)


def _of_figure(figure: Figure) -> Interval:
    return Interval(figure.low, figure.high, figure.note or "")


@cache
def _true_alpha(level: Level) -> float:
    found = alpha(ratings(np.random.default_rng(0), 1_000_000, 5), level).value
    assert found is not None
    return found


def _marked(draw: Draw) -> MarkedText:
    """Two annotators who each find most of one to three spans, with other borders and labels now and then."""
    spans: dict[str, list[Mark]] = {"a": [], "b": []}
    for at in range(int(draw.integers(1, 4))):
        start, length, label = 60 * at + int(draw.integers(0, 20)), int(draw.integers(5, 30)), draw.choice(["x", "y"])
        for own in spans.values():
            if draw.random() < 0.8:
                own_label = label if draw.random() < 0.8 else draw.choice(["x", "y"])
                begin = max(60 * at, start + int(draw.integers(-4, 5)))
                own.append(Mark(begin, begin + length, str(own_label)))
    return MarkedText(200, spans)


@cache
def _true_unitizing() -> dict[str, float]:
    draw = np.random.default_rng(0)
    found = unitizing_alpha([_marked(draw) for _ in range(30_000)])
    return {name: float(getattr(found, name).value) for name in ("u_alpha", "binary", "coding")}


@cache
def _true_gamma() -> dict[str, float]:
    draw = np.random.default_rng(0)
    found = gamma([_marked(draw) for _ in range(2_000)], list("ab"), precision=0.005)
    assert found.gamma.value is not None
    assert found.cat.value is not None
    return {"gamma": found.gamma.value, "gamma-cat": found.cat.value}


# A source against the shares of people, and metrics against people.

SPREAD = ("cross-entropy", "Jensen-Shannon divergence", "Brier score", "calibration error")


def _side(draw: Draw, n: int) -> Side:
    """Probabilities of one label against the shares of four people."""
    p = draw.beta(2, 2, n)
    shares = draw.binomial(4, np.clip(p + draw.normal(scale=0.15, size=n), 0.02, 0.98)) / 4
    places = np.arange(n)
    return Side(list(range(n)), drawn([None] * n), places, np.zeros(n, dtype=np.int64), 1, p, p, shares)


@cache
def _true_spread() -> list[float]:
    side = _side(np.random.default_rng(0), 400_000)
    found: list[float] = of_sums(parts_of(side).sum(axis=0)[None], 1)[0].tolist()
    return found


def _spread() -> Iterator[Cell]:
    for at, name in enumerate(SPREAD):
        for n in (30, 200):

            def once(draw: Draw, n: int = n, at: int = at) -> Sure:
                side = _side(draw, n)
                return interval_of(resampled(side, parts_of(side))[at]), _true_spread()[at]

            skew = " (skew)" if at in (1, 2) else ""
            yield Cell(f"{name} with the shares of people{skew}", f"{n} samples", once, at == 0)


def texts_of_models(draw: Draw, models: int) -> tuple[Array, Array, list[str]]:
    """A metric and people's shares over twenty texts of each model; models differ in both."""
    owner = np.repeat(np.arange(models), 20)
    both = two_normal(draw, models), two_normal(draw, 20 * models, 0.4)
    x, y = (0.7 * of_model[owner] + own for of_model, own in zip(*both, strict=True))
    return x, y, [str(at) for at in owner]


@cache
def _true_of_texts() -> float:
    found = spearman(*texts_of_models(np.random.default_rng(0), 20_000)[:2])  # type: ignore[arg-type]
    assert found is not None
    return found


def _trust() -> Iterator[Cell]:
    for models in (5, 10, 25):

        def of_texts(draw: Draw, models: int = models) -> Sure:
            x, y, of = texts_of_models(draw, models)
            return interval_of(resampled_spearman(x, y, drawn(of), 0, RESAMPLES)), _true_of_texts()

        yield Cell("a metric with people, text by text (Spearman)", f"{models} models", of_texts)
    for name, figure, truth in (("pearson", pearson, 0.6), ("spearman", spearman, 6 / np.pi * np.arcsin(0.3))):
        for n in (5, 10):

            def of_models(
                draw: Draw,
                n: int = n,
                figure: Callable[[Sequence[float], Sequence[float]], float | None] = figure,
                truth: float = truth,
                ranks: bool = name == "spearman",
            ) -> Sure:
                ends = fisher_interval(figure(*two_normal(draw, n)), n, of_ranks=ranks)  # type: ignore[arg-type]
                return (Interval() if ends is None else Interval(*ends)), truth

            yield Cell(f"a metric with people, model by model ({name}, Fisher's z)", f"{n} models", of_models)
