"""Asks a researcher's question in a process of its own: whoever else reads the store need not wait, and it has bounds.

All of one process share a lock on the file (`emotui.store.access`), and a query may hold it for minutes; readers of
several processes have it open side by side. A single function of a query, as repeat('x', 4e9), takes memory that DuckDB
does not count and cannot be interrupted: the system bounds the memory of the process, and it is killed when its time is
over.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.errors import BadInput, EmotuiError
from emotui.formats import to_json_document
from emotui.formats.rows import literal
from emotui.store import questions
from emotui.store.access import OnWaiting
from emotui.store.questions import Answer

# A researcher's own questions in SQL, answered in words: for the terminal and for the screen.

SHOWN = 200
"""Rows that a person gets, unless they ask for more."""

SHOWN_BYTES = 4 * 2**20
"""Bytes of an answer to a person, about."""

LONGEST = 48
"""Characters of a value in a table."""


class Table(msgspec.Struct, frozen=True):
    """An answer in words, in which nothing acts on a terminal. `numbers`: which columns hold nothing but numbers.

    `more`: whether there are further rows; `full`: because these are long.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...]
    more: bool = False
    full: bool = False

    @property
    def ending(self) -> str:
        """Why it ends before all rows are there, and how to go on."""
        return ends_at(len(self.rows), full=self.full)

    def cut(self) -> list[list[str]]:
        """The rows with long values cut."""
        return [[text if len(text) <= LONGEST else text[: LONGEST - 1] + "…" for text in row] for row in self.rows]

    def cells(self) -> int:
        """The characters that a line of the table takes, with long values cut."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.cut(), strict=True)]
        return sum(widths) + 2 * len(widths) - 2


def in_words(answer: questions.Answer) -> Table:
    """Values as people read them."""
    rows = tuple(tuple(literal(_shown(value)) for value in row) for row in answer.rows)
    numbers = tuple(
        bool(rows) and all(row[place] is None or isinstance(row[place], int | float) for row in answer.rows)
        for place in range(len(answer.columns))
    )
    return Table(tuple(map(literal, answer.columns)), rows, numbers, answer.more, answer.full)


def ends_at(n: int, *, full: bool) -> str:
    """Why an answer ends before all rows are there, and how to go on. Args: n: its rows."""
    if full:
        rest = "the others: emotui sql --to FILE.csv, or less of each, as left(text, 1000)"
        return f"the first {n} row{'s' * (n != 1)}, which are long; {rest}"
    return f"the first {n} row{'s' * (n != 1)}; all of them: --to FILE.csv"


def plain(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """Values that JSON has; what it has no form for becomes text."""
    return [[_json_value(value) for value in row] for row in rows]


def _json_value(value: object) -> object:
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, list | tuple):
        return [_json_value(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _json_value(one) for key, one in value.items()}
    return str(value)


def _shown(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | dict):
        return to_json_document(_json_value(value))
    return str(value)


MOST_ROWS = 100_000
"""Rows of an answer to a program, unless it asks for more."""

MOST_BYTES = 64 * 2**20
"""Bytes of an answer to a program, about. A file has no such bound."""

_MEMORY = 1536 * 2**20
"""Bytes of address space that a query gets over what the process has before: DuckDB's own limit and as much again for
what DuckDB does not count."""

_BOOT = "import sys; sys.path[:] = {path!r}; from emotui.workbench.query_process import main; main()"

_LOOK = 0.05
"""Seconds between two looks whether a query is to end."""


class _Question(msgspec.Struct, tag=True):
    """`into`, `ending`: the file that the answer is written to, else rows come back; `words`: as people read them."""

    path: bytes
    question: str
    limit: int = SHOWN
    most: int = SHOWN_BYTES
    words: bool = True
    into: bytes = b""
    ending: str = ""
    patient: bool = False


class _Waits(msgspec.Struct, tag=True):
    who: str
    seconds: float


class _Begins(msgspec.Struct, tag=True):
    """The store is open: from here on time counts."""


class _Refusal(msgspec.Struct, tag=True):
    """Why there is no answer; `bad`: for what was asked."""

    why: str
    bad: bool


class _InWords(msgspec.Struct, tag=True):
    table: Table


class _Rows(msgspec.Struct, tag=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    full: bool


class _Written(msgspec.Struct, tag=True):
    n: int


_Message = _Waits | _Begins | _Refusal | _InWords | _Rows | _Written


def ask(
    path: Path,
    question: str,
    stop: threading.Event | None = None,
    limit: int = SHOWN,
    *,
    seconds: float | None = None,
    on_waiting: OnWaiting | None = None,
) -> Table:
    """The answer to one SELECT over the views of the store at `path`, in words.

    Args:
        stop: once it is set the query ends.
        limit: rows at most; there may be fewer, where these are long.
        seconds: from the moment at which the store is open until all of the answer is here, at most.
        on_waiting: as of `Access`.

    Raises:
        BadInput: it is no SELECT, or wrong.
        EmotuiError: it was stopped, took too long, needs too much memory, or has a row that is too long.
    """
    asked = _Question(os.fsencode(path), question, limit, patient=on_waiting is not None)
    answer = _answer(asked, stop, seconds, on_waiting)
    assert isinstance(answer, _InWords)
    return answer.table


def rows(
    path: Path,
    question: str,
    limit: int | None = None,
    *,
    seconds: float | None = None,
    on_waiting: OnWaiting | None = None,
) -> Answer:
    """The answer in values that JSON has. Raises: as `ask`."""
    asked = _Question(
        os.fsencode(path), question, limit or MOST_ROWS, MOST_BYTES, words=False, patient=on_waiting is not None
    )
    answer = _answer(asked, None, seconds, on_waiting)
    assert isinstance(answer, _Rows)
    return Answer(answer.columns, answer.rows, answer.more, answer.full)


def write(
    path: Path, question: str, to: Path, *, seconds: float | None = None, on_waiting: OnWaiting | None = None
) -> int:
    """Write the answer into a file, whole or not at all; how many rows there are.

    Raises:
        BadInput, EmotuiError: as `ask` and `questions.written_to`.
    """
    with questions.written_to(to) as beside:
        asked = _Question(
            os.fsencode(path),
            question,
            into=os.fsencode(beside.absolute()),
            ending=to.suffix.lower(),
            patient=on_waiting is not None,
        )
        answer = _answer(asked, None, seconds, on_waiting)
    assert isinstance(answer, _Written)
    return answer.n


def _answer(
    asked: _Question, stop: threading.Event | None, seconds: float | None, on_waiting: OnWaiting | None
) -> _InWords | _Rows | _Written:
    command = [sys.executable, "-c", _BOOT.format(path=sys.path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as child:
        clock = _Clock(child, stop, seconds)
        clock.start()
        last: _Message | None = None
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            with contextlib.suppress(OSError):  # it has been stopped before it could read
                child.stdin.write(msgspec.json.encode(asked) + b"\n")
                child.stdin.flush()
            for line in child.stdout:
                if not line.endswith(b"\n"):
                    break  # it was ended while it wrote
                try:
                    last = msgspec.json.decode(line, type=_Message)
                except (msgspec.MsgspecError, ValueError, RecursionError):
                    raise EmotuiError("the process of the query answered something else: ask again") from None
                if isinstance(last, _Waits) and on_waiting is not None:
                    on_waiting(last.who, last.seconds)
                elif isinstance(last, _Begins):
                    clock.begin()
        finally:
            clock.end()
            child.kill()
    if stop is not None and stop.is_set():
        raise EmotuiError("the query was stopped")
    if isinstance(last, _Refusal):
        raise (BadInput if last.bad else EmotuiError)(last.why)
    if last is not None and not isinstance(last, _Waits | _Begins):
        return last
    if clock.late:
        raise EmotuiError(
            f"the query was stopped after {seconds:g} s: give it more (--timeout), or ask for less (LIMIT)"
        )
    if child.returncode in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):
        raise EmotuiError(questions.TOO_MUCH)  # no room for its own words
    raise EmotuiError(f"the process of the query ended with status {child.returncode}")


class _Clock:
    """Ends the process of a query when it is stopped, or when its time is over (`late`)."""

    def __init__(self, child: "subprocess.Popen[bytes]", stop: threading.Event | None, seconds: float | None) -> None:
        self._child, self._stop, self._seconds = child, stop, seconds
        self._ends: float | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.late = False

    def start(self) -> None:
        """Watch from now on whether it is stopped."""
        self._thread.start()

    def begin(self) -> None:
        """Let its time begin."""
        if self._seconds is not None:
            self._ends = time.monotonic() + self._seconds

    def end(self) -> None:
        """The answer is there: watch no longer."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK):
            self.late = self._ends is not None and time.monotonic() > self._ends
            if self.late or (self._stop is not None and self._stop.is_set()):
                self._child.kill()
                return


def main() -> None:
    """Answer the question on standard input, on standard output; end with whoever asked."""
    asked = msgspec.json.decode(sys.stdin.buffer.readline(), type=_Question)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints does not come between the messages
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _bound_memory()

    def say(message: _Message) -> None:
        out.write(msgspec.json.encode(message) + b"\n")
        out.flush()

    status = 1
    try:
        say(_told(asked, say))
        status = 0
    except EmotuiError as problem:
        say(_Refusal(str(problem), isinstance(problem, BadInput)))
    except MemoryError:
        say(_Refusal(questions.TOO_MUCH, bad=False))
    finally:
        # The other thread holds standard input, and the interpreter's own way out would abort over it.
        os._exit(status)


def _told(asked: _Question, say: Callable[[_Message], None]) -> _InWords | _Rows | _Written:
    path = Path(os.fsdecode(asked.path))

    def tell_waiting(who: str, seconds: float) -> None:
        say(_Waits(who, seconds))

    def on_begun() -> None:
        say(_Begins())

    on_waiting = tell_waiting if asked.patient else None
    if asked.into:
        into = Path(os.fsdecode(asked.into))
        return _Written(
            questions.write(path, asked.question, into, asked.ending, on_waiting=on_waiting, on_begun=on_begun)
        )
    answer = questions.ask(
        path, asked.question, limit=asked.limit, most=asked.most, on_waiting=on_waiting, on_begun=on_begun
    )
    if asked.words:
        return _InWords(in_words(answer))
    return _Rows(answer.columns, tuple(map(tuple, plain(answer.rows))), answer.more, answer.full)


def _bound_memory() -> None:
    """Give this process so much address space and no more, where the system can."""
    import duckdb  # noqa: F401  (its own code is no part of what the query takes)

    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = pages * resource.getpagesize() + _MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _end_with_parent() -> None:
    """End the process as soon as nobody holds the other end of its standard input."""
    sys.stdin.buffer.read()
    os._exit(1)
