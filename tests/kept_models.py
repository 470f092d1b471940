"""Loaded models outlive the tests that closed them: the next test that wants the same one waits for no loading.

Only models of files are kept, and only for as long as these are what they were.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import IO, Any, NamedTuple

import pytest

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.backends.messages import Loaded
from emotui.backends.spec import parse_spec
from emotui.backends.stamps import stamp_of
from tests.fork_server import read_by_libraries

_MOST = 4
"""Processes that wait at once."""


class _Idle(NamedTuple):
    child: Popen[bytes]
    words: IO[bytes] | None
    mail: Any
    number: int
    card: ModelCard

    def end(self) -> None:
        self.child.kill()
        self.child.wait()
        if self.words is not None:
            self.words.close()


def _key(process: ModelProcess) -> tuple[object, ...] | None:
    """What decides how a process answers; None for a model that is not kept."""
    stamp = stamp_of(process.spec)
    if stamp is None:
        return None
    kind, _ = parse_spec(process.spec)
    return stamp, repr(sorted(process._options.items())), *read_by_libraries(kind, os.environ)


@contextmanager
def kept_models() -> Iterator[None]:
    """While it lasts, closing an idle `ModelProcess` keeps its child, and starting one takes such a child first."""
    idle: dict[tuple[object, ...], _Idle] = {}
    start, close = ModelProcess._start, ModelProcess.close

    def start_or_take(process: ModelProcess) -> None:
        key = _key(process)
        found = idle.pop(key, None) if key is not None else None
        if found is None or found.child.poll() is not None:
            start(process)
            return
        if process._words is not None:
            process._words.close()
        process._child, process._words, process._mail = found.child, found.words, found.mail
        process._number = found.number
        process._closed = False
        process._mail.loading.put((Loaded(found.card), bytearray()))

    def close_or_keep(process: ModelProcess) -> None:
        key = _key(process)
        # Whoever holds the lock is loading or asking: closing shall end that.
        if key is None or not process._lock.acquire(blocking=False):
            close(process)
            return
        try:
            child, card, mail = process._child, process.card, process._mail
            if (
                child is None
                or card is None
                or process.pid is None
                or key in idle
                or not mail.loading.empty()
                or mail._asked
            ):
                close(process)
                return
            idle[key] = _Idle(child, process._words, process._mail, process._number, card)
            process._closed, process._child, process._words = True, None, None
        finally:
            process._lock.release()
        while len(idle) > _MOST:
            idle.pop(next(iter(idle))).end()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ModelProcess, "_start", start_or_take)
        patched.setattr(ModelProcess, "close", close_or_keep)
        yield
    for one in idle.values():
        one.end()
