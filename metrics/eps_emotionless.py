"""EPS emotionless: how many texts an open classifier calls emotionless."""

from collections.abc import Sequence

from emotui.metrics.metric import Metric

LABEL = "emotionless"
METRIC = Metric(
    "eps_emotionless", (0, 1), False, "EPS: an open classifier calls the text emotionless (section 5.1)", "emotionless"
)


def eps_emotionless(labels: Sequence[str]) -> float | None:
    """The share of texts with this label, in [0, 1]; lower is better (section 5.1). None over no text.

    Args:
        labels: the most probable of `emotui.metrics.eps.EPS_LABELS`, a text each.

    Reading: the most probable of all three labels counts (argmax), so the three shares sum to 1. Table 11 prints -.901,
    oriented; its own column gives .893 as it is and -.893 oriented.

    Source: section 5.1, equation 1 of the emotion generation paper, after Dong et al. 2025, who ask
    facebook/bart-large-mnli.
    """
    return sum(one == LABEL for one in labels) / len(labels) if labels else None
