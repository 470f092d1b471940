"""Whether a file of predictions is about the records of a gold file, and about all of them."""

from collections.abc import Collection, Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.tasks.task import Task

MISSING = ("empty", "skip")
"""What a gold record without a prediction counts as: an answer that says nothing, or none at all."""

_NAMED = 3


def lacking_in(task: Task, golds: Sequence[Any], answers: Sequence[Any]) -> list[tuple[str, int]]:
    """Each gold id and repeat without a prediction, where predictions have repeats; else the repeat is 0."""
    there = {(record.id, record.repeat if task.files.repeats else 0) for record in answers}
    repeats = sorted({repeat for _, repeat in there}) or [0]
    return [(one.id, repeat) for repeat in repeats for one in golds if (one.id, repeat) not in there]


def check_fit(
    golds: Sequence[Any], answers: Sequence[Any], lacking: Collection[tuple[str, int]], predicted: str, gold: str
) -> dict[str, Any]:
    """Nothing, where the two files fit.

    Raises:
        BadInput: a line for each prediction about no gold record, that begins with its id, and one for all that
            `lacking` names.
    """
    ids = {record.id for record in golds}
    problems = [f"{record.id}: no record of {gold} has this id" for record in answers if record.id not in ids]
    if lacking:
        problems.append(without_prediction(predicted, lacking, f"{len(golds)} gold ids"))
    if problems:
        raise BadInput(*problems)
    return {}


def without_prediction(path: str, lacking: Collection[tuple[str, int]], of: str) -> str:
    """That a file has no prediction for some ids (or repeats of them), the first of them named, of so many."""
    without = list(dict.fromkeys(key for key, _ in lacking))
    first = ", ".join(map(repr, without[:_NAMED])) + (", …" if len(without) > _NAMED else "")
    return (
        f"{path}: no prediction for {len(without)} of {of} ({first}): "
        "say what they count as with --missing empty or --missing skip"
    )
