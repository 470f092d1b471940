"""What tables of people's spread have in common: intervals of columns, means over annotators, names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from emotui.metrics.resampling import Interval, Replicates, averaged, interval_of
from emotui.store.query import Run
from emotui.tables import Cell

if TYPE_CHECKING:
    import numpy as np

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    Figures = np.ndarray[tuple[int], np.dtype[np.float64]]

MOST = 60
"""Annotators with a row of their own."""

INTERVALS = (
    "[low, high]: 95% BCa bootstrap over texts (over what texts share), {resamples:,} resamples, seed 0, Student's t "
    "where texts are few; of annotators their mean is taken first."
)
NOTHING = "no text that both say something about"


def figure_cell(value: float, sure: Interval, samples: tuple[int, ...] = (), run: str | None = None) -> Cell:
    """A figure with its interval."""
    return Cell(value, samples=samples, run=run, low=sure.low, high=sure.high, note=sure.note)


def mean_cells(found: "Sequence[Figures]", drawn: "Sequence[Sequence[Replicates]]") -> tuple[Cell, ...]:
    """The means over annotators, their standard deviations, and the intervals of the means.

    Args:
        found: of each annotator (columns,). drawn: of each its columns over resamples, or nothing.
    """
    import numpy as np

    table = np.array(found)
    known = np.isfinite(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    spreads = [_sd(table[known[:, at], at]) for at in range(table.shape[1])]
    sure = [interval_of(averaged(column)) for column in zip(*drawn, strict=True)] or [Interval()] * table.shape[1]
    return tuple(
        Cell(value, sd, low=one.low, high=one.high, note=one.note) if np.isfinite(value) else Cell(why=NOTHING)
        for value, sd, one in zip(means.tolist(), spreads, sure, strict=True)
    )


def _sd(values: "Figures") -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def most_texts(texts: Mapping[str, int]) -> list[str]:
    """Annotators, those with the most texts first."""
    return sorted(texts, key=lambda name: (-texts[name], name))


def name_of(run: Run) -> str:
    """A run by its model and way."""
    way = run.config.get("way")
    return f"{run.model} {way}" if way else run.model
