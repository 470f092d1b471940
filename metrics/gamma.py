"""Gamma: agreement on where spans are and what they are labelled, over the best alignment of the annotators' spans.

gamma = 1 - observed disorder / expected disorder, where the disorder of an alignment is the total disorder of its
unitary alignments over the mean number of units of an annotator (`emotui.metrics.gamma_alignment`).

Expected disorder is the mean over random annotations that are made of the real ones (section 5.2): each random
annotator takes the units of a real one, drawn with replacement, moved by a random offset and wrapped around, with
offsets at least half a mean unit apart. 30 are drawn, and then as many more as it takes for the mean to be within 2% at
95% confidence (section 5.3). Of up to four annotators each choice of those who make a random annotation is sampled by
itself and weighted by its probability: the mean is the paper's, and fewer samples do.

Several texts: units of different texts are never aligned; the observed disorder is that of all texts together. For
chance the texts stand one after another as one continuum, and a random annotation is made of a run of them with about
60 units from a random text on (all of them, where there are fewer). With one text this is the paper's own procedure.
Only texts that all the annotators marked, or left without a span on purpose, count.

gamma-cat (Mathet 2017, "The agreement measure γcat", Computational Linguistics 43(3), section 4.2) is the same of
labels alone: over pairs of aligned units, each weighted by max(0, 1 - position's share of the dissimilarity) / (units
of its unitary alignment - 1). Units that are aligned with nothing do not count in it. gamma-k of a label is the same
over the pairs in which one of the two units, or both, have it.

Source: Mathet, Widlöcher and Métivier 2015, Computational Linguistics 41(3): 437-479. Its published worked figures were
not at hand; the package pygamma-agreement (Titeux and Riad 2021) is the oracle of the tests.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import ceil, factorial, prod

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.figure import Figure, with_interval
from emotui.metrics.gamma_alignment import Alignment, Dissimilarity, Units, best_alignment, positional
from emotui.metrics.resampling import drawn, estimates, interval_of
from emotui.metrics.unitizing import UNLABELLED, MarkedText
from emotui.records import Mark

Floats = NDArray[np.float64]
_Sure = Callable[[Floats, Callable[[Floats], Floats], Figure], Figure]

FIRST_SAMPLES = 30
PRECISION = 0.02
MOST_SAMPLES = 3000
BLOCK = 60
"""Units of a run of texts that chance is sampled from."""

_CONFIDENCE = 1.96
_FIRST_EACH = 3
_MOST_STRATIFIED = 4
"""Annotators up to which chance is sampled apart for every choice of those who make a random annotation."""


class Gamma(msgspec.Struct, frozen=True):
    """Gamma and gamma-cat, and what they are made of.

    `observed`, `expected`: disorders. `samples`: random annotations that `expected` is the mean of; `precision`: of
    that mean, relative, at 95% confidence. `by_text`: the disorder of each text, in order, None for one that does not
    count; 0 is complete agreement. `cat_by_text`: the share of unlike labels among the aligned units of each text, None
    where none are aligned. `by_label`: gamma-k; `by_label_text`: as `cat_by_text`, of one label.
    """

    gamma: Figure
    cat: Figure
    observed: float | None = None
    expected: float | None = None
    samples: int = 0
    precision: float | None = None
    by_text: Sequence[float | None] = ()
    cat_by_text: Sequence[float | None] = ()
    by_label: Mapping[str, Figure] = {}
    by_label_text: Mapping[str, Sequence[float | None]] = {}


@dataclass(slots=True)
class _Sums:
    """Of an alignment. `unlike`, `weight`: of pairs of aligned units, (1 + labels,): of all, then by label."""

    disorder: float
    units: int
    unlike: Floats
    weight: Floats

    def unlike_share(self, of: int = 0) -> float | None:
        return float(self.unlike[of] / self.weight[of]) if self.weight[of] > 0 else None


def gamma(
    texts: Sequence[MarkedText],
    annotators: Sequence[str],
    *,
    dissimilarity: Dissimilarity | None = None,
    resamples: int = 0,
    seed: int = 0,
    precision: float = PRECISION,
) -> Gamma:
    """Gamma and gamma-cat of these annotators.

    Args:
        texts: those that some of the annotators did not look at do not count.
        dissimilarity: how position and category count; 1 each.
        resamples: of the interval, which draws texts, or groups of them, and keeps the expected disorder; 0: no
            interval.
        seed: of the random annotations and of the interval.
        precision: of the expected disorder, relative.

    Returns:
        values of at most 1; None, with the reason, where fewer than two annotators have a text in common, or none of
        them marked anything.
    """
    how = dissimilarity or Dissimilarity()
    names = list(dict.fromkeys(annotators))
    counted = [set(names) <= text.spans.keys() and text.length > 0 for text in texts]
    chosen = [text for text, counts in zip(texts, counted, strict=True) if counts]
    n = len(chosen)
    if len(names) < 2 or n == 0:
        why = "needs two annotators" if len(names) < 2 else "no text was marked by all annotators"
        nothing = Figure(None, n, why=why)
        return Gamma(nothing, nothing, by_text=[None] * len(texts), cat_by_text=[None] * len(texts))
    labels = sorted({mark.label or UNLABELLED for text in chosen for name in names for mark in text.spans[name]})
    number = {label: at for at, label in enumerate(labels)}
    marked = [[_units(text.spans[name], number) for name in names] for text in chosen]
    parts = [_sums(units, best_alignment(units, how), how, len(labels)) for units in marked]
    if not any(part.units for part in parts):
        nothing = Figure(None, n, why="nobody marked anything")
        nobody = [0.0 if counts else None for counts in counted]
        return Gamma(nothing, nothing, by_text=nobody, cat_by_text=[None] * len(texts))
    draw = np.random.default_rng(seed)
    strata, expected, reached = _chance(chosen, marked, how, len(labels), draw, precision)
    table = np.array([[part.disorder, part.units] for part in parts])
    by = drawn([text.group for text in chosen])

    def sure(columns: Floats, of: Callable[[Floats], Floats], figure: Figure) -> Figure:
        """The figure of sums over texts with its interval, where one was asked for."""
        if not resamples:
            return figure
        (made,) = estimates(columns, of, by, seed=seed, resamples=resamples, bounds=(-np.inf, 1.0))
        return with_interval(figure, interval_of(made))

    def gamma(sums: Floats) -> Floats:
        return _gamma(sums, len(names), expected)

    found = sure(table, gamma, Figure(float(gamma(table.sum(axis=0)[None])[0]), n))
    cats = [_cat_figure(parts, strata, of, labels, sure) for of in range(len(labels) + 1)]
    of_chosen = iter(parts)
    in_order = [next(of_chosen) if counts else None for counts in counted]
    shares = [[None if part is None else part.unlike_share(of) for part in in_order] for of in range(len(labels) + 1)]
    return Gamma(
        found,
        cats[0],
        float(table[:, 0].sum()) * len(names) / float(table[:, 1].sum()),
        expected,
        sum(len(stratum.found) for stratum in strata),
        reached,
        [None if part is None else _disorder(part, len(names)) for part in in_order],
        shares[0],
        dict(zip(labels, cats[1:], strict=True)),
        dict(zip(labels, shares[1:], strict=True)),
    )


def _units(marks: Sequence[Mark], number: dict[str, int]) -> Units:
    """The units of an annotator; equal spans with one label count once."""
    found = sorted({(mark.start, mark.end, number[mark.label or UNLABELLED]) for mark in marks})
    table = np.array(found, dtype=np.float64).reshape(len(found), 3)
    return Units(table[:, 0], table[:, 1], table[:, 2].astype(np.int64))


def _sums(annotators: Sequence[Units], aligned: Alignment, how: Dissimilarity, labels: int) -> _Sums:
    """Args: labels: how many there are."""
    sums = _Sums(aligned.disorder, sum(len(units) for units in annotators), np.zeros(labels + 1), np.zeros(labels + 1))
    positions = {(a, b): positional(annotators[a], annotators[b]) for a, b in combinations(range(len(annotators)), 2)}
    for group in aligned.groups:
        there = [(own, unit) for own, unit in enumerate(group) if unit >= 0]
        for (a, i), (b, j) in combinations(there, 2):
            weight = max(0.0, 1 - how.position * float(positions[a, b][i, j])) / (len(there) - 1)
            one, other = int(annotators[a].labels[i]) + 1, int(annotators[b].labels[j]) + 1
            for of in {0, one, other}:
                sums.weight[of] += weight
                sums.unlike[of] += weight * (one != other)
    return sums


def _disorder(part: _Sums, annotators: int) -> float:
    """Total disorder over the mean number of units of an annotator; 0 without a unit."""
    return part.disorder * annotators / part.units if part.units else 0.0


@dataclass(slots=True)
class _Stratum:
    """Random annotations made of the same real annotators, which chance draws with this probability."""

    makers: tuple[int, ...]
    weight: float
    found: list[_Sums]

    def disorders(self, annotators: int) -> Floats:
        return np.array([_disorder(part, annotators) for part in self.found])


def _chance(
    texts: Sequence[MarkedText],
    marked: Sequence[Sequence[Units]],
    how: Dissimilarity,
    labels: int,
    draw: np.random.Generator,
    precision: float,
) -> tuple[list[_Stratum], float, float]:
    """Random annotations by who made them, their mean disorder, and how precise that is at 95%, relative."""
    n = len(marked[0])
    counts = np.array([sum(len(units) for units in row) for row in marked])
    # Of those who mark nothing at all no random annotation has a unit.
    marks = [any(len(row[own]) for row in marked) for own in range(n)]
    strata = [one for one in _strata(n) if not one.makers or any(marks[own] for own in one.makers)]
    whole = sum(one.weight for one in strata)
    strata = [_Stratum(one.makers, one.weight / whole, one.found) for one in strata]
    first = max(_FIRST_EACH, ceil(FIRST_SAMPLES / len(strata)))
    wanted = [first] * len(strata)
    means, spread = [0.0] * len(strata), [0.0] * len(strata)
    while True:
        for at, (stratum, size) in enumerate(zip(strata, wanted, strict=True)):
            if len(stratum.found) == size:
                continue
            while len(stratum.found) < size:
                stratum.found.append(_random(texts, marked, counts, how, labels, draw, stratum.makers))
            disorders = stratum.disorders(n)
            # What each stratum adds to the mean, and to the variance of the mean for each of its annotations.
            means[at] = stratum.weight * float(disorders.mean())
            spread[at] = stratum.weight**2 * float(disorders.var(ddof=1))
        mean = sum(means)
        reached = _CONFIDENCE * sum(v / size for v, size in zip(spread, wanted, strict=True)) ** 0.5 / mean
        if reached <= precision or sum(wanted) >= MOST_SAMPLES:
            return strata, mean, reached
        # One more annotation, where it takes most of the variance away.
        worst = max(range(len(strata)), key=lambda at: spread[at] / (wanted[at] * (wanted[at] + 1)))
        wanted[worst] += 1


def _strata(annotators: int) -> list[_Stratum]:
    """Who may make a random annotation: each real annotator so often. Many annotators are drawn freely."""
    if annotators > _MOST_STRATIFIED:
        return [_Stratum((), 1.0, [])]
    found = []
    for makers in combinations_with_replacement(range(annotators), annotators):
        ways = factorial(annotators) // prod(factorial(makers.count(own)) for own in set(makers))
        found.append(_Stratum(makers, ways / annotators**annotators, []))
    return found


def _random(
    texts: Sequence[MarkedText],
    marked: Sequence[Sequence[Units]],
    counts: NDArray[np.int64],
    how: Dissimilarity,
    labels: int,
    draw: np.random.Generator,
    makers: Sequence[int],
) -> _Sums:
    """The sums of one random annotation, made of these annotators or of any; it has at least one unit."""
    while True:
        run = _run(counts, draw)
        length = float(sum(texts[at].length for at in run))
        own = [_one_after_another(texts, marked, run, annotator) for annotator in range(len(marked[0]))]
        lengths = np.concatenate([units.ends - units.starts for units in own])
        if not len(lengths):
            continue
        offsets = _offsets(len(own), length, float(lengths.mean()) / 2, draw)
        chosen = makers or draw.integers(len(own), size=len(own)).tolist()
        moved = [_moved(own[maker], offset, length) for maker, offset in zip(chosen, offsets, strict=True)]
        if any(len(units) for units in moved):
            return _sums(moved, best_alignment(moved, how), how, labels)


def _run(counts: NDArray[np.int64], draw: np.random.Generator) -> list[int]:
    """The places of consecutive texts (around the end) with about `BLOCK` units in all."""
    n = len(counts)
    if counts.sum() <= BLOCK:
        return list(range(n))
    first = int(draw.integers(n))
    run: list[int] = []
    units = 0
    while units < BLOCK and len(run) < n:
        run.append((first + len(run)) % n)
        units += int(counts[run[-1]])
    return run


def _one_after_another(
    texts: Sequence[MarkedText], marked: Sequence[Sequence[Units]], run: Sequence[int], annotator: int
) -> Units:
    starts, ends, labels = [], [], []
    at = 0.0
    for place in run:
        units = marked[place][annotator]
        starts.append(units.starts + at)
        ends.append(units.ends + at)
        labels.append(units.labels)
        at += texts[place].length
    return Units(np.concatenate(starts), np.concatenate(ends), np.concatenate(labels))


def _offsets(n: int, length: float, apart: float, draw: np.random.Generator) -> list[float]:
    """N offsets in [0, length), whole numbers, at least so far apart where there is room."""
    free = [(0.0, length)]
    found: list[float] = []
    for _ in range(n):
        sizes = np.array([end - start for start, end in free])
        if not len(sizes) or sizes.sum() <= 0:
            found.append(float(int(draw.uniform(0, length))))
            continue
        start, end = free[int(draw.choice(len(free), p=sizes / sizes.sum()))]
        offset = float(int(draw.uniform(start, end)))
        found.append(offset)
        free = [
            part
            for low, high in free
            for part in ((low, min(high, offset - apart)), (max(low, offset + apart), high))
            if part[0] < part[1]
        ]
    return found


def _moved(units: Units, offset: float, length: float) -> Units:
    """Moved to the right; a unit that would begin behind the end begins anew from the beginning."""
    back = np.where(units.starts + offset >= length, length, 0.0)
    return Units(units.starts + offset - back, units.ends + offset - back, units.labels)


def _gamma(added: Floats, annotators: int, expected: float) -> Floats:
    units = added[:, 1]
    observed = np.divide(added[:, 0] * annotators, units, out=np.full(len(units), np.nan), where=units > 0)
    return np.asarray(1 - observed / expected)


def _cat_figure(
    parts: Sequence[_Sums], strata: Sequence[_Stratum], of: int, labels: Sequence[str], sure: _Sure
) -> Figure:
    """gamma-cat (`of` 0), or gamma-k of a label."""
    unlike, weight = (np.array([getattr(part, name)[of] for part in parts]) for name in ("unlike", "weight"))
    n = len(parts) if of == 0 else int((weight > 0).sum())
    if len(labels) < 2:
        return Figure(None, n, why="there is one label only")
    if not weight.sum() > 0:
        return Figure(None, n, why="no two units are aligned" if of == 0 else "no unit with this label is aligned")
    expected = _expected_cat(strata, of)
    if not expected:
        return Figure(None, n, why="chance never aligns unlike labels")
    found = Figure(1 - float(unlike.sum() / weight.sum()) / expected, n)
    return sure(np.stack([unlike, weight], axis=1), lambda sums: 1 - sums[:, 0] / sums[:, 1] / expected, found)


def _expected_cat(strata: Sequence[_Stratum], of: int) -> float | None:
    """The mean share of unlike labels over random annotations in which units are aligned."""
    aligned = [
        (share, stratum.weight / len(stratum.found))
        for stratum in strata
        for part in stratum.found
        if (share := part.unlike_share(of)) is not None
    ]
    return sum(share * weight for share, weight in aligned) / sum(weight for _, weight in aligned) if aligned else None
