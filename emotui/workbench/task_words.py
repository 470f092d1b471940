"""What the screens call things of a task."""

from emotui.errors import BadInput
from emotui.tasks.parts import TaskWords
from emotui.tasks.registry import task_named

__all__ = ["TaskWords", "words_of"]


def words_of(task: str) -> TaskWords:
    """The words about a task by its name; plain ones for a task that this version does not know."""
    try:
        return task_named(task).words
    except BadInput:
        return TaskWords(title=task)
