"""Figures of repeated runs: their mean and standard deviation."""

from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any


def over_repeats(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One report as it is. Of several: each figure's mean, the rest as in the first, and the deviations in `sd`."""
    if len(reports) == 1:
        return dict(reports[0])
    figures = [name for name in reports[0] if all(isinstance(report[name], float) for report in reports)]
    means = {name: mean(report[name] for report in reports) for name in figures}
    return reports[0] | means | {"sd": {name: stdev(report[name] for report in reports) for name in figures}}
