"""The tasks that there are, by name."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from emotui.backends.base import ModelCard
from emotui.errors import BadInput
from emotui.tasks.masked.prompts import read_masked_prompts
from emotui.tasks.masked.task import Masked
from emotui.tasks.prompting.files import Prompts
from emotui.tasks.rephrase.prompts import read_rephrase_prompts
from emotui.tasks.rephrase.task import Rephrase, suited
from emotui.tasks.scenes.prompts import read_scenes_prompts
from emotui.tasks.scenes.task import Scenes
from emotui.tasks.spans.prompts import read_prompts
from emotui.tasks.spans.task import Spans
from emotui.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (Spans(), Scenes(), Masked(), Rephrase())}


def task_named(name: str) -> Task:
    """The task of this name. Raises BadInput where a store names one that this version does not know."""
    if name not in TASKS:
        raise BadInput(f"this version of emotui does not know the task {name!r}; it knows {', '.join(TASKS)}")
    return TASKS[name]


def resolve_labels(
    task: Task,
    card: ModelCard,
    samples: Callable[[], Iterable[Any]],
    way: str,
    options: Mapping[str, object],
    seed: int,
) -> Mapping[str, object]:
    """A run's options with what only model and samples together decide: which labels there are to choose among.

    Raises:
        BadInput: samples have labels that the model does not know.
    """
    if task.name != Rephrase.name:
        return options
    return suited(card, ((sample.id, sample.label) for sample in samples()), way, options, seed)


PROMPT_FILES: Mapping[str, Callable[[str], Prompts]] = {
    "spans": read_prompts,
    "scenes": read_scenes_prompts,
    "masked": read_masked_prompts,
    "rephrase": read_rephrase_prompts,
    "class": read_rephrase_prompts,
}
"""By task, and by the name under which `emotui predict` has one."""
