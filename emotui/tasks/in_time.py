"""What a task does with an answer, with a limit of time where the task is another package's."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from emotui import plugins
from emotui.errors import EmotuiError
from emotui.metrics.span_scoring import Embed
from emotui.store.rows import ScoreRow
from emotui.tasks.registry import BUILT_IN
from emotui.tasks.task import Parsed, Task

MOST_HANGING = 3
"""Answers; a task that hangs over so many is asked about no other one."""

FOR_EMBEDDING = 600.0
"""Seconds that scoring may take beside its own work, where it asks a model for embeddings."""

_hung: dict[str, int] = {}


def parse_in_time(task: Task, sample: Any, raw: str, way: str) -> Any:
    """As `task.parse`.

    Raises:
        ValueError: also where another package's task takes longer than `plugins.LIMIT`.
        EmotuiError: it has done so over several answers.
    """
    if task.name in BUILT_IN:
        return task.parse(sample, raw, way)
    if _hung.get(task.name, 0) >= MOST_HANGING:
        raise EmotuiError(f"the task {task.name!r} of another package hangs: it gave up {MOST_HANGING} answers")
    try:
        return plugins.within(partial(task.parse, sample, raw, way))
    except TimeoutError as error:
        _hung[task.name] = _hung.get(task.name, 0) + 1
        raise ValueError(f"the task {task.name!r} of another package: {error}") from None


def score_in_time(task: Task, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
    """As `task.score`. Raises: EmotuiError, where another package's takes longer than `plugins.LIMIT` an answer."""
    if task.name in BUILT_IN or not answers:
        return task.score(answers, embed)
    seconds = plugins.LIMIT * len(answers) + (0.0 if embed is None else FOR_EMBEDDING)
    try:
        return plugins.within(partial(task.score, answers, embed), seconds)
    except TimeoutError as error:
        raise EmotuiError(f"the task {task.name!r} of another package scores without end: {error}") from None
