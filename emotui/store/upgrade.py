"""How a store of an older version becomes one of today's: with a copy of it beside until that is done.

The tables change in one transaction, so a program that is killed meanwhile leaves the old store or the new one. The
copy is for what nobody foresaw, and is removed once the new tables have been read back. What may only be read is left
alone: a copy of it in the folder for scratch is brought up to date and read in its stead.
"""

import contextlib
import itertools
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from emotui import scratch
from emotui.errors import StoreError
from emotui.store import refusals, schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

OnUpgrade = Callable[[str], None]
"""Takes a line on what is being done to a store, and later one on what became of it."""


class Upgraded(NamedTuple):
    """What became of a store of an older version. `copy`: where it stands as it was; None where nothing was kept."""

    version: int
    steps: tuple[str, ...]
    copy: Path | None


_ROOM = 2.5
"""What an upgrade may take on the disk, in sizes of the store: its copy, and tables that are written anew."""

_LEAST_ROOM = 32 * 2**20
_AT_ONCE = 2**20


def is_older(version: int | None) -> bool:
    """Whether tables of this version (None: no store's) are to be brought up to date."""
    return version is not None and version < schema.VERSION


def steps_from(version: int) -> tuple[str, ...]:
    """What the steps from a version to today's bring."""
    return tuple(step.brings for step in schema.MIGRATIONS[version - 1 :])


class Upgrade:
    """One upgrade of the store at `path`, whose tables are of `version`.

    Args:
        on_upgrade: told before and after.
        keep: whether the copy stays when all is done.
    """

    def __init__(self, path: Path, version: int, on_upgrade: OnUpgrade | None, keep: bool) -> None:
        self.path = path
        self.version = version
        self._tell = on_upgrade or (lambda _: None)
        self._keep = keep
        real = Path(os.path.realpath(path))
        self.copy = _free(real, version) if keep else real.with_name(f"{real.name}.{os.getpid()}.version-{version}")

    def copy_aside(self, connection: "DuckDBPyConnection", until_let_go: contextlib.ExitStack) -> None:
        """Put the copy beside the store, which the connection has open for writing. No transaction is open after it.

        Args:
            until_let_go: is closed as soon as the connection has let go of the file.

        Raises:
            StoreError: the disk has not enough room, or the copy cannot be written.
        """
        check_room(self.path, self.copy.parent, "It was left as it is: free some space, then try again")
        self._tell(
            f"{self.path} is a store of version {self.version}, and this emotui needs {schema.VERSION}: it is brought"
            f" up to date ({'; '.join(steps_from(self.version))}). Until that is done a copy of it as it was stands"
            f" beside it: {self.copy}"
        )
        connection.execute("commit; checkpoint store")  # what a log holds stands in the file now
        copy_file(self.path, self.copy, until_let_go)

    def migrate(self, connection: "DuckDBPyConnection") -> None:
        """Change the tables in a transaction of their own. A transaction is open after it, as before.

        Raises:
            StoreError: they cannot be changed, and are as they were.
        """
        connection.execute("begin")
        migrate(connection, self.path, self.version)
        connection.execute("commit; checkpoint store; begin")

    def finish(self) -> Upgraded:
        """The store has been read back as one of today's version."""
        if not self._keep:
            self.copy.unlink(missing_ok=True)
        became = "is kept" if self._keep else "is removed"
        self._tell(f"{self.path} is of version {schema.VERSION} now; the copy {self.copy.name} {became}")
        return Upgraded(self.version, steps_from(self.version), self.copy if self._keep else None)

    def give_up(self) -> None:
        """The store has been read back as it was before."""
        self.copy.unlink(missing_ok=True)


def migrate(connection: "DuckDBPyConnection", path: Path, version: int) -> None:
    """Bring the tables of the attached `store` to today's version, inside the transaction that is open.

    Raises:
        StoreError: they are not what that version of emotui made.
    """
    from emotui.store import duckdb_core

    try:
        connection.execute("use store")
        schema.migrate(connection, version)
        connection.execute("use memory")
    except duckdb_core.OperationalError:  # the disk or the memory: told as anywhere else
        raise
    except (duckdb_core.Error, LookupError, ValueError) as error:
        raise StoreError(
            f"{path} is a store of version {version} and cannot be brought up to {schema.VERSION}, because its tables"
            f" are not what that version made ({_first_line(error)}). It was left as it is: restore it from a"
            " copy, or bring its data in anew with `emotui import`"
        ) from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split("\n\n")[0].split())


def check_room(path: Path, folder: Path, remedy: str) -> None:
    """Raises: StoreError where the folder has no room for a copy of a store and for what an upgrade writes anew."""
    size = sum(file.stat().st_size for file in (path, _log(path)) if file.exists())
    need, free = _ROOM * size + _LEAST_ROOM, shutil.disk_usage(folder).free
    if need > free:
        raise StoreError(
            f"{path} is of an older version, and bringing it up to date takes {need / 2**20:.0f} MB in {folder},"
            f" which has {free / 2**20:.0f} MB left. {remedy}"
        )


def copy_file(source: Path, to: Path, until_let_go: contextlib.ExitStack) -> None:
    """Copy a file that DuckDB has open in this process, whole or not at all; it is on the disk before this returns.

    Args:
        until_let_go: takes what must stay open until DuckDB has closed the file: the system drops the locks of a
            process on a file as soon as it closes any descriptor of it.

    Raises:
        StoreError: the copy cannot be written.
    """
    part = to.with_name(f"{to.name}.part")
    try:
        file = until_let_go.enter_context(source.open("rb", buffering=0))
        try:
            with part.open("xb") as copied:
                part.chmod(source.stat().st_mode & 0o777)
                shutil.copyfileobj(file, copied, _AT_ONCE)
                copied.flush()
                os.fsync(copied.fileno())
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise refusals.refusal(to, error) from error


def _free(real: Path, version: int) -> Path:
    """A name for a copy that stays, which no file has."""
    names = (
        real.with_name(f"{real.stem}.version-{version}{'' if number == 1 else f'-{number}'}{real.suffix}")
        for number in itertools.count(1)
    )
    return next(name for name in names if not os.path.lexists(name))


def copies_left(path: Path) -> list[Path]:
    """The copies that upgrades of a store left beside it because they were killed."""
    real = Path(os.path.realpath(path))
    left = re.compile(re.escape(real.name) + r"\.\d+\.version-\d+")
    try:
        return sorted(file for file in real.parent.iterdir() if left.fullmatch(file.name))
    except OSError:
        return []


def _log(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


# Stores of older versions that may only be read.


class _StandIn(NamedTuple):
    """A copy of a store, brought up to date. `stood`: how the store stood when it was made."""

    stood: tuple[int, int, int]
    file: Path
    folder: "tempfile.TemporaryDirectory[str]"


_stand_ins: dict[str, _StandIn] = {}
_guard = threading.Lock()


def stand_in(path: Path) -> Path | None:
    """The copy that this process reads in a store's stead, if it has made one and the store has not changed since."""
    with _guard:
        known = _stand_ins.get(os.path.realpath(path))
    return known.file if known is not None and known.stood == _stood(path) else None


def make_stand_in(path: Path, until_let_go: contextlib.ExitStack) -> Path:
    """Copy a store, which DuckDB has open for reading, to be brought up to date and read in its stead.

    It lasts until the process ends.

    Raises:
        StoreError: there is no room for it.
    """
    check_room(path, Path(tempfile.gettempdir()), "Open it once without --read-only, or set TMPDIR to a larger disk")
    folder = scratch.folder()
    copied = Path(folder.name) / "store.duckdb"
    stood = _stood(path)
    real = Path(os.path.realpath(path))
    copy_file(real, copied, until_let_go)
    if _log(real).exists():
        copy_file(_log(real), _log(copied), until_let_go)
    for file in (copied, _log(copied)):
        if file.exists():
            file.chmod(0o600)
    with _guard:
        _stand_ins[os.path.realpath(path)] = _StandIn(stood, copied, folder)
    return copied


def forget_stand_in(path: Path) -> None:
    """Remove the copy that stands in for a store."""
    with _guard:
        known = _stand_ins.pop(os.path.realpath(path), None)
    if known is not None:
        known.folder.cleanup()


def _stood(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns
