"""What the list is set to, as it is remembered from one session to the next."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.metrics.metric import Metric
from emotui.store.query import MARKS, SORTS, Bounds, Dataset, ListQuery, Run
from emotui.workbench.slices.conditions import MARK, RESERVED, SLICE, TEXT, Condition, written

NO_RUN = ""
"""A run chosen to be none: gold alone. (None: whichever run is the newest.)"""

HEADLINE = "headline"
"""What stands for the first metric of a task, whatever its name is."""


_ALL: dict[str, Any] = {"only": (), "only_why": "", "only_mark": "", "only_in_order": False}
"""No sample is left out for a figure's sake."""


class ListState(msgspec.Struct, frozen=True):
    """Filter, order and position of the list, the run over it, and the overlay. `sample` is a sample's number.

    `beside`: further runs that are compared with the one over the list. `only`: where there are any, no other samples
    than those behind a figure, which `only_why` names, and the letter of their errors; with `only_in_order` they stand
    in the order of `only`, whatever order is chosen. None of these is remembered. `metric`: the one whose values stand
    in the list. Where a metric is named, `HEADLINE` may stand too. `column`: `name=value` of a column of the data's
    own, or a line of conditions. `slices`: of saved filters, of which any will do.
    """

    dataset: str | None = None
    run: str | None = None
    text: str = ""
    emotions: tuple[str, ...] = ()
    valences: tuple[str, ...] = ()
    marks: str = ""
    bounds: tuple[Bounds, ...] = ()
    column: str = ""
    slices: tuple[str, ...] = ()
    metric: str = HEADLINE
    sort: str = "file"
    descending: bool = False
    sample: int | None = None
    overlay: str = "both"
    beside: tuple[str, ...] = ()
    only: tuple[int, ...] = ()
    only_why: str = ""
    only_mark: str = ""
    only_in_order: bool = False

    def query(self, dataset: int, run: str | None, metrics: Sequence[Metric]) -> ListQuery:
        """The question to the source. Without a run there is nothing to filter or sort by of what a run would give."""
        names = {} if run is None else {key_of(metric, metrics): metric.name for metric in metrics}
        sort = "file" if self.only_in_order else self.sort
        return ListQuery(
            dataset=dataset,
            run=run,
            text=self.text,
            emotions=self.emotions,
            valences=self.valences,
            marks=self.marks if run else "",
            bounds=tuple(replace(one, metric=names[one.metric]) for one in self.bounds if one.metric in names),
            column=column_of(self.column),
            conditions=self._conditions(),
            sort=sort if sort in SORTS else names.get(sort, "file"),
            descending=self.descends(metrics if names else ()) and not self.only_in_order,
        )

    def descends(self, metrics: Sequence[Metric]) -> bool:
        """Whether greater values come first: a metric's worst do, unless the order is turned round."""
        by = next((metric for metric in metrics if key_of(metric, metrics) == self.sort), None)
        return self.descending != (by is not None and not by.higher_is_better)

    def order(self, metrics: Sequence[Metric]) -> str:
        """In which order the list stands, in words; empty: in that of its file."""
        descends = self.descends(metrics)
        by = next((metric for metric in metrics if key_of(metric, metrics) == self.sort), None)
        if self.only_in_order:
            return "nearest first"
        if by is not None and by.yes_or_no:
            return f"{'right' if descends else 'wrong'} ones first"
        if by is not None:
            return f"{'highest' if descends else 'lowest'} {by.title} first"
        if self.sort == "length":
            return f"{'longest' if descends else 'shortest'} first"
        sort = f"by {self.sort}" if self.sort in SORTS and self.sort != "file" else ""
        return f"{sort or 'file'}, the last first" if descends else sort

    def _conditions(self) -> str:
        """What the workbench is asked for beside what the store knows."""
        asked = "" if column_of(self.column) else self.column
        chosen = written((Condition(SLICE, "=", self.slices),)) if self.slices else ""
        return " & ".join(line for line in (asked, chosen) if line)

    def as_conditions(self, metrics: Sequence[Metric]) -> str:
        """All that the list leaves out as one line of conditions, to be saved under a name."""
        names = {key_of(metric, metrics): metric.name for metric in metrics}
        found = [Condition(TEXT, "=", (self.text,))] if self.text else []
        found += [Condition("emotion", "=", self.emotions)] if self.emotions else []
        found += [Condition("valence", "=", self.valences)] if self.valences else []
        found += [Condition(MARK, "=", tuple(self.marks))] if self.marks else []
        for one in self.bounds:
            name = names.get(one.metric, one.metric)
            found += [Condition(name, ">=", (f"{one.low:g}",))] if one.low is not None else []
            found += [Condition(name, "<=", (f"{one.high:g}",))] if one.high is not None else []
        found += [Condition(SLICE, "=", self.slices)] if self.slices else []
        return " & ".join(line for line in (written(tuple(found)), self.column) if line)

    @property
    def filtered(self) -> bool:
        """Does the list leave samples out?"""
        asked = self.text or self.emotions or self.valences or self.marks or self.bounds or self.column or self.slices
        return bool(asked or self.only)

    def unfiltered(self) -> "ListState":
        """The same list with every sample in it."""
        return replace(self, text="", emotions=(), valences=(), marks="", bounds=(), column="", slices=(), **_ALL)

    def just(
        self, samples: tuple[int, ...], why: str, mark: str = "", *, in_order: bool = False, at: int | None = None
    ) -> "ListState":
        """The same list with no other samples in it than these; `in_order`: in just this order; `at`: the cursor's."""
        only = {"only": samples, "only_why": why, "only_mark": mark, "only_in_order": in_order}
        return replace(self.unfiltered(), sample=samples[0] if at is None else at, **only)

    def ordered(self, sort: str, *, descending: bool) -> "ListState":
        """The same list in another order."""
        return replace(self, sort=sort, descending=descending, only_in_order=False)

    def shown_metric(self, metrics: Sequence[Metric]) -> Metric | None:
        """The metric whose values stand in the list; None where there are none."""
        by_key = {key_of(metric, metrics): metric for metric in metrics}
        return by_key.get(self.metric, metrics[0] if metrics else None)

    def words(self, metrics: Sequence[Metric]) -> list[str]:
        """What the list leaves out, in words for its heading."""
        titles = {key_of(metric, metrics): metric.title for metric in metrics}
        said = [self.only_why] if self.only else []
        said += [f"“{self.text}”"] if self.text else []
        said += [*self.emotions, *self.valences]
        said += [self.column] if self.column else []
        said += self.slices
        if self.marks:
            said.append("marks:" + self.marks)
        for one in self.bounds:
            low = "" if one.low is None else f"{one.low:g}"
            high = "" if one.high is None else f"{one.high:g}"
            if one.metric in titles:
                said.append(f"{titles[one.metric]} {low}…{high}")
        return said

    def chosen_run(self, runs: Sequence[Run], task: str) -> Run | None:
        """The run that is shown, of those that there are, newest first; a person's only where it was chosen.

        Args:
            task: the one that the dataset came for.
        """
        if self.run == NO_RUN:
            return None
        named = next((run for run in runs if run.run == self.run), None)
        return named or usual_run(runs, task)

    def runs_beside(self, runs: Sequence[Run], task: str) -> list[Run]:
        """The runs that are compared with the one over the list, in the order in which they were chosen."""
        over = self.chosen_run(runs, task)
        there = {run.run: run for run in runs if over is None or run.run != over.run}
        return [there[run] for run in self.beside if run in there]

    def chosen_dataset(self, datasets: Sequence[Dataset]) -> Dataset | None:
        """The dataset that is shown."""
        named = [dataset for dataset in datasets if dataset.name == self.dataset]
        return next(iter([*named, *datasets]), None)


def usual_run(runs: Sequence[Run], task: str) -> Run | None:
    """The run over a list for which none was chosen: the newest of a model or a file, never what a person annotated.

    Those of the task that the dataset came for go before the others: they are what its list shows.
    """
    found = [run for run in runs if run.source != "person"]
    return next((run for run in found if run.task == task), next(iter(found), None))


def column_of(asked: str) -> tuple[str, str] | None:
    """The name and the value of `name=value` where that is a column of the data's own; None for anything else."""
    name, sign, value = asked.partition("=")
    if not sign or not name.strip() or name.strip() in RESERVED or set(asked) & set('&|<>!"'):
        return None
    return name.strip().removeprefix("meta."), value.strip()


def key_of(metric: Metric, metrics: Sequence[Metric]) -> str:
    """As a state of the list names it: `HEADLINE` for the first of its task."""
    return HEADLINE if metric == metrics[0] else metric.name


def to_setting(state: ListState) -> dict[str, object]:
    """As plain values that a store can keep."""
    kept: dict[str, object] = msgspec.to_builtins(replace(state, **_ALL))
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


def _limit(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)


def _bounds(value: Mapping[str, object]) -> tuple[Bounds, ...]:
    """Ranges of metrics; settings of before metrics had names have one of the headline, under `f1_min` and `f1_max`."""
    kept = value.get("bounds")
    given = [one for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []
    found = [Bounds(str(one.get("metric")), _limit(one.get("low")), _limit(one.get("high"))) for one in given]
    found.append(Bounds(HEADLINE, _limit(value.get("f1_min")), _limit(value.get("f1_max"))))
    by_metric = {one.metric: one for one in found if one.low is not None or one.high is not None}
    return tuple(by_metric.values())


def from_setting(value: object) -> ListState:
    """What was remembered; whatever in it does not make sense any more is left at its default."""
    if not isinstance(value, dict):
        return ListState()
    fresh = ListState()
    kept: dict[str, object] = {}
    for name in ListState.__struct_fields__:
        got, default = value.get(name), getattr(fresh, name)
        if name in _ALL:
            kept[name] = default
        elif name in ("emotions", "valences", "beside", "slices"):
            kept[name] = tuple(one for one in got if isinstance(one, str)) if isinstance(got, list) else ()
        elif name == "bounds":
            kept[name] = _bounds(value)
        elif name == "sample":
            kept[name] = got if isinstance(got, int) and not isinstance(got, bool) else None
        elif name == "descending":
            kept[name] = got is True
        else:
            kept[name] = got if isinstance(got, str) else default
    state = replace(fresh, **kept)
    marks = "".join(mark for mark in MARKS if mark in state.marks)
    headline_then_f1 = "f1_min" in value and state.sort == "f1"
    return replace(state, marks=marks, sort=HEADLINE if headline_then_f1 else state.sort)
