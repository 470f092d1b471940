"""Limits on a model's own chat template, which is a program of somebody's: processor time, memory and length."""

import contextlib
import ctypes
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

SECONDS = 3.0
"""Of processor time that one rendering may take; those of known models take milliseconds."""

MEMORY = 512 * 2**20
"""Bytes that one rendering may take beside what the process has. Held on Linux, where the system counts them."""

LONGEST = 4 * 2**20
"""Characters of a prompt, beside twice what its messages have."""


class OverLimit(BaseException):
    """A template took too much. No `Exception`: what a template calls catches those."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox in which no single product, power or format is larger than a prompt may be."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Raises: OverLimit, before a library's loop begins that nothing can stop."""
        if operator == "*":
            for many, times in ((left, right), (right, left)):
                if isinstance(times, int) and hasattr(many, "__len__") and len(many) * times > LONGEST:
                    raise OverLimit(_LENGTH)
        if all(isinstance(each, int) for each in (left, right)):
            bits = left.bit_length() * (max(1, right) if operator == "**" else 1)
            if operator in ("*", "**") and bits > 1 << 16:
                raise OverLimit("it computes with numbers of thousands of digits")
        if operator == "%" and isinstance(left, str) and len(left) > LONGEST:
            raise OverLimit(_LENGTH)
        return super().call_binop(context, operator, left, right)


_LENGTH = f"it makes texts of more than {LONGEST // 2**20} million characters"


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Within it, time and memory have an end.

    Raises:
        OverLimit: that was reached; the message says which.
    """
    with _bounded_memory(), _bounded_time():
        try:
            yield
        except MemoryError:
            raise OverLimit(f"it takes more than {MEMORY // 2**20} MB of memory") from None


def _slow() -> str:
    return f"it takes more than {SECONDS:g} seconds"


@contextlib.contextmanager
def _bounded_time() -> Iterator[None]:
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        yield from _with_timer()
    else:
        yield from _with_watch()


def _with_timer() -> Iterator[None]:
    """By a signal of the system's, which ends the loops of regular expressions too."""

    def stop(number: int, frame: object) -> None:
        raise OverLimit(_slow())

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _with_watch() -> Iterator[None]:
    """By another thread, which the interpreter heeds between two of its steps."""
    over, raised = threading.Event(), threading.Event()
    thread = ctypes.c_ulong(threading.get_ident())

    def watch() -> None:
        if not over.wait(SECONDS):
            raised.set()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(OverLimit))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        try:
            yield
        finally:
            over.set()
            watching.join()
            if raised.is_set():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)
    except OverLimit as limit:
        raise OverLimit(str(limit) or _slow()) from None


@contextlib.contextmanager
def _bounded_memory() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    wanted = pages * resource.getpagesize() + MEMORY
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *known]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
