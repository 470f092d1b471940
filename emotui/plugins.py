"""What other packages add by entry points: listed here without running any of it, and run with a limit of time."""

import queue
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

P = ParamSpec("P")
T = TypeVar("T")

LIMIT = 30.0
"""Seconds that another package's code may take to be imported, or to value one sample."""


class _Here(threading.local):
    """The thread that other packages are called in, where this is one."""

    thread: "_Thread | None" = None


_here = _Here()


class _Thread:
    """Runs one call after the other, all in a thread of its own, which nobody waits for when the program ends."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[_Outcome | Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        _here.thread = self
        while True:
            self._answers.put(_outcome(self._calls.get(), BaseException))  # it may raise anything

    def within(self, call: Callable[[], Any], seconds: float) -> "_Outcome":
        """What it returned or raised. Raises: queue.Empty, where it takes longer between two calls of `ours`."""
        self._calls.put(call)
        while callable(answer := self._answers.get(timeout=seconds)):
            answer()
        return answer

    def ours(self, call: Callable[[], Any]) -> Any:
        """What a function of this program's returns, called in the thread that waits in `within`."""
        returned: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        self._answers.put(lambda: returned.put(_outcome(call, Exception)))
        return _unpacked(returned.get())


_Outcome = tuple[bool, Any]
"""Whether a call returned, and what it returned or raised."""

_idle: list[_Thread] = []


def _outcome(call: Callable[[], Any], caught: type[BaseException]) -> _Outcome:
    try:
        return True, call()
    except caught as error:
        return False, error


def _unpacked(outcome: _Outcome) -> Any:
    returned, found = outcome
    if not returned:
        raise found
    return found


def within(call: Callable[[], T], seconds: float | None = None) -> T:
    """What another package's code returns. It is called in one thread, always the same as long as it answers.

    Where several threads call at once, each has one of its own.

    Args:
        seconds: None: `LIMIT`. What it calls by `ours` does not count.

    Raises:
        TimeoutError: it takes longer; what goes on in its thread then concerns nobody any more.
        BaseException: whatever it raises.
    """
    seconds = LIMIT if seconds is None else seconds
    if _here.thread is not None:
        return call()
    try:
        thread = _idle.pop()
    except IndexError:
        thread = _Thread()
    try:
        outcome = thread.within(call, seconds)
    except queue.Empty:
        raise TimeoutError(f"it did not answer in {seconds:g} s") from None
    _idle.append(thread)
    answer: T = _unpacked(outcome)
    return answer


def ours(call: Callable[P, T]) -> Callable[P, T]:
    """A function of this program's to hand to another package's: it runs outside of that one's time and thread."""

    def called(*args: P.args, **named: P.kwargs) -> T:
        thread = _here.thread
        if thread is None:
            return call(*args, **named)
        answer: T = thread.ours(lambda: call(*args, **named))
        return answer

    return called


def entry_points_of(group: str) -> tuple[list["EntryPoint"], list[str]]:
    """The entry points of a group, and a line for each package whose list of them cannot be read."""
    found, wrong = _listed(group, tuple((folder, _changed(folder)) for folder in sys.path))
    return [*found], [*wrong]


@lru_cache(maxsize=32)
def _listed(group: str, _: tuple[tuple[str, int], ...]) -> tuple[tuple["EntryPoint", ...], tuple[str, ...]]:
    """Likewise, as long as the folders that packages are installed in are what they were."""
    # The first row of the workbench lists nothing, and need not wait for the e-mail package that reads names.
    from importlib.metadata import distributions

    packages = list(distributions())
    found: list[EntryPoint] = []
    wrong: list[str] = []
    for number, package in enumerate(packages):
        # Most packages add nothing here: names, which are read from larger files, are asked only of those that do.
        try:
            points = [point for point in package.entry_points if point.group == group]
            trouble = ""
        except Exception as error:  # a file that anybody may have written
            points, trouble = [], _said(error)
        if not points and not trouble:
            continue
        name = _name(package)
        if any(_name(other) == name for other in packages[:number]):  # the first on the path is the one imported
            continue
        found += points
        if trouble:
            wrong.append(f"what {name} adds is left out: its entry_points.txt cannot be read ({trouble})")
    return tuple(found), tuple(wrong)


def _changed(folder: str) -> int:
    """When something was last put into a folder or taken out of it, in nanoseconds; 0: it is not there."""
    try:
        return Path(folder).stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def problem_of(value: str) -> str | None:
    """Why `module:name` cannot be loaded, as far as shows without running any of it; None where nothing shows."""
    module, _, name = value.partition(":")
    try:
        there = bool(module and name) and find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError):
        there = False
    return None if there else f"{value!r} names no function of a module that is installed"


def first_line(error: BaseException) -> str:
    """What an error of another package's code says, in a line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _name(package: "Distribution") -> str:
    try:
        name = package.metadata["Name"]
    except Exception:  # likewise
        name = None
    return (
        name.lower().replace("_", "-")
        if isinstance(name, str)
        else f"a package without a name ({getattr(package, '_path', id(package))})"
    )


def _said(error: Exception) -> str:
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else first_line(error)
