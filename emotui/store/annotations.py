"""The annotation log. It only grows: undo is an entry in it."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from emotui.errors import BadInput
from emotui.store import access
from emotui.store.rows import Annotation, Outline, now

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 100
"""Entries of one statement: ten times as fast as one by one, and more gain nothing."""


Entry = tuple[str, int | None, str, bytes, int | None]
"""(kind, sample, annotator, payload, undoes) of an entry that is to be made."""


class AnnotationLog:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def append(self, kind: str, sample: int | None, annotator: str, payload: bytes, undoes: int | None = None) -> int:
        """Add an entry to the log; its number, never used again. Raises BadInput where `undoes` cannot be undone."""
        return self.append_each([(kind, sample, annotator, payload, undoes)])[0].annotation

    def append_all(self, entries: Iterable[tuple[str, int | None, str, bytes]]) -> int:
        """Add entries of (kind, sample, annotator, payload), all or none; how many there were."""
        with self._turns.writing() as connection:
            n, coming = 0, iter(entries)
            while some := list(islice(coming, _AT_ONCE)):
                at = now()
                rows = ", ".join(["(nextval('annotation_ids'), ?, ?, ?, ?, null, ?)"] * len(some))
                values = [
                    value for kind, sample, who, payload in some for value in (kind, sample, who, payload.decode(), at)
                ]
                connection.execute(f"insert into annotations values {rows}", values)
                n += len(some)
            return n

    def append_each(self, entries: Iterable[Entry]) -> list[Annotation]:
        """Add entries of (kind, sample, annotator, payload, undoes), all or none, and give them as they stand.

        Raises BadInput where one undoes what cannot be undone.
        """
        with self._turns.writing() as connection:
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
                found = connection.execute(
                    f"insert into annotations values {rows} returning annotation", values
                ).fetchall()
                made += [
                    Annotation(number, kind, sample, who, payload, undoes, at)
                    for (number,), (kind, sample, who, payload, undoes) in zip(sorted(found), some, strict=True)
                ]
            return made

    def take_over(self, n: int, numbered: Callable[[Sequence[int]], Sequence[Annotation]]) -> None:
        """Add `n` entries of another store's log with their moments, all or none; `numbered` is given the numbers that
        they have here.
        """
        with self._turns.writing() as connection:
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

    def entries(
        self,
        sample: int | None = None,
        annotator: str | None = None,
        *,
        after: int = 0,
        kind: str = "",
        within: range | None = None,
    ) -> list[Annotation]:
        """The log in its order, undone entries and undoings among them; `after` leaves out what is known already.

        Args:
            kind: how the kinds of the entries begin.
            within: the samples that they are about.
        """
        with self._turns.reading() as connection:
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

    def annotators(self, *, kind: str, within: range) -> list[str]:
        """Who has entries of these kinds about these samples, by name."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select distinct annotator from annotations where starts_with(kind, ?) and sample >= ? and sample < ?"
                " order by annotator",
                [kind, within.start, within.stop],
            )
            return [name for (name,) in found.fetchall()]

    def last(self, *, kind: str, within: range) -> int:
        """The number of the newest entry of these kinds about these samples; 0 where there is none."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select max(annotation) from annotations where starts_with(kind, ?) and sample >= ? and sample < ?",
                [kind, within.start, within.stop],
            ).fetchone()
            return int(found[0] or 0) if found else 0

    def outlines(self, annotator: str, *, kind: str, within: range, after: int = 0) -> list[Outline]:
        """One annotator's entries about these samples without their payloads: for a long log."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select annotation, kind, sample, undoes from annotations where annotator = ? and annotation > ?"
                " and starts_with(kind, ?) and sample >= ? and sample < ? order by annotation",
                [annotator, after, kind, within.start, within.stop],
            )
            return found.fetchall()


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
