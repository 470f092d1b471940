"""Any figure of a source that is a mean or a rate, by its name, as sums over samples: pairs and parts compare them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.errors import BadInput
from emotui.metrics.label_sums import Figures, of_sets
from emotui.metrics.metric import Metric
from emotui.metrics.permutation import PERMUTATIONS, F1Test, f1, permutation_f1s
from emotui.metrics.resampling import Numbers, group_numbers
from emotui.metrics.significance import CORRECTIONS, adjusted
from emotui.metrics.sums import SumFigure, over_repeats, placed, ratio
from emotui.store.query import MARKS, Dataset
from emotui.store.store import Store
from emotui.tables import LESS_IS_BETTER
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.compare.sources import Compared, details_of, error_letters
from emotui.workbench.masked.lexicons import with_lexicon

# Do two sources differ in F1 of labels? Macro F1 is no mean over samples, so that its test exchanges their answers.

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


MARK = "mark."
"""Before the letter of an error: the share of samples that have it."""

_CONFUSION = "confusion."
_NAMED = 12


class SourceFigures:
    """The figures of one source, over the samples of its dataset by their places; of repeats their mean.

    What was scored is read once, and a figure is made when it is asked for.
    """

    def __init__(self, store: Store, dataset: Dataset, source: Compared) -> None:
        # Who is not kept is scored for it, which may take longer than others should wait for the store.
        with store.together() if source.run is not None else nullcontext():
            self._n, self._start = dataset.n, store.samples.file_order(dataset.dataset).start
            details, records = details_of(store, dataset, source), dict(store.samples.of_dataset(dataset.dataset))
            self._marks = error_letters(store, dataset, source)
            run = None if source.run is None else store.runs.get(source.run)
        task = task_named(dataset.task)
        self._each = self._by_repeat(task if run is None else with_lexicon(store, task, run), details, records)

    def names(self) -> list[str]:
        """Of all figures: those of the task's report, and the rates of its kinds of errors."""
        names = dict.fromkeys(name for _, figures in self._each for name in figures)
        there = sorted({letter for letters in self._marks.values() for letter in letters}, key=list(MARKS).index)
        return [*names, *(f"{MARK}{letter}" for letter in there)]

    def figure(self, name: str) -> SumFigure | None:
        """None where the source has no figure of this name."""
        if name.startswith(MARK):
            return self._rate_of(name.removeprefix(MARK))
        each = [(places, figures.get(name) or _never_given(name, figures)) for places, figures in self._each]
        made = [placed(make(), places, self._n) for places, make in each if make is not None]
        return over_repeats(made) if made else None

    def has(self, name: str) -> bool:
        """Whether there is such a figure: the share of an error that no sample has, or a label never given, is 0."""
        if name.startswith(MARK):
            return name.removeprefix(MARK) in MARKS
        return any(name in figures or _never_given(name, figures) is not None for _, figures in self._each)

    def _rate_of(self, letter: str) -> SumFigure | None:
        if len(letter) != 1 or letter not in MARKS:
            return None
        there, marked = np.zeros(self._n), np.zeros(self._n)
        for number, letters in self._marks.items():
            there[number - self._start] = 1
            marked[number - self._start] = letter in letters
        return ratio(marked, there, there == 1)

    def _by_repeat(
        self, task: Task, details: Mapping[tuple[int, int], str | bytes], records: Mapping[int, bytes]
    ) -> list[tuple[Numbers, Figures]]:
        """Of each repeat the places of its rows, and its figures."""
        found = []
        for repeat in sorted({repeat for _, repeat in details}):
            keys = [key for key in details if key[1] == repeat]
            own = [details[key] for key in keys]
            samples = [msgspec.json.decode(records[number], type=task.sample) for number, _ in keys]
            sets = [task.label_sets(detail) for detail in own]
            figures = _of_labels(sets, single=task.files.kind == "class") | dict(task.sums(samples, own))
            found.append((np.array([number - self._start for number, _ in keys], dtype=np.int64), figures))
        return found


def names_of_all(sources: Sequence[SourceFigures]) -> list[str]:
    """The figures that all of these have, those of the first one first."""
    names = dict.fromkeys(name for source in sources for name in source.names())
    return [name for name in names if all(source.has(name) for source in sources)]


def _never_given(name: str, figures: Figures) -> Callable[[], SumFigure] | None:
    """Of `confusion.GOLD.GIVEN`, where the source gives GOLD's samples some label, and none of them this one."""
    head, is_share, pair = name.partition(_CONFUSION)
    for at, letter in enumerate(pair):
        gold = pair[:at]
        right = figures.get(f"{head}{_CONFUSION}{gold}.{gold}") if letter == "." and is_share else None
        if right is not None:
            return partial(_none_of, right)
    return None


def _none_of(share: Callable[[], SumFigure]) -> SumFigure:
    """Nothing over what the share is over."""
    figure = share()
    return ratio(np.zeros(len(figure.there)), figure.columns[:, 1], figure.there)


def _of_labels(sets: Sequence[tuple[tuple[str, ...], tuple[str, ...]] | None], *, single: bool) -> Figures:
    """Of what gold and an answer say of each sample; None where gold says nothing."""
    names = list(dict.fromkeys(name for one in sets if one is not None for side in one for name in side))
    if not names:
        return {}
    place = {name: at for at, name in enumerate(names)}
    gold, said = (np.zeros((len(sets), len(names)), dtype=bool) for _ in range(2))
    for row, one in enumerate(sets):
        for table, side in zip((gold, said), one or ((), ()), strict=True):
            table[row, [place[name] for name in side]] = True
    return of_sets(gold, said, names, np.array([one is not None for one in sets]), single=single)


def metric_of(name: str) -> Metric:
    """A figure as a metric: which end of it is better."""
    parts = name.split(".")
    if name.startswith(MARK):
        return Metric(name, (0, 1), False, f"the share of samples with the error {parts[-1]}")
    if _CONFUSION in name:
        gold, said = parts[-2:]
        what = f"the share of gold {gold} that is given as {said or 'nothing'}"
        return Metric(name, (0, 1), gold == said, what)
    limits = {"rmse": (0, None), "mae": (0, None), "pearson": (-1, 1), "ccc": (-1, 1)}.get(parts[-1], (0, 1))
    return Metric(name, limits, parts[-1] not in LESS_IS_BETTER, "over all samples together")


def no_figure(name: str, known: Sequence[str]) -> BadInput:
    """That there is no such figure to compare, with those that are called most like it."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, _NAMED, 0.5)
    some = [*near, *(one for one in known if one not in near and _CONFUSION not in one)][:_NAMED]
    left = len(known) - len(some)
    more = f" and {left} more (emotui compare --runs A B --metrics lists them)" if left else ""
    return BadInput(f"there is no metric {name!r} here; there are: {', '.join(some)}{more}")
