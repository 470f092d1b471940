"""How far all annotators of a dataset are."""

from collections import Counter
from statistics import median

import msgspec

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.annotate.given import logs_of
from emotui.workbench.annotate.log import Log
from emotui.workbench.annotate.planning.assignment import assigned, share_of
from emotui.workbench.annotate.traces import answer_traces


class AnnotatorProgress(msgspec.Struct, frozen=True):
    """One annotator's share. `again`: texts that came back; `seconds`: the median of a first answer, where measured."""

    annotator: str
    n: int
    given: int
    left: int
    flagged: int
    unsure: int
    again: int
    seconds: float | None


class DatasetProgress(msgspec.Struct, frozen=True):
    """`answers`: how many texts have how many answers."""

    n: int
    annotators: tuple[AnnotatorProgress, ...]
    answers: dict[int, int]


def progress_of(store: Store, dataset: Dataset) -> DatasetProgress:
    """Those who are assigned texts, then others who annotate, each with what is theirs."""
    numbers = store.file_order(dataset.dataset)
    plan, logs = assigned(store, dataset), logs_of(store, dataset)
    seconds: dict[str, list[float]] = {}
    for trace in answer_traces(store, dataset):
        if trace.answered is not None and not trace.round:
            seconds.setdefault(trace.annotator, []).append(trace.answered)
    rows = []
    answered: Counter[int] = Counter()
    for name in dict.fromkeys([*(plan.annotators if plan else ()), *logs]):
        log = logs.get(name) or Log(lambda sample: ())
        mine = set(numbers if plan is None else share_of(plan, numbers, name))
        there = [sample for sample in log.samples() if sample in mine]
        given = [sample for sample in there if log.accepted(sample)]
        answered.update(given)
        rows.append(
            AnnotatorProgress(
                name,
                len(mine),
                len(given),
                len(mine) - len(given),
                sum(map(log.flagged, there)),
                sum(map(log.unsure, there)),
                len(log.retested()),
                median(seconds[name]) if name in seconds else None,
            )
        )
    return DatasetProgress(dataset.n, tuple(rows), dict(sorted(Counter(answered[n] for n in numbers).items())))
