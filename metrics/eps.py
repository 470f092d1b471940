"""EPS: how many texts an open classifier finds emotionless, neutral or emotional."""

from collections.abc import Mapping, Sequence

EPS_LABELS = ("emotionless", "neutral", "emotional")
"""The three labels, in the order of Table 11."""


def eps_label(probs: Mapping[str, float]) -> str:
    """The label of one text: the most probable of `EPS_LABELS`, of equally probable ones the first.

    Raises:
        ValueError: one of the three has no probability.
    """
    lacking = [label for label in EPS_LABELS if label not in probs]
    if lacking:
        raise ValueError(f"there is no probability of {lacking[0]!r}")
    return max(EPS_LABELS, key=lambda label: probs[label])


def eps(labels: Sequence[str]) -> dict[str, float] | None:
    """Emotion probability scores: the share of texts with each label, in [0, 1]; the three sum to 1.

    A higher share of `emotional` is better, a lower one of the other two.

    Args:
        labels: one of `EPS_LABELS` a text.

    Returns:
        None over no text.

    Source: section 5.1, equation 1 of the emotion generation paper, after Dong et al. 2025, who ask
    facebook/bart-large-mnli for the most probable of the three labels.
    """
    if not labels:
        return None
    return {label: sum(one == label for one in labels) / len(labels) for label in EPS_LABELS}
