"""The best alignment of the units of several annotators, exact (the heart of gamma).

A unitary alignment takes at most one unit of each of n annotators, and at least one in all. Its disorder is the mean
dissimilarity of its C(n, 2) pairs, where a pair with an empty place counts `EMPTY` = 1; so a unit alone has disorder 1.
An alignment of a text divides all its units into unitary alignments; the best one has the least total disorder.

Dissimilarity of two units u and v (section 4.3 to 4.5 of the paper; its Δ∅ is 1 here):

    d_pos = ((|start u - start v| + |end u - end v|) / (length u + length v))²
    d_cat = 0 where the labels are equal, else 1
    d = position * d_pos + category * d_cat

Source: Mathet, Widlöcher and Métivier 2015, "The unified and holistic method gamma (γ) for inter-annotator agreement
measure and alignment", Computational Linguistics 41(3), sections 4 and 5.1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from emotui.metrics.set_packing import FEW, packed, search

Floats = NDArray[np.float64]
Table = Sequence[Mapping[int, float]]

EMPTY = 1.0
"""The dissimilarity of a unit and an empty place."""

_MOST_DIVIDED = 5
"""Units of a part up to which all its divisions are looked at: 52 for five."""

_AT_ONCE = 1_000_000
"""Pairs of units that are compared in one go."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one annotator: (k,) starts, ends, and a number for each label."""

    starts: Floats
    ends: Floats
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True)
class Dissimilarity:
    """How much position and category count (alpha and beta of the paper's combined dissimilarity)."""

    position: float = 1.0
    category: float = 1.0

    def between(self, a: Units, b: Units) -> Floats:
        """(units of a, units of b)."""
        unlike = a.labels[:, None] != b.labels[None, :]
        return np.asarray(self.position * positional(a, b) + self.category * unlike)


@dataclass(frozen=True, slots=True)
class Alignment:
    """`groups`: for each unitary alignment the place of each annotator's unit, -1 for none. `disorder`: their total."""

    groups: Sequence[tuple[int, ...]]
    disorder: float


def positional(a: Units, b: Units) -> Floats:
    """d_pos of all pairs. Returns: (units of a, units of b)."""
    away = np.abs(a.starts[:, None] - b.starts[None, :]) + np.abs(a.ends[:, None] - b.ends[None, :])
    lengths = (a.ends - a.starts)[:, None] + (b.ends - b.starts)[None, :]
    return np.asarray((away / lengths) ** 2)


def best_alignment(annotators: Sequence[Units], dissimilarity: Dissimilarity) -> Alignment:
    """The alignment of least total disorder.

    Two annotators: an assignment problem. More: part by part, where no unitary alignment that is better than what it
    can be divided into joins the parts. A part with one unit of an annotator at most: all its divisions are tried.
    Else set packing over such alignments (after section 5.1.1); a packing of few units is searched for, a larger
    one is solved by `scipy.optimize.milp`. All are exact.

    Raises:
        RuntimeError: the program was not solved in a minute.
    """
    if len(annotators) == 2:
        return _of_two(annotators[0], annotators[1], dissimilarity)
    n = len(annotators)
    everyone = _together(annotators)
    owner = np.repeat(np.arange(n), [len(units) for units in annotators])
    place = np.concatenate([np.arange(len(units)) for units in annotators]).tolist()
    owners = owner.tolist()
    apart = _near(everyone, owner, n, dissimilarity)
    parts = _parted(apart)
    groups: list[tuple[int, ...]] = []
    disorder = 0.0
    for part in parts:
        if len(part) <= _MOST_DIVIDED and len({owners[unit] for unit in part}) == len(part):
            found, cost = _best_division(part, apart, n)
        else:
            found, cost = _by_packing(part, apart, n, everyone.starts)
        disorder += cost
        for group in found:
            at_place = {owners[unit]: place[unit] for unit in group}
            groups.append(tuple(at_place.get(annotator, -1) for annotator in range(n)))
    return Alignment(groups, disorder)


def aligned_in_turn(annotators: Sequence[Units], dissimilarity: Dissimilarity) -> list[tuple[int, ...]]:
    """An alignment of any number of annotators, not the best one: unitary alignments as in `Alignment.groups`.

    Units of one annotator after another join those of the annotators before: by the assignment of least mean
    dissimilarity to what stands in each unitary alignment so far, and only where that is below two empty places, as
    for two annotators. The time is linear in the annotators, where that of the best alignment is exponential.
    """
    members: list[dict[int, int]] = []
    for at, units in enumerate(annotators):
        apart = np.full((len(units), len(members)), 2 * EMPTY)
        for before, others in enumerate(annotators[:at]):
            there = [group for group, member in enumerate(members) if before in member]
            table = dissimilarity.between(units, others)[:, [members[group][before] for group in there]]
            apart[:, there] += table - 2 * EMPTY
        sizes = np.array([len(member) for member in members])
        gains = np.minimum((apart - 2 * EMPTY) / np.maximum(sizes, 1), 0.0)
        joined = {int(i): int(j) for i, j in zip(*linear_sum_assignment(gains), strict=True) if gains[i, j] < 0}
        for unit in range(len(units)):
            if unit in joined:
                members[joined[unit]][at] = unit
            else:
                members.append({at: unit})
    return [tuple(member.get(at, -1) for at in range(len(annotators))) for member in members]


def _together(annotators: Sequence[Units]) -> Units:
    return Units(
        np.concatenate([units.starts for units in annotators]),
        np.concatenate([units.ends for units in annotators]),
        np.concatenate([units.labels for units in annotators]),
    )


def _near(units: Units, owner: NDArray[np.int64], n: int, dissimilarity: Dissimilarity) -> Table:
    """For each unit those of other annotators that it may be aligned with, and how dissimilar they are.

    A unitary alignment of a unit u and m - 1 others is no better than u alone and the others together where the
    dissimilarities of u with them come to C(n, 2) + m - 1 or more; so also where one of them alone does, with m = n.
    """
    found: list[dict[int, float]] = [{} for _ in range(len(units))]
    step = max(1, _AT_ONCE // max(1, len(units)))
    for start in range(0, len(units), step):
        rows = slice(start, start + step)
        some = Units(units.starts[rows], units.ends[rows], units.labels[rows])
        table = dissimilarity.between(some, units)
        near = (table < _far(n)) & (owner[rows, None] != owner[None, :])
        a, b = np.nonzero(near)
        for one, other, apart in zip((a + start).tolist(), b.tolist(), table[near].tolist(), strict=True):
            found[one][other] = apart
    return found


def _far(n: int) -> float:
    return (n * (n - 1) / 2 + n - 1) * EMPTY


def _parted(apart: Table) -> list[list[int]]:
    """Units in parts that no alignment joins."""
    parts: list[list[int]] = []
    left = set(range(len(apart)))
    for unit in range(len(apart)):
        if unit in left:
            part, at = [unit], 0
            left.discard(unit)
            while at < len(part):
                new = left.intersection(apart[part[at]])
                left -= new
                part += new
                at += 1
            parts.append(sorted(part))
    return parts


def _best_division(part: Sequence[int], apart: Table, n: int) -> tuple[list[list[int]], float]:
    """The division into unitary alignments of units of as many annotators, by trying every one; and its disorder.

    Of equally good ones the one that aligns least.
    """
    pairs = n * (n - 1) / 2
    best, least = None, 0.0
    for division in _divisions(len(part)):
        cost = 0.0
        for group in division:
            cost += pairs - len(group) * (len(group) - 1) / 2
            for at, a in enumerate(group):
                row = apart[part[a]]
                for b in group[at + 1 :]:
                    cost += row.get(part[b], inf)
        if best is None or cost < least - 1e-12:
            best, least = division, cost
    assert best is not None
    return [[part[at] for at in group] for group in best], least / pairs * EMPTY


@cache
def _divisions(n: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """All ways to divide n units, those with most parts first."""
    if n == 0:
        return ((),)
    last = n - 1
    found = []
    for division in _divisions(last):
        found.append((*division, (last,)))
        found += [(*division[:at], (*group, last), *division[at + 1 :]) for at, group in enumerate(division)]
    return tuple(sorted(found, key=len, reverse=True))


def _by_packing(part: Sequence[int], apart: Table, n: int, starts: Floats) -> tuple[list[list[int]], float]:
    """The best division of a part as set packing, and its disorder."""
    gain_of = _candidates(part, apart, n)
    # Units are numbered from left to right: a search then has few of them open at a time.
    rank = {unit: at for at, unit in enumerate(sorted(part, key=starts.__getitem__))}
    if len(part) <= FEW:
        groups, gains = list(gain_of), list(gain_of.values())
        chosen = search(range(len(groups)), [[rank[unit] for unit in group] for group in groups], gains)
    else:
        groups, gains = _undivided(gain_of)
        chosen = packed([[rank[unit] for unit in group] for group in groups], gains)
    found = [list(groups[at]) for at in chosen]
    aligned = {unit for group in found for unit in group}
    alone = [[unit] for unit in part if unit not in aligned]
    return found + alone, EMPTY * len(part) + sum(gains[at] for at in chosen)


def _of_two(a: Units, b: Units, dissimilarity: Dissimilarity) -> Alignment:
    if not len(a) or not len(b):
        return Alignment([(i, -1) for i in range(len(a))] + [(-1, j) for j in range(len(b))], EMPTY * (len(a) + len(b)))
    gains = np.minimum(dissimilarity.between(a, b) - 2 * EMPTY, 0.0)
    rows, columns = linear_sum_assignment(gains)
    pairs = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if gains[i, j] < 0]
    left, right = {i for i, _ in pairs}, {j for _, j in pairs}
    alone = [(i, -1) for i in range(len(a)) if i not in left] + [(-1, j) for j in range(len(b)) if j not in right]
    disorder = EMPTY * (len(a) + len(b)) + float(sum(gains[i, j] for i, j in pairs))
    groups: list[tuple[int, ...]] = [*pairs, *alone]
    return Alignment(groups, disorder)


def _candidates(part: Sequence[int], apart: Table, n: int) -> dict[tuple[int, ...], float]:
    """Unitary alignments of two units or more that are better than their units alone, and by how much, below 0.

    Some that can be divided into better or equal ones are not among them.
    """
    pairs = n * (n - 1) / 2
    far = _far(n)
    gain_of: dict[tuple[int, ...], float] = {}

    def grow(group: tuple[int, ...], sums: Sequence[float], cost: float, further: Sequence[int]) -> None:
        """The group and all that hold it, with units of later annotators among `further`."""
        count = len(group)
        if count > 1:
            gain = (cost + pairs - count * (count - 1) / 2) / pairs - count
            if gain < -1e-12:
                gain_of[group] = gain
        for at, unit in enumerate(further):
            row = apart[unit]
            added = [row[own] for own in group]
            total = sum(added)
            more = [before + one for before, one in zip(sums, added, strict=True)]
            if total >= far or max(more) >= far:
                continue
            rest = [other for other in further[at + 1 :] if other in row]
            grow((*group, unit), (*more, total), cost + total, rest)

    for unit in part:
        grow((unit,), (0.0,), 0.0, sorted(other for other in apart[unit] if other > unit))
    return gain_of


def _undivided(gain_of: dict[tuple[int, ...], float]) -> tuple[list[tuple[int, ...]], list[float]]:
    """Without those whose gain two parts of them reach together; the parts may be units alone, whose gain is 0."""
    best: dict[tuple[int, ...], float] = {}
    kept = []
    for group in sorted(gain_of, key=len):
        divided = min(
            best.get(tuple([group[at] for at in one]), 0.0) + best.get(tuple([group[at] for at in other]), 0.0)
            for one, other in _halves(len(group))
        )
        best[group] = min(divided, gain_of[group])
        if gain_of[group] < divided - 1e-12:
            kept.append(group)
    return kept, [gain_of[group] for group in kept]


@cache
def _halves(n: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """All ways to divide n things into two parts; the first is in the one."""
    found = []
    for size in range(1, n):
        rests = combinations(range(1, n), size)
        found += [(tuple(at for at in range(n) if at not in rest), rest) for rest in rests]
    return tuple(found)
