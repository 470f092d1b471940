"""A workspace on disk, by its parts: data sets, samples, gold, runs, results, annotations, and what lies beside."""

import contextlib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from emotui import scratch
from emotui.bounded import is_there
from emotui.controls import as_unicode
from emotui.errors import BadStore, StoreError
from emotui.store import access, refusals, schema
from emotui.store.access import Access
from emotui.store.annotations import AnnotationLog
from emotui.store.beside import EmbeddingTable, NoteLog, SettingTable, SliceTable
from emotui.store.by_name import ByName
from emotui.store.datasets import DatasetTable
from emotui.store.gold import GoldTable
from emotui.store.list_rows import ListRows
from emotui.store.results import ResultTable
from emotui.store.runs import RunTable
from emotui.store.samples import SampleTable
from emotui.store.upgrade import OnUpgrade, Upgraded

if TYPE_CHECKING:
    from emotui.store.listing import Listing


def default_path() -> Path:
    """The workspace in the platform's data folder."""
    import platformdirs

    return Path(platformdirs.user_data_dir("emotui")) / "workspace.duckdb"


class Store:
    """Made by `Store.open`. Every method, and every one of its parts, raises StoreError where the file is held too long
    or cannot be used. Each is one short transaction (a long iteration: one a chunk), and safe across threads.
    """

    def __init__(self, turns: Access) -> None:
        self.path = turns.path
        self.read_only = turns.read_only
        self._turns = turns
        self.datasets = DatasetTable(turns)
        self.samples = SampleTable(turns)
        self.gold = GoldTable(turns)
        self.list_rows = ListRows(turns)
        self.runs = RunTable(turns)
        self.results = ResultTable(turns)
        self.by_name = ByName(turns)
        self.annotations = AnnotationLog(turns)
        self.notes = NoteLog(turns)
        self.slices = SliceTable(turns)
        self.embeddings = EmbeddingTable(turns)
        self.settings = SettingTable(turns)
        self._seen: tuple[object, int] | None = None
        self.made = False
        """Whether `open` made the file."""
        self.upgraded: Upgraded | None = None
        """What `open` did to a file of an older version."""

    @cached_property
    def listing(self) -> "Listing":
        """The sample list's order. Made when asked for: it needs numpy, and the first paint does not."""
        from emotui.store.listing import Listing

        return Listing(self._turns)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        create: bool = True,
        patience: float | None = None,
        on_waiting: access.OnWaiting | None = None,
        again: bool = True,
        on_upgrade: OnUpgrade | None = None,
        keep_copy: bool = False,
    ) -> Self:
        """Open a workspace, make it where it is missing (`create`), and bring an older one up to date.

        Args:
            patience, on_waiting: as of `Access`, for this and for whatever is done with the store.
            again: look for macros also in one that has not changed since it was last looked through.
            on_upgrade, keep_copy: as of `Access.bring_up_to_date`.

        Raises:
            StoreError: it is missing, no workspace, of a newer version, held, or may not be written.
        """
        file = Path(path)
        if "\0" in str(path):
            raise BadStore(f"{str(path)!r} is no file's name: choose another with --db")
        if any(as_unicode(name) != name for name in (str(file.absolute()), os.path.realpath(path))):
            raise BadStore(f"{str(file.absolute())!r} is not UTF-8, as the path of a store must be: use --db")
        made = False
        if not is_there(file):
            check_no_log(file)
            if create and not read_only:
                made = _make(file)
        store = cls(Access(file, read_only=read_only, patience=patience, on_waiting=on_waiting))
        store.made = made
        store.upgraded = store._turns.bring_up_to_date(again=again, on_upgrade=on_upgrade, keep_copy=keep_copy)
        scratch.sweep_soon(None if read_only else file)
        return store

    def leave_no_empty(self) -> None:
        """Remove the file where `open` made it, nothing has been kept in it since, and nobody else has it open."""
        if not self.made:
            return
        self._turns.patience = 0
        with contextlib.suppress(StoreError, OSError):
            with self._turns.reading() as connection:
                if not schema.is_empty(connection):
                    return
            with self._turns.writing(shown=False) as connection:
                if schema.is_empty(connection):
                    self.path.unlink()
            self._turns.close()

    def waiting(self, on_waiting: access.OnWaiting, patience: float | None = None) -> Self:
        """The same store for work that rather waits than ends while another program holds the file.

        Args:
            on_waiting: told now and then for whom it waits, and for how many seconds. What it raises ends the waiting.
        """
        turns = Access(self.path, read_only=self.read_only, patience=patience, on_waiting=on_waiting)
        turns.was_open = self._turns.was_open
        return type(self)(turns)

    def together(self) -> contextlib.AbstractContextManager[None]:
        """One transaction for all that this thread reads inside; nothing may be written there."""
        return self._turns.together()

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Nobody else brings answers together in the file meanwhile (`Access.alone`)."""
        return self._turns.alone()

    def look_through(self) -> None:
        """Remember that no macro stands in it as it is now, for who opens it next, if nobody else has it open.

        Raises:
            StoreError: it holds one, or cannot be read.
        """
        Access(self.path, read_only=True, patience=0).look_through()

    def marker(self) -> tuple[object, int]:
        """A value that changes when there is something new to show. Costs a file stat while nothing was written."""
        stat = _stat(self.path)
        if self._seen is None or self._seen[0] != stat:
            with self._turns.reading() as connection:
                row = connection.execute("select revision from workspace").fetchone()
            self._seen = (stat, int(row[0]) if row else 0)
        return (str(self.path), self._seen[1])


def _stat(path: Path) -> object:
    """What changes when the file, or the log file beside it, is written."""
    seen: list[tuple[int, int]] = []
    for file in (path, path.with_name(path.name + ".wal")):
        with contextlib.suppress(FileNotFoundError):
            stat = file.stat()
            seen.append((stat.st_mtime_ns, stat.st_size))
    return tuple(seen)


def check_no_log(path: Path) -> None:
    """Raises: BadStore where the log of a store lies there without it: a new one would take it for its own."""
    log = path.with_name(path.name + ".wal")
    if is_there(log):
        raise BadStore(
            f"{log} is the log of a store that is gone, and holds what was written last: bring {path} back beside it, "
            "or move the log away to begin anew"
        )


def _put_in_place(fresh: Path, path: Path) -> None:
    """Give a file its name. Raises FileExistsError where another program was quicker."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        fresh.rename(path)


def _make(path: Path) -> bool:
    """Make an empty workspace under another name and put it in place whole, so that nobody ever meets half of one.

    Returns: False where another program was quicker, whose workspace stays.
    """
    from emotui.store import duckdb_core

    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(duckdb_core.connect(fresh, config=access.settings())) as connection:
            connection.execute("begin")
            schema.create(connection)
            connection.execute("commit")
        try:
            _put_in_place(fresh, path)
        except FileExistsError:
            return False
        return True
    except (duckdb_core.Error, OSError) as error:
        raise refusals.refusal(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()
