"""How sure agreement over a table of labels is: percent, Fleiss' and Cohen's kappa over resamples of texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.resampling import Replicates, averaged, drawn_by, estimates, group_numbers

Floats = NDArray[np.float64]

PAIRS = 36
"""Of more pairs of raters (more than nine raters) those of each two have no intervals: they are too many to draw."""


@dataclass(frozen=True, slots=True)
class ResampledAgreement:
    """Each figure; of pairs in the order of `itertools.combinations`, or none."""

    percent: Replicates
    fleiss_kappa: Replicates
    pair_percents: list[Replicates]
    kappas: list[Replicates]

    @property
    def mean_kappa(self) -> Replicates | None:
        """The mean of those that are defined."""
        return averaged(self.kappas) if self.kappas else None


def resampled_agreement(table: Floats, texts: Sequence[int] | None, resamples: int, seed: int) -> ResampledAgreement:
    """The figures of `emotui.metrics.rating_tables.table_agreement` over resamples of texts.

    Args:
        table: (items, raters), the number of the label, NaN for none.
        texts: of each item the number of its text; None: an item is a text.
    """
    there = ~np.isnan(table)
    values = np.unique(table[there])
    given = table[:, :, None] == values  # (items, raters, labels)
    counts = given.sum(axis=1).astype(np.float64)  # (items, labels)
    sizes = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum(axis=1) / 2
    each = np.divide(2 * alike, sizes * (sizes - 1), out=np.zeros(len(table)), where=sizes > 1)
    columns = [alike, sizes * (sizes - 1) / 2, each, (sizes > 0).astype(np.float64), *counts.T]
    fixed, k = len(columns), len(values)
    pairs = list(combinations(range(table.shape[1]), 2))
    pairs = pairs if len(pairs) <= PAIRS else []
    for a, b in pairs:
        both = there[:, a] & there[:, b]
        columns += [both & (table[:, a] == table[:, b]), both]
        columns += [*(given[:, a] & both[:, None]).T, *(given[:, b] & both[:, None]).T]
    by = drawn_by(np.arange(len(table)) if texts is None else group_numbers(texts))

    def figures(sums: Floats) -> Floats:
        """(m, 2 + 2 pairs): percent and Fleiss' kappa, then percent and Cohen's kappa of each two."""
        shares = sums[:, 4:fixed] / sums[:, 4:fixed].sum(axis=1, keepdims=True)
        made = [sums[:, 0] / sums[:, 1], _beyond(sums[:, 2] / sums[:, 3], (shares**2).sum(axis=1))]
        for at in range(len(pairs)):
            own = sums[:, fixed + at * (2 + 2 * k) :][:, : 2 + 2 * k]
            n = own[:, 1:2]
            made.append(own[:, 0] / own[:, 1])
            first, second = own[:, 2 : 2 + k] / n, own[:, 2 + k :] / n
            made.append(_beyond(made[-1], (first * second).sum(axis=1)))
        return np.stack(made, axis=1)

    each = estimates(
        np.stack(columns, axis=1).astype(np.float64), figures, by, seed=seed, resamples=resamples, bounds=(-1.0, 1.0)
    )
    each[::2] = [replace(one, bounds=(0.0, 1.0)) for one in each[::2]]
    rated = [by.holding(sizes > 1), by.holding(sizes > 0)]
    rated += [by.holding(there[:, a] & there[:, b]) for a, b in pairs for _ in range(2)]
    each = [replace(one, n=n) for one, n in zip(each, rated, strict=True)]
    return ResampledAgreement(each[0], each[1], each[2::2], each[3::2])


def _beyond(observed: Floats, chance: Floats) -> Floats:
    """How far agreement goes beyond chance; NaN where chance explains all."""
    found: Floats = np.where(chance < 1 - 1e-12, (observed - chance) / (1 - chance), np.nan)
    return found
