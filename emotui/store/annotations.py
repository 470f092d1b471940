"""The annotation log and the settings, on an open connection. The log only grows: undo is an entry in it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from emotui.errors import BadInput
from emotui.store.rows import Annotation, Outline, now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 100
"""Entries of one statement: ten times as fast as one by one, and more gain nothing."""


Entry = tuple[str, int | None, str, bytes, int | None]
"""(kind, sample, annotator, payload, undoes) of an entry that is to be made."""


def append(
    connection: "DuckDBPyConnection",
    kind: str,
    sample: int | None,
    annotator: str,
    payload: bytes,
    undoes: int | None,
) -> int:
    """Add an entry; its number. Raises BadInput where it would undo an entry that does not exist or is undone."""
    return append_each(connection, [(kind, sample, annotator, payload, undoes)])[0].annotation


def append_each(connection: "DuckDBPyConnection", entries: Iterable[Entry]) -> list[Annotation]:
    """Add entries in their order; they as they stand in the log. Raises BadInput as `append` does, and adds none."""
    made, coming = [], iter(entries)
    while some := list(islice(coming, _AT_ONCE)):
        _check_undoes(connection, [undoes for *_, undoes in some if undoes is not None])
        at = now()
        rows = ", ".join(["(nextval('annotation_ids'), ?, ?, ?, ?, ?, ?)"] * len(some))
        values = [
            value
            for kind, sample, who, payload, undoes in some
            for value in (kind, sample, who, payload.decode(), undoes, at)
        ]
        found = connection.execute(f"insert into annotations values {rows} returning annotation", values).fetchall()
        made += [
            Annotation(number, kind, sample, who, payload, undoes, at)
            for (number,), (kind, sample, who, payload, undoes) in zip(sorted(found), some, strict=True)
        ]
    return made


def take_over(
    connection: "DuckDBPyConnection", n: int, numbered: Callable[[Sequence[int]], Sequence[Annotation]]
) -> None:
    """Add `n` entries of other stores with their moments; `numbered` is given the numbers that they have here."""
    if not n:
        return
    found = connection.execute("select nextval('annotation_ids') from range(?)", [n]).fetchall()
    coming = iter(numbered(sorted(number for (number,) in found)))
    while some := list(islice(coming, _AT_ONCE)):
        values = [
            value
            for entry in some
            for value in (
                entry.annotation,
                entry.kind,
                entry.sample,
                entry.annotator,
                entry.payload.decode(),
                entry.undoes,
                entry.at,
            )
        ]
        rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * len(some))
        connection.execute(f"insert into annotations values {rows}", values)


def _check_undoes(connection: "DuckDBPyConnection", undoes: Sequence[int]) -> None:
    """Raises BadInput where one of these entries does not exist, or is undone."""
    if not undoes:
        return
    missing, undone = connection.execute(
        "with u as (select unnest(?::bigint[]) as number) select"
        " (select min(number) from u where number not in (select annotation from annotations)),"
        " (select min(undoes) from annotations where undoes in (select number from u))",
        [list(undoes)],
    ).fetchone() or (None, None)
    if missing is not None:
        raise BadInput(f"there is no annotation {missing} to undo")
    if undone is not None:
        raise BadInput(f"annotation {undone} is undone already")


def append_all(connection: "DuckDBPyConnection", entries: Iterable[tuple[str, int | None, str, bytes]]) -> int:
    """Add entries of (kind, sample, annotator, payload) that undo nothing, in their order; how many."""
    n, coming = 0, iter(entries)
    while some := list(islice(coming, _AT_ONCE)):
        at = now()
        rows = ", ".join(["(nextval('annotation_ids'), ?, ?, ?, ?, null, ?)"] * len(some))
        values = [value for kind, sample, who, payload in some for value in (kind, sample, who, payload.decode(), at)]
        connection.execute(f"insert into annotations values {rows}", values)
        n += len(some)
    return n


def annotations(
    connection: "DuckDBPyConnection",
    sample: int | None = None,
    annotator: str | None = None,
    after: int = 0,
    kind: str = "",
    within: range | None = None,
) -> list[Annotation]:
    """Entries numbered above `after` in the order in which they were made, undone ones and undoings among them.

    Args:
        kind: how their kinds begin.
        within: the samples that they are about.
    """
    first, stop = (None, None) if within is None else (within.start, within.stop)
    found = connection.execute(
        "select annotation, kind, sample, annotator, payload, undoes, made from annotations"
        " where (?::bigint is null or sample = ?) and (?::varchar is null or annotator = ?) and annotation > ?"
        " and starts_with(kind, ?) and (?::bigint is null or (sample >= ? and sample < ?))"
        " order by annotation",
        [sample, sample, annotator, annotator, after, kind, first, first, stop],
    )
    return [
        Annotation(number, kind, of, who, payload.encode(), undoes, at)
        for number, kind, of, who, payload, undoes, at in found.fetchall()
    ]


def last_annotation(connection: "DuckDBPyConnection", kind: str, within: range) -> int:
    """The number of the newest entry about these samples; 0 where there is none."""
    found = connection.execute(
        "select max(annotation) from annotations where starts_with(kind, ?) and sample >= ? and sample < ?",
        [kind, within.start, within.stop],
    ).fetchone()
    return int(found[0] or 0) if found else 0


def outlines(connection: "DuckDBPyConnection", annotator: str, after: int, kind: str, within: range) -> list[Outline]:
    """One annotator's entries about the samples of `within` without their payloads, a third of the time."""
    found = connection.execute(
        "select annotation, kind, sample, undoes from annotations where annotator = ? and annotation > ?"
        " and starts_with(kind, ?) and sample >= ? and sample < ? order by annotation",
        [annotator, after, kind, within.start, within.stop],
    )
    return found.fetchall()


def setting(connection: "DuckDBPyConnection", key: str, default: Any) -> Any:
    """The value kept under `key`, any JSON value, or `default`."""
    row = connection.execute("select value from settings where key = ?", [key]).fetchone()
    kept = _value(row[0]) if row else None
    return default if kept is None else kept


def _value(text: str) -> Any:
    """A JSON value; None where somebody else wrote what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def settings(connection: "DuckDBPyConnection", beginning: str) -> dict[str, Any]:
    """Every value whose key begins so, by its key."""
    found = connection.execute("select key, value from settings where starts_with(key, ?) order by key", [beginning])
    return {key: _value(value) for key, value in found.fetchall()}


def change_settings(connection: "DuckDBPyConnection", changed: Mapping[str, Any]) -> None:
    """Keep each of these values under its key, in place of what was there; where it is None, nothing any more."""
    for key, value in changed.items():
        if value is None:
            connection.execute("delete from settings where key = ?", [key])
        else:
            set_setting(connection, key, value)


def set_setting(connection: "DuckDBPyConnection", key: str, value: Any) -> None:
    """Keep a JSON value under `key`, in place of what was there."""
    connection.execute("delete from settings where key = ?", [key])
    connection.execute("insert into settings values (?, ?)", [key, json.dumps(value, ensure_ascii=False)])
