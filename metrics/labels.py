"""Several labels a text, out of any label set: the document of `emotui score labels`.

What `emotui score scenes` prints comes from `emotui.metrics.scenes`; this adds figures by text (Jaccard, samples F1),
figures of probabilities, and a confusion matrix for several labels a text.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.errors import BadInput
from emotui.metrics.beside import Shared, beside, drawn, fewer_of, intervals, probabilities, vectors, with_beside
from emotui.metrics.probabilities import BINS, average_precision, bin_sizes, brier_score, expected_calibration_error
from emotui.metrics.scenes import Report, scenes_metrics
from emotui.metrics.states import Bits, Floats
from emotui.metrics.thresholds import USUAL, decided

Gold = Sequence[str] | Mapping[str, float]
"""The labels of a text as a list, or 0 or 1 for each label."""

Answer = Sequence[str] | Mapping[str, float]
"""The labels given as a list, or a number for each label: 0 or 1, or a probability."""

NONE = ""
"""In a confusion matrix: no label. Its row is of what was given too much, its column of what was only missed."""

OF_PROBABILITIES = ("brier", "ece", "average_precision")


def jaccard(gold: Set[str], predicted: Set[str]) -> float:
    """Labels that both have, over labels that either has, in [0, 1]; 1 where neither has any.

    Source: Godbole and Sarawagi 2004, section 5 (there called accuracy); scikit-learn leaves two empty sets to its
    `zero_division`.
    """
    either = len(gold | predicted)
    return len(gold & predicted) / either if either else 1.0


def sample_f1(gold: Set[str], predicted: Set[str]) -> float:
    """F1 of two sets of labels, in [0, 1]; 1 where both are empty. Source: Godbole and Sarawagi 2004, section 5."""
    size = len(gold) + len(predicted)
    return 2 * len(gold & predicted) / size if size else 1.0


_ROWS = 1 << 16
"""Rows that are counted at once: a million would stand in memory five times."""


def confusion_counts(gold: ArrayLike, predicted: ArrayLike) -> NDArray[np.int64]:
    """In how many texts a label was gold (row) and another one given in its place (column).

    On the diagonal: texts in which the label is rightly given. Off it: texts in which the row's label was missed and
    the column's given too much. The last column counts labels missed in texts where nothing was given too much, the
    last row labels given too much in texts where nothing was missed, and their corner texts that rightly have none.
    With one label a text, gold and predicted, it is the usual confusion matrix.

    Args:
        gold, predicted: (n, k) of 0 or 1.

    Returns:
        (k + 1, k + 1).

    Source: after Heydarian, Doyle and Samavi 2022 (MLCM), which also has a row and a column for no label; but where
    nothing was missed, an extra label stands in that row alone and not in those of all labels rightly given.
    """
    g, p = np.asarray(gold), np.asarray(predicted)
    if g.shape != p.shape or g.ndim != 2:
        raise ValueError(f"gold {g.shape} and predicted {p.shape} vectors must both be (records, labels)")
    k = g.shape[1]
    counts = np.zeros((k + 1, k + 1), dtype=np.int64)
    for start in range(0, len(g), _ROWS):
        there, said = (each[start : start + _ROWS].astype(np.int64) for each in (g, p))
        right, missed, extra = there & said, there & ~said & 1, said & ~there & 1
        counts[:k, :k] += missed.T @ extra + np.diag(right.sum(axis=0))
        counts[:k, k] += missed[extra.sum(axis=1) == 0].sum(axis=0)
        counts[k, :k] += extra[missed.sum(axis=1) == 0].sum(axis=0)
        counts[k, k] += int(((there.sum(axis=1) == 0) & (said.sum(axis=1) == 0)).sum())
    return counts


def labels_metrics(
    gold: ArrayLike,
    predicted: ArrayLike,
    labels: Sequence[str],
    probabilities: ArrayLike | None = None,
    thresholds: Mapping[str, float] | None = None,
) -> Report:
    """Every figure over records with several labels each.

    Args:
        gold, predicted: (n, k) of 0 or 1.
        labels: k names.
        probabilities: (n, k) in [0, 1], where there are any.
        thresholds: with which `predicted` was decided, by label; None where it was not by any.

    Returns:
        `scenes_metrics` with `jaccard` and `samples_f1` (means over records, 1 where gold and predicted are both
        empty), `brier`, `ece` and `average_precision` (means over labels; by label under `by_label`; None without
        probabilities, and the last also of a label that is never gold, which its mean leaves out), with probabilities
        `calibration` `{bins, texts, fewest_filled, most_filled, by_label: {label: [n a bin]}}` (what
        Brier and ECE are over; the bins with a text in them of the label that has the fewest and the most), `confusion`
        `{gold: {predicted: count}}` (counts above 0, `confusion_counts`; `""` is no label), and `threshold` by label.
    """
    g, p = np.asarray(gold, dtype=np.uint8), np.asarray(predicted, dtype=np.uint8)
    report = scenes_metrics(g, p, labels)
    by_label, notes = report.pop("by_label"), report.pop("notes")
    by_text = ("jaccard", "samples_f1")
    if len(g):
        both, either = (g & p).sum(axis=1), (g | p).sum(axis=1)
        size = both + either
        report["jaccard"] = float(np.divide(both, either, out=np.ones(len(g)), where=either > 0).mean())
        report["samples_f1"] = float(np.divide(2 * both, size, out=np.ones(len(g)), where=size > 0).mean())
    else:
        report |= dict.fromkeys(by_text)
        notes |= dict.fromkeys(by_text, "there is no record to score")
    _add_probabilities(report, by_label, notes, g, labels, probabilities)
    for name in labels:
        by_label[name]["threshold"] = None if thresholds is None else thresholds.get(name, USUAL)
    return report | {"by_label": by_label, "confusion": _confusion(g, p, labels), "notes": notes}


def _add_probabilities(
    report: Report,
    by_label: Report,
    notes: dict[str, str],
    gold: Bits,
    labels: Sequence[str],
    probabilities: ArrayLike | None,
) -> None:
    columns: Floats | None = None if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    for place, name in enumerate(labels):
        truth = gold[:, place]
        given = None if columns is None else columns[:, place]
        by_label[name] |= {
            "brier": None if given is None else brier_score(truth, given),
            "ece": None if given is None else expected_calibration_error(given, truth),
            "average_precision": None if given is None else average_precision(truth, given),
        }
    if columns is not None:
        sizes = {name: bin_sizes(columns[:, place]) for place, name in enumerate(labels)}
        filled = [sum(n > 0 for n in own) for own in sizes.values()] or [0]
        report["calibration"] = {
            "bins": BINS,
            "texts": len(gold),
            "fewest_filled": min(filled),
            "most_filled": max(filled),
            "by_label": sizes,
        }
    for figure in OF_PROBABILITIES:
        values = [by_label[name][figure] for name in labels if by_label[name][figure] is not None]
        report[figure] = sum(values) / len(values) if values else None
        if not len(gold):
            notes[figure] = "there is no record to score"
        elif columns is None:
            notes[figure] = "not all predictions are probabilities"
        elif not values:
            notes[figure] = "no label is gold anywhere"
        elif len(values) < len(labels):
            notes[figure] = f"the mean over {len(values)} of {len(labels)} labels: the others are never gold"


def _confusion(gold: Bits, predicted: Bits, labels: Sequence[str]) -> dict[str, dict[str, int]]:
    names = [*labels, NONE]
    counts = confusion_counts(gold, predicted)
    rows = {
        row: {column: int(n) for column, n in zip(names, line, strict=True) if n}
        for row, line in zip(names, counts, strict=True)
    }
    return {row: line for row, line in rows.items() if line}


def labels_report(
    gold: Mapping[str, Gold],
    predicted: Mapping[str, Answer],
    thresholds: Mapping[str, float] | None = None,
    given: Mapping[str, Sequence[str]] | None = None,
    shared: Shared | None = None,
) -> Report:
    """The document of `emotui score labels`.

    Args:
        gold: id to labels.
        predicted: id to labels, to 0 or 1 by label, or to probabilities by label. They count as probabilities where
            no answer is a list and some number is neither 0 nor 1. A label without a number has 0.
        thresholds: by label; a label without one, and all without any, are given where p is at least 0.5.
        given: id to the labels that the model itself gives beside its probabilities. They count, unless there are
            thresholds.
        shared: of each gold record what it shares with others; where given, intervals stand beside (`ci95`).

    Returns:
        `labels_metrics`; labels are all that either side names, gold ones first, each in order of appearance.

    Raises:
        BadInput: one line a problem, each beginning with the record's id: an id in one of the two only, a gold value
            that is not 0 or 1, a predicted one that is not in [0, 1]; or a threshold that is not.
    """
    chosen = dict(thresholds or {})
    problems = [f"{key}: no prediction for this gold record" for key in gold if key not in predicted]
    problems += [f"{key}: predicted, but not in the gold file" for key in predicted if key not in gold]
    for key, row in gold.items():
        problems += [f"{key}: gold label {name!r} is {n}, not 0 or 1" for name, n in _numbers(row) if n not in (0, 1)]
    for key, answer in predicted.items():
        problems += [f"{key}: predicted label {name!r} is {n}, not from 0 to 1" for name, n in _strange(answer)]
    problems += [f"the threshold of {name!r} is {n}, not from 0 to 1" for name, n in _strange(chosen)]
    if problems:
        raise BadInput(*problems)
    labels = label_names([*gold.values(), *(predicted[key] for key in gold)])
    truth = as_table([*gold.values()], labels).astype(np.uint8)
    answers = [predicted[key] for key in gold]
    known = probable(answers)
    table = as_table(answers, labels)
    guesses = decided(table, [chosen.get(name, USUAL) for name in labels])
    own = given if given and thresholds is None else {}
    for place, key in enumerate(gold):
        if key in own:
            guesses[place] = as_table([own[key]], labels)[0]
    report = labels_metrics(truth, guesses, labels, table if known else None, chosen if known and not own else None)
    if unknown := [name for name in chosen if name not in labels]:
        report["notes"]["thresholds"] = f"no record has a label {', '.join(map(repr, unknown))}"
    elif chosen and not known:
        report["notes"]["thresholds"] = "predictions are no probabilities: the thresholds change nothing"
    if shared is not None:
        by = drawn(shared)
        each = vectors(truth, guesses, labels, by) | (probabilities(truth, table, labels, by) if known else {})
        report = with_beside(report, beside(intervals([each]), shared, fewer=fewer_of([each], by.n)))
    return report


def label_names(rows: Iterable[Gold | Answer]) -> list[str]:
    """All labels that are named anywhere, in order of appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def as_table(rows: Sequence[Gold | Answer], labels: Sequence[str]) -> Floats:
    """(n, k): the number of each label, 1 for one that stands in a list, 0 for one that is not named."""
    places = {name: place for place, name in enumerate(labels)}
    if all(type(row) is tuple for row in rows):
        of: dict[tuple[str, ...], int] = {}  # many say alike
        codes = np.fromiter((of.setdefault(tuple(row), len(of)) for row in rows), np.int64, len(rows))
        kinds = np.zeros((len(of), len(labels)))
        for row, code in of.items():
            kinds[code, [places[name] for name in row]] = 1
        return kinds[codes]
    table = np.zeros((len(rows), len(labels)))
    columns = [places[name] for row in rows for name in row]
    lines = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    numbers: Any = 1.0
    if any(isinstance(row, Mapping) for row in rows):
        each = (row.values() if isinstance(row, Mapping) else [1.0] * len(row) for row in rows)
        numbers = [number for some in each for number in some]
    table[lines, columns] = numbers
    return table


def probable(answers: Iterable[Answer]) -> bool:
    """Whether answers are probabilities: none that names labels is a list, and some number is neither 0 nor 1."""
    some = False
    for answer in answers:
        if not isinstance(answer, Mapping):
            if answer:
                return False
        elif any(number not in (0, 1) for number in answer.values()):
            some = True
    return some


def _numbers(row: Gold | Answer) -> Iterable[tuple[str, Any]]:
    return row.items() if isinstance(row, Mapping) else ()


def _strange(row: Answer) -> list[tuple[str, Any]]:
    return [(name, n) for name, n in _numbers(row) if not (isfinite(n) and 0 <= n <= 1)]
