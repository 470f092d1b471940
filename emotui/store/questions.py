"""A researcher's own questions in SQL over the views of a store, and copies of a store for other programs.

A question is one SELECT. It is asked by an engine of its own, which has the store open for reading, can open nothing
else, and cannot be told otherwise by the question; so a question changes nothing and reads no other file.
"""

import contextlib
import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emotui.bounded import is_there
from emotui.errors import BadInput, EmotuiError
from emotui.store import access, refusals, schema, views
from emotui.store.access import Access

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ENDINGS = {
    ".csv": "format csv, header",
    ".tsv": "format csv, header, delimiter '\t'",
    ".jsonl": "format json",
    ".parquet": "format parquet",
}
"""By the ending of a file: how DuckDB writes it."""

TOO_MUCH = (
    "the query needs more than 1 GB of memory: ask for fewer rows or shorter values (WHERE, LIMIT, left(text, 1000))"
)

_MEMORY = "1GB"
"""What DuckDB may use for a query; what it can put aside beyond that, it does."""

_PUT_ASIDE = "4GB"
"""How much of that may lie on the disk; DuckDB's own limit is nine tenths of what is free there."""

_AT_ONCE = 20
"""Rows that are read out at a time, of which any may be long."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows that a question gave. `more`: whether there are further ones; `full`: because these are long."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False
    full: bool = False


def ask(
    path: Path,
    question: str,
    *,
    limit: int | None = None,
    most: int | None = None,
    patience: float | None = None,
    on_waiting: access.OnWaiting | None = None,
    on_begun: Callable[[], None] = lambda: None,
) -> Answer:
    """The answer to one SELECT over the views of the store at `path`.

    Args:
        limit: rows at most.
        most: bytes of all values together at most, about.
        patience, on_waiting: as of `Access`.
        on_begun: told when the store is open and the query begins.

    Raises:
        BadInput: it is no SELECT, or wrong.
        EmotuiError: it needs too much memory, or one row is longer than `most`.
    """
    checked = _select(question)
    rows: list[tuple[Any, ...]] = []
    room = math.inf if most is None else most
    with _asking(Access(path, read_only=True, patience=patience, on_waiting=on_waiting, shut=False)) as connection:
        on_begun()
        found = connection.execute(checked)
        columns = tuple(column[0] for column in found.description or ())
        while some := found.fetchmany(_AT_ONCE):
            for row in some:
                if len(rows) == limit:
                    return Answer(columns, tuple(rows), more=True)
                room -= _size(row)
                if most is not None and room < 0 and not rows:
                    raise EmotuiError(
                        f"a row of the answer is longer than {most / 2**20:.0f} MB: ask for less of it, as in"
                        " left(text, 1000), or write it with --to FILE"
                    )
                if room < 0:
                    return Answer(columns, tuple(rows), more=True, full=True)
                rows.append(row)
    return Answer(columns, tuple(rows))


def _size(value: object) -> int:
    """The bytes of a value, about."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_size(key) + _size(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return 8


@contextlib.contextmanager
def written_to(to: Path) -> Iterator[Path]:
    """A new file beside `to` for `write` that takes its place at the end, or is gone where something went wrong.

    Raises:
        BadInput: the file's ending is none of `ENDINGS`, or it cannot be written.
    """
    if to.suffix.lower() not in ENDINGS:
        raise BadInput(f"{to}: unknown ending {to.suffix!r}: the format goes by it, and is one of {', '.join(ENDINGS)}")
    with _replacing(to) as beside:
        yield beside


def write(
    path: Path,
    question: str,
    into: Path,
    ending: str,
    *,
    patience: float | None = None,
    on_waiting: access.OnWaiting | None = None,
    on_begun: Callable[[], None] = lambda: None,
) -> int:
    """Write the answer to one SELECT into a file that `written_to` gave; how many rows there are.

    Args:
        ending: of `ENDINGS`: the format.

    Raises:
        BadInput, EmotuiError: as `ask`.
    """
    checked = _select(question)
    turns = Access(path, read_only=True, patience=patience, on_waiting=on_waiting, shut=False)
    with _asking(turns, into) as connection:
        on_begun()
        done = connection.execute(f"copy (\n{checked}\n) to '{_escaped(into)}' ({ENDINGS[ending]})").fetchone()
        return int(done[0]) if done else 0


def snapshot(
    path: Path,
    to: Path,
    *,
    force: bool = False,
    patience: float | None = None,
    on_waiting: access.OnWaiting | None = None,
) -> None:
    """Copy the store at `path` as it is now; in the copy the views stand in the schema `views`.

    Args:
        force: replace a file that is there.

    Raises:
        BadInput: `to` is the store itself, is there already, or cannot be written.
    """
    log = path.with_name(path.name + ".wal")
    if os.path.realpath(to) in (os.path.realpath(path), os.path.realpath(log)) or (is_there(to) and to.samefile(path)):
        raise BadInput(f"{to} is the store itself: name another file")
    if is_there(to) and not force:
        raise BadInput(f"{to} is there already: name another file, or add --force to replace it")
    turns = Access(path, read_only=True, patience=patience, on_waiting=on_waiting, shut=False)
    with _replacing(to) as beside, _reading_alone(turns) as connection:
        # The store stays open for reading, so nobody writes it meanwhile; a copy is a transaction of its own.
        connection.execute("commit")
        connection.execute(f"attach '{_escaped(beside)}' as copied")
        connection.execute("copy from database store to copied")
        connection.execute("use copied")
        connection.execute("create schema views")
        views.make(connection, "main", "views")
        connection.execute("use memory")
        connection.execute("detach copied")
        connection.execute("begin")


@contextlib.contextmanager
def _reading_alone(turns: Access) -> "Iterator[DuckDBPyConnection]":
    """A reading transaction by an engine that nothing else uses, and that ends with it."""
    with contextlib.closing(turns):
        turns.bring_up_to_date(again=False)  # of an older one that may only be read, a copy is
        with turns.reading(access.ROOMY) as connection:
            schema.check_plain(connection, turns.path)
            schema.check_no_macros(connection, turns.path)
            yield connection


@contextlib.contextmanager
def _asking(turns: Access, into: Path | None = None) -> "Iterator[DuckDBPyConnection]":
    """An engine that has the views, can open no file but `into`, and cannot be set otherwise."""
    import duckdb

    with _reading_alone(turns) as connection:
        views.make(connection, "store.main", "memory.main")
        connection.execute("use memory.main")
        connection.execute(f"set memory_limit = '{_MEMORY}'")
        connection.execute(f"set max_temp_directory_size = '{_PUT_ASIDE}'")
        connection.execute("set enable_progress_bar = false")  # which it draws for who runs Python without a file
        if into is not None:
            connection.execute(f"set allowed_paths = ['{_escaped(into)}']")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        try:
            yield connection
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise EmotuiError(TOO_MUCH) from error
        except (duckdb.InterruptException, duckdb.IOException):
            raise
        except duckdb.Error as error:
            raise BadInput(_told(error)) from error


def _select(question: str) -> str:
    """The one SELECT that `question` holds. Raises BadInput for anything else."""
    import duckdb

    try:
        found = duckdb.extract_statements(question)
    except duckdb.Error as error:
        raise BadInput(_told(error)) from error
    if len(found) != 1:
        raise BadInput(
            f"a query is one SELECT, and these are {len(found)} statements" if found else "the query is empty"
        )
    if found[0].type != duckdb.StatementType.SELECT:
        raise BadInput("a query is one SELECT: nothing can be changed here (the views: " + ", ".join(views.NAMES) + ")")
    return str(found[0].query).strip().rstrip(";")


def _told(error: Exception) -> str:
    """DuckDB's complaint on one line, without its picture of the place."""
    if "pytz" in str(error):
        return "a time with a time zone cannot be read out: cast it, as in now()::timestamp"
    said = str(error).split("\n\n")
    lines = [" ".join(part.split()) for part in said if not part.startswith("LINE ")]
    return " ".join(line for line in lines if line)


@contextlib.contextmanager
def _replacing(to: Path) -> Iterator[Path]:
    """A new file beside `to` that takes its place at the end, or is gone where something went wrong."""
    target = Path(os.path.realpath(to))
    try:
        if target.is_dir():
            raise BadInput(f"{to} is a folder: name a file")
        if not target.parent.is_dir():
            raise BadInput(f"{to}: there is no folder {str(target.parent)!r} to write it in")
    except OSError as error:
        raise BadInput(f"{to} cannot be written: {(error.strerror or str(error)).lower()}") from None
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        beside.replace(target)
    except OSError as error:
        raise refusals.refusal(to, error) from error
    finally:
        for left in (beside, beside.with_name(beside.name + ".wal")):
            left.unlink(missing_ok=True)


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")
