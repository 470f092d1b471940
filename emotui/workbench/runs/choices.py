"""What a person can choose about a run before the model is loaded: the ways to ask it, sampling, prompts of their own.

Which ways a model really has is known once it is loaded (its card); until then all of the task's are offered.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from emotui.backends.base import ModelCard
from emotui.errors import BadInput, ModelError
from emotui.tasks.masked import prompts as masked_prompts
from emotui.tasks.registry import PROMPT_FILES, task_named
from emotui.tasks.rephrase import labelling
from emotui.tasks.rephrase import prompts as rephrase_prompts
from emotui.tasks.scenes import prompts as scenes_prompts
from emotui.tasks.spans import prompts as spans_prompts
from emotui.tasks.spans.experiments import EXPERIMENTS
from emotui.workbench.runs.run import EMBEDDING

CONSTRAIN = "constrain"
"""The option that holds answers to their form by a grammar."""

_SAMPLING = ("temperature", "top_p", "max_tokens", CONSTRAIN)
# Of the ways to give a text its label those that need examples are the command line's.
_WAYS = {
    "spans": spans_prompts.WAYS,
    "scenes": scenes_prompts.WAYS,
    "masked": masked_prompts.WAYS,
    "rephrase": (*labelling.WAYS, rephrase_prompts.WAYS[0]),
}


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
        ways = _of_experiment(_WAYS.get(task, ()), experiment)
        why = "Which of these ways a model has shows once it is loaded; one that it lacks is refused."
        return _choices(task, ways, why)
    try:
        ways = tuple(found.ways(card))
    except ModelError as problem:
        return RunChoices(why=str(problem), possible=False)
    if not ways:
        return RunChoices(why=f"{spec} is asked in one way: there is nothing else to choose.")
    return _choices(task, _of_experiment(tuple(way for way in ways if way in _offered(task)), experiment), "")


def _choices(task: str, ways: tuple[str, ...], why: str) -> RunChoices:
    settings = (CONSTRAIN,) if task == "scenes" else (*_SAMPLING, "retries") if task == "spans" else _SAMPLING
    return RunChoices(ways, settings, task in PROMPT_FILES, why)


def _offered(task: str) -> tuple[str, ...]:
    return (*_WAYS.get(task, ()), *(spans_prompts.EXPERIMENT_WAYS if task == "spans" else ()))


def _of_experiment(ways: tuple[str, ...], experiment: int | None) -> tuple[str, ...]:
    """The third experiment is asked as the main tasks are, without reasoning or with it."""
    if experiment in (None, 3):
        return tuple(way for way in ways if way not in spans_prompts.EXPERIMENT_WAYS)
    return tuple(way for way in spans_prompts.EXPERIMENT_WAYS if way.startswith(f"experiment-{experiment}"))


def experiments(task: str) -> tuple[int, ...]:
    """The prompting experiments that a task has."""
    return EXPERIMENTS if task == "spans" else ()


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
    options = dict(settings)
    if prompts:
        if task not in PROMPT_FILES:
            raise BadInput(f"there are no prompts to choose for {task}")
        options["prompts"] = msgspec.to_builtins(PROMPT_FILES[task](prompts))
    settled = task_named(task).with_options(options, repeats)
    if way is not None:
        settled.settings(way)
    return options
