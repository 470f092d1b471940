"""How sure the human F1 of a model is, over its texts."""

from collections.abc import Sequence

import numpy as np

from emotui.metrics.permutation import weighted_f1_of_sums
from emotui.metrics.resampling import BESIDE, Interval, drawn_by, estimates, interval_of, resamples_for
from emotui.metrics.states import Floats


def weighted_f1_interval(
    targets: Sequence[str], found: Sequence[str | None], *, seed: int = 0, resamples: int = BESIDE
) -> Interval:
    """The 95% interval of `emotui.metrics.ers.weighted_f1`, where texts are drawn with replacement.

    In each resample emotions are weighted by how often they are the target there.

    Args:
        found: the raters' majority label a text; None where there is none, which matches nothing.
    """
    n = len(targets)
    if not n:
        return Interval()
    emotions = list(dict.fromkeys(targets))
    gold = np.array([[target == emotion for emotion in emotions] for target in targets], dtype=np.float64)
    said = np.array([[label == emotion for emotion in emotions] for label in found], dtype=np.float64)
    columns = np.concatenate([gold * said, said, gold], axis=1)
    many = resamples_for(n, resamples)

    def weighted(sums: Floats) -> Floats:
        return weighted_f1_of_sums(*np.split(sums, 3, axis=1))

    (made,) = estimates(columns, weighted, drawn_by(None, n), seed=seed, resamples=many, bounds=(0.0, 1.0))
    return interval_of(made)
