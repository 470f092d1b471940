"""Metrics that other packages add by the entry point `emotui.metrics`, a name each.

What stands there has the fields of `Metric` but its name, `task` (the name of one, or several), and
`value(sample, prediction)`: a number, or None where there is none. The prediction is a record as files have it
(`emotui.records`); one of spans always has them, as strings. Nothing is loaded before something is scored or listed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from emotui.metrics.metric import Metric
from emotui.metrics.span_output import parse_output
from emotui.plugins import entry_points_of, first_line, within
from emotui.records import SpanPrediction
from emotui.store.query import SORTS
from emotui.store.rows import ScoreRow
from emotui.tasks.task import Parsed, Task

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "emotui.metrics"
NO_VALUE = "no sample has a value"


class AddedMetric(msgspec.Struct, frozen=True):
    """A metric of another package; `value` may raise anything."""

    metric: Metric
    tasks: tuple[str, ...]
    value: Callable[[Any, Any], float | None]


def added_metrics(task: Task) -> tuple[AddedMetric, ...]:
    """What other packages add for this task, but what has the name of a metric of its own."""
    own = {metric.name for metric in task.metrics}
    return tuple(one for one in _all() if task.name in one.tasks and one.metric.name not in own)


def metric_troubles() -> tuple[str, ...]:
    """What is wrong with metrics that other packages add, a line each: they are left out, or have no value there."""
    _all()
    return tuple(_troubles.values())


def with_added(task: Task, answers: Sequence[Parsed], scores: Sequence[ScoreRow]) -> list[ScoreRow]:
    """The same scores with the values of added metrics."""
    added = added_metrics(task)
    if not added:
        return list(scores)
    found = []
    for answer, score in zip(answers, scores, strict=True):
        record = _whole(answer.sample, task.record(answer.sample.id, answer.prediction, answer.repeat))
        values = {one.metric.name: _value(one, answer.sample, record) for one in added}
        found.append(replace(score, values={**score.values, **values}))
    return found


def file_means(task: Task, golds: Iterable[Any], answers: Iterable[Any]) -> dict[str, float | None]:
    """The mean of each added metric over the samples that have a value; None where none has."""
    if not (added := added_metrics(task)):
        return {}
    samples = {gold.id: gold for gold in golds}
    pairs = [(samples[one.id], _whole(samples[one.id], one)) for one in answers if one.id in samples]
    return {
        one.metric.name: mean_of((sample.id, _value(one, sample, record)) for sample, record in pairs) for one in added
    }


def mean_of(values: Iterable[tuple[object, float | None]]) -> float | None:
    """The mean over samples of their means over repeats, of (sample, value); None where no sample has a value."""
    by_sample: dict[object, list[float]] = {}
    for sample, value in values:
        if value is not None:
            by_sample.setdefault(sample, []).append(value)
    return fmean(fmean(each) for each in by_sample.values()) if by_sample else None


_troubles: dict[str, str] = {}
_hung: set[str] = set()
"""Metrics that did not answer once, and are not asked again."""


def _value(one: AddedMetric, sample: Any, record: Any) -> float | None:
    name = one.metric.name
    if name in _hung:
        return None
    try:
        number = within(partial(_number, one, sample, record))
    except (Exception, SystemExit) as error:  # another package's code may raise anything
        if isinstance(error, TimeoutError):
            _hung.add(name)
        _troubles.setdefault(name, f"the metric {name!r} has no value for {sample.id}: {first_line(error)}")
        return None
    return number if number is not None and isfinite(number) else None


def _number(one: AddedMetric, sample: Any, record: Any) -> float | None:
    value = one.value(sample, record)
    return None if value is None else float(value)


def _whole(sample: Any, record: Any) -> Any:
    """A prediction of spans with the spans as strings, whether it holds them, their places, or what a model wrote."""
    if not isinstance(record, SpanPrediction):
        return record
    if record.spans is not None:
        strings = (span if isinstance(span, str) else sample.text[span.start : span.end] for span in record.spans)
        return msgspec.structs.replace(record, spans=tuple(strings))
    if record.output is None:
        return record
    said = parse_output(record.output, record.style, record.cot, sample.text)
    return msgspec.structs.replace(record, spans=tuple(said.spans))


@cache
def _all() -> tuple[AddedMetric, ...]:
    found: dict[str, AddedMetric] = {}
    points, wrong = entry_points_of(GROUP)
    _troubles.update((line, line) for line in wrong)
    for point in points:
        try:
            if point.name in (*SORTS, "headline") or point.name in found:
                raise ValueError("the name is taken")
            found[point.name] = within(partial(_loaded, point))
        except (Exception, SystemExit) as error:  # another package's code may raise anything
            package = f" of {point.dist.name}" if point.dist is not None else ""
            _troubles[point.name] = f"the metric {point.name!r}{package} is left out: {first_line(error)}"
    return tuple(found.values())


def _loaded(point: "EntryPoint") -> AddedMetric:
    made: Any = point.load()
    if isinstance(made, type):
        made = made()
    fields: Mapping[str, object] = {
        name: getattr(made, name)
        for name in ("range", "higher_is_better", "help", "heading", "yes_or_no")
        if hasattr(made, name) or name in ("range", "higher_is_better", "help")
    }
    metric = msgspec.convert({"name": point.name, **fields}, Metric)
    tasks = msgspec.convert(made.tasks if hasattr(made, "tasks") else made.task, str | tuple[str, ...])
    if not callable(made.value):
        raise TypeError("its value is no function")
    return AddedMetric(metric, (tasks,) if isinstance(tasks, str) else tasks, made.value)
