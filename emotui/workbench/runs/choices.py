"""What a person can choose about a run before the model is loaded: the ways to ask it, sampling, prompts of their own.

Which ways a model really has is known once it is loaded (its card); until then all of the task's are offered.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from emotui.backends.base import ModelCard
from emotui.errors import BadInput, ModelError
from emotui.tasks.prompting.settings import SAMPLING, configured
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.runs.plan import MOST_REPEATS
from emotui.workbench.runs.run import EMBEDDING

CONSTRAIN = "constrain"
"""The option that holds answers to their form by a grammar."""

_CHOSEN_HERE = (*SAMPLING, CONSTRAIN, "retries")
"""The options that a person can set before a run, beside prompts."""


@dataclass(frozen=True, slots=True)
class RunChoices:
    """`ways`: to ask the model, empty where there is nothing to choose; `settings`: names of a run's options.

    `why`: what a person has to know about them; `possible` is false where the model cannot be asked at all.
    """

    ways: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    prompts: bool = False
    why: str = ""
    possible: bool = True


def run_choices(task: str, experiment: int | None, spec: str, card: ModelCard | None) -> RunChoices:
    """What can be chosen for a run of a task, or of one of its prompting experiments.

    Args:
        card: of the model, None while it has not been loaded.

    Raises:
        BadInput: this version does not know the task.
    """
    found = task_named(task)
    if spec == EMBEDDING:
        return RunChoices(why="The embedded model is asked in one way: there is nothing else to choose.")
    if card is None:
        why = "Which of these ways a model has shows once it is loaded; one that it lacks is refused."
        return _choices(found, _to_choose(found, found.asking.ways, experiment), why)
    try:
        ways = tuple(found.ways(card))
    except ModelError as problem:
        return RunChoices(why=str(problem), possible=False)
    if not ways:
        return RunChoices(why=f"{spec} is asked in one way: there is nothing else to choose.")
    return _choices(found, _to_choose(found, ways, experiment), "")


def _choices(task: Task, ways: tuple[str, ...], why: str) -> RunChoices:
    names = dict.fromkeys(name for way in ways for name in task.option_names(way))
    settings = tuple(name for name in _CHOSEN_HERE if name in names)
    return RunChoices(ways, settings, "prompts" in names and task.asking.prompts is not None, why)


def _to_choose(task: Task, there: tuple[str, ...], experiment: int | None) -> tuple[str, ...]:
    """Those of a model's ways that a person chooses among: the task's usual ones, or an experiment's own."""
    own = task.asking.offered
    if task.experiments is not None and experiment is not None:
        own = task.experiments.ways(experiment)
    return tuple(way for way in own if way in there)


def experiments(task: str) -> tuple[int, ...]:
    """The prompting experiments that a task has."""
    found = task_named(task).experiments
    return () if found is None else found.numbers


def checked_options(
    task: str, way: str | None, settings: Mapping[str, object], prompts: str, repeats: int
) -> dict[str, object]:
    """The options of a run, as `Workspace.run_model` takes them.

    Args:
        way: the way that was chosen, None for the model's own, which shows once it is loaded.
        prompts: a file of the person's own; empty for this project's.

    Raises:
        BadInput: a setting or the file is wrong; it is named.
    """
    if repeats > MOST_REPEATS:
        raise BadInput(f"A run has at most {MOST_REPEATS} repeats.")
    found = task_named(task)
    options = dict(settings)
    if prompts:
        if found.asking.prompts is None:
            raise BadInput(f"there are no prompts to choose for {task}")
        options["prompts"] = msgspec.to_builtins(found.asking.prompts(prompts))
    if way is None:
        found.with_options(options, repeats)
    else:
        configured(found, way, options, repeats)
    return options
