"""EAS: how strong the emotions of a text are, as a model that writes rates them."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from emotui.metrics.metric import Metric

METRIC = Metric(
    "eas", (0, 6), True, "EAS: strength of six emotions, as a model that writes rates them (section 5.2)", "EAS"
)
EAS_EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
"""The six emotions rated (section 5.2)."""

EAS_MOST = 100
"""The strongest rating; 0 is the weakest."""


def eas(scores: Mapping[str, float]) -> float:
    """Emotion absolute score of one text, in [0, 6]: the sum over six emotions of (rating / 100) squared.

    Args:
        scores: a rating from 0 to 100 for each of `EAS_EMOTIONS`.

    Raises:
        ValueError: a rating is missing or outside 0 to 100.

    Reading: higher is better, though Table 11 has it at -.622 with human F1: it asks how strong emotions are, and not
    which.

    Source: section 5.2, equation 2 of the emotion generation paper, after Dong et al. 2025; GPT-5-nano rates there.
    """
    total = 0.0
    for emotion in EAS_EMOTIONS:
        rating = scores.get(emotion)
        if rating is None or not 0 <= rating <= EAS_MOST:
            raise ValueError(f"the rating of {emotion} is {rating}, not a number from 0 to {EAS_MOST}")
        total += (rating / EAS_MOST) ** 2
    return total


def mean_eas(values: Sequence[float]) -> float | None:
    """The mean over texts, as Table 11 has it; None over none."""
    return fmean(values) if values else None
