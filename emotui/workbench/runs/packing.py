"""Runs out of one store into a file, and out of the file into another store, under the id that they had."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from emotui import __version__
from emotui.errors import BadInput
from emotui.formats import capped, check_not_over, checks, fingerprint
from emotui.formats.rows import literal, shown
from emotui.formats.written import write_bytes
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow, ScoreRow
from emotui.store.runs import STATES
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs import run_file
from emotui.workbench.runs.machine import Measured, keep_measured, measured
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.run_file import (
    NOTHING,
    OUTPUTS,
    PROMPTS,
    SAMPLES,
    SCORES,
    Manifest,
    Output,
    PackedDataset,
    PackedRun,
    Score,
    portable,
    without_machine,
)
from emotui.workbench.runs.scores import outputs_of
from emotui.workbench.runs.states import with_state
from emotui.workbench.texts import stored_samples

Kind = TypeVar("Kind")

_LONGEST_ID = 200
_FROM = "a file of a run"


def pack(store: Store, run: str, path: str, *, texts: bool = True) -> Run:
    """Write a run with its samples, prompts, outputs and scores as one file.

    Args:
        texts: whether the samples go along; without them the file is of use beside a dataset that has them.

    Raises:
        BadInput: no such run, it is going on, its scores are of former gold, or the place cannot be written.
    """
    check_not_over(path, store.path)
    found = with_state(store.runs.get(run))
    content = packed_run(store, found, texts=texts)
    write_bytes(path, content)
    return found


def packed_run(store: Store, found: Run, *, texts: bool = True, called: str = "") -> bytes:
    """The file of a run. Raises: BadInput as `pack` does.

    Args:
        called: its id there, where that is not its own.
    """
    dataset = store.datasets.get(found.dataset)
    if dataset is None:
        raise BadInput(f"run {found.run} has lost its dataset")
    if found.state == "running":
        raise BadInput(f"run {found.run} is going on: pack it when it is done, or stopped")
    under = store.gold.scored_under(found.run)
    if under is not None and under < dataset.gold:
        raise BadInput(f"run {found.run} is scored under former gold: emotui rescore {found.run} first")
    ids = {number: key for key, number in store.samples.numbers_by_id(dataset.dataset).items()}
    prompts: dict[str, int] = {}
    outputs, scores = [], []
    for place, row in enumerate(outputs_of(store, found, dataset)):
        prompt = None if row.prompt is None else prompts.setdefault(row.prompt, len(prompts))
        outputs.append(
            Output(
                id=ids[row.sample],
                repeat=row.repeat,
                attempt=row.attempt,
                prompt=prompt,
                raw=row.raw,
                error=row.error,
                seconds=row.seconds,
            )
        )
        if row.prediction is not None or row.score is not None:
            scores.append(_score(place, row))
    members = (
        {SAMPLES: b"".join(record + b"\n" for _, record in store.samples.of_dataset(dataset.dataset))} if texts else {}
    )
    members |= {PROMPTS: _lines(list(prompts)), OUTPUTS: _lines(outputs), SCORES: _lines(scores)}
    manifest = Manifest(
        format=run_file.FORMAT,
        version=run_file.VERSION,
        emotui=__version__,
        run=PackedRun(
            run=called or found.run,
            task=found.task,
            model=portable(found.model) if found.source == "model" else found.model,
            identity=found.identity,
            config=without_machine(found.config),
            state=found.state,
            started=found.started,
            finished=found.finished,
            n=found.n,
            done=found.done,
            failed=found.failed,
            error=found.error,
            source=found.source,
        ),
        dataset=PackedDataset(name=dataset.name, task=dataset.task, n=dataset.n, fingerprint=dataset.fingerprint),
        files={name: run_file.member_of(content) for name, content in members.items()},
        measured=measured(store, found.run),
    )
    return run_file.packed(manifest, members)


def unpack(store: Store, path: str) -> Run:
    """Keep the run of a file under its own id, over the dataset with the same samples, which is added where it lacks.

    All of the file is looked at before anything is kept.

    Raises:
        BadInput: it is no such file, is damaged, its id is taken, or its dataset is neither here nor in it.
    """
    manifest, members = run_file.read(path)
    told = manifest.run
    problem = _problem(manifest)
    if problem:
        raise BadInput(f"{literal(path)}/{run_file.MANIFEST}:1: {problem}")
    task = task_named(told.task)
    if told.run in store.runs.names():
        raise BadInput(f"there is a run {literal(told.run)} in this store already: nothing is unpacked")
    samples = _samples(path, task, manifest, members.get(SAMPLES))
    there = next(
        (
            one
            for one in store.datasets.all()
            if one.task == task.name and one.fingerprint == manifest.dataset.fingerprint
        ),
        None,
    )
    if there is None and samples is None:
        raise BadInput(
            f"{literal(path)} was packed without texts, and no dataset here has the samples of"
            f" {literal(manifest.dataset.name)}: import these first"
        )
    if (n := len(samples) if samples is not None else there.n if there else 0) != manifest.dataset.n:
        raise BadInput(f"{literal(path)}/{run_file.MANIFEST}:1: its dataset has {n} samples, not {manifest.dataset.n}")
    keys = [sample.id for sample in samples or ()] or list(store.samples.numbers_by_id(there.dataset) if there else ())
    settings = msgspec.convert(told.config, RunConfig)
    rows = _rows(path, task, members, set(keys), settings.repeats)
    golds = {sample.id: sample for sample in samples or ()}
    if there is not None and samples is None:
        golds = {sample.id: sample for _, sample in stored_samples(store, there, there.n)}
    _check_scores(path, task.with_options(settings.options, settings.repeats), rows, golds)
    if there is None:
        there = add_samples(store, task.name, _free(store, manifest.dataset.name), samples or (), _FROM)
    numbers = store.samples.numbers_by_id(there.dataset)
    kept = [msgspec.structs.replace(row, sample=numbers[key]) for key, row in rows]
    store.runs.keep(_run(told, there), kept, gold=there.gold)
    if manifest.measured is not None and measured(store, told.run) is None:
        keep_measured(store, told.run, manifest.measured)
    return store.runs.get(told.run)


def _score(place: int, row: ResultRow) -> Score:
    prediction = NOTHING if row.prediction is None else msgspec.Raw(row.prediction)
    if row.score is None:
        return Score(output=place, prediction=prediction)
    return Score(
        output=place,
        prediction=prediction,
        convention=row.score.convention,
        values=row.score.values,
        marks=row.score.marks,
        detail=msgspec.Raw(row.score.detail),
    )


def _lines(records: Sequence[object]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _problem(manifest: Manifest) -> str:
    """What is wrong with what a file says of itself, if anything."""
    told, dataset = manifest.run, manifest.dataset
    if not 0 < len(dataset.name) <= _LONGEST_ID or not dataset.name.isprintable():
        return f"{shown(dataset.name, 40)} is no name"
    if told.state not in STATES or told.state == "running":
        return f"there is no state {shown(told.state, 40)} of a run that is packed"
    if manifest.measured is not None and not _is_measured(manifest.measured):
        return "what it says of hardware is no such thing"
    if told.task != dataset.task:
        return f"a run of {shown(told.task, 40)} is over no dataset of {shown(dataset.task, 40)}"
    return run_file.run_fault(told, dataset.n)


def _is_measured(told: Measured) -> bool:
    words = (told.processor, told.system, told.python, *told.graphics, *told.builds)
    numbers = (told.cores, told.memory_gb, told.seconds, told.joules or 0.0, told.graphics_joules or 0.0)
    return all(len(word) <= _LONGEST_ID and word.isprintable() for word in words) and min(numbers) >= 0


def _samples(path: str, task: Task, manifest: Manifest, content: bytes | None) -> list[Any] | None:
    """The samples of a file, None where it has none."""
    if content is None:
        return None
    found: list[Any] = []
    problems: list[str] = []
    for place, line in run_file.lines(path, SAMPLES, content):
        try:
            sample = msgspec.json.decode(line, type=task.sample)
            fault = checks.fault(sample) or task.problem(sample, found[0] if found else sample)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
            fault = literal(str(error))[:200]
        if fault:
            problems.append(f"{place}: {fault}")
        else:
            found.append(sample)
    if problems:
        raise BadInput(*capped(problems))
    if fingerprint(found) != manifest.dataset.fingerprint or len({one.id for one in found}) < len(found):
        raise BadInput(f"{literal(path)}: its samples are not those that its run is over")
    return found


def _check_scores(path: str, task: Task, rows: Sequence[tuple[str, ResultRow]], golds: Mapping[str, Any]) -> None:
    """Raises: BadInput where the task cannot make figures of what a file says are its scores."""
    try:
        kept = {key: row.score for key, row in rows if row.score is not None}
        task.report([golds[key] for key in golds if key in kept], [row.score for _, row in rows if row.score])
    except Exception as error:
        why = literal(str(error))[:200] or type(error).__name__
        raise BadInput(f"{literal(path)}/{SCORES}: are no scores of {task.name}: {why}") from None


def _rows(
    path: str, task: Task, members: Mapping[str, bytes], keys: set[str], repeats: int
) -> list[tuple[str, ResultRow]]:
    """(id of the sample, row) of each output, in the order in which they came."""
    prompts = [_decoded(place, line, str) for place, line in run_file.lines(path, PROMPTS, members[PROMPTS])]
    found: list[tuple[str, ResultRow]] = []
    seen: set[tuple[str, int, int]] = set()
    for place, line in run_file.lines(path, OUTPUTS, members[OUTPUTS]):
        one = _decoded(place, line, Output)
        if one.id not in keys:
            raise BadInput(f"{place}: its dataset has no sample of the id {shown(one.id, 60)}")
        if (fault := run_file.output_fault(one, repeats)) or (one.id, one.repeat, one.attempt) in seen:
            raise BadInput(f"{place}: {fault or f'{shown(one.id, 60)} is answered twice in one attempt'}")
        seen.add((one.id, one.repeat, one.attempt))
        if one.prompt is not None and not 0 <= one.prompt < len(prompts):
            raise BadInput(f"{place}: there is no prompt {one.prompt}")
        prompt = None if one.prompt is None else prompts[one.prompt]
        found.append((one.id, ResultRow(0, one.repeat, one.attempt, prompt, one.raw, one.error, one.seconds)))
    for place, line in run_file.lines(path, SCORES, members[SCORES]):
        score = _decoded(place, line, Score)
        if not 0 <= score.output < len(found):
            raise BadInput(f"{place}: there is no output {score.output}")
        key, row = found[score.output]
        found[score.output] = key, _scored(place, task, row, score)
    return found


def _scored(place: str, task: Task, row: ResultRow, score: Score) -> ResultRow:
    if score.prediction != NOTHING:
        _decoded(place, bytes(score.prediction), task.prediction)
        row = msgspec.structs.replace(row, prediction=bytes(score.prediction))
    if score.convention is None:
        return row
    kept = ScoreRow(score.convention, dict(score.values), score.marks, bytes(score.detail))
    if fault := run_file.score_fault(kept) or ("is no score of this version" if score.detail == NOTHING else ""):
        raise BadInput(f"{place}: {fault}")
    return msgspec.structs.replace(row, score=kept)


def _decoded(place: str, line: bytes, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise BadInput(f"{place}: {literal(str(error))[:200]}") from None


def _free(store: Store, name: str) -> str:
    """The name of a dataset, or the first with a number behind it that nothing has."""
    taken = {one.name for one in (*store.datasets.all(), *store.datasets.all(trash=True))}
    return next(
        found
        for number in range(1, len(taken) + 2)
        if (found := name if number == 1 else f"{name} {number}") not in taken
    )


def _run(told: PackedRun, dataset: Dataset) -> Run:
    return Run(
        run=told.run,
        task=told.task,
        model=told.model,
        dataset=dataset.dataset,
        identity=told.identity,
        config=told.config,
        state=told.state,
        started=told.started,
        finished=told.finished,
        n=told.n,
        done=told.done,
        failed=told.failed,
        error=told.error,
        source=told.source,
    )
