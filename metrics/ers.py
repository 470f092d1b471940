"""ERS: how often the emotion found in a text is the one that it was written to show. Table 7's F1 is here too."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from emotui.metrics.metric import Metric

METRIC = Metric(
    "ers", (0, 1), True, "ERS: the emotion found in the text is the target (section 5.3)", "ERS", yes_or_no=True
)


def metric_of(classifier: str) -> Metric:
    """ERS by one of several classifiers. Args: classifier: its SPEC, which stands in the name behind a colon."""
    about = f"ERS by {classifier}: the emotion found in the text is the target (section 5.3)"
    return replace(METRIC, name=f"{METRIC.name}:{classifier}", help=about, heading=f"ERS {classifier}")


def ers(targets: Sequence[str], found: Sequence[str | None]) -> float | None:
    """Emotion recognition score, in [0, 1]: the share of texts whose found emotion is the target.

    Args:
        found: one label a text; None where there is none, which matches nothing.

    Returns:
        None over no text.

    Reading: a label that means no target counts as wrong. The paper has it by three classifiers: Table 11 gives
    .976 with human F1 by DeepSeek v3.2 (the abstract says .98), .954 by GPT-5-nano and .150 by a DistilRoBERTa.

    Source: section 5.3, equation 3 of the emotion generation paper. With the raters' majority label in place of a
    classifier's this is the accuracy of the human evaluation.
    """
    if not targets:
        return None
    return sum(a == b for a, b in zip(targets, found, strict=True)) / len(targets)


def ers_report(targets: Sequence[str], found: Sequence[str | None]) -> dict[str, Any]:
    """Precision, recall, F1 and support of each target emotion, as Tables 13 and 14 have them.

    Returns:
        `n`, `accuracy` (which is ERS), `by_emotion` `{emotion: {precision, recall, f1, support}}` in order of
        appearance, `macro` and `weighted` `{precision, recall, f1}` over the target emotions, weighted by support. The
        precision of an emotion that is never found is None by itself and 0 in the means, as scikit-learn has it. What
        is found but is no target lowers recall, and has no row.
    """
    pairs = list(zip(targets, found, strict=True))
    by_emotion: dict[str, dict[str, float | int | None]] = {}
    for emotion in dict.fromkeys(targets):
        hits = sum(a == b == emotion for a, b in pairs)
        support = sum(a == emotion for a, _ in pairs)
        said = sum(b == emotion for _, b in pairs)
        by_emotion[emotion] = {
            "precision": hits / said if said else None,
            "recall": hits / support,
            "f1": 2 * hits / (support + said),
            "support": support,
        }
    names = ("precision", "recall", "f1")
    rows = list(by_emotion.values())
    return {
        "n": len(pairs),
        "accuracy": ers(targets, found),
        "by_emotion": by_emotion,
        "macro": {name: _mean(rows, name, by_support=False) for name in names},
        "weighted": {name: _mean(rows, name, by_support=True) for name in names},
    }


def weighted_f1(targets: Sequence[str], found: Sequence[str | None]) -> float | None:
    """F1 a target emotion, weighted by how often it is the target; None over no text (Tables 10 and 11, section 6)."""
    value: float | None = ers_report(targets, found)["weighted"]["f1"]
    return value


def class_f1_of_recall(recall: float) -> float:
    """The F1 of a class that all texts are gold of: 2r / (1 + r), as its precision is then 1.

    Table 7 prints this for `neutral`: every neutralised text counts as gold neutral, so 54 of 84 are an F1 of 0.7826.
    """
    return 2 * recall / (1 + recall)


def _mean(rows: Sequence[Mapping[str, float | int | None]], name: str, *, by_support: bool) -> float | None:
    weights = [float(row["support"] or 0) if by_support else 1.0 for row in rows]
    if not sum(weights):
        return None
    return sum(weight * float(row[name] or 0) for weight, row in zip(weights, rows, strict=True)) / sum(weights)
