"""Which figures of a table are the best of its runs, and surely so."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.metrics.metric import Metric
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import Cell, ResultsTable
from emotui.workbench.compare.sources import Compared
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.task_words import metrics_of
from emotui.workbench.texts import runs_of

if TYPE_CHECKING:
    import numpy as np

    Values = np.ndarray[tuple[int], np.dtype[np.float64]]

LEVEL = 0.05
_EQUAL = 1e-9
_SHARES = ("share", "cosine", "fine-share")

WILCOXON, MCNEMAR = "Wilcoxon's signed-rank test", "McNemar's exact test"
EXCHANGED = "a permutation test"
UNTESTED = ""

_F1 = {"macro_f1": "macro", "macro": "macro", "micro_f1": "micro", "micro": "micro", "weighted_f1": "weighted"}
"""F1 over a whole set of labels, by the columns that hold it: no mean over samples."""


class Best(msgspec.Struct, frozen=True):
    """`cells`: (row, column) of those that are best. `note`: which columns were tested how, and which were not.

    `tests`: the names of the tests.
    """

    cells: frozenset[tuple[int, int]] = frozenset()
    note: str = ""
    tests: tuple[str, ...] = ()


class _Candidate(msgspec.Struct, frozen=True):
    row: int
    value: float
    run: str
    samples: tuple[int, ...]


class Judge:
    """Tests the tables of one dataset. What runs scored at each sample is read once."""

    def __init__(self, store: Store, dataset: Dataset) -> None:
        self._store, self._dataset = store, dataset
        self._metrics = metrics_of(store, dataset.dataset, dataset.task)
        self._kept: dict[tuple[str, str], Values] = {}
        self._groups: Values | None = None
        self._first = store.samples.file_order(dataset.dataset).start
        self._runs = {run.run for run in runs_of(store, dataset)}
        self._grouped = False

    def best(self, table: ResultsTable) -> Best:
        """The best run of each column whose figures are means over samples, where it is above every other run's.

        Each pair of the best and another is tested over the samples that both have, of several repeats by their mean;
        where samples share a passage, post or original, over the means of these. The p-values of a column are corrected
        by Holm. A column is not tested where runs cover different samples, or where its figures are no such means; the
        note names it.
        Macro, micro and weighted F1 of labels are tested by exchanging the runs' answers (`label_tests`).
        """
        found: set[tuple[int, int]] = set()
        tests: dict[str, list[int]] = {}
        for place, column in enumerate(table.columns):
            candidates = self._candidates(table, place) if column.unit in _SHARES else []
            if len({one.run for one in candidates}) < 2:
                continue
            average = next((_F1[part] for part in column.key.split("/") if part in _F1), None)
            test, surely = (
                self._best_mean(column.key, candidates) if average is None else self._best_f1(average, candidates)
            )
            tests.setdefault(test, []).append(place)
            if surely is not None:
                found.add((surely.row, place))
        note = _note(table, tests, bold=bool(found), grouped=self._shared() is not None)
        return Best(frozenset(found), note, tuple(name for name in tests if name != UNTESTED))

    def _best_mean(self, key: str, candidates: Sequence[_Candidate]) -> tuple[str, _Candidate | None]:
        """The test of a column of means over samples, and the run that is surely above every other one."""
        metric = self._metric(key, candidates)
        if metric is None:
            return UNTESTED, None
        best = (max if metric.higher_is_better else min)(candidates, key=lambda one: one.value)
        rivals = self._measured(metric, candidates)
        if best not in rivals:
            return UNTESTED, None
        p = self._against(metric, best, [one for one in rivals if one is not best])
        return (MCNEMAR if self._binary(metric) else WILCOXON, best if _sure(p) else None) if p else (UNTESTED, None)

    def _best_f1(self, average: str, candidates: Sequence[_Candidate]) -> tuple[str, _Candidate | None]:
        """The test of F1 over all samples, and the run that is surely above every other one."""
        from emotui.workbench.compare.figures import label_tests

        own: dict[str, _Candidate] = {}
        for one in candidates:
            own.setdefault(one.run, one)
        best = max(candidates, key=lambda one: one.value)
        shared = groups_of(self._store, self._dataset.dataset)
        p: list[float | None] = []
        for other in own.values():
            if other.run == best.run:
                continue
            first, second = (Compared(one.run, one.run, "model", run=one.run) for one in (best, other))
            tests = label_tests(self._store, self._dataset, first, second, None if shared is None else shared[1])
            found = None if tests is None else tests["f1"].get(average)
            # Figures of thresholds or of a prior are other ones than those kept. Labels that never occur make both
            # macro F1 smaller alike, which changes no test.
            if found is None or abs(found["a"] * other.value - found["b"] * best.value) > _EQUAL:
                return UNTESTED, None
            p.append(found["p"])
        return EXCHANGED, best if _sure(p) and own[best.run] is best else None

    def _candidates(self, table: ResultsTable, place: int) -> list[_Candidate]:
        found = []
        for at, row in enumerate(table.rows):
            cell = row.cells[place]
            if row.kind == "run" and cell.run in self._runs and _number(cell):
                found.append(_Candidate(at, float(cell.value or 0), cell.run or "", cell.samples))
        return found

    def _metric(self, key: str, candidates: Sequence[_Candidate]) -> Metric | None:
        """The metric whose mean over samples the figures are; of several the one that the column is called by."""
        runs = {one.run for one in candidates}
        named = sorted(self._metrics, key=lambda metric: metric.name not in key.split("/"))
        return next((one for one in named if {each.run for each in self._measured(one, candidates)} == runs), None)

    def _measured(self, metric: Metric, candidates: Sequence[_Candidate]) -> list[_Candidate]:
        """Of each run the row whose figure is the mean of this metric; a run may have others (other thresholds)."""
        found: dict[str, _Candidate] = {}
        for one in candidates:
            if one.run not in found and self._values(metric, one) is not None:
                found[one.run] = one
        return list(found.values())

    def _values(self, metric: Metric, one: _Candidate) -> "Values | None":
        """What a run scored at each sample, where the figure is the mean of it; NaN for samples that are not in it."""
        import numpy as np

        key = one.run, metric.name
        if key not in self._kept:
            self._kept[key] = self._store.listing.metric_means(self._dataset.dataset, *key)
        every = self._kept[key]
        part = np.full(len(every), np.nan)
        at = np.array(one.samples, dtype=np.int64) - self._first
        if len(at) and at.min() >= 0 and at.max() < len(every):
            part[at] = every[at]
        for values in (part, every):
            known = values[~np.isnan(values)]
            if len(known) and abs(float(known.mean()) - one.value) < _EQUAL:
                return values
        return None

    def _against(self, metric: Metric, best: _Candidate, others: Sequence[_Candidate]) -> list[float | None]:
        """The p of the best against each other run; nothing where they cover different samples."""
        import numpy as np

        first = self._values(metric, best)
        p: list[float | None] = []
        for other in others:
            second = self._values(metric, other)
            if first is None or second is None or (np.isnan(first) != np.isnan(second)).any():
                return []
            there = ~np.isnan(first)
            p.append(self._p(metric, first[there], second[there], there))
        return p

    def _binary(self, metric: Metric) -> bool:
        return metric.yes_or_no and self._shared() is None

    def _p(self, metric: Metric, first: "Values", second: "Values", there: "np.ndarray") -> float | None:
        import numpy as np

        from emotui.metrics.paired import group_means, wilcoxon_p
        from emotui.metrics.resampling import score_differences
        from emotui.metrics.significance import mcnemar_p

        differences = score_differences(first, second)
        if self._binary(metric) and set(np.unique(np.concatenate([first, second]))) <= {0.0, 1.0}:
            return mcnemar_p(int((differences > 0).sum()), int((differences < 0).sum()))
        groups = self._shared()
        return wilcoxon_p(differences if groups is None else group_means(differences, groups[there].astype(np.int64)))

    def _shared(self) -> "Values | None":
        """The number of each sample's group; None where samples share nothing."""
        import numpy as np

        if not self._grouped:
            found = groups_of(self._store, self._dataset.dataset)
            self._groups = None if found is None else np.array(list(found[1].values()), dtype=np.float64)
            self._grouped = True
        return self._groups


def _number(cell: Cell) -> bool:
    return isinstance(cell.value, int | float) and not isinstance(cell.value, bool)


def _sure(p: Sequence[float | None]) -> bool:
    from emotui.metrics.significance import adjusted_known

    return all(value is not None and value < LEVEL for value in adjusted_known(p))


def _note(table: ResultsTable, tests: dict[str, list[int]], *, bold: bool, grouped: bool) -> str:
    """What bold means here, with which test each column was tested, and which columns were not."""
    untested = tests.get(UNTESTED, [])
    tested = {name: places for name, places in tests.items() if name != UNTESTED}
    every = sum(map(len, tests.values()))
    told = []
    if tested:
        over = "over groups of samples that share a text" if grouped else "over samples"
        by = "; ".join(f"{name}{_of(table, places, every)}" for name, places in sorted(tested.items()))
        result = "" if bold else " No difference from every other run is significant."
        told.append(
            "Bold: the best run of its column, where the difference from every other run is significant at 5%"
            f" (two-sided, {over}, Holm over the comparisons of a column; {by}).{result}"
        )
    if untested:
        which = _of(table, untested, every).removeprefix(" for ") or "all columns"
        told.append(f"Not tested, and so not in bold: {which} (no paired test here covers them).")
    return " ".join(told)


def _of(table: ResultsTable, places: Sequence[int], every: int) -> str:
    """Which columns, after a colon; nothing where they are all."""
    if len(places) == every:
        return ""
    groups: dict[str, list[str]] = {}
    for place in places:
        groups.setdefault(table.columns[place].group, []).append(table.columns[place].title)
    shown = (f"{group} {', '.join(titles)}".strip() for group, titles in groups.items())
    return f" for {' and '.join(shown)}"
