"""One label a text: the document of `emotui score class`."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emotui.errors import BadInput

if TYPE_CHECKING:
    from emotui.metrics.beside import Shared

Answer = str | Mapping[str, float]
"""A label, or a probability for each label."""


def chosen_label(answer: Answer) -> str:
    """The label itself, or the most probable one; of equally probable ones the first.

    Raises:
        ValueError: no label, or a probability outside [0, 1] (NaN too).
    """
    if isinstance(answer, str):
        return answer
    if not answer:
        raise ValueError("there is neither a label nor a probability")
    for label, p in answer.items():
        if not (math.isfinite(p) and 0 <= p <= 1):
            raise ValueError(f"the probability of {label!r} is {p}")
    return max(answer, key=lambda label: answer[label])


def class_report(
    gold: Mapping[str, str], predicted: Mapping[str, Answer], shared: "Shared | None" = None
) -> dict[str, Any]:
    """The document of `emotui score class`.

    Args:
        gold: id to label.
        predicted: id to a label, or to `{label: probability}`.
        shared: of each gold record what it shares with others; where given, intervals stand beside (`ci95`).

    Returns:
        `n`, `accuracy`, `macro_f1`, `weighted_f1`, `by_label` `{label: {precision, recall, f1, support}}`, `confusion`
        `{gold: {predicted: count}}` (counts above 0), `notes`. Labels are those that are gold or predicted somewhere,
        gold ones first, each in order of appearance; the macro F1 is over all of them, as scikit-learn's is, and the
        weighted one the mean of F1 by label, each as often as it is gold (its `average="weighted"`). An empty predicted
        label is no label but a missing answer: wrong, and only in `confusion`.

    Raises:
        BadInput: an id in one of the two only, or an answer that is none; one line each, beginning with the id.
    """
    problems = [f"{key}: no prediction for this gold record" for key in gold if key not in predicted]
    problems += [f"{key}: predicted, but not in the gold file" for key in predicted if key not in gold]
    answers: dict[str, str] = {}
    for key, answer in predicted.items():
        try:
            answers[key] = chosen_label(answer)
        except ValueError as problem:
            problems.append(f"{key}: {problem}")
    if problems:
        raise BadInput(*problems)

    silent = sum(not answers[key] for key in gold)
    labels = list(dict.fromkeys([*gold.values(), *(answers[key] for key in gold if answers[key])]))
    confusion: dict[str, dict[str, int]] = {}
    for key, label in gold.items():
        row = confusion.setdefault(label, {})
        row[answers[key]] = row.get(answers[key], 0) + 1
    notes: dict[str, str] = {}
    by_label: dict[str, Any] = {}
    f1s = []
    for label in labels:
        hits = confusion.get(label, {}).get(label, 0)
        support = sum(confusion.get(label, {}).values())
        guessed = sum(row.get(label, 0) for row in confusion.values())
        if not guessed:
            notes[f"by_label.{label}.precision"] = f"{label} is never predicted"
        if not support:
            notes[f"by_label.{label}.recall"] = f"{label} is never gold"
        f1s.append(2 * hits / (support + guessed))
        by_label[label] = {
            "precision": hits / guessed if guessed else None,
            "recall": hits / support if support else None,
            "f1": f1s[-1],
            "support": support,
        }
    n = len(gold)
    supports = [by_label[label]["support"] for label in labels]
    if silent:
        notes["n"] = f"{silent} record{'s' * (silent != 1)} without an answer count{'s' * (silent == 1)} as wrong"
    if not n:
        notes |= dict.fromkeys(("accuracy", "macro_f1", "weighted_f1"), "there is no record to score")
    sure = {} if shared is None else _intervals(list(gold.values()), [answers[key] for key in gold], labels, shared)
    report = {
        "n": n,
        "accuracy": sum(answers[key] == label for key, label in gold.items()) / n if n else None,
        "macro_f1": sum(f1s) / len(f1s) if f1s else None,
        "weighted_f1": sum(f1 * k for f1, k in zip(f1s, supports, strict=True)) / n if n else None,
        "by_label": by_label,
        "confusion": confusion,
        "notes": notes,
    }
    return report | {**sure, "notes": {**notes, **sure.get("notes", {})}}


def _intervals(gold: Sequence[str], said: Sequence[str], labels: Sequence[str], shared: "Shared") -> dict[str, Any]:
    # Imported here because they need numpy, and the figures themselves do not.
    from emotui.metrics.beside import beside, of_labels

    return beside(of_labels(gold, said, labels, shared), shared)
