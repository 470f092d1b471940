"""What other packages add by entry points: listed here without running any of it, and run with a limit of time."""

import queue
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

LIMIT = 30.0
"""Seconds that another package's code may take to be imported, or to value one sample."""


class _Thread:
    """Runs one call after the other, all in a thread of its own, which nobody waits for when the program ends."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        return threading.current_thread() is self._thread

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            try:
                self._answers.put((True, call()))
            except BaseException as error:  # it may raise anything
                self._answers.put((False, error))

    def within(self, call: Callable[[], Any], seconds: float) -> tuple[bool, Any]:
        """Whether it returned, and what it returned or raised. Raises: queue.Empty, where that takes longer."""
        self._calls.put(call)
        return self._answers.get(timeout=seconds)


_threads: list[_Thread] = []
_turn = threading.RLock()


def within(call: Callable[[], T], seconds: float | None = None) -> T:
    """What another package's code returns. It is called in one thread, always the same as long as it answers.

    Args:
        seconds: None: `LIMIT`.

    Raises:
        TimeoutError: it takes longer; what goes on in its thread then concerns nobody any more.
        BaseException: whatever it raises.
    """
    seconds = LIMIT if seconds is None else seconds
    if _threads and _threads[-1].is_here:
        return call()
    with _turn:
        if not _threads:
            _threads.append(_Thread())
        try:
            returned, found = _threads[-1].within(call, seconds)
        except queue.Empty:
            _threads.clear()
            raise TimeoutError(f"it did not answer in {seconds:g} s") from None
        except BaseException:  # Ctrl-C: nobody takes its answer
            _threads.clear()
            raise
    if not returned:
        raise found
    answer: T = found
    return answer


def entry_points_of(group: str) -> tuple[list[EntryPoint], list[str]]:
    """The entry points of a group, and a line for each package whose list of them cannot be read."""
    found, wrong = _listed(group, tuple((folder, _changed(folder)) for folder in sys.path))
    return [*found], [*wrong]


@lru_cache(maxsize=32)
def _listed(group: str, _: tuple[tuple[str, int], ...]) -> tuple[tuple[EntryPoint, ...], tuple[str, ...]]:
    """Likewise, as long as the folders that packages are installed in are what they were."""
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


def _name(package: Distribution) -> str:
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
