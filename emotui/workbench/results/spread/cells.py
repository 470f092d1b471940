"""What tables of people's spread have in common: intervals of columns, means over annotators, names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from emotui.metrics.resampling import spread_interval
from emotui.store.query import Run
from emotui.tables import Cell

if TYPE_CHECKING:
    import numpy as np

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    Figures = np.ndarray[tuple[int], np.dtype[np.float64]]

MOST = 60
"""Annotators with a row of their own."""

INTERVALS = (
    "[low, high]: 95% percentile bootstrap over texts (over what texts share), {resamples:,} resamples, seed 0; of "
    "annotators their mean is taken first."
)
NOTHING = "no text that both say something about"


def ends_of(resampled: "Table") -> list[tuple[float | None, float | None]]:
    """The interval of each column of (resamples, columns); (None, None) where there is none."""
    return [spread_interval(resampled[:, at]) or (None, None) for at in range(resampled.shape[1])]


def mean_cells(found: "Sequence[Figures]", drawn: "Sequence[Table]") -> tuple[Cell, ...]:
    """The means over annotators, their standard deviations, and the intervals of the means.

    Args:
        found: of each annotator (columns,). drawn: of each (resamples, columns), or nothing.
    """
    import numpy as np

    table = np.array(found)
    known = np.isfinite(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    spreads = [_sd(table[known[:, at], at]) for at in range(table.shape[1])]
    ends = ends_of(_mean_of(drawn)) if drawn else [(None, None)] * table.shape[1]
    return tuple(
        Cell(value, sd, low=low, high=high) if np.isfinite(value) else Cell(why=NOTHING)
        for value, sd, (low, high) in zip(means.tolist(), spreads, ends, strict=True)
    )


def _sd(values: "Figures") -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _mean_of(drawn: "Sequence[Table]") -> "Table":
    """The mean over annotators in each resample, of those that have a text there."""
    import numpy as np

    table = np.stack(drawn)
    known = np.isfinite(table)
    with np.errstate(invalid="ignore"):
        mean: Table = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean


def most_texts(texts: Mapping[str, int]) -> list[str]:
    """Annotators, those with the most texts first."""
    return sorted(texts, key=lambda name: (-texts[name], name))


def name_of(run: Run) -> str:
    """A run by its model and way."""
    way = run.config.get("way")
    return f"{run.model} {way}" if way else run.model
