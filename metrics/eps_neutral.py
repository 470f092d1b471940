"""EPS neutral: how many texts an open classifier calls neutral."""

from collections.abc import Sequence

from emotui.metrics.metric import Metric

LABEL = "neutral"
METRIC = Metric("eps_neutral", (0, 1), False, "EPS: an open classifier calls the text neutral (section 5.1)", "neutral")


def eps_neutral(labels: Sequence[str]) -> float | None:
    """The share of texts with this label, in [0, 1]; lower is better (section 5.1). None over no text.

    Args:
        labels: the most probable of `emotui.metrics.eps.EPS_LABELS`, a text each.

    Reading: as of `emotui.metrics.eps_emotionless`. A text whose target is neutral counts like any other,
    so it does not tell one that ought to be neutral from one that failed. Table 11: -.784 with human F1, oriented.

    Source: section 5.1, equation 1 of the emotion generation paper, after Dong et al. 2025, who ask
    facebook/bart-large-mnli.
    """
    return sum(one == LABEL for one in labels) / len(labels) if labels else None
