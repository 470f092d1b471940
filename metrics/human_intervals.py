"""How sure the human F1 of a model is: a bootstrap over its texts."""

from collections.abc import Sequence

import numpy as np

from emotui.metrics.resampling import BESIDE, interval, resampled_sums, resamples_for


def weighted_f1_interval(
    targets: Sequence[str], found: Sequence[str | None], *, seed: int = 0, resamples: int = BESIDE
) -> tuple[float, float] | None:
    """The 95% interval of `emotui.metrics.ers.weighted_f1`, where texts are drawn with replacement (percentiles).

    In each resample emotions are weighted by how often they are the target there.

    Args:
        found: the raters' majority label a text; None where there is none, which matches nothing.

    Returns:
        None for fewer than two texts.
    """
    n = len(targets)
    if n < 2:
        return None
    emotions = list(dict.fromkeys(targets))
    gold = np.array([[target == emotion for emotion in emotions] for target in targets], dtype=np.float64)
    said = np.array([[label == emotion for emotion in emotions] for label in found], dtype=np.float64)
    columns = np.concatenate([gold * said, gold, said], axis=1)
    hits, support, given = np.split(resampled_sums(columns, None, seed, resamples_for(n, resamples)), 3, axis=1)
    sizes = support + given
    f1 = np.divide(2 * hits, sizes, out=np.zeros_like(hits), where=sizes > 0)
    return interval((f1 * support).sum(axis=1) / support.sum(axis=1))
