"""One text asked about as a task asks: the task's own prompt, what the model wrote, and what the task reads from it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.backends.base import Generate, Generation, ModelCard, Refused, Request, Score, Scores
from emotui.errors import BadInput
from emotui.records import Text
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import kinds, with_labels
from emotui.tasks.task import AskModel, Task
from emotui.workbench.runs.plan import chosen_way, sample_seed

_ID = "text"


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What became of one text in a task. Where the model has no words for it (`embedded`), there is no prompt.

    Attributes:
        way: the task's way of asking this model; empty where there is only one.
        prompt: as a run keeps it beside its answers, the messages by their roles.
        rendered: the (first) prompt as the model read it, with its chat template's control tokens; None where there was
            none, or where a server does not tell.
        written: every text that the model wrote, in the order of asking: further tries, and one for each emotion where
            the model reasons about each.
        raw: the answer as a run keeps it; None where `why` tells why there is none.
        parsed: what the task reads from it, as plain values; None where `why` tells that it cannot be read.
        seconds: from question to answer.
    """

    task: str
    way: str
    prompt: str | None
    rendered: str | None
    written: tuple[str, ...]
    raw: str | None
    parsed: Mapping[str, Any] | None
    why: str | None
    seconds: float


def task_names() -> tuple[str, ...]:
    """The tasks that one text can be asked about by, as their records are called in files."""
    return tuple(kinds())


def tasks_for(text: str) -> tuple[str, ...]:
    """Those of `task_names()` that find something to ask about in this text."""
    return tuple(kind for kind, task in kinds().items() if _problem(task, text) is None)


def _problem(task: Task, text: str) -> str | None:
    sample = task.blank(Text(id=_ID, text=text))
    return task.problem(sample, sample)


def ask_task(
    name: str,
    text: str,
    model: AskModel,
    card: ModelCard,
    *,
    way: str | None = None,
    options: Mapping[str, object] | None = None,
    seed: int = 0,
) -> TaskAnswer:
    """Ask `model` about `text` as a run of the task does.

    Args:
        name: one of `task_names()`.
        way, options: as in `emotui.workbench.runs.run.run_task`; None: the model's first way, the task's own prompt.

    Raises:
        BadInput: there is no such task or way, or the text has nothing that the task asks about.
        ModelError: the model cannot be asked this, or died.
    """
    if name not in kinds():
        raise BadInput(f"{name!r} is no task that one text can be asked about; there are: {', '.join(task_names())}")
    task = kinds()[name]
    sample = task.blank(Text(id=_ID, text=text))
    why = _problem(task, text)
    if why is not None:
        raise BadInput(why)
    chosen = chosen_way(task, card, way, options)
    task = configured(task, chosen, with_labels(task, card, chosen, options or {}, None), 1)
    heard = _Heard(model)
    started = time.monotonic()
    (answer,) = task.ask([sample], heard, chosen, [sample_seed(seed, 0, sample.id)])
    seconds = time.monotonic() - started
    parsed, why = None, answer.why
    if answer.raw is not None:
        try:
            parsed = msgspec.to_builtins(task.parse(sample, answer.raw, chosen))
        except (ValueError, msgspec.DecodeError) as error:
            why = f"the output cannot be parsed: {error}"
    return TaskAnswer(
        name, chosen, answer.prompt, heard.rendered, tuple(heard.written), answer.raw, parsed, why, seconds
    )


class _Heard:
    """Asks the model, and keeps what it read and wrote."""

    def __init__(self, model: AskModel) -> None:
        self._model = model
        self.rendered: str | None = None
        self.written: list[str] = []

    def __call__(self, requests: Sequence[Request]) -> Any:
        echoing = [replace(each, echo=True) if isinstance(each, Generate | Score) else each for each in requests]
        answers = self._model(echoing)
        for answer in answers:
            if isinstance(answer, Refused):
                continue
            if isinstance(answer, Generation):
                self.written.append(answer.text)
            if isinstance(answer, Generation | Scores):
                self.rendered = self.rendered or answer.prompt or None
        return answers
