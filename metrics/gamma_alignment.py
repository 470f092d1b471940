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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse import csr_array

Floats = NDArray[np.float64]

EMPTY = 1.0
"""The dissimilarity of a unit and an empty place."""

FEW = 16
"""Units of a part up to which it is searched through."""

_LIMIT = 60.0
"""Seconds that one program may take before it counts as not solved."""


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

    Two annotators: an assignment problem. More: set packing over the unitary alignments that are better than what they
    can be divided into (after section 5.1.1), part by part where no alignment joins the parts; a part of few units is
    searched through, a larger one is solved by `scipy.optimize.milp`. All three are exact.

    Raises:
        RuntimeError: the program was not solved in a minute.
    """
    if len(annotators) == 2:
        return _of_two(annotators[0], annotators[1], dissimilarity)
    sizes = [len(units) for units in annotators]
    groups, gains = _candidates(annotators, dissimilarity)
    chosen = _pack(groups, gains, annotators)
    found = [groups[at] for at in chosen]
    aligned = {(annotator, unit) for group in found for annotator, unit in enumerate(group) if unit >= 0}
    alone = [
        tuple(unit if own == annotator else -1 for own in range(len(sizes)))
        for annotator, size in enumerate(sizes)
        for unit in range(size)
        if (annotator, unit) not in aligned
    ]
    return Alignment(found + alone, EMPTY * sum(sizes) + sum(gains[at] for at in chosen))


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


def _candidates(annotators: Sequence[Units], dissimilarity: Dissimilarity) -> tuple[list[tuple[int, ...]], list[float]]:
    """Unitary alignments of two units or more that are better than their units alone, and by how much (below 0).

    One that is no better than two others of the same units is left out.
    """
    n = len(annotators)
    pairs = n * (n - 1) // 2
    apart = {(a, b): dissimilarity.between(annotators[a], annotators[b]) for a, b in combinations(range(n), 2)}
    # A pair that alone is dearer than n units each on their own, with all other pairs at 0, is in no candidate.
    near = {key: table < pairs * n * EMPTY for key, table in apart.items()}
    groups: list[tuple[int, ...]] = []
    gains: list[float] = []

    def extend(at: int, group: tuple[int, ...], cost: float, count: int) -> None:
        if at == n:
            if count > 1:
                empty = (pairs - count * (count - 1) // 2) * EMPTY
                gain = (cost + empty) / pairs - count * EMPTY
                if gain < -1e-12:
                    groups.append(group)
                    gains.append(gain)
            return
        # However the rest is filled, the real pairs so far cost `cost`; n units alone cost n.
        if cost >= pairs * (count + n - at) * EMPTY:
            return
        extend(at + 1, (*group, -1), cost, count)
        possible = np.ones(len(annotators[at]), dtype=np.bool_)
        added = np.zeros(len(annotators[at]))
        for own, unit in enumerate(group):
            if unit >= 0:
                possible &= near[own, at][unit]
                added += apart[own, at][unit]
        for chosen in np.nonzero(possible)[0]:
            extend(at + 1, (*group, int(chosen)), cost + float(added[chosen]), count + 1)

    extend(0, (), 0.0, 0)
    return _undivided(groups, gains)


def _undivided(groups: Sequence[tuple[int, ...]], gains: Sequence[float]) -> tuple[list[tuple[int, ...]], list[float]]:
    """Without those whose gain two parts of them reach together; the parts may be units alone, whose gain is 0."""
    gain_of = dict(zip(groups, gains, strict=True))
    best: dict[tuple[int, ...], float] = {}
    kept = []
    for group in sorted(gain_of, key=lambda one: sum(unit >= 0 for unit in one)):
        own = [at for at, unit in enumerate(group) if unit >= 0]
        divided = 0.0
        # The first unit stays in the one part, so that no division is looked at twice.
        for size in range(1, len(own)):
            for rest in combinations(own[1:], size):
                one = tuple(-1 if at in rest else unit for at, unit in enumerate(group))
                other = tuple(unit if at in rest else -1 for at, unit in enumerate(group))
                divided = min(divided, best.get(one, 0.0) + best.get(other, 0.0))
        best[group] = min(divided, gain_of[group])
        if gain_of[group] < divided - 1e-12:
            kept.append(group)
    return kept, [gain_of[group] for group in kept]


def _pack(groups: Sequence[tuple[int, ...]], gains: Sequence[float], annotators: Sequence[Units]) -> list[int]:
    """Which candidates to take, each unit at most once, for the least total gain."""
    if not groups:
        return []
    offsets = np.concatenate([[0], np.cumsum([len(units) for units in annotators])])
    # Units are numbered from left to right: a search then has few of them open at a time.
    rank = np.empty(int(offsets[-1]), dtype=np.int64)
    rank[np.argsort(np.concatenate([units.starts for units in annotators]), kind="stable")] = np.arange(offsets[-1])
    members = [[int(rank[offsets[own] + unit]) for own, unit in enumerate(group) if unit >= 0] for group in groups]
    chosen: list[int] = []
    for part in _parts(members):
        if len(part) == 1:
            chosen += part
        elif len({unit for at in part for unit in members[at]}) <= FEW:
            chosen += search(part, members, gains)
        else:
            chosen += solve(part, members, gains)
    return sorted(chosen)


def _parts(members: Sequence[Sequence[int]]) -> list[list[int]]:
    """The candidates in groups that share no unit."""
    root: dict[int, int] = {}

    def find(unit: int) -> int:
        while (up := root.setdefault(unit, unit)) != unit:
            root[unit] = root[up]
            unit = root[unit]
        return unit

    for units in members:
        first = find(units[0])
        for unit in units[1:]:
            root[find(unit)] = first
    found: dict[int, list[int]] = {}
    for at, units in enumerate(members):
        found.setdefault(find(units[0]), []).append(at)
    return list(found.values())


def search(part: Sequence[int], members: Sequence[Sequence[int]], gains: Sequence[float]) -> list[int]:
    """The packing of least total gain, by looking at every one; for a part of few units."""
    bit = {unit: 1 << row for row, unit in enumerate(sorted({unit for at in part for unit in members[at]}))}
    mask_of = {at: sum(bit[unit] for unit in members[at]) for at in part}
    with_first: dict[int, list[int]] = {}
    for at in part:
        with_first.setdefault(mask_of[at] & -mask_of[at], []).append(at)

    @cache
    def best(left: int) -> tuple[float, tuple[int, ...]]:
        if not left:
            return 0.0, ()
        first = left & -left
        found = best(left & ~first)
        for at in with_first.get(first, ()):
            if not mask_of[at] & ~left:
                gain, chosen = best(left & ~mask_of[at])
                found = min(found, (gain + gains[at], (at, *chosen)))
        return found

    return list(best((1 << len(bit)) - 1)[1])


def solve(part: Sequence[int], members: Sequence[Sequence[int]], gains: Sequence[float]) -> list[int]:
    """The packing of least total gain, by integer programming."""
    units = {unit: row for row, unit in enumerate(sorted({unit for at in part for unit in members[at]}))}
    rows = [units[unit] for at in part for unit in members[at]]
    columns = [column for column, at in enumerate(part) for _ in members[at]]
    table = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(units), len(part)))
    solved = milp(
        np.array([gains[at] for at in part]),
        integrality=np.ones(len(part)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(table, ub=np.ones(len(units))),
        options={"time_limit": _LIMIT, "mip_rel_gap": 0.0},
    )
    if not solved.success:
        raise RuntimeError(f"the best alignment was not found: {solved.message}")
    return [at for at, taken in zip(part, solved.x, strict=True) if taken > 0.5]
