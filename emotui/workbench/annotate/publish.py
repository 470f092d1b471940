"""An annotator's answers as a source like any other: browsed, scored, compared, exported, made gold.

The log is what counts; the source is made from it, a text at a time, whenever it lags behind. It says the answers that
are given, as they were before anything was revealed. What was changed after that stands in a source of its own, which
begins with the first change.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from emotui import __version__
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.annotate.answer import Answer
from emotui.workbench.annotate.answers import keys_of
from emotui.workbench.annotate.log import Log
from emotui.workbench.annotate.others import BLIND, PERSON, REVEALED, names_of
from emotui.workbench.annotate.scheme import Scheme
from emotui.workbench.annotate.texts import text_of
from emotui.workbench.datasets.label_maps import with_all_gold, with_labels_mapped
from emotui.workbench.masked.lexicons import with_lexicon
from emotui.workbench.runs.elsewhere import free_id
from emotui.workbench.runs.holders import signed
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import ELSEWHERE, scored

_AT_ONCE = 1000
"""Texts of one transaction."""


class Scoring:
    """A task for scoring one dataset, with what it goes by of all gold: read once a version of gold, not each time."""

    def __init__(self) -> None:
        self._gold = 0
        self._task: Task | None = None

    def of(self, store: Store, dataset: Dataset, annotator: str) -> Task:
        """The task by which an annotator's answers are scored now."""
        if self._task is None or self._gold != dataset.gold:
            self._gold, self._task = dataset.gold, with_all_gold(store, task_named(dataset.task), dataset)
        return with_labels_mapped(store, self._task, dataset, annotator)


def publish(store: Store, dataset: Dataset, annotator: str, scheme: Scheme, log: Log, scoring: Scoring) -> int:
    """Bring the annotator's sources up to what the log says; how many texts changed in them.

    Raises:
        StoreError: it could not be kept; the next time goes on.
    """
    under = f"annotated up to {dataset.dataset} {annotator}"
    there = _run_of(store, dataset, annotator, BLIND) is not None
    since = int(store.setting(under, 0)) if there else 0
    if log.last <= since:
        return 0
    touched = log.samples_since(since)
    given = {sample: log.state(sample).blind if log.accepted(sample) else None for sample in touched}
    notes = {sample: log.state(sample).note for sample in touched}
    changed = _project(store, dataset, annotator, BLIND, scheme, given, notes, scoring)
    after = {sample: log.state(sample).answer if log.accepted(sample) else None for sample in touched}
    if _run_of(store, dataset, annotator, REVEALED) is not None:
        changed += _project(store, dataset, annotator, REVEALED, scheme, after, notes, scoring)
    elif any(log.accepted(sample) and log.state(sample).changed for sample in touched):
        whole = {sample: log.state(sample).answer for sample in log.samples() if log.accepted(sample)}
        notes = {sample: log.state(sample).note for sample in whole}
        changed += _project(store, dataset, annotator, REVEALED, scheme, whole, notes, scoring)
    store.set_setting(under, log.last)
    return changed


def _project(
    store: Store,
    dataset: Dataset,
    annotator: str,
    which: str,
    scheme: Scheme,
    wanted: Mapping[int, Answer | None],
    notes: Mapping[int, str],
    scoring: Scoring,
) -> int:
    """Let the source say these answers, and nothing of the texts where there is None."""
    run = _run_of(store, dataset, annotator, which)
    if run is None and not any(answer is not None for answer in wanted.values()):
        return 0
    task = task_named(dataset.task)
    by = scoring.of(store, dataset, annotator)
    changed = 0
    for some in _pieces(sorted(wanted)):
        samples = {number: msgspec.json.decode(record, type=task.sample) for number, record in store.samples(some)}
        there = {} if run is None else {row.sample: row.raw for row in store.results(run.run, some)}
        outputs, withdrawn = [], []
        for number in some:
            answer = wanted[number]
            if answer is None:
                withdrawn += [number] * (number in there)
                continue
            keys = keys_of(samples[number], answer, scheme, text_of(number, samples[number]).sentences)
            if notes.get(number):
                keys["note"] = notes[number]
            raw = msgspec.json.encode(keys).decode()
            if there.get(number) != raw:
                outputs.append(ResultRow(number, 0, 0, None, raw, None, 0.0))
        if not outputs and not withdrawn:
            continue
        run = run or _start(store, dataset, annotator, which)
        rows = scored(with_lexicon(store, by, run), ELSEWHERE, outputs, samples, None)
        store.revise(run.run, rows, withdrawn, gold=dataset.gold)
        changed += len(rows) + len(withdrawn)
    return changed


def _pieces(numbers: list[int]) -> Iterable[list[int]]:
    return (numbers[start : start + _AT_ONCE] for start in range(0, len(numbers), _AT_ONCE))


def _identity(dataset: Dataset, annotator: str, which: str) -> str:
    said: list[Any] = ["annotated here", dataset.dataset, annotator, which]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def _run_of(store: Store, dataset: Dataset, annotator: str, which: str) -> Run | None:
    mark = _identity(dataset, annotator, which)
    return next((run for run in store.runs(dataset.dataset) if run.identity == mark), None)


def _start(store: Store, dataset: Dataset, annotator: str, which: str) -> Run:
    """A new source, under the annotator's name where no other source has it."""
    taken = {run.model for run in store.runs(dataset.dataset)}
    names = [name for name in names_of(annotator) if (REVEALED in name) == (which == REVEALED)]
    name = next((one for one in names if one not in taken), names[-1])
    config = signed(RunConfig(emotui=__version__))
    return store.start_run(
        free_id(name, dataset.name, store.run_names()),
        _identity(dataset, annotator, which),
        dataset.task,
        name,
        dataset.dataset,
        msgspec.to_builtins(config),
        0,
        PERSON,
    )
