"""Slices of a dataset: saved filters, what sources come to in each part, and rules that were found."""

from collections.abc import Sequence
from dataclasses import replace as replaced
from itertools import combinations
from threading import Lock

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.metrics.paired import group_means, wilcoxon_p
from emotui.metrics.resampling import (
    BESIDE,
    Interval,
    Numbers,
    convention,
    group_numbers,
    ratio_intervals,
    resamples_for,
    score_differences,
)
from emotui.metrics.significance import CORRECTIONS, Correction, adjusted_known
from emotui.metrics.slice_rules import FEWEST, MOST, Direction, Rule, find_rules
from emotui.metrics.states import Floats
from emotui.metrics.sums import Contrast, SumFigure, contrasts, exchanged, intervals_within, welch_p
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import INTERVAL, Cell, Column, ResultsTable, Row
from emotui.workbench.compare.pairs import Comparing
from emotui.workbench.compare.sources import Compared, gold_note
from emotui.workbench.notes import NoteBook
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.slices.conditions import SLICE, Condition, parsed, written
from emotui.workbench.slices.facets import Bools, Facets

LONGEST_NAME = 80
"""Letters of a slice's name."""


class SavedSlice(Struct, frozen=True):
    """A filter with a name: its line of conditions, and how many samples it keeps; None where that needs a run."""

    name: str
    conditions: str
    n: int | None
    made: str


class Sliced(Struct, frozen=True):
    """One part of a dataset: the samples that have one value of a facet.

    `n`: how many of them have a value (of both sources, where there are two). `mean` of the first, `low` and `high` its
    95% interval; with a second source `other` is its mean, and `low` and `high` are of `difference`, the first less the
    second. `p`: of two sources that they differ here, of one that it differs from the rest; `adjusted` over all parts.
    `apart`: the figure less that of the rest, and of two sources their difference here less that in the rest (the
    interaction), with its 95% interval, `apart_p` and, over all parts, `apart_adjusted`. `note`, `apart_note`: why
    there is no interval, or what has to be known of it.
    """

    facet: str
    value: str
    n: int
    mean: float | None
    low: float | None
    high: float | None
    other: float | None = None
    difference: float | None = None
    p: float | None = None
    adjusted: float | None = None
    apart: float | None = None
    apart_low: float | None = None
    apart_high: float | None = None
    apart_p: float | None = None
    apart_adjusted: float | None = None
    note: str = ""
    apart_note: str = ""

    @property
    def conditions(self) -> str:
        """The line of conditions that keeps these samples."""
        return written((Condition(self.facet, "=", (self.value,)),))


class Asked(Struct, frozen=True):
    """What parts of a dataset are told of: one source, or two and how they differ, by one metric."""

    first: Compared
    second: Compared | None
    metric: Metric
    convention: str


class Parts(Asked, frozen=True):
    """What one or two sources come to in each part of a dataset."""

    rows: tuple[Sliced, ...]
    whole: Sliced


class Between(Struct, frozen=True):
    """One part against another, or against the rest (`other` is empty), and p over all that are asked for."""

    conditions: str
    other: str
    contrast: Contrast
    adjusted: float | None


class Contrasts(Asked, frozen=True):
    """Parts of a dataset against each other."""

    rows: tuple[Between, ...]


class FoundRule(Struct, frozen=True):
    """A rule with its conditions, and what it comes to on the half on which it was not found."""

    conditions: str
    rule: Rule


class Findings(Asked, frozen=True):
    """Rules under which a source is worst, or two differ from how they differ elsewhere."""

    rows: tuple[FoundRule, ...]
    conditions: int
    n: int
    by: Correction


class Slicing:
    """Made by `Workspace.slicing()`. Every method may be called from any thread, and may take a while."""

    def __init__(
        self,
        store: Store,
        comparing: Comparing,
        book: NoteBook,
        held: dict[int, tuple[object, Facets]] | None = None,
    ) -> None:
        self.store = store
        self._comparing, self._book = comparing, book
        self._held = {} if held is None else held
        self._lock = Lock()

    def read_as(self, task: str | None) -> "Slicing":
        """The same parts, with figures of what is said for another task."""
        return Slicing(self.store, self._comparing.read_as(task), self._book, self._held)

    def facets(self, dataset: int) -> Facets:
        """What can be asked of the samples of a dataset."""
        with self.store.together():
            found = self._dataset(dataset)
            notes = self._book.notes(dataset)
            mark = found.fingerprint, found.gold, found.n, self.store.notes.last(dataset), self._said(dataset)
        with self._lock:
            held = self._held.get(dataset)
        if held is not None and held[0] == mark:
            return held[1]
        made = Facets(self.store, found, notes)
        with self._lock:
            self._held[dataset] = mark, made
        return made

    def _said(self, dataset: int) -> tuple[tuple[str, int], ...]:
        """What people say beside the gold records, which their agreement is of."""
        return tuple((run.run, run.done) for run in self.store.runs.all(dataset) if run.source == "person")

    def keeps(self, dataset: int, conditions: str, run: str | None = None) -> Bools:
        """(n,) by the place of the sample: whether a line of conditions keeps it. Raises BadInput."""
        return self.facets(dataset).keeps(conditions, run)

    def samples(self, dataset: int, conditions: str, run: str | None = None) -> list[int]:
        """The numbers of the samples that a line of conditions keeps, in the order of the file. Raises BadInput."""
        kept: list[int] = (np.flatnonzero(self.keeps(dataset, conditions, run)) + self.facets(dataset).first).tolist()
        return kept

    # Filters with a name.

    def saved(self, dataset: int) -> list[SavedSlice]:
        """All saved slices, by name."""
        return [
            SavedSlice(name, line, self._count(dataset, line), made)
            for name, line, made in self.store.slices.all(dataset)
        ]

    def _count(self, dataset: int, line: str) -> int | None:
        try:
            return int(self.keeps(dataset, line).sum())
        except BadInput:
            return None

    def save(self, dataset: int, name: str, conditions: str, run: str | None = None) -> bool:
        """Keep a filter under a name; says whether there was one of that name, which it replaces.

        Args:
            run: of whose errors and figures it may be.

        Raises:
            BadInput: the name cannot be one, or the conditions ask for what is not there.
        """
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME:
            raise BadInput(f"a slice has a name of 1 to {LONGEST_NAME} letters")
        asked = parsed(conditions)
        if not asked:
            raise BadInput("a slice of all samples is none: add a condition, such as emotion=sad")
        if any(one.facet == SLICE and name in one.values for one in asked):
            raise BadInput(f"the slice {name!r} would be made of itself")
        self.keeps(dataset, conditions, run)
        return self.store.slices.save(dataset, name, written(asked))

    def remove(self, dataset: int, name: str) -> None:
        """Forget a slice. Raises BadInput where there is none of that name."""
        self.store.slices.remove(dataset, name)

    # Figures.

    def parts(
        self,
        dataset: int,
        first: str,
        second: str | None = None,
        metric: str | None = None,
        by: Sequence[str] | None = None,
        correction: Correction = "holm",
    ) -> Parts:
        """What one source, or two and their difference, come to in each part.

        Args:
            by: which facets; None: all, with the saved slices.

        Raises:
            BadInput: no such source, metric or facet, or no sample has a value.
        """
        one, other, chosen, figures, is_mean = self._figures(dataset, first, second, metric)
        names, columns, _ = self._columns(dataset, by, one.run)
        there = np.logical_and.reduce([figure.there for figure in figures])
        columns = columns & there[:, None]
        kept = [at for at in range(len(names)) if 0 < columns[:, at].sum() < there.sum()]
        sides = [there, *(columns[:, at] for at in kept)]
        groups = self._groups(dataset)
        pair = (figures[0], figures[1] if other else None)
        sure = intervals_within(*pair, sides, groups)
        apart = contrasts(*pair, [(side, there & ~side) for side in sides[1:]], groups)
        rest = [
            _p_of_contrast(figures, side, there, groups) if is_mean else far.p
            for far, side in zip(apart, sides[1:], strict=True)
        ]
        here = [None, *rest] if other is None else [_p_here(figures, side, groups, is_mean=is_mean) for side in sides]
        same = [_two_sides(side, there) for side in sides[1:]]
        same_here = same if other is None else [side.tobytes() for side in sides[1:]]
        corrected, rest_corrected = (
            adjusted_known(here[1:], correction, same_here),
            adjusted_known(rest, correction, same),
        )
        rows = []
        for at, side in enumerate(sides):
            row = _sliced(*(("", "all") if at == 0 else names[kept[at - 1]]), side, figures, sure[at])
            row = replace(row, p=here[at], adjusted=corrected[at - 1] if at else None)
            if at:
                far = apart[at - 1]
                row = replace(row, apart=far.difference, apart_low=far.low, apart_high=far.high)
                row = replace(row, apart_p=rest[at - 1], apart_adjusted=rest_corrected[at - 1], apart_note=far.note)
            rows.append(row)
        tests = f"{_REST[is_mean]} against the rest"
        if other:
            tests = f"{_HERE[is_mean]} in a part; of the difference here less that in the rest {_REST[is_mean]}"
        n_here, n_rest = len(set(same_here)), len(set(same))
        over = f"{n_rest} tests" if other is None else f"{n_here} tests in parts, and over {n_rest} against the rest"
        once = "" if n_rest == len(same) else " (two parts that are each other's rest count once)"
        by = f"corrected over {over}{once} by {CORRECTIONS[correction]}; intervals are not corrected"
        told = f"{_drawn_in_words(there, groups)}; p: {tests}; {by}"
        return Parts(one, other, chosen, told + self._gold(dataset, one, other), tuple(rows[1:]), rows[0])

    def wins(self, dataset: int, first: str, second: str, metric: str, least: int = 10) -> list[Sliced]:
        """The parts in which one source is above another, the farthest first, by means alone: nothing is tested.

        Args:
            least: samples of both that a part has.

        Raises:
            BadInput: as `parts`.
        """
        one, _, chosen, figures, _ = self._figures(dataset, first, second, metric)
        names, columns, _ = self._columns(dataset, None, one.run)
        there = figures[0].there & figures[1].there
        sides = [(name, columns[:, at] & there) for at, name in enumerate(names)]
        kept = [(name, side) for name, side in sides if least <= side.sum() < there.sum()]
        unknown = Interval(None, None)
        rows = [_sliced(*name, side, figures, unknown) for name, side in kept]
        sign = 1 if chosen.higher_is_better else -1
        won = [row for row in rows if row.difference is not None and sign * row.difference > 0]
        return sorted(won, key=lambda row: -sign * (row.difference or 0.0))

    def between(
        self,
        dataset: int,
        conditions: Sequence[str],
        first: str,
        second: str | None = None,
        metric: str | None = None,
        correction: Correction = "holm",
    ) -> Contrasts:
        """One part against the rest, or each two of several, in one source or in the difference of two.

        Args:
            conditions: lines of conditions, one a part.

        Raises:
            BadInput: as `parts`; a part that holds no sample, or every one; two parts that share samples.
        """
        one, other, chosen, figures, is_mean = self._figures(dataset, first, second, metric)
        there = np.logical_and.reduce([figure.there for figure in figures])
        lines = [written(parsed(line)) for line in conditions]
        sides = [self.keeps(dataset, line, one.run) & there for line in lines]
        for line, side in zip(lines, sides, strict=True):
            if not side.any():
                raise BadInput(f"no sample is scored in {line!r}")
        if len(sides) == 1:
            if bool((sides[0] == there).all()):
                raise BadInput(f"every sample is in {lines[0]!r}: there is no rest")
            lines, sides = [*lines, ""], [*sides, there & ~sides[0]]
        pairs = list(combinations(range(len(sides)), 2))
        for a, b in pairs:
            if shared := int((sides[a] & sides[b]).sum()):
                raise BadInput(f"{shared} samples are in {lines[a]!r} and in {lines[b]!r}: parts must share none")
        groups = self._groups(dataset)
        found = contrasts(figures[0], figures[1] if other else None, [(sides[a], sides[b]) for a, b in pairs], groups)
        p = [
            _p_of_contrast(figures, sides[a], sides[a] | sides[b], groups) if is_mean else far.p
            for far, (a, b) in zip(found, pairs, strict=True)
        ]
        rows = tuple(
            Between(lines[a], lines[b], replaced(far, p=test), corrected)
            for far, (a, b), test, corrected in zip(found, pairs, p, adjusted_known(p, correction), strict=True)
        )
        words = _drawn_in_words(there, groups)
        told = f"{words}; p: {_REST[is_mean]}, corrected over {len(rows)} contrasts by {CORRECTIONS[correction]}"
        return Contrasts(one, other, chosen, told + self._gold(dataset, one, other), rows)

    def figures(self, dataset: int, *sources: str) -> tuple[Metric, ...]:
        """The figures of all of these sources that are over samples together, by which parts can be compared."""
        return self._comparing.figures(dataset, *sources)

    def found(
        self,
        dataset: int,
        first: str,
        second: str | None = None,
        metric: str | None = None,
        by: Sequence[str] | None = None,
        *,
        seed: int = 0,
        fewest: int = FEWEST,
        most: int = MOST,
        correction: Correction = "holm",
    ) -> Findings:
        """Rules of one or two conditions under which a source is worst, or two differ from how they differ elsewhere.

        Raises:
            BadInput: as `parts`.
        """
        one, other, chosen, values, second_values = self._values(dataset, first, second, metric)
        of = values if second_values is None else score_differences(values, second_values)
        names, columns, facets = self._columns(dataset, by, None)
        worst: Direction = "low" if chosen.higher_is_better else "high"
        rules = find_rules(
            of,
            columns,
            facets,
            self._groups(dataset),
            direction="both" if other else worst,
            seed=seed,
            fewest=fewest,
            most=most,
            by=correction,
        )
        rows = [
            FoundRule(written(tuple(Condition(names[at][0], "=", (names[at][1],)) for at in rule.columns)), rule)
            for rule in rules
        ]
        told = (
            f"found on one half of the samples, drawn by seed {seed}, and tested on the other: Welch's t-test against"
            f" the rest, one-sided, corrected over {len(rules)} rules by {CORRECTIONS[correction]};"
            f" rules of at least {fewest} samples in either half; intervals are not corrected, and that of the first"
            " rule is too narrow, since it was chosen"
        )
        n = int((~np.isnan(of)).sum())
        told += self._gold(dataset, one, other)
        return Findings(one, other, chosen, told, tuple(rows), len(names), n, correction)

    def _gold(self, dataset: int, one: Compared, other: Compared | None) -> str:
        """What is to be said of the gold that the scores are by, behind the convention; empty where it is today's."""
        note = gold_note(self.store, self._dataset(dataset), (one, *((other,) if other else ())))
        return f"; {note}" if note else ""

    def _columns(
        self, dataset: int, by: Sequence[str] | None, run: str | None
    ) -> tuple[list[tuple[str, str]], Bools, list[int]]:
        """(facet, value) of each column, the columns (n, k), and which columns are of one facet."""
        table = self.facets(dataset)
        saved = [] if by is not None and SLICE not in by else self.store.slices.all(dataset)
        wanted = table.names() if by is None else [name for name in by if name != SLICE]
        names: list[tuple[str, str]] = []
        blocks: list[Bools] = []
        facets: list[int] = []
        for number, name in enumerate(wanted):
            facet = table.facet(name)
            if facet is None:
                there = ", ".join([*table.names(), SLICE])
                raise BadInput(f"{table.dataset.name} has no facet {name!r}; it has: {there}")
            names += [(name, value) for value in facet.values]
            blocks.append(facet.members)
            facets += [number] * len(facet.values)
        for place, (name, line, _) in enumerate(saved):
            try:
                kept = table.keeps(line, run)
            except BadInput:
                continue  # of a run's errors, where none is asked for
            names.append((SLICE, name))
            blocks.append(kept[:, None])
            facets.append(len(wanted) + place)
        columns = np.concatenate(blocks, axis=1) if blocks else np.zeros((table.n, 0), dtype=np.bool_)
        return names, columns, facets

    def _figures(
        self, dataset: int, first: str, second: str | None, metric: str | None
    ) -> tuple[Compared, Compared | None, Metric, list[SumFigure], bool]:
        """The source or both, the figure of each, and whether it is a mean of what samples score."""
        one, chosen, figure, is_mean = self._comparing.figure(dataset, first, metric)
        if second is None:
            if not figure.there.any():
                raise BadInput(f"no sample has a {chosen.name} of {one.name}")
            return one, None, chosen, [figure], is_mean
        other, _, second_figure, _ = self._comparing.figure(dataset, second, chosen.name)
        if not (figure.there & second_figure.there).any():
            raise BadInput(f"no sample has a {chosen.name} of both {one.name} and {other.name}")
        return one, other, chosen, [figure, second_figure], is_mean

    def _values(
        self, dataset: int, first: str, second: str | None, metric: str | None
    ) -> tuple[Compared, Compared | None, Metric, Floats, Floats | None]:
        one, chosen, values = self._comparing.values(dataset, first, metric)
        if second is None:
            if np.isnan(values).all():
                raise BadInput(f"no sample has a {chosen.name} of {one.name}")
            return one, None, chosen, values, None
        other, _, second_values = self._comparing.values(dataset, second, chosen.name)
        if (np.isnan(values) | np.isnan(second_values)).all():
            raise BadInput(f"no sample has a {chosen.name} of both {one.name} and {other.name}")
        return one, other, chosen, values, second_values

    def _groups(self, dataset: int) -> Numbers | None:
        shared = groups_of(self.store, dataset)
        return None if shared is None else group_numbers(list(shared[1].values()))

    def _dataset(self, dataset: int) -> Dataset:
        found = self.store.datasets.get(dataset)
        if found is None:
            raise BadInput(f"there is no dataset {dataset}")
        return found


_HERE = {True: "Wilcoxon's signed-rank test of the differences", False: "a permutation test of the difference"}
_REST = {True: "Welch's t-test", False: "Welch's t-test of pseudo-values"}
"""By which test, of a mean over samples (True) and of other figures."""


def _drawn_in_words(there: Bools, groups: Numbers | None) -> str:
    n = int(there.sum()) if groups is None else len(np.unique(groups[there]))
    return convention(n, "samples" if groups is None else "groups of samples", resamples_for(n, BESIDE), 0)


def _sliced(facet: str, value: str, side: Bools, figures: Sequence[SumFigure], sure: Interval) -> Sliced:
    each = [figure.over(side) for figure in figures]
    if len(each) == 1:
        return Sliced(facet, value, int(side.sum()), each[0], sure.low, sure.high, note=sure.note)
    both = None if each[0] is None or each[1] is None else each[0] - each[1]
    return Sliced(facet, value, int(side.sum()), each[0], sure.low, sure.high, each[1], both, note=sure.note)


def _p_of_contrast(figures: Sequence[SumFigure], side: Bools, there: Bools, groups: Numbers | None) -> float | None:
    """That a mean, or the difference of two, is another one in a part than in what is left of `there`."""
    return _p(_of(figures), side, there, groups, paired=False)


def _p_here(figures: Sequence[SumFigure], side: Bools, groups: Numbers | None, *, is_mean: bool) -> float | None:
    """That two sources differ in a part."""
    if is_mean:
        return _p(_of(figures), side, side, groups, paired=True)
    first, second = figures
    if first.over(side) is None or second.over(side) is None:
        return None
    test = exchanged(first, second, side, groups)
    return None if test is None else test[0]


def _of(figures: Sequence[SumFigure]) -> Floats:
    """(n,): what each sample scored, or the first less the second."""
    each = [figure.by_sample for figure in figures]
    return each[0] if len(each) == 1 else score_differences(*each)


def _p(of: Floats, side: Bools, there: Bools, groups: Numbers | None, *, paired: bool) -> float | None:
    """Of a part: that two sources differ in it, or that one differs from the rest."""
    inside, outside = (
        group_means(of[part], None if groups is None else groups[part]) for part in (side, there & ~side)
    )
    if paired:
        return wilcoxon_p(inside) if len(inside) else None
    return welch_p(inside, outside)


def _two_sides(side: Bools, there: Bools) -> bytes:
    """Into which two sides a part divides all that is there, whichever of them it is."""
    return (side if side[np.argmax(there)] else there & ~side).tobytes()


# Runs by saved slice: a row a run, a column a slice.

KEY = "slices"


def slice_table(store: Store, dataset: Dataset, runs: Sequence[Run], metric: Metric) -> tuple[ResultsTable, ...]:
    """The mean of a metric over the samples of each saved slice; nothing where no slice was saved, or no run scored."""
    saved = store.slices.all(dataset.dataset)
    if not saved or not runs:
        return ()
    facets = Facets(store, dataset, NoteBook(store).notes(dataset.dataset))
    shared = groups_of(store, dataset.dataset)
    groups = None if shared is None else group_numbers(list(shared[1].values()))
    rows = []
    for run in runs:
        values = store.listing.metric_means(dataset.dataset, run.run, metric.name)
        there = ~np.isnan(values)
        if not there.any():
            continue
        plain = np.where(there, values, 0.0)
        sides, why = [there], [""]
        for _, line, _ in saved:
            try:
                sides.append(facets.keeps(line, run.run) & there)
                why.append("no sample of this slice has a value")
            except BadInput as problem:
                sides.append(np.zeros_like(there))
                why.append(str(problem))
        sure = ratio_intervals([(plain * side, side) for side in sides], groups)
        cells = []
        for side, reason, interval in zip(sides, why, sure, strict=True):
            n = int(side.sum())
            numbers = (np.flatnonzero(side) + facets.first).tolist()
            mean = float(values[side].mean()) if n else None
            cells.append(
                Cell(
                    mean,
                    None,
                    "",
                    None if n else reason,
                    tuple(numbers),
                    run.run,
                    interval.low,
                    interval.high,
                    interval.note,
                )
            )
        way = str(run.config.get("way") or "")
        rows.append(Row(" ".join(part for part in (run.model, way) if part), "run", run.run, tuple(cells)))
    if not rows:
        return ()
    columns = (Column("all", "All"), *(Column(name, name) for name, _, _ in saved))
    n = dataset.n if groups is None else int(groups.max()) + 1
    of = "samples" if groups is None else "groups of samples that share a text"
    notes = (
        *(f"{name}: {line}" for name, line, _ in saved),
        f"{INTERVAL} {convention(n, of, resamples_for(n, BESIDE), 0)}",
    )
    return (ResultsTable(KEY, f"{dataset.name}: {metric.title} by slice", columns, tuple(rows), notes),)
