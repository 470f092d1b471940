"""Do two sources differ in F1 of labels? Macro F1 is no mean over samples, so that its test exchanges their answers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.permutation import PERMUTATIONS, F1Test, f1, permutation_f1s
from emotui.metrics.resampling import group_numbers
from emotui.metrics.significance import CORRECTIONS, adjusted
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.compare.sources import Compared, details_of

Bools = NDArray[np.bool_]


def label_tests(
    store: Store,
    dataset: Dataset,
    first: Compared,
    second: Compared,
    shared: Mapping[int, int] | None = None,
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> dict[str, Any] | None:
    """F1 over all labels and of each label of both sources, with permutation tests of the difference.

    The counts of repeats are averaged: a sample's answers change sides together, and so do those of samples that share
    a text.

    Args:
        shared: by the number of a sample that of what it shares with others.

    Returns:
        `f1`: `macro`, `weighted` by how often labels are gold, and `micro` where samples have several labels,
        `{a, b, difference, p}`; `f1_by_label` with `p_holm` and `p_bh` besides, corrected over the labels;
        `convention`. None where the task has no labels, or no sample is labelled and answered by both.
    """
    task = task_named(dataset.task)
    sides = [
        {key: sets for key, detail in details_of(store, dataset, one).items() if (sets := task.label_sets(detail))}
        for one in (first, second)
    ]
    keys = sorted(sides[0].keys() & sides[1].keys())
    said = (one for key in keys for one in (*sides[0][key], sides[1][key][1]))
    names = list(dict.fromkeys(name for one in said for name in one))
    if not keys or not names:
        return None
    gold, a, b = (
        _table([side[key][at] for key in keys], names) for side, at in ((sides[0], 0), (sides[0], 1), (sides[1], 1))
    )
    groups = group_numbers([number if shared is None else shared.get(number, number) for number, _ in keys])
    tests = permutation_f1s(gold, a, b, groups, seed=seed, permutations=permutations)
    known = [at for at in range(len(names)) if (gold | a | b)[:, at].any()]
    p = np.array([tests.by_label[at].p for at in known])
    holm, bh = adjusted(p, "holm"), adjusted(p, "benjamini-hochberg")
    averages = {"macro": _entry(f1(gold, a), f1(gold, b), tests.macro)}
    if (gold.sum(axis=1) > 1).any() or (a.sum(axis=1) > 1).any() or (b.sum(axis=1) > 1).any():
        averages["micro"] = _entry(f1(gold, a, "micro"), f1(gold, b, "micro"), tests.micro)
    if gold.any():
        averages["weighted"] = _entry(f1(gold, a, "weighted"), f1(gold, b, "weighted"), tests.weighted)
    columns = [(gold[:, [at]], a[:, [at]], b[:, [at]]) for at in known]
    by_label = {
        names[at]: _entry(f1(g, one), f1(g, other), tests.by_label[at])
        | {"p_holm": float(holm[place]), "p_bh": float(bh[place])}
        for place, (at, (g, one, other)) in enumerate(zip(known, columns, strict=True))
    }
    tried = "all exchanges" if tests.macro.exact else f"{tests.macro.permutations:,} exchanges, seed {seed}"
    told = (
        f"two-sided permutation test over {len({number for number, _ in keys}):,} labelled samples: {tried} of both "
        "sources' answers to a sample"
        + (", or to all that share a text" if shared is not None else "")
        + f"; p_holm and p_bh over the labels. {CORRECTIONS['holm']}. {CORRECTIONS['benjamini-hochberg']}"
    )
    return {"f1": averages, "f1_by_label": by_label, "convention": told}


def with_label_tests(report: dict[str, Any], tests: dict[str, Any] | None) -> dict[str, Any]:
    """The document of a comparison with such tests, where there are any."""
    if tests is None:
        return report
    told = {"f1": tests["convention"]}
    found = {name: tests[name] for name in ("f1", "f1_by_label")}
    return report | found | {"conventions": {**report["conventions"], **told}}


def _entry(a: float, b: float, test: F1Test) -> dict[str, float]:
    return {"a": a, "b": b, "difference": test.difference, "p": test.p}


def _table(sets: list[tuple[str, ...]], names: list[str]) -> Bools:
    place = {name: at for at, name in enumerate(names)}
    found = np.zeros((len(sets), len(names)), dtype=bool)
    for row, one in enumerate(sets):
        for name in one:
            found[row, place[name]] = True
    return found
