"""EPS: how many texts an open classifier finds emotionless, neutral or emotional."""

from collections.abc import Mapping, Sequence

from emotui.metrics import eps_emotional, eps_emotionless, eps_neutral

EPS_LABELS = (eps_emotionless.LABEL, eps_neutral.LABEL, eps_emotional.LABEL)
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
    """All three emotion probability scores; they sum to 1.

    Args:
        labels: one of `EPS_LABELS` a text.

    Returns:
        None over no text.
    """
    shares = {
        eps_emotionless.LABEL: eps_emotionless.eps_emotionless(labels),
        eps_neutral.LABEL: eps_neutral.eps_neutral(labels),
        eps_emotional.LABEL: eps_emotional.eps_emotional(labels),
    }
    known = {label: share for label, share in shares.items() if share is not None}
    return known or None
