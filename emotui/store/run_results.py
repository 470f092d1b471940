"""What became of each question of a run, a line each: for tables over a whole run. On an open connection."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from emotui.records import ALL_SENTENCES
from emotui.store.metric_sets import metric_sets, value_of
from emotui.store.rows import Outcome, ValueSum

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def outcomes(connection: "DuckDBPyConnection", run: str, start: int, stop: int) -> list[Outcome]:
    """Of the samples with numbers from `start` up to but without `stop`, by repeat and then by sample."""
    found = connection.execute(
        "with r as (select number from runs where run = ?),"
        " o as (select sample, repeat, count(raw) as attempts from outputs"
        "   where run = (from r) and sample >= ? and sample < ? group by sample, repeat),"
        " p as (select sample, repeat, record from predictions"
        "   where run = (from r) and current and sample >= ? and sample < ?),"
        " s as (select sample, repeat, convention, detail from scores"
        "   where run = (from r) and current and sample >= ? and sample < ?)"
        " select o.sample, m.record, o.repeat, o.attempts, p.record, s.convention, s.detail"
        " from o left join p using (sample, repeat) left join s using (sample, repeat)"
        " join (select sample, record from samples where sample >= ? and sample < ?) m using (sample)"
        " order by o.repeat, o.sample",
        [run, *(start, stop) * 4],
    )
    return [Outcome(*row) for row in found.fetchall()]


def holding(connection: "DuckDBPyConnection", dataset: int, part: str) -> list[int]:
    """The numbers of a data set's samples whose record holds this, letter by letter, in their order."""
    found = connection.execute(
        "with d as (select first, first + n as stop from datasets where dataset = ?)"
        " select sample from samples where sample >= (select first from d) and sample < (select stop from d)"
        " and contains(record, ?) order by sample",
        [dataset, part],
    )
    return [row[0] for row in found.fetchall()]


_TWO_SENTENCES = r"""[.!?…]["'”’)\]]*\s+["'“‘(\[]*\p{Lu}"""


def shapes(connection: "DuckDBPyConnection", dataset: int, passage: str) -> tuple[int, int, int, int]:
    """How many samples of a data set are texts, those of them that are one sentence with an emotion, passages (their
    record holds `passage`), and passages of five sentences.
    """
    found = connection.execute(
        "with d as (select first, first + n as stop from datasets where dataset = $dataset), s as ("
        " select contains(record, $passage) as long, record, text, emotion from samples"
        " where sample >= (select first from d) and sample < (select stop from d))"
        " select count(*) filter (not long),"
        # With `case` nothing is parsed or searched of the samples of the other kind.
        " count(*) filter (case when long or emotion is null then false else not regexp_matches(text, $two) end),"
        " count(*) filter (long), count(*) filter (case when long then coalesce("
        f"json_array_length(record, '$.meta.{ALL_SENTENCES}'), json_array_length(record, '$.sentences')) = 5"
        " else false end) from s",
        {"dataset": dataset, "passage": passage, "two": _TWO_SENTENCES},
    ).fetchone()
    texts, single, passages, five = found or (0, 0, 0, 0)
    return int(texts), int(single), int(passages), int(five)


def bounds(connection: "DuckDBPyConnection", run: str) -> tuple[int, int]:
    """The first number of the run's data set, and the number after its last; (0, 0) for an unknown run."""
    row = connection.execute(
        "select first, first + n from datasets where dataset = (select dataset from runs where run = ?)", [run]
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def run_revisions(connection: "DuckDBPyConnection", runs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """For each run what changes when it is asked or scored further: the numbers of its last output and score."""
    found = connection.execute(
        "select r.run, coalesce((select max(output) from outputs where run = r.number), 0),"
        " coalesce((select max(score) from scores where run = r.number), 0)"
        " from runs r where r.run in (select unnest(?::varchar[]))",
        [list(runs)],
    )
    return {run: (output, score) for run, output, score in found.fetchall()}


def metric_names(connection: "DuckDBPyConnection", dataset: int, besides: Collection[str], task: str) -> list[str]:
    """Further metrics of which some run of a task over a data set has values, in the order in which they came."""
    sets = {number: names for number, names in metric_sets(connection).items() if not set(names) <= set(besides)}
    if not sets:
        return []
    found = connection.execute(
        "select distinct metric_set from scores where metric_set in (select unnest(?::integer[]))"
        " and run in (select number from runs where dataset = ? and task = ?)",
        [list(sets), dataset, task],
    )
    kinds = {number for (number,) in found.fetchall()}
    there = dict.fromkeys(name for number, names in sets.items() if number in kinds for name in names)
    return [name for name in there if name not in besides]


def value_sums(connection: "DuckDBPyConnection", run: str, part: str) -> list[ValueSum]:
    """The values of each metric, added up by repeat, by whether a sample's record holds `part`, and by its labels."""
    sets = metric_sets(connection)
    names = list(dict.fromkeys(name for held in sets.values() for name in held))
    values = [value_of(sets, name) for name in names]
    if not names:
        return []
    found = connection.execute(
        "with s as (select * from scores where run = (select number from runs where run = ?) and current)"
        " select repeat, contains(record, ?), emotion, valence, "
        + ", ".join(f"sum({value}), count({value})" for value in values)
        + " from s join samples using (sample) group by all order by all",
        [run, part],
    )
    return [
        ValueSum(repeat, holds, emotion, valence, name, total, n)
        for repeat, holds, emotion, valence, *sums in found.fetchall()
        for name, total, n in zip(names, sums[::2], sums[1::2], strict=True)
        if n
    ]
