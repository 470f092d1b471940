"""`emotui turns`: a run's answers along conversations, or along what one person wrote, beside gold."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from emotui.errors import BadInput
from emotui.metrics.over_time import Objective, decoded_over_turns, label_changes, number_changes
from emotui.metrics.turn_prior import MOST_LABELS
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import run_dataset, samples_of, stored_samples
from emotui.workbench.turns import Told, conversations, in_order, sequence_column

_SURE = 1e-6
"""A probability is read as no nearer to 0 or 1 than that: its log-odds stay finite."""

_GOLD, _MODEL = "gold", "model"


class Step(msgspec.Struct, frozen=True):
    """A text of a sequence: what gold says of it and what the run does, labels or numbers.

    `odds`: log-odds of the labels, in nats; None where the run gives none.
    """

    id: str
    gold: tuple[str, ...] | Mapping[str, float]
    said: tuple[str, ...] | Mapping[str, float]
    odds: Mapping[str, float] | None = None


class Sequences(msgspec.Struct, frozen=True):
    """Texts in their order, by the conversation or person that they are of.

    `column`: says which. `left_out`: texts without gold, without an answer, or of no sequence.
    """

    column: str
    steps: Mapping[str, tuple[Step, ...]]
    left_out: int
    numbers: bool


def sequences_of(store: Store, run: Run, by: str | None = None) -> Sequences:
    """A run's answers (its first repeat) by conversation or person, in the order of turns, else of time, else of file.

    Args:
        by: a column of the data's own; None: that which names a conversation, else a person.

    Raises:
        BadInput: there is no such column, the task gives neither labels nor numbers, or no text has both sides.
    """
    dataset, task = run_dataset(store, run), task_named(run.task)
    if dataset is None:
        raise BadInput(f"run {run.run}: its dataset is gone")
    rows = {row.sample: row for row in last_attempts(store.results.of_run(run.run)) if row.repeat == 0}
    samples = list(stored_samples(store, dataset, dataset.n))
    column = sequence_column([getattr(sample, "meta", {}) for _, sample in samples], by)
    groups: dict[str, list[tuple[Step, Told]]] = {}
    left_out = 0
    for number, sample in samples:
        meta, row = getattr(sample, "meta", {}), rows.get(number)
        step = None if row is None or row.prediction is None else _step(task, sample, row.prediction, row.score)
        if step is None or meta.get(column) in (None, ""):
            left_out += 1
        else:
            groups.setdefault(str(meta[column]), []).append((step, Told(meta=meta)))
    if not groups:
        raise BadInput(f"run {run.run}: no text has both gold and an answer with labels or numbers")
    steps = {key: tuple(step for step, _ in in_order(members)) for key, members in groups.items()}
    numbers = isinstance(next(iter(steps.values()))[0].gold, Mapping)
    return Sequences(column, steps, left_out, numbers)


class Strip(msgspec.Struct, frozen=True):
    """A conversation or person of the text at hand, in order: what gold and a run say of each text.

    `column`: says which it is; `at`: the place of the text at hand, None where one side says nothing of it.
    `changes`: steps at which gold's labels or numbers change; `seen`: those at which the run's change alike (numbers:
    the same way).
    """

    column: str
    steps: tuple[Step, ...]
    at: int | None
    changes: int
    seen: int


def strip_of(store: Store, dataset: Dataset, run: Run, sample: int, meta: Mapping[str, Any]) -> Strip | None:
    """The conversation, or else the person, that a text is of, of up to a thousand texts around it; None: of none, it
    is not known yet which belong together, or fewer than two of them have both gold and an answer.

    Args:
        dataset: read as the run's task.
        meta: the text's own columns.
    """
    try:
        column = sequence_column([meta])
    except BadInput:
        return None
    index = conversations(store, sample, column)
    members = None if index is None else index.members(sample)
    if not members:
        return None
    task, samples = task_named(run.task), samples_of(store, dataset, members)
    rows = {row.sample: row for row in last_attempts(store.results.of_run(run.run, members)) if row.repeat == 0}
    told: list[tuple[tuple[int, Step], Told]] = []
    for number in members:
        row = rows.get(number)
        step = (
            None if row is None or row.prediction is None else _step(task, samples[number], row.prediction, row.score)
        )
        if step is not None:
            told.append(((number, step), Told(meta=getattr(samples[number], "meta", {}))))
    ordered = [one for one, _ in in_order(told)]
    if len(ordered) < 2:
        return None
    numbers, steps = zip(*ordered, strict=True)
    pairs = [(_change(a.gold, b.gold), _change(a.said, b.said)) for a, b in pairwise(steps)]
    changes = [(gold, said) for gold, said in pairs if gold]
    at = numbers.index(sample) if sample in numbers else None
    return Strip(column, tuple(steps), at, len(changes), sum(gold == said for gold, said in changes))


def _change(before: Any, after: Any) -> frozenset[tuple[str, int]]:
    """Labels that come (1) and go (-1), or the way in which each number goes; empty where nothing changes."""
    if isinstance(before, Mapping):
        moved = ((name, after[name] - before[name]) for name in before if name in after)
        return frozenset((name, 1 if by > 0 else -1) for name, by in moved if by)
    come, gone = set(after) - set(before), set(before) - set(after)
    return frozenset([*((name, 1) for name in come), *((name, -1) for name in gone)])


def _step(task: Task, sample: Any, prediction: bytes, score: Any) -> Step | None:
    """None where gold says nothing, or the answers are of another kind."""
    said = msgspec.json.decode(prediction, type=task.prediction)
    values = getattr(sample, "values", None)
    if values is not None and hasattr(said, "values"):
        return Step(sample.id, dict(values), dict(said.values)) if values else None
    sets = None if score is None else task.label_sets(score.detail)
    return None if sets is None else Step(sample.id, sets[0], sets[1], _odds(task.record(sample.id, said)))


def _odds(record: msgspec.Struct) -> dict[str, float] | None:
    """The log-odds of labels in a record of files: logits yes less no, or those of probabilities; None: it has none."""
    scores = getattr(record, "scores", None)
    if scores:
        return {label: yes - no for label, (yes, no) in scores.items()}
    given = getattr(record, "probs", None) or getattr(record, "labels", None)
    if not isinstance(given, Mapping) or getattr(record, "hard", False):
        return None
    p = {label: min(max(float(value), _SURE), 1 - _SURE) for label, value in given.items()}
    return {label: float(np.log(value / (1 - value))) for label, value in p.items()}


def over_time(
    store: Store,
    run: Run,
    *,
    by: str | None = None,
    decode: bool = False,
    labels: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    objective: Objective = "map",
    show: Sequence[str] = (),
    on_fold: Callable[[int, int], None] = lambda done, n: None,
) -> dict[str, Any]:
    """The document of `emotui turns`.

    Args:
        by: as of `sequences_of`.
        decode: decode labels with a prior over turns, in folds of sequences (`decoded_over_turns`).
        labels: only these; None: all that gold or the run gives.
        show: keys of sequences of which every text is told (`strips`).
        on_fold: as of `decoded_over_turns`.

    Returns:
        `run`, `dataset`, `by`, `sequences`, `texts`, `left_out`; `changes` (of labels: `label_changes`; of numbers by
        name: `number_changes`); `labels`; with `decode` also `decoded`; with `show` also `strips`.

    Raises:
        BadInput: as `sequences_of`, or labels that cannot be decoded, or no sequence of such a key.
    """
    found = sequences_of(store, run, by)
    dataset = run_dataset(store, run)
    steps = found.steps
    document: dict[str, Any] = {
        "run": run.run,
        "dataset": dataset.name if dataset is not None else "",
        "by": found.column,
        "sequences": len(steps),
        "texts": sum(map(len, steps.values())),
        "left_out": found.left_out,
    }
    if found.numbers:
        if decode or labels is not None:
            raise BadInput("a prior over turns is for labels, and this run gives numbers: no --decode and no --label")
        names = sorted({name for each in steps.values() for step in each for name in step.gold})
        document["changes"] = {name: number_changes(*_columns(steps, name)) for name in names}
    else:
        names = sorted({label for each in steps.values() for step in each for label in (*step.gold, *step.said)})
        names = names if labels is None else _known(labels, names)
        vectors = {side: _vectors(steps, side, names) for side in (_GOLD, _MODEL)}
        document |= {"labels": names, "changes": label_changes(vectors[_GOLD], vectors[_MODEL], names)}
        if decode:
            odds = _evidence(run, steps, names)
            try:
                told = decoded_over_turns(
                    tuple(steps),
                    odds,
                    vectors[_GOLD],
                    names,
                    folds=folds,
                    seed=seed,
                    objective=objective,
                    given=vectors[_MODEL],
                    on_fold=on_fold,
                )
            except ValueError as error:
                raise BadInput(f"run {run.run}: {error}") from None
            document["decoded"] = told
    if show:
        document["strips"] = {key: _strip(steps, key, document) for key in show}
    return document


def _known(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    strange = next((label for label in labels if label not in names), None)
    if strange is not None:
        raise BadInput(f"--label {strange}: neither gold nor the run gives this label; there are: {', '.join(names)}")
    return list(dict.fromkeys(labels))


def _columns(steps: Mapping[str, tuple[Step, ...]], name: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The number of this name in gold and in the run, a sequence each; NaN where it is not said."""
    gold, said = (
        [np.array([dict(getattr(step, side)).get(name, np.nan) for step in each]) for each in steps.values()]
        for side in ("gold", "said")
    )
    return gold, said


def _vectors(steps: Mapping[str, tuple[Step, ...]], side: str, names: Sequence[str]) -> list[np.ndarray]:
    """(T, k) of 0 or 1 a sequence."""
    each_side = [[step.gold if side == _GOLD else step.said for step in each] for each in steps.values()]
    return [np.array([[int(name in said) for name in names] for said in each], dtype=np.uint8) for each in each_side]


def _evidence(run: Run, steps: Mapping[str, tuple[Step, ...]], names: Sequence[str]) -> list[np.ndarray]:
    """(T, k) log-odds a sequence. Raises BadInput where the run gives none, or there are too many labels."""
    if len(names) > MOST_LABELS:
        raise BadInput(
            f"{len(names)} labels: decoding over turns is exact for up to {MOST_LABELS}; pick some by --label NAME "
            f"(again for more) out of {', '.join(names)}"
        )
    every = [step for each in steps.values() for step in each]
    if any(step.odds is None for step in every):
        raise BadInput(f"run {run.run} gives labels without probabilities: decoding over turns weighs these")
    lacking = next((name for name in names if any(name not in (step.odds or {}) for step in every)), None)
    if lacking is not None:
        raise BadInput(f"run {run.run} gives no probability for {lacking!r}: name the labels that it knows by --label")
    return [np.array([[(step.odds or {})[name] for name in names] for step in each]) for each in steps.values()]


def _strip(steps: Mapping[str, tuple[Step, ...]], key: str, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every text of a sequence: gold, the run, and what decoding over turns makes of it."""
    if key not in steps:
        some = ", ".join(list(steps)[:5]) + (", …" if len(steps) > 5 else "")
        raise BadInput(f"--show {key}: no sequence of this name in {document['by']}; there are: {some}")
    decoded = document.get("decoded", {}).get("predictions", {}).get(key)
    rows = []
    for at, step in enumerate(steps[key]):
        row: dict[str, Any] = {"id": step.id, "gold": step.gold, "said": step.said}
        if decoded is not None:
            row["over_turns"] = [name for name, there in zip(document["labels"], decoded[at], strict=True) if there]
        rows.append(row)
    return rows
