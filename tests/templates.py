"""Workspace files that many tests begin with: made once by each worker, then copied."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emotui.store import schema, store

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FOLDER = tempfile.TemporaryDirectory(prefix="emotui-templates-")
_made: dict[Hashable, Path] = {}
_numbers = itertools.count()
of_tests: set[Path] = set()
"""Workspaces that the tests of this worker made with the product's own code alone: nobody put anything into them that
computes."""


def copy_of(path: Path, key: Hashable, make: Callable[[Path], object]) -> None:
    """Put at `path` what `make` writes into a new file; `key` names all that it depends on."""
    if key not in _made:
        template = Path(_FOLDER.name) / f"{next(_numbers)}.duckdb"
        make(template)
        _made[key] = template
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_made[key], path)
    of_tests.add(path.absolute())


make_store = store._make
"""As the product does it: all tables, version by version."""


def _copy_store(path: Path) -> bool:
    made = True
    fresh = path.with_name(f"{path.name}.{os.getpid()}.copy")
    try:
        copy_of(fresh, "an empty workspace", make_store)
        os.link(fresh, path)
    except OSError:
        made = make_store(path)  # and says what is wrong
    finally:
        fresh.unlink(missing_ok=True)
    of_tests.add(path.absolute())
    return made


seek_macros, seek_others = schema.check_no_macros, schema.check_plain
"""As the product does it: the one lists the 3,000 functions of DuckDB, the other writes out the definition of every
table; together that is half of a small command's work."""


def _seek_macros(connection: "DuckDBPyConnection", path: Path) -> None:
    if path.absolute() not in of_tests:
        seek_macros(connection, path)


def _seek_others(connection: "DuckDBPyConnection", path: Path) -> None:
    if path.absolute() not in of_tests:
        seek_others(connection, path)


@contextmanager
def copied_stores() -> Iterator[None]:
    """While it lasts, a new workspace is a copy of an empty one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "_make", _copy_store)
        patched.setattr(schema, "check_no_macros", _seek_macros)
        patched.setattr(schema, "check_plain", _seek_others)
        yield
