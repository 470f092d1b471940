"""Set packing, exact: which of many candidates to take so that none of them share a unit."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

FEW = 16
"""Units of a part up to which it is searched through."""

_LIMIT = 60.0
"""Seconds that one program may take before it counts as not solved."""


def packed(members: Sequence[Sequence[int]], gains: Sequence[float]) -> list[int]:
    """Which candidates to take, each unit at most once, for the least total gain (the lowest number).

    Args:
        members: the units of each candidate. gains: of each candidate, below 0 where it is worth taking.

    Raises:
        RuntimeError: a program was not solved in a minute.
    """
    chosen: list[int] = []
    for part in _parts(members):
        if len(part) == 1:
            chosen += [at for at in part if gains[at] < 0]
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
