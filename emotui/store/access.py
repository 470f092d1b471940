"""Turns on one DuckDB file that several programs share.

DuckDB lets one process hold a file for writing. So nobody holds it for longer than a transaction: attach, do, commit,
detach, by an engine in memory that stays (starting one takes ten times as long as attaching a file to it). Who finds
the file held tries again after a short random pause; who has just let go of it stays away for a moment, so that one
program that writes without end does not shut the others out. Figures: docs/store.md.
"""

import contextlib
import os
import random
import stat
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from emotui import scratch
from emotui.controls import as_unicode
from emotui.errors import BadStore, StoreError
from emotui.store import refusals, schema, upgrade

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Stores that this user's programs have looked through for what computes, so that one that has not changed is not again.

Mark = tuple[int, int, int, int, int]

_MOST = 100
"""Stores that are remembered: the file is read whenever the workbench opens one."""


def kept_in() -> Path:
    """The file with the marks."""
    import platformdirs

    return Path(platformdirs.user_state_dir("emotui")) / "stores.json"


def mark_of(path: Path) -> Mark | None:
    """How a store stands, to be asked while nobody writes it; None where a log beside it holds something too."""
    try:
        if os.path.lexists(path.with_name(path.name + ".wal")):
            return None
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_known(mark: Mark | None) -> bool:
    """Whether a store was looked through as it stands now."""
    return mark is not None and mark in _kept().values()


def remember(path: Path, mark: Mark | None) -> None:
    """A store has been looked through as it stood by this mark; where that cannot be kept, it is not."""
    if mark is None or is_known(mark):
        return
    import secrets

    name, marks = os.path.realpath(path), _kept()
    marks.pop(name, None)
    marks[name] = mark
    to = kept_in()
    beside = to.with_name(f".{to.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError, UnicodeEncodeError):
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            beside.write_bytes(msgspec.json.encode(dict(list(marks.items())[-_MOST:])))
            beside.replace(to)
        finally:
            beside.unlink(missing_ok=True)


def _kept() -> dict[str, Mark]:
    try:
        return msgspec.json.decode(kept_in().read_bytes(), type=dict[str, Mark])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


PATIENCE = 10.0
"""Seconds to wait for a turn before a StoreError names the holder."""

LONG_PATIENCE = 3600.0
"""The same for work that somebody is told of meanwhile and can stop: a command, a run."""

_COURTESY = (0.5, 1.0)
"""How long to stay away after a turn, as a part of what the turn took."""

_MOST_COURTESY = 0.006
_MOST_COURTESY_IN_A_CROWD = 0.06
"""Seconds to stay away at most: longer than most pauses of a waiting program between two tries; and much longer after
a turn that had to be waited for, because then others want theirs too."""

_RETRY = (0.0005, 0.004)
_LATE_RETRY = (0.002, 0.012)
_LAST_RETRY = (0.02, 0.1)
"""Seconds between two tries: in the first 3 s of waiting, up to `PATIENCE`, and after that."""

SEARCHED = "system.main,store.main"
"""Where names in a question are looked up: DuckDB's own first, so that no macro of a store stands in for a function."""

_TELL = 0.5
"""Seconds after which who waits is told for whom, again and again."""

Read = TypeVar("Read")

OnWaiting = Callable[[str, float], None]
"""Takes who holds the file, and the seconds waited so far."""

# One lock a file for the whole process, however many Store objects it has. More than manners: DuckDB locks by fcntl,
# and the system drops all such locks of a process on a file as soon as the process closes any descriptor of that file.
# Looking at the file (`is_duckdb`) while another thread holds it would silently let other programs in.
_locks: dict[str, threading.Lock] = {}
_locks_guard = threading.Lock()


def lock_of(path: Path) -> threading.Lock:
    """The lock that all stores of this process on `path` share."""
    with _locks_guard:
        return _locks.setdefault(os.path.realpath(path), threading.Lock())


def is_duckdb(path: Path) -> bool:
    """Whether the file begins as a DuckDB file does. Call it with `lock_of(path)` held and no connection open.

    Asked before DuckDB is: it would take an SQLite file for one to read with an extension from the network.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return False  # opening a pipe would wait for somebody to write into it
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


SMALL, WIDE, ROOMY = "208MB", "400MB", "2GB"
"""What DuckDB may use at most: little for what a screen asks, since it lives in the same process; more for what brings
many records in, and most for whole records that may be long. It is given back at the end of a turn."""


def settings(memory: str = SMALL) -> dict[str, str | bool | int | float | list[str]]:
    """How an engine is set: few threads, nothing fetched from the network."""
    spill = str(scratch.spill())
    return {
        "threads": min(2, os.cpu_count() or 1),
        "memory_limit": memory,
        # DuckDB knows no path that is not UTF-8; without one nothing is put aside.
        "temp_directory": spill if as_unicode(spill) == spill else "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }


_ahead: "list[Future[DuckDBPyConnection]]" = []
"""An engine that is being started for whoever needs the next one."""


def start_ahead() -> None:
    """Start the next store's engine in a thread of its own: who imports what opens that store need not wait for it.

    It takes 25 ms of processor, nearly all outside of Python, and the imports as much.
    """
    pool = ThreadPoolExecutor(1, "engine")
    _ahead.append(pool.submit(_started))
    pool.shutdown(wait=False)


def _engine() -> "DuckDBPyConnection":
    try:
        ahead = _ahead.pop()
    except IndexError:
        return _started()
    return ahead.result()


def _started() -> "DuckDBPyConnection":
    from emotui.store import duckdb_core

    return duckdb_core.connect(":memory:", config=settings())


@contextlib.contextmanager
def new_file(file: Path) -> Iterator["DuckDBPyConnection"]:
    """A connection to a DuckDB file that is not there yet, and whose tables are made in the block.

    Raises:
        duckdb.Error: the file cannot be made.
    """
    from emotui.store import duckdb_core

    with contextlib.closing(duckdb_core.connect(file, config=settings(ROOMY))) as connection:
        yield connection


_LOGS = ("", ".wal", ".wal.checkpoint", ".wal.recovery")
"""What DuckDB opens for a file, by what stands after its name."""


def shut(engine: "DuckDBPyConnection", files: Sequence[Path]) -> None:
    """Let an engine open these DuckDB files and no other file or address, from now on and for good."""
    # DuckDB looks for the log of a link beside the file that it leads to.
    names = dict.fromkeys(Path(name) for file in files for name in (file, os.path.realpath(file)))
    allowed = ", ".join(_quoted(file.with_name(file.name + log)) for file in names for log in _LOGS)
    engine.execute(f"set allowed_paths = [{allowed}]; set enable_external_access = false")


class Access:
    """Takes turns on one file. Safe to use from several threads; they take turns too.

    Args:
        patience: seconds to wait while another program holds the file; None: `PATIENCE`, and `LONG_PATIENCE` where
            somebody is told.
        on_waiting: told now and then for whom it waits. What it raises ends the waiting.
        shut: whether the engine may open nothing but the store, whatever the store asks it for; who needs more shuts
            it before anything that others wrote is run.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool,
        patience: float | None = None,
        on_waiting: OnWaiting | None = None,
        shut: bool = True,
    ) -> None:
        self.path = path
        self._file = (upgrade.stand_in(path) if read_only else None) or path  # what is opened
        self.read_only = read_only
        self.patience = patience if patience is not None else PATIENCE if on_waiting is None else LONG_PATIENCE
        self._on_waiting = on_waiting
        self._lock = lock_of(path)
        self._away_until = 0.0
        self._shut = shut
        self.was_open = False
        self._engine: DuckDBPyConnection | None = None
        self._prepared: tuple[DuckDBPyConnection, str] | None = None  # an engine, and what DuckDB may use in it
        self._beside: Path | None = None  # what the engine may open beside the store
        # Of a thread that is inside `together`: the connection, and what it has read there.
        self._together = threading.local()
        self._until_let_go = contextlib.ExitStack()  # closed when the file is, with the lock still held

    @contextlib.contextmanager
    def reading(self, memory: str = SMALL) -> Iterator["DuckDBPyConnection"]:
        """A transaction that only reads. Several programs can read at the same time.

        Args:
            memory: what DuckDB may use at most.

        Raises:
            StoreError: the file is held for too long, is no store, is of another version, or cannot be read.
        """
        if (open_already := getattr(self._together, "connection", None)) is not None:
            yield open_already
            return
        with self._turn(read_only=True, memory=memory) as connection:
            yield connection

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """One turn for all that this thread reads inside: it is of one moment, and the file is opened once.

        Nothing may be written inside.

        Raises:
            StoreError: as for reading.
        """
        if getattr(self._together, "connection", None) is not None:
            yield
            return
        with self._turn(read_only=True) as connection:
            self._together.connection, self._together.read = connection, {}
            try:
                yield
            finally:
                self._together.connection = self._together.read = None

    @property
    def is_together(self) -> bool:
        """Whether this thread is inside `together`."""
        return getattr(self._together, "connection", None) is not None

    def once(self, key: Hashable, read: Callable[[], Read]) -> Read:
        """What `read` gives; inside `together`, where nothing changes, it is called once for a key.

        Several get the same object: what can be changed has to be copied by who gets it.
        """
        known: dict[Hashable, Read] | None = getattr(self._together, "read", None)
        if known is None:
            return read()
        if key not in known:
            known[key] = read()
        return known[key]

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else who asks for the same on this file is inside meanwhile, in this process or another of the user's:
        for what looks in one turn and writes in a later one. Whoever only takes turns is not kept waiting.

        A thread that is inside may ask again.

        Raises:
            StoreError: another was inside for longer than `patience`.
        """
        # Imported here, not at the start: they are needed by what writes much, and what reads starts sooner without.
        import hashlib

        from filelock import FileLock, Timeout

        name = hashlib.sha256(os.fsencode(os.path.realpath(self.path))).hexdigest()[:32]
        lock = FileLock(kept_in().with_name("alone") / f"{name}.lock", is_singleton=True)
        begun = time.monotonic()
        with contextlib.ExitStack() as inside:
            while True:
                try:
                    Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    inside.enter_context(lock.acquire(timeout=_TELL, poll_interval=0.02))
                except Timeout:
                    waited = time.monotonic() - begun
                    if waited > self.patience:
                        raise StoreError(
                            f"{self.path}: another program has been bringing answers together in it for {waited:.0f} s:"
                            " try again when it is done"
                        ) from None
                    if self._on_waiting is not None:
                        self._on_waiting("another program that brings answers together", waited)
                except OSError:
                    break  # nothing can be kept for this user, or the file system has no locks
                else:
                    break
            yield

    @contextlib.contextmanager
    def writing(
        self, *, shown: bool = True, beside: Path | None = None, memory: str = ROOMY
    ) -> Iterator["DuckDBPyConnection"]:
        """A transaction that writes: all of it is kept, or nothing where the block or the commit fails.

        Args:
            shown: whether it changes what a screen shows (`Store.marker`).
            beside: another DuckDB file to read from, as the schema `staged`.
            memory: what DuckDB may use at most.

        Raises:
            StoreError: as for reading; the store was opened read-only; the disk is full.
        """
        if self.read_only:
            raise StoreError(f"{self.path} is open read-only: start again without --read-only to change it")
        with self._turn(read_only=False, beside=beside, memory=memory) as connection:
            yield connection
            if shown:
                connection.execute("update workspace set revision = revision + 1")

    def bring_up_to_date(
        self, *, again: bool = True, on_upgrade: upgrade.OnUpgrade | None = None, keep_copy: bool = False
    ) -> upgrade.Upgraded | None:
        """Bring older tables to today's version; where nothing may be written, those of a copy that is read instead.

        Args:
            again: look for what computes also where the file has not changed since it was last looked through
                (`is_known`).
            on_upgrade: told what is done, and where the copy of what was there before stands.
            keep_copy: whether that copy stays.

        Returns: what was done; None where nothing had to be.

        Raises:
            StoreError: no store, one that computes, of a newer version, or an older one for which there is no room.
        """
        with self._turn(read_only=True, checked=False) as connection:
            mark = None if again else self._mark()
            known = is_known(mark)
            if not known:
                schema.check_plain(connection, self.path)
            version = schema.version_of(connection)
            if version is None:
                check_version(self.path, version)
            if again or upgrade.is_older(version):
                schema.check_no_macros(connection, self.path)
            elif not known:
                schema.check_no_macros(connection, self.path)
                remember(self.path, mark)
            if not upgrade.is_older(version):
                check_version(self.path, version)
                return None
            copied = upgrade.make_stand_in(self.path, self._until_let_go) if self.read_only else None
        if copied is not None:
            self._read_instead(copied, version, on_upgrade)
            return None
        return self._upgrade(on_upgrade, keep_copy)

    def _read_instead(self, copied: Path, version: int | None, on_upgrade: upgrade.OnUpgrade | None) -> None:
        """Bring a copy up to date, and read it from now on in place of the file."""
        try:
            Access(copied, read_only=False).migrate_copy_of(self.path)
        except BaseException:
            upgrade.forget_stand_in(self.path)
            raise
        self.close()
        self._file = copied
        if on_upgrade is not None:
            on_upgrade(
                f"{self.path} is a store of version {version} and stays as it is: a copy of it that is brought up to"
                f" version {schema.VERSION} is read instead, and removed at the end"
            )

    def migrate_copy_of(self, path: Path) -> None:
        """Bring the file up to date, which is a copy of the store at `path`. Raises StoreError."""
        with self._turn(read_only=False, checked=False) as connection:
            upgrade.migrate(connection, path, schema.version_of(connection) or 1)

    def version(self) -> int | None:
        """The version of the tables, whatever it is; None: no store's. Raises StoreError where it cannot be read."""
        with self._turn(read_only=True, checked=False) as connection:
            schema.check_plain(connection, self.path)
            return schema.version_of(connection)

    def _upgrade(self, on_upgrade: upgrade.OnUpgrade | None, keep_copy: bool) -> upgrade.Upgraded | None:
        """Bring the file up to date, with a copy beside it until the new tables have been read back."""
        upgraded: upgrade.Upgrade | None = None
        try:
            with self._turn(read_only=False, checked=False) as connection:
                # Another program may have done it, or put something else in its place, meanwhile.
                schema.check_plain(connection, self.path)
                version = schema.version_of(connection)
                if version is None or not upgrade.is_older(version):
                    check_version(self.path, version)
                    return None
                schema.check_no_macros(connection, self.path)
                upgraded = upgrade.Upgrade(self.path, version, on_upgrade, keep_copy)
                upgraded.copy_aside(connection, self._until_let_go)
                upgraded.migrate(connection)
            with self.reading() as connection:
                schema.check_plain(connection, self.path)
        except BaseException:
            if upgraded is not None and self._stands_as(upgraded.version):
                upgraded.give_up()
            raise
        return upgraded.finish()

    def _stands_as(self, version: int) -> bool:
        """Whether the file can be read and is of this version."""
        with contextlib.suppress(StoreError), self._turn(read_only=True, checked=False) as connection:
            return schema.version_of(connection) == version
        return False

    def look_through(self) -> None:
        """See that the store holds nothing that computes, and remember it, unless that is known of it as it stands.

        Raises:
            StoreError: it holds such a thing, or as for reading.
        """
        if is_known(mark_of(self.path)):
            return
        with self.reading() as connection:
            mark = self._mark()
            schema.check_plain(connection, self.path)
            schema.check_no_macros(connection, self.path)
            remember(self.path, mark)

    def _mark(self) -> Mark | None:
        """How the file stands, which nobody writes while it is attached; None where another is read in its stead, which
        may be older than it."""
        return mark_of(self.path) if self._file == self.path else None

    @contextlib.contextmanager
    def _turn(
        self, read_only: bool, *, checked: bool = True, beside: Path | None = None, memory: str = ROOMY
    ) -> Iterator["DuckDBPyConnection"]:
        from emotui.store import duckdb_core

        # Not even for 0 s where there is nothing to stay away for: on a busy machine that gives the processor away.
        if (away := self._away_until - time.monotonic()) > 0:
            time.sleep(away)
        begun = time.monotonic()  # here already: Ctrl-C may come at any line below
        try:
            connection, waited = self._attach(read_only, beside)
        except (duckdb_core.Error, OSError, RuntimeError, BadStore) as error:
            if refusals.is_interrupt(error):
                raise KeyboardInterrupt from error
            told = refusals.refusal(self.path, error) if isinstance(error, (duckdb_core.Error, OSError)) else error
            if copies := refusals.is_damage(told) and upgrade.copies_left(self.path):
                names = ", ".join(map(str, copies))
                raise StoreError(f"{told}; one from before an upgrade that was cut short: {names}") from error
            if self.was_open and isinstance(told, BadStore):
                # Nobody named a wrong file: it went away while it was worked with.
                raise StoreError(f"{told} (it was there before: has it been moved or replaced?)") from error
            if told is error:
                raise
            raise told from error
        self.was_open = True
        try:
            begun = time.monotonic()
            if beside is not None:
                connection.execute(f"attach {_quoted(beside)} as staged (read_only)")
            # Several statements at a time: each call costs as much as what it does, and settings are a sixth of a turn.
            # The store does not come first in the search path, so it can be closed as it is, and the path stays.
            begin = "begin; "
            if self._prepared is None or self._prepared[0] is not connection:
                begin = f"set memory_limit = '{memory}'; set search_path = '{SEARCHED}'; {begin}"
            elif self._prepared[1] != memory:
                begin = f"set memory_limit = '{memory}'; {begin}"
            self._prepared = None  # until it is so
            if checked:
                check_version(self.path, schema.version_of(connection, begin))
            else:
                connection.execute(begin)
            # An upgrade has a search path of its own, and leaves it behind.
            self._prepared = (connection, memory) if checked else None
            yield connection
            connection.execute("commit")
            if beside is not None:
                connection.execute("detach staged")
            self._detach(connection)
        except BaseException as error:
            self._let_go()
            if isinstance(error, (duckdb_core.Error, OSError)) and not isinstance(error, duckdb_core.ProgrammingError):
                raise refusals.refusal(self.path, error) from error
            if refusals.is_interrupt(error):
                raise KeyboardInterrupt from error
            raise
        finally:
            try:
                now = time.monotonic()
                most = _MOST_COURTESY_IN_A_CROWD if waited else _MOST_COURTESY
                self._away_until = now + random.uniform(*_COURTESY) * min(most, now - begun)
                self._until_let_go.close()
            finally:
                self._lock.release()

    def _attach(self, read_only: bool, beside: Path | None) -> tuple["DuckDBPyConnection", bool]:
        """Take the lock and open the file, trying again while another program has it; nobody of this process waits for
        the lock meanwhile.

        Returns: the engine, with the lock held, and whether it had to wait.
        """
        begun, told = time.monotonic(), 0.0
        waited = 0.0
        while True:
            self._lock.acquire()
            try:
                held = self._try(read_only, beside)
            except BaseException:
                self._let_go()
                self._lock.release()
                raise
            if held is None:
                assert self._engine is not None
                return self._engine, waited > 0
            self._lock.release()
            waited = time.monotonic() - begun
            if waited > self.patience:
                raise refusals.held(self.path, held, waited) from held
            if self._on_waiting is not None and waited - told > _TELL:
                told = waited
                self._on_waiting(refusals.holder(held), waited)
            pause = _RETRY if waited < 3 else _LATE_RETRY if waited < PATIENCE else _LAST_RETRY
            time.sleep(random.uniform(*pause))

    def _try(self, read_only: bool, beside: Path | None) -> Exception | None:
        """Open the file once, with the lock held; the refusal where another program has it."""
        from emotui.store import duckdb_core

        if beside != self._beside:
            self._let_go()
        if self._engine is None:
            self._engine = _engine()
            self._beside = beside
            if self._shut:
                shut(self._engine, (self._file, *([beside] if beside else [])))
        if not is_duckdb(self._file):
            raise BadStore(f"{self.path} is not an emotui store: choose another file with --db")
        how = "(type duckdb, read_only)" if read_only else "(type duckdb)"
        try:
            self._engine.execute(f"attach {_quoted(self._file)} as store {how}")
        except duckdb_core.Error as error:
            if refusals.is_held(error):
                return error
            raise
        return None

    def _detach(self, connection: "DuckDBPyConnection") -> None:
        """Close the file after a commit."""
        from emotui.store import duckdb_core

        # Closing also moves what the log file (.wal) holds into the store. Where that fails (a full disk), the log
        # keeps it: what is committed is not lost, so the transaction has not failed.
        try:
            connection.execute("detach store")
        except duckdb_core.Error:
            self._let_go()

    def close(self) -> None:
        """End the engine; it is started again by the next turn."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        """Drop the engine with whatever it has open; an unfinished transaction is rolled back."""
        from emotui.store import duckdb_core

        engine, self._engine, self._prepared = self._engine, None, None
        if engine is not None:
            with contextlib.suppress(duckdb_core.Error):
                engine.close()


def _quoted(path: Path) -> str:
    """A path as an SQL literal: ATTACH takes no parameter."""
    return "'" + str(path).replace("'", "''") + "'"


def check_version(path: Path, version: int | None) -> None:
    """Raises StoreError unless the tables are of the version that this program knows."""
    if version is None:
        raise BadStore(f"{path} is a DuckDB file, but not an emotui store: choose another file with --db")
    if version > schema.VERSION:
        raise StoreError(
            f"{path} is a store of version {version}, and this emotui knows versions up to {schema.VERSION}: "
            "upgrade with `pip install -U emotui`"
        )
    if version < schema.VERSION:
        raise StoreError(
            f"{path} is a store of version {version}, and this emotui needs {schema.VERSION}: "
            "start emotui anew, which brings it up to date"
        )
