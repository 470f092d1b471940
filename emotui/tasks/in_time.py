"""A task of another package: whatever it is asked for, it has a limit of time, and what it raises is a line."""

from collections.abc import Callable, Iterator, Sequence, Sized
from functools import partial
from inspect import isfunction
from typing import Any, cast

import msgspec

from emotui import plugins
from emotui.errors import EmotuiError
from emotui.tasks.task import Task

MOST_HANGING = 3
"""Calls; a task that hangs so often is called no more."""

FOR_EACH = 0.01
"""Seconds beside `plugins.LIMIT` for each sample that a call is about; to ask and to score have that limit for each."""

_CALLED = frozenset(name for name, member in vars(Task).items() if isfunction(member) and not name.startswith("_"))
_MAKES_TASKS = frozenset({"with_options", "with_label_map", "with_golds", "with_measured", "with_lexicon"})
_FOR_ONE = frozenset({"ask", "score"})
_MAY_REFUSE = frozenset({"parse", "taken"})
"""Methods in which a ValueError is an answer."""


def in_time(task: Task) -> Task:
    """The same task, each of whose methods runs within `plugins.within`.

    A method raises EmotuiError where the package raises something that is not this program's, or hangs.
    """
    return cast(Task, _InTime(task, _CALLED, task.name, []))


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
