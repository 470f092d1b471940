"""What is kept beside the samples of datasets: filters under a name, notes with codes, vectors of texts, settings."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.errors import BadInput
from emotui.store.rows import now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from emotui.store.access import Access

# Filters that are kept under a name.


class SliceTable:
    """Filters of a dataset under a name. Every method is one short transaction; safe across threads."""

    def __init__(self, turns: "Access") -> None:
        self._turns = turns

    def all(self, dataset: int) -> list[tuple[str, str, str]]:
        """(name, conditions as text, when it was saved) of each, by name."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select name, conditions, made from slices where dataset = ? order by lower(name), name", [dataset]
            )
            return found.fetchall()

    def save(self, dataset: int, name: str, conditions: str) -> bool:
        """Keep a filter under a name, in place of one of that name; says whether there was one."""
        with self._turns.writing() as connection:
            gone = connection.execute(
                "delete from slices where dataset = ? and name = ? returning name", [dataset, name]
            ).fetchall()
            connection.execute("insert into slices values (?, ?, ?, ?)", [dataset, name, conditions, now()])
        return bool(gone)

    def remove(self, dataset: int, name: str) -> None:
        """Forget a filter. Raises BadInput where there is none of that name."""
        with self._turns.writing() as connection:
            gone = connection.execute(
                "delete from slices where dataset = ? and name = ? returning name", [dataset, name]
            ).fetchall()
            if not gone:
                raise BadInput(f"there is no slice {name!r}")


# The log of notes and codes. It only grows: undo is an entry in it.

NOTE, RENAME, UNDO = "note", "rename", "undo"
"""What an entry does: a person's note on a sample is now this; a code has another name; an entry is taken back."""


class NoteEntry(msgspec.Struct, frozen=True):
    """One entry. `text` and `codes`: of a note what it says, of a new name the two names of the code.

    `undoes`: the entry that this one takes back. `at`: UTC, ISO 8601.
    """

    entry: int
    kind: str
    dataset: int
    sample: int | None
    annotator: str
    text: str
    codes: tuple[str, ...]
    undoes: int | None
    at: str


Wanted = tuple[int, str, str, Sequence[str]]
"""(sample, annotator, text, codes) of a note that is to be written."""


class NoteLog:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: "Access") -> None:
        self._turns = turns

    def entries(self, dataset: int) -> list[NoteEntry]:
        """All entries about a dataset, in the order in which they were made, on whichever machine."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select entry, kind, dataset, sample, annotator, text, codes, undoes, made from notes"
                " where dataset = ? order by made, entry",
                [dataset],
            )
            return list(map(_entry, found.fetchall()))

    def last(self, dataset: int) -> int:
        """The number of the newest entry about a dataset; 0 where there is none."""
        with self._turns.reading() as connection:
            found = connection.execute("select max(entry) from notes where dataset = ?", [dataset]).fetchone()
            return int(found[0] or 0) if found else 0

    def write(self, dataset: int, notes: Iterable[Wanted]) -> None:
        """Keep these notes, all or none, each in place of what its annotator noted about the sample before."""
        at = now()
        rows = [(NOTE, dataset, sample, who, text, list(codes), None, at) for sample, who, text, codes in notes]
        if rows:
            self._append(rows)

    def rename(self, dataset: int, old: str, new: str, annotator: str) -> None:
        """Call a code by another name from now on; where there is one of that name, both are one."""
        self._append([(RENAME, dataset, None, annotator, "", [old, new], None, now())])

    def undo(self, dataset: int, annotator: str) -> NoteEntry | None:
        """Take back the last entry of an annotator that is not taken back yet; None where there is none."""
        with self._turns.writing() as connection:
            row = connection.execute(
                "select entry, kind, dataset, sample, annotator, text, codes, undoes, made from notes"
                " where dataset = ? and annotator = ? and kind != ? and entry not in"
                " (select undoes from notes where dataset = ? and undoes is not null)"
                " order by made desc, entry desc limit 1",
                [dataset, annotator, UNDO, dataset],
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                "insert into notes values (nextval('note_ids'), ?, ?, ?, ?, '', [], ?, ?)",
                [UNDO, dataset, row[3], annotator, row[0], now()],
            )
            return _entry(row)

    def take_over(self, entries: Sequence[NoteEntry]) -> None:
        """Add entries of another store with their moments, all or none.

        Their numbers are those of the entries here where `undoes` names one, and below 0 for those that are added.
        """
        if not entries:
            return
        with self._turns.writing() as connection:
            found = connection.execute("select nextval('note_ids') from range(?)", [len(entries)]).fetchall()
            given = dict(zip((one.entry for one in entries), sorted(number for (number,) in found), strict=True))
            connection.executemany(
                "insert into notes values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        given[one.entry],
                        one.kind,
                        one.dataset,
                        one.sample,
                        one.annotator,
                        one.text,
                        list(one.codes),
                        None if one.undoes is None else given.get(one.undoes, one.undoes),
                        one.at,
                    )
                    for one in entries
                ],
            )

    def _append(self, rows: Sequence[tuple[object, ...]]) -> None:
        with self._turns.writing() as connection:
            connection.executemany("insert into notes values (nextval('note_ids'), ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _entry(row: tuple[Any, ...]) -> NoteEntry:
    entry, kind, dataset, sample, annotator, text, codes, undoes, at = row
    return NoteEntry(entry, kind, dataset, sample, annotator, text, tuple(codes), undoes, at)


# Vectors of texts, by what embedded them: a text is embedded once.


class EmbeddingTable:
    """Every method is one short transaction; safe across threads. Vectors are bytes, as their owner wrote them."""

    def __init__(self, turns: "Access") -> None:
        self._turns = turns

    def known(self, model: str, digests: Sequence[str]) -> dict[str, bytes]:
        """By digest the vectors that a model has made of these texts."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select digest, vector from embeddings where model = ? and digest in (select unnest(?))",
                [model, list(digests)],
            ).fetchall()
        return dict(found)

    def keep(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors of a model by their texts' digests. What is known already stays as it is."""
        if not vectors:
            return
        with self._turns.writing() as connection:
            there = connection.execute(
                "select digest from embeddings where model = ? and digest in (select unnest(?))",
                [model, list(vectors)],
            ).fetchall()
            known = {digest for (digest,) in there}
            appender = connection.appender("embeddings")
            appender.append_rows((model, digest, vector) for digest, vector in vectors.items() if digest not in known)
            appender.flush()


# Settings: JSON values by key.

_SHORT = 2000
"""Characters of a setting that is read before it is asked for: a draft may be as long as a book."""

_NONE = "null"


class SettingTable:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: "Access") -> None:
        self._turns = turns

    def get(self, key: str, default: Any = None) -> Any:
        """A JSON value kept under `key`, or `default`. Inside `together` all that are short are read at once."""
        if self._turns.is_together:
            text = self._turns.once("settings", self._short).get(key, _NONE)
            if text is not None:
                kept = _value(text)
                return default if kept is None else kept
        with self._turns.reading() as connection:
            kept = _setting(connection, key)
        return default if kept is None else kept

    def _short(self) -> dict[str, str | None]:
        """Every value by its key; None for one that is long."""
        with self._turns.reading() as connection:
            asked = "select key, case when length(value) <= ? then value end from settings"
            return dict(connection.execute(asked, [_SHORT]).fetchall())

    def beginning(self, beginning: str) -> dict[str, Any]:
        """Every JSON value whose key begins so, by its key."""
        with self._turns.reading() as connection:
            return _settings(connection, beginning)

    def change_all(self, beginning: str, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        """Keep what `change` makes of the values whose keys begin so, all or none; nobody writes in between.

        Args:
            change: gives the values that are new by their keys, whatever these begin with; None: there is to be none.
        """
        with self._turns.writing(shown=False) as connection:
            for key, value in change(_settings(connection, beginning)).items():
                if value is None:
                    connection.execute("delete from settings where key = ?", [key])
                else:
                    _set(connection, key, value)

    def change(self, key: str, change: Callable[[Any], Any]) -> None:
        """Keep what `change` makes of the JSON value under `key` (None: there is none); nobody writes in between."""
        with self._turns.writing(shown=False) as connection:
            _set(connection, key, change(_setting(connection, key)))

    def set(self, key: str, value: Any) -> None:
        """Keep a JSON value under `key`."""
        with self._turns.writing(shown=False) as connection:
            _set(connection, key, value)


def _setting(connection: "DuckDBPyConnection", key: str) -> Any:
    """The JSON value kept under `key`; None where there is none."""
    row = connection.execute("select value from settings where key = ?", [key]).fetchone()
    return _value(row[0]) if row else None


def _value(text: str) -> Any:
    """A JSON value; None where somebody else wrote what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _settings(connection: "DuckDBPyConnection", beginning: str) -> dict[str, Any]:
    """Every value whose key begins so, by its key."""
    found = connection.execute("select key, value from settings where starts_with(key, ?) order by key", [beginning])
    return {key: _value(value) for key, value in found.fetchall()}


def _set(connection: "DuckDBPyConnection", key: str, value: Any) -> None:
    """Keep a JSON value under `key`, in place of what was there."""
    connection.execute("delete from settings where key = ?", [key])
    connection.execute("insert into settings values (?, ?)", [key, json.dumps(value, ensure_ascii=False)])
