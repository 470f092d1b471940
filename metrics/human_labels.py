"""What several raters see in a text: one label for it, how far they agree, and how often it is the target."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from emotui.metrics.agreement import fleiss_kappa, krippendorff_alpha
from emotui.metrics.ers import class_f1_of_recall, ers_report

Ties = Literal["target", "first", "none"]
TIES: tuple[Ties, ...] = ("target", "first", "none")
"""What a text gets that several labels are the most frequent of: `target`, the target where it is among them, else the
first in the alphabet; `first`, the first in the alphabet; `none`, no label, which matches no target."""

NEUTRAL = "neutral"


def majority_share(labels: Sequence[str]) -> float | None:
    """The share of the most frequent label, f_max / N (equation 6); None without a label."""
    return max(Counter(labels).values()) / len(labels) if labels else None


def majority_label(labels: Sequence[str], target: str, ties: Ties = "none") -> str | None:
    """The most frequent label of a text.

    The paper does not say what it does with ties. `target` flatters the model, `none` does not.
    """
    counts = Counter(labels)
    most = sorted(label for label, count in counts.items() if count == max(counts.values()))
    if not most or (len(most) > 1 and ties == "none"):
        return None
    return target if ties == "target" and target in most else most[0]


def human_report(targets: Sequence[str], given: Sequence[Sequence[str]], ties: Ties = "none") -> dict[str, Any]:
    """The human evaluation of one model's emotional texts (Tables 8, 9 and 10).

    Args:
        given: the raters' labels of each text; a text without any is left out.

    Returns:
        `n` (texts with labels), `ties`, `human_f1` (weighted by support, as Table 10's totals), `accuracy`,
        `agreement` (mean of equation 6 over texts), `krippendorff_alpha`, `fleiss_kappa`, `by_emotion`
        `{emotion: {n, agreement, precision, recall, f1}}`, `notes`.
    """
    rated = [(target, labels) for target, labels in zip(targets, given, strict=True) if labels]
    notes: dict[str, str] = {}
    document: dict[str, Any] = {"n": len(rated)}
    found = [majority_label(labels, target, ties) for target, labels in rated]
    document["ties"] = sum(_tied(labels) for _, labels in rated)
    report = ers_report([target for target, _ in rated], found)
    document["human_f1"], document["accuracy"] = report["weighted"]["f1"], report["accuracy"]
    shares = [(target, majority_share(labels) or 0.0) for target, labels in rated]
    document["agreement"] = _mean([share for _, share in shares])
    document |= beyond_chance([labels for _, labels in rated], notes)
    document["by_emotion"] = {
        emotion: {
            "n": row["support"],
            "agreement": _mean([share for target, share in shares if target == emotion]),
            "precision": row["precision"],
            "recall": row["recall"],
            "f1": row["f1"],
        }
        for emotion, row in report["by_emotion"].items()
    }
    if not rated:
        notes |= dict.fromkeys(("human_f1", "accuracy", "agreement"), "no text has labels of raters")
    document["notes"] = notes
    return document


def neutral_report(given: Sequence[Sequence[str]], ties: Ties = "none") -> dict[str, Any]:
    """How often raters find a neutralised text neutral (Tables 6 and 7).

    Returns:
        `n`, `neutral` (how many texts), `recall` (their share), `f1` (2r / (1 + r), which Table 7 prints),
        `by_emotion` (how many texts were found to show what), `agreement`, `krippendorff_alpha`, `fleiss_kappa`,
        `notes`.
    """
    rated = [labels for labels in given if labels]
    found = [majority_label(labels, NEUTRAL, ties) for labels in rated]
    notes: dict[str, str] = {}
    hits = sum(label == NEUTRAL for label in found)
    recall = hits / len(rated) if rated else None
    document: dict[str, Any] = {
        "n": len(rated),
        "neutral": hits,
        "recall": recall,
        "f1": None if recall is None else class_f1_of_recall(recall),
        "by_emotion": dict(Counter(label for label in found if label is not None).most_common()),
        "ties": sum(map(_tied, rated)),
        "agreement": _mean([majority_share(labels) or 0.0 for labels in rated]),
    }
    document |= beyond_chance(rated, notes)
    if not rated:
        notes |= dict.fromkeys(("recall", "f1", "agreement"), "no neutral text has labels of raters")
    else:
        notes["f1"] = "every text counts as gold neutral, so precision is 1 and F1 is 2r / (1 + r)"
    return document | {"notes": notes}


def beyond_chance(given: Sequence[Sequence[str]], notes: dict[str, str]) -> dict[str, float | None]:
    """Krippendorff's alpha and Fleiss' kappa over texts; the reason in `notes` where one is undefined."""
    labels = sorted({label for one in given for label in one})
    counts = [[Counter(one)[label] for label in labels] for one in given]
    alpha = krippendorff_alpha(counts) if counts else None
    if alpha is None:
        notes["krippendorff_alpha"] = "needs two ratings of a text, and two labels among such texts"
    sizes = {len(one) for one in given}
    kappa = None
    if len(sizes) > 1:
        notes["fleiss_kappa"] = f"texts have unequal numbers of ratings ({min(sizes)} to {max(sizes)})"
    else:
        kappa = fleiss_kappa(counts) if counts else None
        if kappa is None:
            notes["fleiss_kappa"] = "needs two ratings of each text, and two labels among them"
    return {"krippendorff_alpha": alpha, "fleiss_kappa": kappa}


def of_people(given: Sequence[Sequence[str]], targets: Sequence[str]) -> list[float | None]:
    """The share of raters who see the target in each text; None for a text without labels."""
    return [
        labels.count(target) / len(labels) if labels else None
        for labels, target in zip((list(one) for one in given), targets, strict=True)
    ]


def _tied(labels: Sequence[str]) -> bool:
    counts: Mapping[str, int] = Counter(labels)
    return sum(count == max(counts.values()) for count in counts.values()) > 1


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
