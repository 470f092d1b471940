"""What the screens call things of a task."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskWords:
    """Words about a task, and what its runs give to choose from.

    Attributes:
        runs: what choosing a run is for.
        without_run: what is shown where none is chosen.
        compares: whether further runs can stand beside the one that is shown.
        marks_errors: whether scores mark errors of several kinds, which can be gone through.
    """

    runs: str = "Run"
    without_run: str = "no run"
    compares: bool = False
    marks_errors: bool = False


_WORDS = {
    "spans": TaskWords("Run over the gold spans", "gold spans alone", compares=True, marks_errors=True),
    "scenes": TaskWords("Run whose answers are decoded", "gold emotions alone"),
}


def words_of(task: str) -> TaskWords:
    """The words about a task by its name."""
    return _WORDS.get(task, TaskWords())
