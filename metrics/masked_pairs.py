"""Two predictions of the same masks: Wilcoxon's signed-rank test and Cohen's d, a value a mask.

EXPRESS, appendix "Statistical Modeling": Tables A.10 and A.11.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from emotui.metrics.masked import MaskScore
from emotui.metrics.paired import Alternative, cohens_d, wilcoxon_p
from emotui.metrics.resampling import score_differences

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
SCORES = ("f1_v", "acc_v", "acc_l")


def compare_masks(
    a: Sequence[MaskScore], b: Sequence[MaskScore], score: str = "f1_v", alternative: Alternative = "two-sided"
) -> dict[str, Any]:
    """How a stands to b over the same masks.

    The paper's p = 1.0 implies a one-sided test, and it prints neither score nor convention of d, so each is told here.
    Zero differences are dropped (Wilcoxon's own treatment).

    Args:
        a, b: equally long, in one order.
        score: one of `SCORES`.
        alternative: `greater`: that a is better.

    Returns:
        `masks`, `score`, `alternative`, `mean_a`, `mean_b`, `mean_difference` (a minus b), `wilcoxon_p`; `cohens_d` (of
        the differences: their mean over their deviation), `cohens_d_pooled` (the mean difference over the root of the
        mean of the two variances), `better`, `worse` and `tied` (masks); `notes` on what is undefined.

    Raises:
        ValueError: lengths differ, or there is no such score.

    Source: EXPRESS, appendix "Statistical Modeling".
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} masks")
    first, second = (np.array([_value(mask, score) for mask in masks]) for masks in (a, b))
    differences = score_differences(first, second)
    notes: dict[str, str] = {}
    p = wilcoxon_p(differences, alternative)
    if p is None:
        notes["wilcoxon_p"] = "no mask has two different scores"
    paired = cohens_d(differences)
    if paired is None:
        notes["cohens_d"] = "the differences have no variance"
    spread = float(np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)) if len(first) > 1 else 0.0
    if not spread:
        notes["cohens_d_pooled"] = "the scores have no variance"
    return {
        "masks": len(first),
        "score": score,
        "alternative": alternative,
        "mean_a": float(first.mean()) if len(first) else None,
        "mean_b": float(second.mean()) if len(first) else None,
        "mean_difference": float(differences.mean()) if len(first) else None,
        "wilcoxon_p": p,
        "cohens_d": paired,
        "cohens_d_pooled": float(differences.mean()) / spread if spread else None,
        "better": int((differences > 0).sum()),
        "worse": int((differences < 0).sum()),
        "tied": int((differences == 0).sum()),
        "notes": notes,
    }


def _value(mask: MaskScore, score: str) -> float:
    if score not in SCORES:
        raise ValueError(f"{score} is not one of {', '.join(SCORES)}")
    values = {"f1_v": mask.f1, "acc_v": float(mask.same_vector), "acc_l": float(mask.same_word)}
    return values[score]
