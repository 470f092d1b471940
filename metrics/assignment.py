"""One-to-one assignment of greatest total weight, exact: Kuhn-Munkres over Python's integers.

Weights are integers of any size, so that a second aim can stand in the low digits of a weight and decide among equal
firsts without an epsilon. Floating point (scipy's `linear_sum_assignment`) has 53 bits, which the common denominator of
a few dozen F1 values exceeds; scipy is the oracle in the tests.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations
from math import perm
from operator import getitem

_entry: Callable[[Sequence[int], int], int] = getitem
_FEW = 60
"""Up to so many matchings are simply all looked at; above, the augmenting paths are quicker."""


def assign(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The matching of greatest total weight that uses every row or every column, whichever are fewer.

    Args:
        weights: (rows, columns), integers of any size and sign.

    Returns:
        min(rows, columns) pairs `(row, column)` by row. The same weights always give the same matching.

    Source: Kuhn 1955, Munkres 1957; shortest augmenting paths as in Jonker and Volgenant 1987.
    """
    if not weights or not weights[0]:
        return []
    rows, columns = len(weights), len(weights[0])
    if rows > columns:
        turned = [[row[column] for row in weights] for column in range(columns)]
        return sorted((row, column) for column, row in enumerate(_columns_of_rows(turned)))
    return list(enumerate(_columns_of_rows(weights)))


def _columns_of_rows(weights: Sequence[Sequence[int]]) -> Sequence[int]:
    """The column of each row; there are at least as many columns as rows."""
    # Where each row's heaviest column is another one, nothing can be better.
    heaviest = [row.index(max(row)) for row in weights]
    if len(set(heaviest)) == len(heaviest):
        return heaviest
    rows, columns = len(weights), len(weights[0])
    if perm(columns, rows) <= _FEW:
        return max(_choices(rows, columns), key=lambda chosen: sum(map(_entry, weights, chosen)))
    return _augment(weights)


@cache
def _choices(rows: int, columns: int) -> list[tuple[int, ...]]:
    return list(permutations(range(columns), rows))


def _augment(weights: Sequence[Sequence[int]]) -> list[int]:
    """Row by row along the cheapest augmenting path, prices kept so that every reduced cost stays 0 or more."""
    rows, columns = len(weights), len(weights[0])
    row_price = [0] * rows
    column_price = [0] * columns
    row_of: list[int] = [-1] * columns
    for first in range(rows):
        distance: list[int | None] = [None] * columns
        before = [-1] * columns  # the column from which a column was reached, -1 for the first row
        open_columns = list(range(columns))
        path: list[int] = []  # the columns that are settled
        row, came_from, settled = first, -1, 0
        while True:
            weight, price = weights[row], row_price[row]
            nearest, nearest_distance = -1, 0
            for column in open_columns:
                cost = settled - weight[column] - price - column_price[column]
                known = distance[column]
                if known is None or cost < known:
                    distance[column] = known = cost
                    before[column] = came_from
                if nearest < 0 or known < nearest_distance:
                    nearest, nearest_distance = column, known
            settled = nearest_distance
            if row_of[nearest] < 0:
                break
            open_columns.remove(nearest)
            path.append(nearest)
            row, came_from = row_of[nearest], nearest
        row_price[first] += settled
        for column in path:
            gain = settled - (distance[column] or 0)
            row_price[row_of[column]] += gain
            column_price[column] -= gain
        column = nearest
        while before[column] >= 0:
            row_of[column] = row_of[before[column]]
            column = before[column]
        row_of[column] = first
    chosen = [0] * rows
    for column, row in enumerate(row_of):
        if row >= 0:
            chosen[row] = column
    return chosen
