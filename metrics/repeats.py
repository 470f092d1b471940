"""Figures of repeated runs: their mean and standard deviation."""

from collections.abc import Callable, Sequence
from statistics import fmean, mean, stdev
from typing import Any, Protocol, TypeVar


class Repeated(Protocol):
    """What was scored of one answer."""

    @property
    def repeat(self) -> int: ...


R = TypeVar("R", bound=Repeated)


def by_repeat(details: Sequence[R], report: Callable[[list[R]], dict[str, Any]]) -> dict[str, Any]:
    """One report over all details, or, of several repeats, a report a repeat and `over_repeats` of them."""
    repeats = sorted({detail.repeat for detail in details})
    return over_repeats([report([one for one in details if one.repeat == repeat]) for repeat in repeats])


def over_repeats(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One report as it is. Of several: each figure's mean, the rest as in the first, and the deviations in `sd`."""
    if len(reports) == 1:
        return dict(reports[0])
    figures = [name for name in reports[0] if all(isinstance(report[name], float) for report in reports)]
    means = {name: mean(report[name] for report in reports) for name in figures}
    return reports[0] | means | {"sd": {name: stdev(report[name] for report in reports) for name in figures}}


def known_mean(values: Sequence[float | None]) -> float | None:
    """The mean over the repeats in which a figure is defined, None where it is in none. Equal ones stay."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return known[0] if len(set(known)) == 1 else fmean(known)


def known_sd(values: Sequence[float | None]) -> float | None:
    """The sample standard deviation (n-1) over the repeats in which a figure is defined; None over fewer than two."""
    known = [value for value in values if value is not None]
    return stdev(known) if len(known) > 1 else None
