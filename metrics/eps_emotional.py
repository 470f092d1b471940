"""EPS emotional: how many texts an open classifier calls emotional."""

from collections.abc import Sequence

from emotui.metrics.metric import Metric

LABEL = "emotional"
METRIC = Metric(
    "eps_emotional", (0, 1), True, "EPS: an open classifier calls the text emotional (section 5.1)", "emotional"
)


def eps_emotional(labels: Sequence[str]) -> float | None:
    """The share of texts with this label, in [0, 1]; higher is better (section 5.1). None over no text.

    Args:
        labels: the most probable of `emotui.metrics.eps.EPS_LABELS`, a text each.

    Reading: as of `emotui.metrics.eps_emotionless`. It does not ask which emotion is shown. Table 11: -.872 with human
    F1.

    Source: section 5.1, equation 1 of the emotion generation paper, after Dong et al. 2025, who ask
    facebook/bart-large-mnli.
    """
    return sum(one == LABEL for one in labels) / len(labels) if labels else None
