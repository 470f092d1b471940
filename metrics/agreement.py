"""Agreement between raters over nominal labels: the document of `emotui agreement`."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.errors import BadInput


def fleiss_kappa(counts: ArrayLike) -> float | None:
    """Agreement beyond chance where every item has the same number of ratings.

    Args:
        counts: (items, categories), how many raters put the item into the category; equal row sums.

    Returns:
        at most 1; None where it is undefined: no item, fewer than two ratings an item, or one category only.

    Raises:
        ValueError: row sums differ.

    Source: Fleiss 1971.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.size == 0:
        return None
    ratings = table.sum(axis=1)
    if (ratings != ratings[0]).any():
        raise ValueError("Fleiss' kappa needs the same number of ratings for every item")
    raters = float(ratings[0])
    if raters < 2:
        return None
    shares = table.sum(axis=0) / table.sum()
    by_chance = float((shares**2).sum())
    if np.count_nonzero(shares) < 2:
        return None
    observed = float(((table**2).sum(axis=1) - raters).mean()) / (raters * (raters - 1))
    return (observed - by_chance) / (1 - by_chance)


def uneven_fleiss_kappa(counts: ArrayLike) -> float | None:
    """Fleiss' kappa where items have their own numbers of ratings; with equal ones it is `fleiss_kappa`.

    Observed agreement is the mean over items with two ratings at least of the share of their pairs that agree; chance
    is of the mean shares over all items with a rating.

    Args:
        counts: (items, categories), how many raters put the item into the category.

    Returns:
        at most 1; None where no item has two ratings, or there is one category only.

    Source: Gwet 2014, Handbook of Inter-Rater Reliability, chapter 2 (Fleiss' coefficient with missing ratings).
    """
    table = np.asarray(counts, dtype=np.float64)
    table = table[table.sum(axis=1) > 0] if table.size else table
    ratings = table.sum(axis=1) if table.size else np.zeros(0)
    pairable = ratings > 1
    if not pairable.any():
        return None
    shares = (table / ratings[:, None]).mean(axis=0)
    if np.count_nonzero(shares) < 2:
        return None
    of, n = table[pairable], ratings[pairable]
    observed = float((((of**2).sum(axis=1) - n) / (n * (n - 1))).mean())
    by_chance = float((shares**2).sum())
    return (observed - by_chance) / (1 - by_chance)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Agreement of two raters beyond chance, over the items that both rated.

    Args:
        first, second: one label an item, in the same order.

    Returns:
        at most 1; None over no item, or where both always gave the same one label (chance agreement is then complete).

    Source: Cohen 1960.
    """
    n = len(first)
    if n != len(second):
        raise ValueError(f"{n} labels against {len(second)}")
    if n == 0:
        return None
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    of_first, of_second = Counter(first), Counter(second)
    # Counted in whole numbers, so that complete chance agreement is recognised exactly.
    by_chance = sum(count * of_second[label] for label, count in of_first.items())
    if by_chance == n * n:
        return None
    return (agreed * n - by_chance) / (n * n - by_chance)


def krippendorff_alpha(counts: ArrayLike) -> float | None:
    """Krippendorff's alpha for nominal labels; items may have any number of ratings.

    Args:
        counts: (items, categories), how many raters put the item into the category.

    Returns:
        at most 1; None where it is undefined: no item with two ratings, or one category only among those items.

    Source: Krippendorff 2011, by the package `krippendorff`.
    """
    table = np.asarray(counts, dtype=np.int64)
    if table.size == 0:
        return None
    pairable = table[table.sum(axis=1) > 1]
    if np.count_nonzero(pairable.sum(axis=0)) < 2:
        return None
    return float(krippendorff.alpha(value_counts=pairable, level_of_measurement="nominal"))


def agreement_report(ratings: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """The document of `emotui agreement`.

    Args:
        ratings: (item, rater, label) each.

    Returns:
        `items`, `raters`, `krippendorff_alpha`, `fleiss_kappa`, `majority_agreement` (mean over items of the share of
        its most frequent label; an item with one rating counts 1), `pairwise_cohen_kappa` (a list of
        `{a, b, n, kappa}`, one for each two raters, n the items that both rated), `mean_pairwise_cohen_kappa`,
        `by_label` `{label: {ratings, krippendorff_alpha, fleiss_kappa}}` (the label against all others), `notes`.

    Raises:
        BadInput: a rater rated an item twice.
    """
    by_item: dict[str, dict[str, str]] = {}
    problems = []
    for item, rater, label in ratings:
        given = by_item.setdefault(item, {})
        if rater in given:
            problems.append(f"{item}: {rater} rated it twice")
        given[rater] = label
    if problems:
        raise BadInput(*problems)

    raters = sorted({rater for given in by_item.values() for rater in given})
    labels = sorted({label for given in by_item.values() for label in given.values()})
    column = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(by_item), len(labels)), dtype=np.int64)
    for row, given in enumerate(by_item.values()):
        for label in given.values():
            counts[row, column[label]] += 1

    notes: dict[str, str] = {}
    report: dict[str, Any] = {"items": len(by_item), "raters": len(raters)}
    report["krippendorff_alpha"] = alpha = krippendorff_alpha(counts)
    if alpha is None:
        notes["krippendorff_alpha"] = "needs two ratings of an item, and two labels among such items"

    sizes = counts.sum(axis=1)
    kappa = None
    if len(sizes) and (sizes != sizes[0]).any():
        notes["fleiss_kappa"] = f"items have unequal numbers of ratings ({sizes.min()} to {sizes.max()})"
    else:
        kappa = fleiss_kappa(counts)
        if kappa is None:
            notes["fleiss_kappa"] = "needs two ratings of each item, and two labels among them"
    report["fleiss_kappa"] = kappa

    report["majority_agreement"] = float((counts.max(axis=1) / sizes).mean()) if len(sizes) else None
    if not len(sizes):
        notes["majority_agreement"] = "there is no item"

    pairwise = []
    defined = []
    for a, b in combinations(raters, 2):
        both = [given for given in by_item.values() if a in given and b in given]
        value = cohen_kappa([given[a] for given in both], [given[b] for given in both])
        pairwise.append({"a": a, "b": b, "n": len(both), "kappa": value})
        if value is not None:
            defined.append(value)
        else:
            why = "always the same one label" if both else "no item that both rated"
            notes[f"pairwise_cohen_kappa.{a}.{b}"] = why
    report["pairwise_cohen_kappa"] = pairwise
    report["mean_pairwise_cohen_kappa"] = sum(defined) / len(defined) if defined else None
    if not defined:
        notes["mean_pairwise_cohen_kappa"] = "no two raters have a defined kappa"
    report["by_label"] = {label: _against_others(counts, at) for label, at in column.items()}
    return report | {"notes": notes}


def _against_others(counts: NDArray[np.int64], label: int) -> dict[str, Any]:
    """Agreement on whether an item has this label. Args: counts: (items, labels)."""
    sizes = counts.sum(axis=1)
    two = np.stack([counts[:, label], sizes - counts[:, label]], axis=1)
    return {
        "ratings": int(counts[:, label].sum()),
        "krippendorff_alpha": krippendorff_alpha(two),
        "fleiss_kappa": fleiss_kappa(two) if (sizes == sizes[0]).all() else None,
    }


def vectors_agreement_report(said: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, Any]:
    """The document of `emotui agreement --records`: agreement on label vectors.

    Every (item, label) is a question of its own with the answers 0 and 1, as in EmoScene, section 3.

    Args:
        said: item to annotator to `{label: 0 or 1}`.

    Returns:
        `agreement_report` over all questions; `items` counts items, `questions` all questions, and `by_label` has
        `krippendorff_alpha`, `fleiss_kappa` and `mean_pairwise_cohen_kappa` of each label's questions.
    """
    questions = [
        (item, rater, label, str(value))
        for item, raters in said.items()
        for rater, vector in raters.items()
        for label, value in vector.items()
    ]
    pooled = agreement_report((f"{item}: {label}", rater, value) for item, rater, label, value in questions)
    names = ("krippendorff_alpha", "fleiss_kappa", "mean_pairwise_cohen_kappa")
    by_label: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(label for _, _, label, _ in questions):
        alone = agreement_report((item, rater, value) for item, rater, label, value in questions if label == name)
        by_label[name] = {figure: alone[figure] for figure in names}
    return pooled | {"items": len(said), "questions": pooled["items"], "by_label": by_label}
