"""Asks a researcher's question in a process of its own, so that whoever else reads the store need not wait for it.

All of one process share a lock on the file (`emotui.store.access`), and a query may hold it for minutes; readers of
several processes have it open side by side.
"""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec

from emotui.errors import BadInput, EmotuiError
from emotui.store import questions
from emotui.workbench.queries import SHOWN, Table, in_words

_BOOT = "import sys; sys.path[:] = {path!r}; from emotui.workbench.query_process import main; main()"

_LOOK = 0.05
"""Seconds between two looks whether a query is to end."""


class _Question(msgspec.Struct, tag=True):
    path: str
    question: str
    limit: int


class _Refusal(msgspec.Struct, tag=True):
    """Why there is no answer; `bad`: for what was asked."""

    why: str
    bad: bool


class _Answered(msgspec.Struct, tag=True):
    table: Table


def ask(path: Path, question: str, stop: threading.Event, limit: int = SHOWN) -> Table:
    """The answer to one SELECT over the views of the store at `path`, in words.

    Args:
        stop: once it is set the query ends.
        limit: rows at most.

    Raises:
        BadInput, EmotuiError: as `questions.ask`.
    """
    asked = msgspec.json.encode(_Question(str(path), question, limit)) + b"\n"
    command = [sys.executable, "-c", _BOOT.format(path=sys.path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as child:
        over = threading.Event()
        watcher = threading.Thread(target=_end_on, args=(stop, over, child), daemon=True)
        watcher.start()
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            with contextlib.suppress(OSError):  # it has been stopped before it could read
                child.stdin.write(asked)
                child.stdin.flush()
            said = child.stdout.read()
        finally:
            child.kill()
            over.set()
            watcher.join()
    if stop.is_set():
        raise EmotuiError("the query was stopped")
    if not said:
        raise EmotuiError(f"the process of the query ended with status {child.returncode}")
    try:
        answer = msgspec.json.decode(said, type=_Answered | _Refusal)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise EmotuiError("the process of the query ended in the middle of its answer: ask again") from None
    if isinstance(answer, _Refusal):
        raise (BadInput if answer.bad else EmotuiError)(answer.why)
    return answer.table


def _end_on(stop: threading.Event, over: threading.Event, child: "subprocess.Popen[bytes]") -> None:
    while not over.wait(_LOOK):
        if stop.is_set():
            child.kill()
            return


def main() -> None:
    """Answer the question on standard input, on standard output; end with whoever asked."""
    asked = msgspec.json.decode(sys.stdin.buffer.readline(), type=_Question)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    answer: _Answered | _Refusal
    try:
        answer = _Answered(in_words(questions.ask(Path(asked.path), asked.question, limit=asked.limit)))
    except EmotuiError as problem:
        answer = _Refusal(str(problem), isinstance(problem, BadInput))
    sys.stdout.buffer.write(msgspec.json.encode(answer))


def _end_with_parent() -> None:
    """End the process as soon as nobody holds the other end of its standard input."""
    sys.stdin.buffer.read()
    os._exit(1)
