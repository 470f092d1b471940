"""The tasks that there are: this package's own, and those that other packages add by the entry point `emotui.tasks`.

A task is loaded when it is first asked for by name. What other packages add is looked for where tasks are listed, and
where a name is none of this package's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from emotui.backends.base import ModelCard
from emotui.errors import BadInput
from emotui.records import Text
from emotui.tasks.task import Task

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "emotui.tasks"

BUILT_IN = {
    "spans": "emotui.tasks.spans.task:Spans",
    "scenes": "emotui.tasks.scenes.task:Scenes",
    "masked": "emotui.tasks.masked.task:Masked",
    "rephrase": "emotui.tasks.rephrase.task:Rephrase",
    "labels": "emotui.tasks.labels.task:Labels",
    "values": "emotui.tasks.values.task:Values",
    "generation": "emotui.tasks.generation.task:EmotionGeneration",
    "evidence": "emotui.tasks.evidence.task:Evidence",
}
"""Name to `module:task`, or `module:function` that makes it; known without an installation too."""

_NEEDED = ("name", "version", "sample", "prediction", "metrics", "files", "words")
_CALLED = ("blank", "row", "ways", "settings", "with_options", "ask", "parse", "record", "said", "score", "report")


def tasks() -> Mapping[str, Task]:
    """Every task by its name, this package's own first."""
    return {**{name: _own(name) for name in BUILT_IN}, **_others()[0]}


def task_named(name: str) -> Task:
    """The task of this name, or the one whose records in files have it.

    Raises:
        BadInput: a store or a person names one that this version does not know.
    """
    if name in BUILT_IN:
        return _own(name)
    found = tasks()
    for task in found.values():
        if name in (task.name, task.files.kind):
            return task
    raise BadInput(f"this version of emotui does not know the task {name!r}; it knows {', '.join(found)}")


def kinds() -> Mapping[str, Task]:
    """Every task by the kind of its records in files."""
    return {task.files.kind: task for task in tasks().values()}


def troubles() -> tuple[str, ...]:
    """What is wrong with tasks that other packages add, a line each: they are left out."""
    return _others()[1]


def forget() -> None:
    """Look for tasks of other packages again."""
    _others.cache_clear()


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
    return options if task.labels is None else task.labels.settled(card, samples, way, options, seed)


def with_labels(
    task: Task, card: ModelCard, way: str, options: Mapping[str, object], labels: Sequence[str] | None
) -> Mapping[str, Any]:
    """The options of a question about texts of which nothing is known. `labels`: a person's own.

    Raises:
        BadInput: the model does not know one of the labels, there are none, or the task chooses among no labels.
    """
    if task.labels is None:
        if labels is not None:
            there = [kind for kind, one in kinds().items() if one.labels is not None]
            named = " and ".join(filter(None, (", ".join(there[:-1]), there[-1])))
            raise BadInput(f"--labels is for {named}, not for {task.files.kind}")
        return options
    if "matched" in task.option_names(way):
        unknown = task.blank(Text(id="", text=""), labels or ())
        return resolve_labels(task, card, lambda: (unknown,), way, options, 0)
    if "labels" not in task.option_names(way) or (labels is None and not task.labels.always):
        return options
    given = {} if labels is None else {"labels": list(labels)}
    return resolve_labels(task, card, tuple, way, {**options, **given}, 0)


@cache
def _own(name: str) -> Task:
    module, _, attribute = BUILT_IN[name].partition(":")
    found: Task = getattr(import_module(module), attribute)()
    return found


@cache
def _others() -> tuple[Mapping[str, Task], tuple[str, ...]]:
    """What other packages add, and what is wrong with the rest of it."""
    from emotui.plugins import entry_points_of, first_line, within
    from emotui.tasks.in_time import in_time

    found: dict[str, Task] = {}
    points, wrong = entry_points_of(GROUP)
    for point in points:
        try:
            task = within(partial(_loaded, point))
            if task.name in BUILT_IN or task.name in found:
                raise ValueError(f"there is a task {task.name!r} already")
        except (Exception, SystemExit) as error:  # another package's code may raise anything
            package = f" of {point.dist.name}" if point.dist is not None else ""
            wrong.append(f"the task {point.name!r}{package} is left out: {first_line(error)}")
            continue
        found[task.name] = in_time(task)
    return found, tuple(wrong)


def _loaded(point: "EntryPoint") -> Task:
    """A task, or what a function without arguments makes. Raises whatever the other package raises."""
    found: Any = point.load()
    if isinstance(found, type) or not hasattr(found, "name"):
        found = found()
    lacking = [name for name in (*_NEEDED, *_CALLED) if not hasattr(found, name)]
    if lacking:
        raise TypeError(f"it has no {', '.join(lacking)}")
    task: Task = found
    return task
