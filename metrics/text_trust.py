"""Does a metric agree with people on each text? The view of the same question that has power.

Table 11 correlates five points, one a model. Here every text of every model is a point: the metric's value of the text
against the share of raters who see the target in it. Texts of one model are alike, so the interval draws whole models.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from emotui.metrics.metric_trust import LOWER_IS_BETTER
from emotui.metrics.resampled_order import resampled_spearman
from emotui.metrics.resampling import drawn, interval_of
from emotui.metrics.values import pearson, spearman

RESAMPLES = 1_000


def text_trust(
    values: Mapping[str, Sequence[float | None]],
    human: Sequence[float | None],
    models: Sequence[str],
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, dict[str, Any]]:
    """Correlations over texts, each with an interval that is clustered by model.

    Args:
        values: metric to its value of each text.
        human: the share of raters who see the target, of each text.
        models: who wrote each text.

    Returns:
        metric to `{pearson, spearman, oriented_spearman, n, models, ci, within, why}`. `ci` is the 95% interval of
        Spearman's rho over models, each with all its texts: Student's t over fewer than 20 models, as `why` says, else
        BCa (cluster bootstrap, Field and Welsh 2007). `within` is the mean over models of rho inside each: a metric
        that only tells good models from bad ones has none.
    """
    return {name: _one(name, column, human, models, seed, resamples) for name, column in values.items()}


def _one(
    name: str,
    column: Sequence[float | None],
    human: Sequence[float | None],
    models: Sequence[str],
    seed: int,
    resamples: int,
) -> dict[str, Any]:
    known = [
        (value, seen, model)
        for value, seen, model in zip(column, human, models, strict=True)
        if value is not None and seen is not None
    ]
    x, y = [one[0] for one in known], [one[1] for one in known]
    parts = [
        np.array([place for place, one in enumerate(known) if one[2] == model], dtype=np.int64)
        for model in dict.fromkeys(one[2] for one in known)
    ]
    rho = spearman(x, y)
    inside = [spearman([x[i] for i in part], [y[i] for i in part]) for part in parts]
    defined = [one for one in inside if one is not None]
    found: dict[str, Any] = {
        "pearson": pearson(x, y),
        "spearman": rho,
        "oriented_spearman": None if rho is None else (-rho if name in LOWER_IS_BETTER else rho),
        "n": len(known),
        "models": len(parts),
        "ci": None,
        "within": sum(defined) / len(defined) if defined else None,
        "why": None,
    }
    if rho is None:
        return found | {"why": "fewer than two texts with both, or one side is the same for all of them"}
    if len(parts) < 2:
        return found | {"why": "an interval draws models, and there is one"}
    sure = interval_of(resampled_spearman(x, y, drawn([one[2] for one in known]), seed, resamples))
    return found | {"ci": None if sure.ends is None else list(sure.ends), "why": sure.note or None}
