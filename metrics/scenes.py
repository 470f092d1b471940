"""How well eight-emotion vectors are predicted, and how the emotions go together (EmoScene, sections 3, 5 and 6).

The paper prints percentages and writes a fall of the Hamming loss as a positive change; here every figure is a share in
[0, 1] and a difference is after minus before. Its Figure 5 (a) and `lexical_accuracy` are per label what Table 1 pools.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from emotui.errors import BadInput
from emotui.metrics.agreement import cohen_kappa, fleiss_kappa
from emotui.metrics.beside import Shared, beside, of_vectors, with_beside
from emotui.metrics.states import Bits, Floats

Report = dict[str, Any]
"""A JSON object."""


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """(k,) each: how often each label is rightly predicted, wrongly predicted, and missed."""

    true_positives: Floats
    false_positives: Floats
    false_negatives: Floats

    @property
    def f1(self) -> Floats:
        """(k,): 2 TP / (2 TP + FP + FN); 0 for a label that is neither gold nor predicted anywhere."""
        size = 2 * self.true_positives + self.false_positives + self.false_negatives
        return np.divide(2 * self.true_positives, size, out=np.zeros_like(size), where=size > 0)


def label_counts(gold: ArrayLike, predicted: ArrayLike) -> LabelCounts:
    """Hits, false alarms and misses by label.

    Args:
        gold, predicted: (n, k) of 0 or 1.
    """
    g, p = _bits(gold, predicted)
    hits = (g & p).sum(axis=0).astype(np.float64)
    return LabelCounts(hits, p.sum(axis=0) - hits, g.sum(axis=0) - hits)


def scenes_metrics(gold: ArrayLike, predicted: ArrayLike, labels: Sequence[str]) -> Report:
    """The figures of Table 1 and Figure 4, with the cause of each undefined one under `notes`.

    Args:
        gold, predicted: (n, k) of 0 or 1.
        labels: k names.

    Returns:
        `n`, `labels`, `lexical_accuracy`, `vector_accuracy`, `hamming_loss`, `macro_f1`, `micro_f1`,
        `weighted_f1` (the mean of F1 by label, each as often as it is gold), `by_label` `{label: {precision, recall,
        f1, support}}`, `notes`. Over no record every rate is None, and `weighted_f1` too where no
        label is gold. Precision is None for a label never predicted, recall for one that is never gold; their F1 is 0
        (as scikit-learn's `zero_division=0`).
    """
    g, p = _bits(gold, predicted)
    counts = label_counts(g, p)
    n = len(g)
    notes: dict[str, str] = {}
    by_label: Report = {}
    for i, name in enumerate(labels):
        hits, alarms, misses = (
            float(part[i]) for part in (counts.true_positives, counts.false_positives, counts.false_negatives)
        )
        if hits + alarms == 0:
            notes[f"by_label.{name}.precision"] = f"{name} is never predicted"
        if hits + misses == 0:
            notes[f"by_label.{name}.recall"] = f"{name} is never gold"
        by_label[name] = {
            "precision": hits / (hits + alarms) if hits + alarms else None,
            "recall": hits / (hits + misses) if hits + misses else None,
            "f1": float(counts.f1[i]) if n else None,
            "support": int(hits + misses),
        }
    report: Report = {"n": n, "labels": list(labels)}
    if n:
        wrong = float((g != p).mean())
        report |= {
            "lexical_accuracy": float((g == p).mean()),
            "vector_accuracy": float((g == p).all(axis=1).mean()),
            "hamming_loss": wrong,
            "macro_f1": float(counts.f1.mean()),
            "micro_f1": micro_f1(counts),
            "weighted_f1": weighted_f1(counts),
        }
        if report["weighted_f1"] is None:
            notes["weighted_f1"] = "no label is gold anywhere"
    else:
        names = ("lexical_accuracy", "vector_accuracy", "hamming_loss", "macro_f1", "micro_f1", "weighted_f1")
        report |= dict.fromkeys(names)
        notes |= dict.fromkeys(names, "there is no record to score")
        notes |= {f"by_label.{name}.f1": "there is no record to score" for name in labels}
    return report | {"by_label": by_label, "notes": notes}


def micro_f1(counts: LabelCounts) -> float:
    """F1 over all single labels pooled; 0 where nothing is gold and nothing is predicted."""
    hits = float(counts.true_positives.sum())
    size = 2 * hits + float(counts.false_positives.sum() + counts.false_negatives.sum())
    return 2 * hits / size if size else 0.0


def weighted_f1(counts: LabelCounts) -> float | None:
    """The mean of F1 by label, each as often as it is gold (scikit-learn's "weighted"); None without gold."""
    support = counts.true_positives + counts.false_negatives
    return float((counts.f1 * support).sum() / support.sum()) if support.any() else None


def scenes_report(
    gold: Mapping[str, Mapping[str, int]],
    predicted: Mapping[str, Mapping[str, int | Sequence[float]]],
    shared: Shared | None = None,
) -> Report:
    """The document of `emotui score scenes`.

    Args:
        gold: id to `{label: 0 or 1}`.
        predicted: id to `{label: 0 or 1}` or `{label: (logit yes, logit no)}`; a pair counts as 1 where yes > no.
        shared: of each gold record what it shares with others; where given, intervals stand beside (`ci95`).

    Returns:
        `scenes_metrics`; labels in the order of the first gold record.

    Raises:
        BadInput: one line a problem, each beginning with the record's id: labels that differ from the first gold
            record's, a value that is not 0 or 1, a logit that is not finite, an id in one of the two files only.
    """
    labels = list(next(iter(gold.values()))) if gold else []
    problems = [*_id_problems(gold, predicted)]
    for source, kind in ((gold, "gold"), (predicted, "predicted")):
        for key, row in source.items():
            problems += vector_problems(key, row, labels, kind)
    if problems:
        raise BadInput(*problems)
    rows = np.array([[gold[key][name] for name in labels] for key in gold], dtype=np.uint8)
    guesses = np.array([[_as_bit(predicted[key][name]) for name in labels] for key in gold], dtype=np.uint8)
    shape = (len(gold), len(labels))
    truth, said = rows.reshape(shape), guesses.reshape(shape)
    report = scenes_metrics(truth, said, labels)
    if shared is None:
        return report
    found = of_vectors(truth, said, labels, shared)
    own = {name: each for name, each in found.items() if name not in ("jaccard", "samples_f1")}
    return with_beside(report, beside(own, shared))


def vector_problems(
    key: str, row: Mapping[str, int | Sequence[float]], labels: Sequence[str], kind: str = "record"
) -> list[str]:
    """What is wrong with one record's labels or scores, a line each, beginning with its id."""
    problems = [f"{key}: {kind} labels lack {name!r}" for name in labels if name not in row]
    known = set(labels)
    for name, value in row.items():
        if name not in known:
            problems.append(f"{key}: {kind} label {name!r} is not among {', '.join(labels)}")
        elif isinstance(value, int | float | np.number | np.bool_):
            if value not in (0, 1):
                problems.append(f"{key}: {kind} label {name!r} is {value}, not 0 or 1")
        elif len(value) != 2 or not np.isfinite(np.asarray(value, dtype=np.float64)).all():
            shown = ", ".join(str(part) for part in value)
            problems.append(f"{key}: the scores of {name!r} are [{shown}]: two finite logits are needed, yes then no")
    return problems


@dataclass(frozen=True, slots=True)
class Flips:
    """Row numbers whose vector changed: better (fewer wrong labels than before), worse, or as many wrong ones."""

    gains: list[int]
    losses: list[int]
    even: list[int]


def flips(before: ArrayLike, after: ArrayLike, gold: ArrayLike) -> Flips:
    """Which records flip between two decodings, gains and losses apart.

    Args:
        before, after, gold: (n, k) of 0 or 1.
    """
    b, a = _bits(before, after)
    g, _ = _bits(gold, after)
    changed = (b != a).any(axis=1)
    better = (b != g).sum(axis=1) - (a != g).sum(axis=1)
    return Flips(
        np.flatnonzero(changed & (better > 0)).tolist(),
        np.flatnonzero(changed & (better < 0)).tolist(),
        np.flatnonzero(changed & (better == 0)).tolist(),
    )


def cardinality(vectors: ArrayLike) -> float | None:
    """Mean number of labels a record; None over no record. EmoScene, Table 2."""
    v = np.asarray(vectors)
    return float(v.sum(axis=1).mean()) if len(v) else None


def multi_label_share(vectors: ArrayLike) -> float | None:
    """Share of records with two labels or more; None over no record. EmoScene, Table 2."""
    v = np.asarray(vectors)
    return float((v.sum(axis=1) > 1).mean()) if len(v) else None


def co_occurrence(vectors: ArrayLike) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """In how many records two labels stand together; on the diagonal, each label's count. EmoScene, Figures 3 and 6.

    Args:
        vectors: (n, k) of 0 or 1.

    Returns:
        (k, k), symmetric.
    """
    v = np.asarray(vectors, dtype=np.int64)
    return v.T @ v


def conditional(vectors: ArrayLike) -> Floats:
    """P(E_j = 1 | E_i = 1) from the observed frequencies: row i is what is given, column j what is asked.

    Args:
        vectors: (n, k) of 0 or 1.

    Returns:
        (k, k), 1 on the diagonal; a row is NaN where its label is never there.

    Source: EmoScene, section 4.1.
    """
    both = co_occurrence(vectors).astype(np.float64)
    counts = both.diagonal()[:, None]
    result: Floats = np.divide(both, counts, out=np.full_like(both, np.nan), where=counts > 0)
    return result


def vector_statistics(vectors: ArrayLike, labels: Sequence[str]) -> Report:
    """What a set of label vectors is like (EmoScene, Table 2, Figures 3 and 6, section 4.1).

    Args:
        vectors: (n, k) of 0 or 1.
        labels: k names.

    Returns:
        `n`, `cardinality`, `single_label` (how many have exactly one), `multi_label_share`, `counts` `{label: n}`,
        `together` `{label: {label: n}}`, `given` `{label: {label: P(column | row)}}` (None where the row's label is
        never there), `notes`.
    """
    v = np.asarray(vectors, dtype=np.int64).reshape(-1, len(labels))
    together, given = co_occurrence(v), conditional(v)
    counts: dict[str, int] = dict(zip(labels, together.diagonal().tolist(), strict=True))
    notes = {f"given.{name}": f"{name} is never there" for name, count in counts.items() if not count}
    if not len(v):
        notes |= dict.fromkeys(("cardinality", "multi_label_share"), "there is no record")
    return {
        "n": len(v),
        "cardinality": cardinality(v),
        "single_label": int((v.sum(axis=1) == 1).sum()),
        "multi_label_share": multi_label_share(v),
        "counts": counts,
        "together": {
            name: dict(zip(labels, row, strict=True)) for name, row in zip(labels, together.tolist(), strict=True)
        },
        "given": {
            name: {other: value if counts[name] else None for other, value in zip(labels, row, strict=True)}
            for name, row in zip(labels, given.tolist(), strict=True)
        },
        "notes": notes,
    }


def mutual_information(vectors: ArrayLike) -> Floats | None:
    """I(E_i; E_j) from the observed frequencies, in nats; on the diagonal, the entropy of each label.

    Args:
        vectors: (n, k) of 0 or 1.

    Returns:
        (k, k), symmetric, at least 0; None over no record.

    Source: EmoScene, section 4.1, which prints no base and no estimator: natural logarithms and plug-in frequencies.
    """
    v = np.asarray(vectors, dtype=np.float64)
    if len(v) == 0:
        return None
    n = len(v)
    total = np.zeros((v.shape[1], v.shape[1]))
    for first in (v, 1 - v):
        for second in (v, 1 - v):
            # The four cells of every pair's table at once; an empty cell adds 0 (p log p goes to 0).
            cell = first.T @ second
            product = np.outer(first.sum(axis=0), second.sum(axis=0))
            ratio = np.divide(cell * n, product, out=np.ones_like(cell), where=cell > 0)
            total += cell / n * np.log(ratio)
    return np.maximum(total, 0.0)


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Fleiss' kappa over all single labels pooled, by label, and the annotators' pairwise Cohen's kappas.

    None where undefined: fewer than two annotators, or all of them always said the same one thing. `pairwise` goes by
    the annotators' places; `mean_pairwise` is over those that are defined.
    """

    fleiss: float | None
    by_label: list[float | None]
    pairwise: dict[tuple[int, int], float | None]
    mean_pairwise: float | None


def annotator_agreement(annotations: ArrayLike) -> AnnotatorAgreement:
    """How far annotators agree on the vectors.

    Args:
        annotations: (n, annotators, k) of 0 or 1.

    EmoScene's section 3 calls its 0.43 Fleiss' kappa; its appendix B speaks of pairwise agreement. `fleiss` is the
    former over every (scenario, label) question, `mean_pairwise` the latter.
    """
    a = np.asarray(annotations, dtype=np.int64)
    _, raters, k = a.shape
    yes = a.sum(axis=1)
    counts = np.stack([raters - yes, yes], axis=-1)
    answers = [a[:, rater].ravel().tolist() for rater in range(raters)]
    pairs = {(a, b): cohen_kappa(answers[a], answers[b]) for a, b in combinations(range(raters), 2)}
    defined = [kappa for kappa in pairs.values() if kappa is not None]
    return AnnotatorAgreement(
        fleiss_kappa(counts.reshape(-1, 2)),
        [fleiss_kappa(counts[:, i]) for i in range(k)],
        pairs,
        sum(defined) / len(defined) if defined else None,
    )


def _id_problems(gold: Mapping[str, object], predicted: Mapping[str, object]) -> list[str]:
    missing = [f"{key}: no prediction for this gold record" for key in gold if key not in predicted]
    return missing + [f"{key}: predicted, but not in the gold file" for key in predicted if key not in gold]


def _as_bit(value: int | Sequence[float]) -> int:
    if isinstance(value, int | float | np.number | np.bool_):
        return int(value)
    return int(value[0] > value[1])


def _bits(gold: ArrayLike, predicted: ArrayLike) -> tuple[Bits, Bits]:
    g, p = np.asarray(gold, dtype=np.uint8), np.asarray(predicted, dtype=np.uint8)
    if g.shape != p.shape or g.ndim != 2:
        raise ValueError(f"gold {g.shape} and predicted {p.shape} vectors must both be (records, labels)")
    return g, p
