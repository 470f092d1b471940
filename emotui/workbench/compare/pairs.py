"""Two sources sample by sample, and many sources on one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from emotui.errors import BadInput
from emotui.metrics.locating import locate
from emotui.metrics.metric import Metric
from emotui.metrics.paired import compared, group_means, wilcoxon_p
from emotui.metrics.resampling import (
    EQUAL,
    Numbers,
    convention,
    drawn_by,
    group_numbers,
    interval_of,
    mean_replicates,
    score_differences,
)
from emotui.metrics.significance import Correction, adjusted_known
from emotui.metrics.sums import SumFigure, compared_sums, exchanged, intervals_within, ratio
from emotui.records import Mark, SpanSample
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import with_enough
from emotui.tasks.registry import task_named
from emotui.workbench.compare.figures import (
    SourceFigures,
    label_tests,
    metric_of,
    names_of_all,
    no_figure,
    with_label_tests,
)
from emotui.workbench.compare.sources import (
    Compared,
    comparable,
    gold_note,
    lines_now,
    nothing,
    part_of_gold,
    says,
    scored_now,
    source_named,
    values_of,
    with_gold,
)
from emotui.workbench.masked.lexicons import MASKED, check_one_lexicon, lexicons_of
from emotui.workbench.runs.scores import groups_of, last_attempts
from emotui.workbench.said import said_of
from emotui.workbench.task_words import metrics_of
from emotui.workbench.texts import read_sample

if TYPE_CHECKING:
    from emotui.workbench.compare.sources import Values

BINS = 21
YES, NO = "yes", "no"
"""What is said of a label."""
SEED = 0
_ERRORS = 2.3
"""Standard errors in which most intervals of a mean lie, skewed ones too."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One sample in both sources; `difference` is the first less the second."""

    sample: int
    id: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.first - self.second

    @property
    def changed(self) -> bool:
        return abs(self.difference) > EQUAL


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sources by one metric. `rows`: the greatest difference first; `report`: the document of `emotui compare`,
    whose `won` and `lost` are the samples in which the first is above and below, whichever end is better.

    `bins`: how many differences fall into each of `BINS` equal parts from -`reach` to `reach`, the middle one around 0.
    `alone`: samples that only one of them has a value of, left out. `intervals`: 95%, of either mean. `shared`: the
    column by which samples go together.
    """

    first: Compared
    second: Compared
    metric: Metric
    rows: tuple[Difference, ...]
    report: dict[str, Any]
    bins: tuple[int, ...]
    reach: float
    alone: int
    intervals: tuple[tuple[float, float] | None, tuple[float, float] | None] = (None, None)
    shared: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A source on the axis: its mean over the samples that it has a value of, with the 95% interval.

    `off`: how far it is from the first source, over the samples of both; `won`, `lost` and `tied`: in how many of these
    it is better, worse, and neither, or above and below by a metric of which neither end is better; `p`: of that
    difference (Wilcoxon), corrected over all. None and 0 for the first itself. `published`: printed in a paper, over
    other samples. `note`: why there is no interval, or what has to be known of it. `of_gold`: what a person is to gold,
    after `is`. `reach`: within which an interval of independent samples would lie, known at once; None: of one sample,
    or of a figure that is no mean.
    """

    name: str
    told: str
    kind: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    key: str = ""
    off: float | None = None
    won: int = 0
    lost: int = 0
    tied: int = 0
    p: float | None = None
    published: bool = False
    note: str = ""
    of_gold: str = ""
    reach: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """Many sources by one metric, the greatest mean first. `people`: the least and the greatest mean of people."""

    metric: Metric
    rows: tuple[Standing, ...]
    people: tuple[float, float] | None
    first: str
    convention: str = ""

    @property
    def tests(self) -> int:
        """How many tests against the first source the p values are corrected over: of who is not tested there is none.

        Sources of too few texts stand beside the others untested (`with_enough`).
        """
        return sum(row.p is not None for row in self.rows)


@dataclass(frozen=True, slots=True)
class Marks:
    """What gold and two sources say of one text; marks are of spans.

    `lines`: of other tasks the name of each thing, and what gold, the first and the second say to it.
    """

    sample: int
    id: str
    text: str
    gold: tuple[Mark, ...] = ()
    first: tuple[Mark, ...] = ()
    second: tuple[Mark, ...] = ()
    lines: tuple[tuple[str, str, str, str], ...] = ()


@dataclass
class _Held:
    mark: object
    values: "Values"


@dataclass
class Comparing:
    """Made by `Workspace.comparing()`. Every method may be called from any thread, and may take a while.

    `task`: whose answers are compared; None: of the task that the file of a dataset came for.
    """

    store: Store
    task: str | None = None
    _held: dict[tuple[int, str, str, str], _Held] = field(default_factory=dict)
    _read: dict[tuple[int, str, str], tuple[object, SourceFigures]] = field(default_factory=dict)
    _now: dict[tuple[int, str, str], tuple[object, Mapping[str, "Values"]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def read_as(self, task: str | None) -> "Comparing":
        """The same over what is said of the texts for another task."""
        return replace(self, task=task)

    def sources(self, dataset: int) -> list[Compared]:
        """What can be compared, runs first."""
        return comparable(self.store, self._dataset(dataset))

    def metrics(self, dataset: int) -> tuple[Metric, ...]:
        """By what; that of most interest first."""
        return metrics_of(self.store, dataset, self.task)

    def pair(
        self,
        dataset: int,
        first: str,
        second: str,
        metric: str | None = None,
        *,
        seed: int = SEED,
        only: "np.ndarray[tuple[int], np.dtype[np.bool_]] | None" = None,
    ) -> Pair:
        """Compare two sources over the samples that both have a value of.

        Args:
            only: (n,) by the place of the sample: whether it is compared; None: all are.

        Raises:
            BadInput: there is no such source or metric, or no sample has a value of both.
        """
        if metric is not None and metric not in {one.name for one in self.metrics(dataset) if not one.pooled}:
            return self._pair_over_all(dataset, first, second, metric, seed, only)
        with self.store.together():
            found = self._dataset(dataset)
            one, other = (source_named(self.store, found, name) for name in (first, second))
            check_one_lexicon(self.store, found, [one.run, other.run])
            by = self._metric(found, metric)
            shared = groups_of(self.store, found.dataset)
            start = self.store.samples.file_order(found.dataset).start
            ids = {row: key for key, row in self.store.samples.numbers_by_id(found.dataset).items()}
        a, b = (self._values(found, source, by.name) for source in (one, other))
        both = ~(np.isnan(a) | np.isnan(b))
        if only is not None:
            both &= only
        if not both.any():
            raise BadInput(f"no sample has a {by.name} of both {one.name} and {other.name}")
        numbers = np.flatnonzero(both) + start
        groups = None if shared is None else group_numbers([shared[1][number] for number in numbers.tolist()])
        # Drawn in the order of ids, as by `paired_report`: a difference has one interval, wherever it is read.
        by_id = sorted(numbers.tolist(), key=ids.__getitem__)
        places = np.array(by_id) - start
        drawn = None if shared is None else group_numbers([shared[1][number] for number in by_id])
        report = compared(a[places], b[places], drawn, seed=seed)
        tested = label_tests(self.store, found, one, other, None if shared is None else shared[1], seed=seed)
        report = with_gold(with_label_tests(report, tested), gold_note(self.store, found, (one, other)))
        differences = score_differences(a[both], b[both])
        order = np.argsort(-differences, kind="stable")
        rows = tuple(
            Difference(number, ids[number], x, y)
            for number, x, y in zip(
                numbers[order].tolist(), a[both][order].tolist(), b[both][order].tolist(), strict=True
            )
        )
        reach = float(np.abs(differences).max()) or 1.0
        bins = np.histogram(differences, bins=BINS, range=(-reach, reach))[0]
        alone = int(((np.isnan(a) != np.isnan(b)) & (True if only is None else only)).sum())
        named = None if shared is None or groups is None else shared[0]
        means = mean_replicates(np.stack([a[both], b[both]], axis=1), drawn_by(groups, len(rows)), seed=seed)
        sure = [interval_of(one).ends for one in means]
        return Pair(one, other, by, rows, report, tuple(bins.tolist()), reach, alone, (sure[0], sure[1]), named)

    def _pair_over_all(
        self,
        dataset: int,
        first: str,
        second: str,
        name: str,
        seed: int,
        only: "np.ndarray[tuple[int], np.dtype[np.bool_]] | None",
    ) -> Pair:
        """As `pair`, by a figure that is over all samples together; the rows are those in which both have one."""
        found = self._dataset(dataset)
        (one, by, a, _), (other, _, b, _) = (self.figure(dataset, source, name) for source in (first, second))
        kept = np.ones(found.n, dtype=np.bool_) if only is None else only
        both = a.there & b.there & kept
        if not both.any():
            raise BadInput(f"no sample has a {name} of both {one.name} and {other.name}")
        groups, start = self._groups(found), self.store.samples.file_order(dataset).start
        ids = {row: key for key, row in self.store.samples.numbers_by_id(dataset).items()}
        note = gold_note(self.store, found, (one, other))
        report = with_gold(compared_sums(a, b, both, groups, seed=seed), note)
        x, y = a.by_sample, b.by_sample
        told = np.flatnonzero(both & ~np.isnan(x) & ~np.isnan(y))
        order = told[np.argsort(-score_differences(x[told], y[told]), kind="stable")]
        rows = tuple(Difference(at + start, ids[at + start], float(x[at]), float(y[at])) for at in order.tolist())
        reach = max((abs(row.difference) for row in rows), default=0.0) or 1.0
        bins = np.histogram([row.difference for row in rows], bins=BINS, range=(-reach, reach))[0]
        alone = int(((a.there != b.there) & kept).sum())
        shared = groups_of(self.store, dataset)
        named = None if shared is None or "groups" not in report else shared[0]
        sure = [intervals_within(side, None, [both], groups, seed=seed)[0].ends for side in (a, b)]
        return Pair(one, other, by, rows, report, tuple(bins.tolist()), reach, alone, (sure[0], sure[1]), named)

    def axis(
        self,
        dataset: int,
        metric: str | None = None,
        first: str | None = None,
        *,
        papers: bool = False,
        only: "np.ndarray[tuple[int], np.dtype[np.bool_]] | None" = None,
        correction: Correction = "holm",
        sure: bool = True,
        tests: bool = True,
    ) -> Axis:
        """All sources of a dataset by one metric, their intervals over the same draws of samples.

        Args:
            first: which one the others are tested against; None: that with the greatest mean.
            papers: add what the task's paper prints of the metric.
            only: as of `pair`.
            correction: of the tests against the first source, over all others.
            sure: with intervals and tests, which take longer than means.
            tests: whether with intervals come tests, which take longest.

        Raises:
            BadInput: as `pair`.
        """
        with self.store.together():
            found = self._dataset(dataset)
            by = self._metric(found, metric)
            known = self.sources(dataset)
            marks = self.store.runs.revisions([source.run for source in known if source.run is not None])
            kept = {
                source.key: self._values(found, source, by.name, marks)
                for source in known
                if source.run is not None and not by.pooled
            }
            of_gold = {source.key: part_of_gold(self.store, found, source) for source in known}
        pools = self._pools(found, known, by.name) if by.pooled else {}
        columns = [
            pools[source.key].by_sample
            if source.key in pools
            else kept[source.key]
            if source.key in kept
            else self._values(found, source, by.name, marks)
            for source in known
        ]
        if only is not None:
            columns = [np.where(only, column, np.nan) for column in columns]
        there = [at for at, column in enumerate(columns) if not np.isnan(column).all()]
        known, columns = [known[at] for at in there], [columns[at] for at in there]
        if not known:
            return Axis(by, _printed(found.task, by) if papers and found.task != MASKED else (), None, "")
        lexicons = lexicons_of(self.store, found, [source.run for source in known])
        table = np.stack(columns, axis=1)
        groups = self._groups(found)
        drawn = drawn_by(groups, len(table))
        pooled = [_within(pools[source.key], only) for source in known] if by.pooled else []
        if pooled:
            means = [figure.over(figure.there) for figure in pooled]
            sizes = [int(figure.there.sum()) for figure in pooled]
            ends = [intervals_within(one, None, [one.there], groups, seed=SEED)[0] for one in pooled] if sure else []
        else:
            means = [float(column[~np.isnan(column)].mean()) for column in columns]
            sizes = [int((~np.isnan(column)).sum()) for column in columns]
            ends = [interval_of(one) for one in mean_replicates(table, drawn, seed=SEED)] if sure else []
        standing = []
        for at, source in enumerate(known):
            low, high, note = (ends[at].low, ends[at].high, ends[at].note) if sure else (None, None, "")
            standing.append(
                Standing(
                    source.name,
                    source.told,
                    source.kind,
                    means[at],
                    low,
                    high,
                    sizes[at],
                    source.key,
                    note=note,
                    of_gold=of_gold[source.key],
                    reach=None if pooled else _reach(columns[at], by),
                )
            )
        sign = -1.0 if by.higher_is_better else 1.0
        order = sorted(range(len(standing)), key=lambda at: sign * (standing[at].mean or 0.0))
        base = next((at for at, source in enumerate(known) if source.key == first), order[0])
        tested = with_enough({at: one.n for at, one in enumerate(standing)})
        p = adjusted_known(
            [
                (_exchanged(pooled[base], pooled[at], groups) if pooled else _p(table[:, base], table[:, at], groups))
                if sure and tests and at != base and at in tested and lexicons[at] == lexicons[base]
                else None
                for at in order
            ],
            correction,
        )
        rows = [
            replace(
                standing[at],
                p=p[place],
                **_against(table[:, base], table[:, at], by) | (_off(pooled[base], pooled[at]) if pooled else {}),
            )
            if at != base and lexicons[at] == lexicons[base]
            else standing[at]
            for place, at in enumerate(order)
        ]
        if found.task == MASKED:
            papers = papers and all(words is not None and words.express for words in lexicons)
            if len({words.mark for words in lexicons if words is not None}) > 1:
                told = {known[at].key: f"by {words.name}" for at, words in enumerate(lexicons) if words is not None}
                rows = [replace(row, told=f"{row.told} {told.get(row.key, '')}".strip()) for row in rows]
        people = [one.mean for one in standing if one.kind == "person" and one.mean is not None]
        return Axis(
            by,
            (*rows, *(_printed(found.task, by) if papers else ())),
            (min(people), max(people)) if people else None,
            known[base].key,
            convention(
                drawn.n, "groups of samples that share a text" if drawn.grouped else "samples", drawn.resamples, SEED
            ),
        )

    def _pools(self, dataset: Dataset, sources: Sequence[Compared], name: str) -> dict[str, SumFigure]:
        """By its key the figure of each source that has it, over its samples together."""
        each = ((source.key, self._figures(dataset, source).figure(name)) for source in sources)
        return {key: figure for key, figure in each if figure is not None}

    def values(self, dataset: int, source: str, metric: str | None = None) -> "tuple[Compared, Metric, Values]":
        """A source, a metric, and what it scored by it at each sample, by the place of the sample (n,).

        Raises:
            BadInput: there is no such source or metric.
        """
        with self.store.together():
            found = self._dataset(dataset)
            one, by = source_named(self.store, found, source), self._metric(found, metric)
        return one, by, self._values(found, one, by.name)

    def figures(self, dataset: int, *sources: str) -> tuple[Metric, ...]:
        """The figures of all of these sources that are over samples together, such as rates over sentences."""
        with self.store.together():
            found = self._dataset(dataset)
            named = [source_named(self.store, found, name) for name in sources]
        each = [self._figures(found, source) for source in named]
        return tuple(metric_of(name) for name in names_of_all(each))

    def figure(self, dataset: int, source: str, name: str | None = None) -> tuple[Compared, Metric, SumFigure, bool]:
        """A source, and one of its figures; whether it is a mean of what samples score.

        Raises:
            BadInput: there is no such source or figure.
        """
        with self.store.together():
            found = self._dataset(dataset)
            one = source_named(self.store, found, source)
            known = self.metrics(dataset)
            of_samples = {metric.name for metric in known if not metric.pooled}
            by = self._metric(found, name) if name is None or name in of_samples else None
            marks = {} if one.run is None else self.store.runs.revisions([one.run])
        if by is not None:
            values = self._values(found, one, by.name, marks)
            there = ~np.isnan(values)
            return one, by, ratio(np.where(there, values, 0.0), there, there), True
        figures = self._figures(found, one)
        assert name is not None
        figure = figures.figure(name)
        if figure is None:
            raise no_figure(name, list(dict.fromkeys([*(metric.name for metric in known), *figures.names()])))
        return one, next((metric for metric in known if metric.name == name), metric_of(name)), figure, False

    def _figures(self, dataset: Dataset, source: Compared) -> SourceFigures:
        mark: object = (dataset.fingerprint, dataset.gold)
        if source.run is not None:
            mark = mark, self.store.runs.revisions([source.run]).get(source.run)
        with self._lock:
            held = self._read.get((dataset.dataset, dataset.task, source.key))
        if held is not None and held[0] == mark:
            return held[1]
        made = SourceFigures(self.store, dataset, source)
        with self._lock:
            self._read[dataset.dataset, dataset.task, source.key] = mark, made
        return made

    def marks(self, dataset: int, sample: int, first: str, second: str) -> Marks:
        """What gold and two sources mark in a text; of repeats the first."""
        with self.store.together():
            return self._marks(dataset, sample, first, second)

    def _marks(self, dataset: int, sample: int, first: str, second: str) -> Marks:
        found = self._dataset(dataset)
        ((_, record),) = self.store.samples.records([sample])
        plain = msgspec.json.decode(record, type=_Plain)
        if found.task != "spans":
            lines = self._lines(found, sample, first, second)
            return Marks(sample, plain.id, plain.text or "", lines=lines)
        read: SpanSample = read_sample(self.store, found, record)
        a, b = (self._marked(found, sample, read, source_named(self.store, found, name)) for name in (first, second))
        return Marks(sample, read.id, read.text, tuple(read.spans or ()), a, b)

    def _lines(self, dataset: Dataset, sample: int, first: str, second: str) -> tuple[tuple[str, str, str, str], ...]:
        """What both say of a sample, thing by thing: first where they differ, then where one differs from gold."""
        gold: dict[str, str] = {}
        sides: list[dict[str, str]] = []
        for name in (first, second):
            source = source_named(self.store, dataset, name)
            if source.run is None:
                said = lines_now(self.store, dataset, source, sample)
            else:
                answers = said_of(self.store, dataset.dataset, sample, source.run).answers
                said = answers[0].lines if answers else ()
            gold |= {line.name: line.gold for line in said}
            sides.append({line.name: line.predicted for line in said})
        a, b = ({name: side.get(name, _silent(side)) for name in gold} for side in sides)
        found = [(name, own, a[name], b[name]) for name, own in gold.items() if {own, a[name], b[name]} - {NO, ""}]
        return tuple(sorted(found, key=lambda line: (line[2] == line[3], line[1] == line[2] == line[3])))

    def _marked(self, dataset: Dataset, number: int, sample: SpanSample, source: Compared) -> tuple[Mark, ...]:
        if source.run is None:
            said = says(self.store, dataset, source).get(number, {}).get("spans") or ()
            return tuple(msgspec.convert(said, list[Mark]))
        rows = last_attempts(self.store.results.of_run(source.run, [number]))
        first = min(rows, key=lambda row: row.repeat, default=None)
        if first is None or first.prediction is None:
            return ()
        task = task_named(dataset.task)
        said = task.marks(msgspec.json.decode(first.prediction, type=task.prediction))
        words = [span if isinstance(span, str) else sample.text[span.start : span.end] for span in said]
        places = zip(said, locate(sample.text, words), strict=True)
        found = [(Mark(*place) if place else None) if isinstance(span, str) else span for span, place in places]
        return tuple(mark for mark in found if mark is not None)

    def _values(
        self, dataset: Dataset, source: Compared, metric: str, revisions: Mapping[str, tuple[int, int]] | None = None
    ) -> "Values":
        """As `values_of`, kept until the source's run has new scores; `revisions`: those of its run and others."""
        mark: object = (dataset.fingerprint, dataset.gold)
        if source.run is not None:
            known = self.store.runs.revisions([source.run]) if revisions is None else revisions
            mark = known.get(source.run)
        key = dataset.dataset, dataset.task, source.key, metric
        with self._lock:
            held = self._held.get(key)
        if held is not None and held.mark == mark:
            return held.values
        if source.run is None:
            values = self._scored(dataset, source, mark).get(metric, nothing(dataset.n))
        else:
            values = values_of(self.store, dataset, source, metric)
        with self._lock:
            self._held[key] = _Held(mark, values)
        return values

    def _scored(self, dataset: Dataset, source: Compared, mark: object) -> Mapping[str, "Values"]:
        """Of one whose scores are not kept: scored by all metrics at once."""
        key = dataset.dataset, dataset.task, source.key
        with self._lock:
            held = self._now.get(key)
        if held is None or held[0] != mark:
            held = mark, scored_now(self.store, dataset, source)
            with self._lock:
                self._now[key] = held
        return held[1]

    def _groups(self, dataset: Dataset) -> Numbers | None:
        shared = groups_of(self.store, dataset.dataset)
        return None if shared is None else group_numbers(list(shared[1].values()))

    def _dataset(self, dataset: int) -> Dataset:
        found = self.store.datasets.get(dataset)
        if found is None:
            raise BadInput(f"there is no dataset {dataset}")
        return found.read_as(self.task or found.task)

    def _metric(self, dataset: Dataset, name: str | None) -> Metric:
        known = self.metrics(dataset.dataset)
        fitting = [one for one in known if name is None or one.name == name]
        if not fitting:
            raise BadInput(f"there is no metric {name!r} here; there are: {', '.join(one.name for one in known)}")
        return fitting[0]


def _silent(said: Mapping[str, str]) -> str:
    """What a source says of a thing that it does not name: no, where it answers yes or no to others."""
    return NO if YES in said.values() or NO in said.values() else ""


class _Plain(msgspec.Struct):
    id: str
    text: str | None = None


def _p(first: "Values", second: "Values", groups: Numbers | None) -> float | None:
    """Of the signed-rank test over the samples, or groups of samples, that both have values of."""
    both = ~(np.isnan(first) | np.isnan(second))
    each = group_means(score_differences(first[both], second[both]), None if groups is None else groups[both])
    return wilcoxon_p(each) if len(each) else None


def _reach(values: "Values", metric: Metric) -> tuple[float, float] | None:
    """So many standard errors to either side of the mean, within what the metric can be."""
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return None
    mean, room = float(known.mean()), _ERRORS * float(known.std(ddof=1)) / len(known) ** 0.5
    least, most = metric.range
    return max(mean - room, -np.inf if least is None else least), min(mean + room, np.inf if most is None else most)


def _within(figure: SumFigure, only: "np.ndarray[tuple[int], np.dtype[np.bool_]] | None") -> SumFigure:
    """A figure of some of the samples."""
    return figure if only is None else replace(figure, there=figure.there & only)


def _exchanged(first: SumFigure, second: SumFigure, groups: Numbers | None) -> float | None:
    """The p of the exchange of both sources' answers to the samples, or groups of samples, that both are scored of."""
    tested = exchanged(first, second, first.there & second.there, groups, seed=SEED)
    return None if tested is None else tested[0]


def _off(first: SumFigure, second: SumFigure) -> dict[str, Any]:
    """How far the second is from the first over the samples of both together."""
    both = first.there & second.there
    a, b = first.over(both), second.over(both)
    return {"off": None if a is None or b is None else b - a}


def _against(first: "Values", second: "Values", metric: Metric) -> dict[str, Any]:
    """How far the second is from the first over the samples of both, and in how many it is better, worse and neither.

    Of a metric of which neither end is better: above and below.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    off = score_differences(second[both], first[both])
    above, below = int((off > EQUAL).sum()), int((off < -EQUAL).sum())
    won, lost = (above, below) if metric.higher_is_better or not metric.directed else (below, above)
    return {"off": float(off.mean()) if len(off) else None, "won": won, "lost": lost, "tied": len(off) - won - lost}


def _printed(task: str, metric: Metric) -> tuple[Standing, ...]:
    """What a task's paper prints of this metric, a row a model and setting."""
    return tuple(
        Standing(model, way, kind, mean, None, None, 0, published=True)
        for model, way, kind, mean in task_named(task).printed(metric.name)
        if mean is not None
    )
