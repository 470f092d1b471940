"""The tasks that there are: this package's own, and those that other packages add by the entry point `emotui.tasks`.

A task is loaded when it is first asked for by name. What other packages add is looked for where tasks are listed, and
where a name is none of this package's.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cache, partial
from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING, Any, cast

import msgspec

from emotui import plugins
from emotui.backends.base import ModelCard
from emotui.errors import BadInput, EmotuiError
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

SPANS = "spans"
"""The task of texts and files where none is named."""

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
    found: dict[str, Task] = {}
    points, wrong = plugins.entry_points_of(GROUP)
    for point in points:
        try:
            task = plugins.within(partial(_loaded, point))
            if task.name in BUILT_IN or task.name in found:
                raise ValueError(f"there is a task {task.name!r} already")
        except (Exception, SystemExit) as error:  # another package's code may raise anything
            package = f" of {point.dist.name}" if point.dist is not None else ""
            wrong.append(f"the task {point.name!r}{package} is left out: {plugins.first_line(error)}")
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


# A task of another package: whatever it is asked for, it has a limit of time, and what it raises is a line.

MOST_HANGING = 3
"""Calls; a task that hangs so often is called no more."""

FOR_EACH = 0.01
"""Seconds beside `plugins.LIMIT` for each sample that a call is about; to ask and to score have that limit for each."""

_IN_TIME = frozenset(name for name, member in vars(Task).items() if isfunction(member) and not name.startswith("_"))
_MAKES_TASKS = frozenset(
    {
        "with_options",
        "with_label_map",
        "with_golds",
        "with_mask",
        "with_measured",
        "with_lexicon",
        "with_spans",
        "with_turns",
        "at_a_glance",
    }
)
_FOR_ONE = frozenset({"ask", "score"})
_MAY_REFUSE = frozenset({"parse", "taken"})
"""Methods in which a ValueError is an answer."""


def in_time(task: Task) -> Task:
    """The same task, each of whose methods runs within `plugins.within`.

    A method raises EmotuiError where the package raises something that is not this program's, or hangs.
    """
    return cast(Task, _InTime(task, _IN_TIME, task.name, []))


class _InTime:
    """Stands for an object of another package."""

    def __init__(self, theirs: Any, methods: frozenset[str], task: str, hung: list[str]) -> None:
        self._theirs, self._methods, self._task, self._hung = theirs, methods, task, hung

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._theirs, name)
        if name in self._methods:
            return partial(self._called, name, found)
        if name == "labels" and found is not None:
            return _InTime(found, frozenset({"of_file", "settled"}), self._task, self._hung)
        return found

    def _called(self, name: str, method: Callable[..., Any], *args: Any, **named: Any) -> Any:
        if len(self._hung) >= MOST_HANGING:
            raise EmotuiError(f"the task {self._task!r} of another package hangs ({', '.join(self._hung)})")
        given = [_given(one) for one in args]
        by_name = {key: _given(one) for key, one in named.items()}
        try:
            found = plugins.within(lambda: method(*given, **by_name), _seconds(name, args))
        except EmotuiError:
            raise
        except TimeoutError as error:
            self._hung.append(name)
            raise self._refusal(name, str(error)) from None
        except (Exception, SystemExit) as error:  # another package's code may raise anything
            if name in _MAY_REFUSE and isinstance(error, ValueError | msgspec.DecodeError):
                raise
            raise self._refusal(name, f"{type(error).__name__}: {plugins.first_line(error)}") from error
        return _InTime(found, self._methods, self._task, self._hung) if name in _MAKES_TASKS else found

    def _refusal(self, name: str, why: str) -> Exception:
        line = f"the task {self._task!r} of another package, `{name}`: {why}"
        return ValueError(line) if name in _MAY_REFUSE else EmotuiError(line)


def _given(value: Any) -> Any:
    """An argument, where it is a function of this program's one that runs outside of the package's time."""
    return plugins.ours(partial(_at_once, value)) if callable(value) else value


def _at_once(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What a function returns, and where it returns it bit by bit, all of it: it belongs to its own thread."""
    found = call(*args, **named)
    return tuple(found) if isinstance(found, Iterator) else found


def _seconds(name: str, args: Sequence[Any]) -> float:
    n = max((len(one) for one in args if isinstance(one, Sized) and not isinstance(one, str | bytes)), default=0)
    return plugins.LIMIT * max(n, 1) if name in _FOR_ONE else plugins.LIMIT + FOR_EACH * n
