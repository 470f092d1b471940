"""DuckDB's engines outlive the stores that started them: the next store on the same file takes one that waits.

Starting an engine takes longer than most of what tests ask of it, and each command in a test opens its store anew.
An engine that waits has no file open, and may open no other file than the one it was started for. It has one thread:
as many tests run at once as there are cores.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emotui.store import access
from emotui.store.access import Access

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MOST = 4
"""Engines that wait at once."""

start_engines, end_engine, settings = Access._try, Access._let_go, access.settings
"""As the product does it: an engine of several threads for each store."""


def _place(turns: Access) -> Path:
    """Of the file: a name alone is another file in each test's folder."""
    return turns._file.absolute()


@contextmanager
def kept_engines() -> Iterator[None]:
    """While it lasts, a store that nobody has any more leaves its engine to the next one on that file."""
    idle: dict[Path, DuckDBPyConnection] = {}
    lent: weakref.WeakKeyDictionary[Access, weakref.finalize[[Path, DuckDBPyConnection], Access]]
    lent = weakref.WeakKeyDictionary()

    # No lock: this runs wherever the garbage collector does, maybe in a thread that would hold it.
    def keep(path: Path, engine: "DuckDBPyConnection") -> None:
        before = idle.pop(path, None)
        idle[path] = engine
        if before is not None:
            before.close()
        while len(idle) > _MOST and (oldest := next(iter(tuple(idle)), None)) is not None:
            if (old := idle.pop(oldest, None)) is not None:
                old.close()

    def take_or_start(turns: Access, read_only: bool, beside: Path | None) -> Exception | None:
        plain = beside is None and turns._beside is None and turns._shut
        if plain and turns._engine is None:
            turns._engine = idle.pop(_place(turns), None)
        try:
            return start_engines(turns, read_only, beside)
        finally:
            engine = turns._engine
            if plain and engine is not None and turns not in lent:
                comes_back = weakref.finalize(turns, keep, _place(turns), engine)
                comes_back.atexit = False
                lent[turns] = comes_back

    def let_go(turns: Access) -> None:
        if (comes_back := lent.pop(turns, None)) is not None:
            comes_back.detach()
        end_engine(turns)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(access, "settings", lambda *memory: {**settings(*memory), "threads": 1})
        patched.setattr(Access, "_try", take_or_start)
        patched.setattr(Access, "_let_go", let_go)
        yield
    for engine in idle.values():
        engine.close()
