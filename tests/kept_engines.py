"""DuckDB's engines outlive the stores that started them: the next store takes one that waits.

Starting an engine takes longer than most of what tests ask of it, each command in a test opens its store anew, and the
store's file is opened and closed for every turn, which is three quarters of what a turn takes. So an engine that waits
may have the file of its last store open for reading, which is closed before anybody writes to it, and for as long as a
process runs that a test has started; nor does a turn leave room for programs that do not run. Which version such a file
is of is asked of it once. Engines may open files in
the folders of tests alone. They have one thread: as many tests run at once as there are cores.
"""

import os
import subprocess
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from emotui.store import access, schema
from emotui.store.access import Access, Mark, lock_of, mark_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MOST = 6
"""Engines that wait at once."""

start_engines, end_engine, close_file, settings = Access._try, Access._let_go, Access._detach, access.settings
version_of = schema.version_of
new_file, courtesy = access.new_file, access._MOST_COURTESY
"""As the product does it: an engine of several threads for each store, and a file that is closed after each turn, with
some milliseconds until the next one in which another program gets its own."""

others: "weakref.WeakSet[subprocess.Popen[Any]]" = weakref.WeakSet()
"""Processes that tests have started and that may want a store."""


def alone() -> bool:
    """Whether nothing runs that tests have started."""
    return all(getattr(other, "returncode", None) is not None for other in tuple(others))


class _Open(NamedTuple):
    """A file that an engine has open for reading, as it stood when it was last read."""

    engine: "DuckDBPyConnection"
    mark: Mark


class Engines:
    """Those that wait, and the files that are open between two turns."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self._idle: deque[DuckDBPyConnection] = deque()
        self._open: dict[Path, _Open] = {}
        self.in_turn: set[int] = set()
        """Of engines whose file is open for a turn that has not ended, by `id`."""
        self.versions: dict[int, int | None] = {}
        """Of the files that engines have open, by their `id`, as far as they were asked."""
        self._reads: weakref.WeakSet[Access] = weakref.WeakSet()
        self._claims = threading.Lock()
        """Held by who takes an engine or closes a file of one. Giving one back takes no lock: it happens wherever the
        garbage collector runs, maybe in a thread that holds it."""
        self._lent: weakref.WeakKeyDictionary[Access, weakref.finalize[[DuckDBPyConnection], Access]]
        self._lent = weakref.WeakKeyDictionary()

    def may_open(self, file: Path) -> bool:
        return str(_whole(file)).startswith(tuple(f"{folder}/" for folder in self.folders))

    def lend(self, turns: Access) -> bool:
        """Whether these turns have one of these engines; they get one where they had none."""
        if turns._engine is not None or not turns._shut:
            return turns in self._lent
        turns._engine = self.take(_file_of(turns))
        comes_back = weakref.finalize(turns, self._come_back, turns._engine)
        comes_back.atexit = False
        self._lent[turns] = comes_back
        return True

    def take(self, path: Path | None = None) -> "DuckDBPyConnection":
        """One that waits, best the one that has this file open, or else a new one."""
        with self._claims:
            kept = self._open.get(path) if path is not None else None
            if kept is not None and kept.engine in self._idle:
                self._idle.remove(kept.engine)
                return kept.engine
            while len(self._idle) > _MOST:
                self._end(self._idle.popleft())
            if self._idle:
                engine = self._idle.popleft()
                self._close_of(engine)
                return engine
        engine = access._engine()
        folders = ", ".join(f"'{folder}'" for folder in self.folders)
        engine.execute(f"set allowed_directories = [{folders}]; set enable_external_access = false")
        return engine

    def give_back(self, engine: "DuckDBPyConnection") -> None:
        self._idle.append(engine)

    def _come_back(self, engine: "DuckDBPyConnection") -> None:
        # Where turns are collected together with one that goes on, that one ends the engine, after this.
        if id(engine) not in self.in_turn:
            self._idle.append(engine)

    def take_back(self) -> None:
        """Have the engines of all turns that nobody takes now wait for the next test.

        A screen that is gone, and with it its store, goes only when the garbage collector comes by. Turns that do go on
        get another engine.
        """
        for turns, comes_back in tuple(self._lent.items()):
            if not turns._lock.acquire(blocking=False):
                continue
            try:
                if turns._engine is not None and id(turns._engine) not in self.in_turn:
                    comes_back()
                    del self._lent[turns]
                    turns._engine = turns._prepared = None
            finally:
                turns._lock.release()

    def begin(self, turns: Access, read_only: bool) -> bool:
        """Whether the file is open as this turn has to have it; nobody else's engine has it open any more."""
        self._reads.discard(turns)
        if read_only and turns._file == turns.path:
            self._reads.add(turns)
        path = _file_of(turns)
        kept = self._open.get(path)
        if kept is not None and read_only and kept.engine is turns._engine and kept.mark == mark_of(turns._file):
            del self._open[path]
            return True
        self.close(path)
        return False

    def keep(self, turns: Access, engine: "DuckDBPyConnection") -> bool:
        """End a turn: whether its file stays open."""
        plain = turns in self._reads and turns in self._lent and not turns._until_let_go._exit_callbacks  # type: ignore[attr-defined]
        if not plain or not alone():
            return False
        if (mark := mark_of(turns._file)) is None:
            return False
        self._open[_file_of(turns)] = _Open(engine, mark)
        return True

    def close(self, path: Path) -> None:
        """Close this file, for who holds its lock or needs none."""
        with self._claims:
            if (kept := self._open.pop(path, None)) is not None:
                kept.engine.execute("detach store")

    def close_all(self) -> None:
        """Close all files that nobody is at; who is will do it himself where he is not to keep it."""
        for path in tuple(self._open):
            lock = lock_of(path)
            if lock.acquire(blocking=False):
                self.close(path)
                lock.release()

    def drop(self, turns: Access) -> None:
        """These turns end their engine, with what it has open."""
        if (comes_back := self._lent.pop(turns, None)) is not None:
            comes_back.detach()
        for path, kept in tuple(self._open.items()):
            if kept.engine is turns._engine:
                del self._open[path]

    def end_all(self) -> None:
        """End all, those too that a store which nobody has closed still has."""
        self._open.clear()
        while self._idle:
            self._idle.popleft().close()
        for comes_back in tuple(self._lent.values()):
            if (lent := comes_back.detach()) is not None:
                lent[2][0].close()

    def _end(self, engine: "DuckDBPyConnection") -> None:
        self._close_of(engine)
        engine.close()

    def _close_of(self, engine: "DuckDBPyConnection") -> None:
        for path, kept in tuple(self._open.items()):
            if kept.engine is engine:
                del self._open[path]
                engine.execute("detach store")


def _whole(file: Path) -> Path:
    return Path(os.path.realpath(file))


def _file_of(turns: Access) -> Path:
    """The file that these turns open, without links; these are followed once, as `Access` does for its lock."""
    if _files.get(turns, (None,))[0] != turns._file:
        _files[turns] = turns._file, _whole(turns._file)
    return _files[turns][1]


_files: "weakref.WeakKeyDictionary[Access, tuple[Path, Path]]" = weakref.WeakKeyDictionary()

engines = Engines()


def let_go(turns: Access) -> None:
    """End the engine of these turns, one of those that wait or of their own."""
    engines.in_turn.discard(id(turns._engine))
    engines.drop(turns)
    engines.versions.pop(id(turns._engine), None)
    end_engine(turns)


@contextmanager
def kept_engines(folder: Path) -> Iterator[None]:
    """While it lasts, a store that nobody has any more leaves its engine to the next one.

    Args:
        folder: where tests have their files, beside the folder of temporary files.
    """
    import duckdb  # what is there when everything is collected stays, see conftest, and duckdb finds fault with that

    engines.folders = [os.path.realpath(each) for each in (tempfile.gettempdir(), folder)]

    def take_or_start(turns: Access, read_only: bool, beside: Path | None) -> Exception | None:
        inside = engines.may_open(_file_of(turns)) and (beside is None or engines.may_open(beside))
        if inside and engines.lend(turns):
            turns._beside = beside
        refused = None
        if not engines.begin(turns, read_only and beside is None):
            refused = start_engines(turns, read_only, beside)
            engines.versions.pop(id(turns._engine), None)
        if refused is None:
            engines.in_turn.add(id(turns._engine))
        access._MOST_COURTESY = 0.0 if alone() else courtesy
        return refused

    def close_or_keep(turns: Access, engine: "DuckDBPyConnection") -> None:
        engines.in_turn.discard(id(engine))
        if not engines.keep(turns, engine):
            close_file(turns, engine)

    def version_once(connection: "DuckDBPyConnection", first: str = "") -> int | None:
        if not first or id(connection) not in engines.in_turn:
            return version_of(connection, first)
        if id(connection) in engines.versions:
            connection.execute(first)
        else:
            engines.versions[id(connection)] = version_of(connection, first)
        return engines.versions[id(connection)]

    @contextmanager
    def file_of_a_kept_engine(file: Path) -> "Iterator[DuckDBPyConnection]":
        if not engines.may_open(file):
            with new_file(file) as connection:
                yield connection
            return
        engine = engines.take()
        try:
            engine.execute(f"set memory_limit = '{access.ROOMY}'; attach '{file}' as fresh (type duckdb); use fresh")
            yield engine
            engine.execute("use memory; detach fresh")
        except BaseException:
            engine.close()
            raise
        engines.give_back(engine)

    start, connect = subprocess.Popen.__init__, duckdb.connect

    def start_alone(child: "subprocess.Popen[Any]", *how: Any, **more: Any) -> None:
        others.add(child)
        engines.close_all()
        start(child, *how, **more)

    def connect_alone(database: str | Path = ":memory:", *how: Any, **more: Any) -> "DuckDBPyConnection":
        engines.close(_whole(Path(database)))
        return connect(database, *how, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(access, "settings", lambda *memory: {**settings(*memory), "threads": 1})
        patched.setattr(access, "new_file", file_of_a_kept_engine)
        patched.setattr(access, "_MOST_COURTESY", courtesy)
        patched.setattr(schema, "version_of", version_once)
        patched.setattr(Access, "_try", take_or_start)
        patched.setattr(Access, "_detach", close_or_keep)
        patched.setattr(Access, "_let_go", let_go)
        patched.setattr(subprocess.Popen, "__init__", start_alone)
        patched.setattr(duckdb, "connect", connect_alone)
        yield
    engines.end_all()
