"""The samples of data sets: their records, their order, what stands in them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from emotui.records import ALL_SENTENCES
from emotui.store import access, datasets
from emotui.store.rows import chunk_rows, plain

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection

    from emotui.store.rows import Numbers

_LOOKED_AT = 500
"""Samples whose own columns are looked at: those of one file mostly have the same."""

_TWO_SENTENCES = r"""[.!?…]["'”’)\]]*\s+["'“‘(\[]*\p{Lu}"""

_SAID = {"spans": "ARRAY", "labels": "%", "label": "VARCHAR", "values": "OBJECT", "sentences": "ARRAY"}
"""Keys under which gold says something, with the JSON type that their values have."""


def _is(path: str, kind: str) -> str:
    empty = f" and json_extract(record, '{path}')::varchar != '{{}}'" if path == "$.annotators" else ""
    return f"json_type(record, '{path}') like '{kind}' and json_type(record, '{path}') != 'NULL'{empty}"


class SampleTable:
    """Every method is one short transaction (a long iteration: one a chunk); safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def file_order(self, dataset: int) -> range:
        """The numbers of a data set's samples, in file order."""
        with self._turns.reading() as connection:
            first, n = datasets.first_of(connection, dataset)
        return range(first, first + n)

    def emotions(self, dataset: int) -> list[str]:
        """Every emotion that some sample, or sentence of one, has; sorted."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select distinct unnest(emotions) as emotion from label_sets where dataset = ? order by emotion",
                [dataset],
            )
            return [row[0] for row in found.fetchall()]

    def label_counts(self, dataset: int) -> dict[str, dict[str, int]]:
        """How many samples have each emotion, and each valence: by `emotions` and `valences`, then by name."""
        with self._turns.reading() as connection:
            first, n = datasets.first_of(connection, dataset)
            found: dict[str, dict[str, int]] = {}
            for column in ("emotions", "valences"):
                rows = connection.execute(
                    f"select name, sum(n)::bigint from (select distinct label_set, unnest({column}) as name"
                    " from label_sets where dataset = ?) join (select label_set, count(*) as n from samples"
                    " where sample between ? and ? group by label_set) using (label_set) group by name",
                    [dataset, first, first + n - 1],
                )
                found[column] = dict(rows.fetchall())
            return found

    def labels_spans(self, dataset: int) -> bool:
        """Does gold give any span of the data set a label?"""
        with self._turns.reading() as connection:
            first, n = datasets.first_of(connection, dataset)
            found = connection.execute(
                "select exists(select 1 from samples where sample between ? and ?"
                " and regexp_matches(json_extract(record, '$.spans')::varchar, ?))",
                [first, first + n - 1, r"\[\d+,\d+,\""],
            ).fetchone()
            return bool(found and found[0])

    def numbers_by_id(self, dataset: int) -> dict[str, int]:
        """The number of each sample of a data set, by its id, in file order."""
        with self._turns.reading(access.ROOMY) as connection:
            first, n = datasets.first_of(connection, dataset)
            found = connection.execute(
                "select id, sample from samples where sample between ? and ? order by sample", [first, first + n - 1]
            )
            return dict(found.fetchall())

    def said_counts(self, dataset: int, names: Mapping[str, str], own: Sequence[str] = ()) -> dict[str, int]:
        """How many samples gold says something of, by the key of records; `names`: what keys are called instead,
        `own`: further keys.
        """
        with self._turns.reading(access.ROOMY) as connection:
            first, n = datasets.first_of(connection, dataset)
            kinds = {**_SAID, "annotators": "OBJECT", **dict.fromkeys(own, "%")}
            places = {key: [f"$.{key}", *([] if key in names else [f"$.meta.{key}"])] for key in kinds}
            there = [
                f"count(*) filter (where {' or '.join(_is(at, kinds[key]) for at in places[key])})" for key in kinds
            ]
            row = connection.execute(
                f"select {', '.join(there)} from (select case when json_valid(record) then record end as record"
                " from samples where sample between ? and ?)",
                [first, first + n - 1],
            ).fetchone()
            counts = dict(zip(kinds, row or (), strict=False))
            return {names.get(key, key): count for key, count in counts.items() if count}

    def annotators(self, dataset: int) -> list[tuple[str, int]]:
        """(name, how many samples they say something about) of those whose word stands inside the gold records."""
        return list(self._turns.once(("annotators", dataset), lambda: self._annotators(dataset)))

    def _annotators(self, dataset: int) -> list[tuple[str, int]]:
        with self._turns.reading(access.ROOMY) as connection:
            first, n = datasets.first_of(connection, dataset)
            found = connection.execute(
                "select name, count(*) from (select unnest(try(json_keys(record, '$.annotators'))) as name from samples"
                " where sample between ? and ? and contains(record, '\"annotators\"')) group by name order by name",
                [first, first + n - 1],
            )
            return found.fetchall()

    def records(self, numbers: "Numbers") -> list[tuple[int, bytes]]:
        """(number, record as JSON) of each, in the order asked for; unknown numbers are left out."""
        with self._turns.reading(access.ROOMY) as connection:
            wanted = plain(numbers)
            if not wanted:
                return []
            found = connection.execute(
                "select sample, record from samples where sample between ? and ?"
                " and sample in (select unnest(?::bigint[]))",
                [min(wanted), max(wanted), wanted],
            )
            record_of = {number: record.encode() for number, record in found.fetchall()}
            return [(number, record_of[number]) for number in wanted if number in record_of]

    def neighbours(self, number: int, reach: int) -> list[tuple[int, bytes]]:
        """(number, record as JSON) of a sample and of up to `reach` on either side in its data set, in file order."""
        with self._turns.reading(access.ROOMY) as connection:
            found = connection.execute(
                "select s.sample, s.record from samples s, datasets d where d.first <= ? and ? < d.first + d.n"
                " and s.sample between greatest(d.first, ?) and least(d.first + d.n - 1, ?) order by s.sample",
                [number, number, number - reach, number + reach],
            )
            return [(sample, record.encode()) for sample, record in found.fetchall()]

    def range_of(self, number: int) -> tuple[int, int] | None:
        """The number of the first sample of a sample's data set, and how many it has; None: there is no such sample."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select first, n from datasets where first <= ? and ? < first + n", [number, number]
            ).fetchone()
            return None if found is None else (int(found[0]), int(found[1]))

    def hashes(self, first: int, n: int, column: str) -> "np.ndarray":
        """A hash of what each of `n` samples says in a column of its own, in the order of the file (n,), uint64."""
        with self._turns.reading(access.ROOMY) as connection:
            found = connection.execute(
                "select hash(try(json_extract_string(record, ?))) as said from samples where sample between ? and ?"
                " order by sample",
                [f'$.meta."{column}"', first, first + n - 1],
            )
            said: np.ndarray = found.fetchnumpy()["said"]
            return said

    def own_columns(self, dataset: int) -> list[str]:
        """The names of a data set's own columns, as far as its first few hundred samples have them."""
        with self._turns.reading() as connection:
            first, n = datasets.first_of(connection, dataset)
            found = connection.execute(
                "select unnest(try(json_keys(record, '$.meta'))) from samples where sample between ? and ?"
                " order by sample",
                [first, first + min(n, _LOOKED_AT) - 1],
            )
            return list(dict.fromkeys(name for (name,) in found.fetchall()))

    def said_in(self, dataset: int, column: str) -> list[str | None]:
        """What each sample of a data set says in a column of its own, in file order."""
        with self._turns.reading(access.ROOMY) as connection:
            first, n = datasets.first_of(connection, dataset)
            path = "/meta/" + column.replace("~", "~0").replace("/", "~1")
            found = connection.execute(
                "select try(json_extract_string(record, ?)) from samples where sample between ? and ? order by sample",
                [path, first, first + n - 1],
            )
            return [said for (said,) in found.fetchall()]

    def of_dataset(self, dataset: int, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, bytes]]:
        """(number, record as JSON) in file order, positions `start` up to but without `stop`."""
        begin, size = max(start, 0), chunk_rows()
        with self._turns.reading(access.ROOMY) as connection:
            first, n = datasets.first_of(connection, dataset)
            stop = n if stop is None else min(stop, n)
            rows = _record_range(connection, first + begin, first + min(begin + size, stop))
        while begin < stop:
            yield from rows
            begin += size
            size = chunk_rows(size, sum(len(record) for _, record in rows))
            if begin < stop:
                with self._turns.reading(access.ROOMY) as connection:
                    rows = _record_range(connection, first + begin, first + min(begin + size, stop))

    def holding(self, dataset: int, part: str, most: int | None = None) -> list[int]:
        """The numbers of a data set's samples whose record, as JSON, holds this: a first sieve without decoding.

        Args:
            most: only so many of them.
        """
        with self._turns.reading() as connection:
            found = connection.execute(
                "with d as (select first, first + n as stop from datasets where dataset = ?)"
                " select sample from samples where sample >= (select first from d) and sample < (select stop from d)"
                " and contains(record, ?) order by sample limit ?",
                [dataset, part, most],
            )
            return [row[0] for row in found.fetchall()]

    def shapes(self, dataset: int, passage: str) -> tuple[int, int, int, int]:
        """How many samples are texts, of these one sentence with an emotion, passages, and of these of five sentences.

        Args:
            passage: what the record of a passage, as JSON, holds.
        """
        with self._turns.reading() as connection:
            found = connection.execute(
                "with d as (select first, first + n as stop from datasets where dataset = $dataset), s as ("
                " select contains(record, $passage) as long, record, text, emotion from samples"
                " where sample >= (select first from d) and sample < (select stop from d))"
                " select count(*) filter (not long),"
                # With `case` nothing is parsed or searched of the samples of the other kind.
                " count(*) filter (case when long or emotion is null then false"
                " else not regexp_matches(text, $two) end),"
                " count(*) filter (long), count(*) filter (case when long then coalesce("
                f"json_array_length(record, '$.meta.{ALL_SENTENCES}'), json_array_length(record, '$.sentences')) = 5"
                " else false end) from s",
                {"dataset": dataset, "passage": passage, "two": _TWO_SENTENCES},
            ).fetchone()
            texts, single, passages, five = found or (0, 0, 0, 0)
            return int(texts), int(single), int(passages), int(five)


def _record_range(connection: "DuckDBPyConnection", start: int, stop: int) -> list[tuple[int, bytes]]:
    """(number, record) of the samples with numbers from `start` up to but without `stop`, in their order."""
    found = connection.execute(
        "select sample, record from samples where sample >= ? and sample < ? order by sample", [start, stop]
    )
    return [(number, record.encode()) for number, record in found.fetchall()]
