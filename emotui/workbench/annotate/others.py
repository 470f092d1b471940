"""What gold, models, files and other people say about one text."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from emotui.records import SpanSample
from emotui.store.query import Dataset
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.tasks.task import Task
from emotui.workbench.annotate.answer import Answer
from emotui.workbench.annotate.answers import gold_answer, predicted_answer, spans_of
from emotui.workbench.annotate.events import KIND
from emotui.workbench.annotate.log import whole_log
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import runs_of

GOLD, PERSON = "gold", "person"


class OtherSaid(msgspec.Struct, frozen=True):
    """What a source says. `kind`: gold, person, model or file. `run`: under which id it is kept, if it is."""

    name: str
    kind: str
    answer: Answer
    run: str | None = None


BLIND, REVEALED = "", ", after reveal"
"""What stands behind an annotator's name in that of their source: of the answers given blind, and of those changed."""


def names_of(annotator: str) -> tuple[str, ...]:
    """What the sources of somebody who annotates here may be called; the last ones where the first are taken."""
    return tuple(f"{annotator}{which}{here}" for here in ("", ", here") for which in (BLIND, REVEALED))


def others_of(
    store: Store, dataset: Dataset, task: Task, sample: int, besides: str, *, words: bool = False
) -> tuple[OtherSaid, ...]:
    """Gold, then people, then models and files, the newest first; of people those answers that are given.

    Args:
        besides: the annotator who asks.
        words: labels are words for masks.
    """
    ((_, record),) = store.samples([sample])
    known = msgspec.json.decode(record, type=task.sample)
    found: list[OtherSaid] = []
    gold = gold_answer(known, words=words)
    if gold is not None:
        found.append(OtherSaid(GOLD, GOLD, gold))
    here = dict(_annotating(store, sample))
    found += [OtherSaid(name, PERSON, answer) for name, answer in here.items() if name != besides]
    found += [
        OtherSaid(name, PERSON, answer)
        for name, answer in inside(task, dataset.task, known, words)
        if name not in here and name != besides
    ]
    for run in runs_of(store, dataset):
        if run.source == PERSON and any(run.model in names_of(name) for name in (besides, *here)):
            continue
        for row in last_attempts(store.results(run.run, [sample])):
            if row.prediction is None or row.repeat:
                continue
            said = msgspec.json.decode(row.prediction, type=task.prediction)
            answer = predicted_answer(task, known, said, words=words)
            if answer is not None:
                found.append(OtherSaid(run.model, run.source, answer, run.run))
    return tuple(found)


def _annotating(store: Store, sample: int) -> Iterator[tuple[str, Answer]]:
    """The blind answers that people gave here."""
    of: dict[str, list[Annotation]] = {}
    for entry in store.annotations(sample=sample, kind=KIND):
        of.setdefault(entry.annotator, []).append(entry)
    for name, log in ((name, whole_log(entries)) for name, entries in of.items()):
        if log.accepted(sample):
            yield name, log.state(sample).blind


def inside(task: Task, named: str, sample: Any, words: bool) -> Iterator[tuple[str, Answer]]:
    """What people say inside the gold record."""
    annotators: Mapping[str, Any] = getattr(sample, "annotators", {})
    for name, said in annotators.items():
        if isinstance(sample, SpanSample):
            yield name, Answer(spans=spans_of(said))
            continue
        answer = predicted_answer(task, sample, task.taken(sample, _keys(named, said)), words=words)
        if answer is not None:
            yield name, answer


def _keys(task: str, said: Any) -> Mapping[str, Any]:
    """What an annotator says, whose bare list is of labels, and whose bare object in scenarios of labels."""
    if isinstance(said, list | tuple):
        return {"labels": said}
    return {"labels": said} if task == "scenes" and "labels" not in said else dict(said)
