"""The tasks that there are, by name."""

from emotui.errors import BadInput
from emotui.tasks.masked import Masked
from emotui.tasks.scenes import Scenes
from emotui.tasks.spans import Spans
from emotui.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (Spans(), Scenes(), Masked())}


def task_named(name: str) -> Task:
    """The task of this name. Raises BadInput where a store names one that this version does not know."""
    if name not in TASKS:
        raise BadInput(f"this version of emotui does not know the task {name!r}; it knows {', '.join(TASKS)}")
    return TASKS[name]
