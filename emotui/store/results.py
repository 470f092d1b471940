"""What runs leave: outputs, predictions and scores."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emotui.errors import BadInput, StoreError
from emotui.store import access
from emotui.store.query import bits_to_marks, marks_to_bits
from emotui.store.rows import WIDE_CHUNK, Outcome, ResultRow, ScoreRow, ValueSum, chunk_rows, now, plain

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from emotui.store.rows import Numbers

# Which metrics the values of a score are of, in their order.

Names = tuple[str, ...]

_COLUMNS = 4

VALUES = "value_1, value_2, value_3, value_4, further"
"""The columns of `scores` that hold the values of a score."""


def metric_sets(connection: "DuckDBPyConnection") -> dict[int, Names]:
    """The names of each set, by its number."""
    found = connection.execute("select metric_set, names from metric_sets")
    return {number: tuple(names) for number, names in found.fetchall()}


def numbers_of(connection: "DuckDBPyConnection", wanted: Iterable[Names]) -> dict[Names, int]:
    """The number of each of these sets; one that is not there yet is added."""
    known = {names: number for number, names in metric_sets(connection).items()}
    for names in dict.fromkeys(wanted):
        if names not in known:
            known[names] = max(known.values(), default=0) + 1
            connection.execute("insert into metric_sets values (?, ?::varchar[])", [known[names], list(names)])
    return known


def split(values: Mapping[str, float | None]) -> list[float | list[float | None] | None]:
    """Values as they stand in the columns `VALUES`."""
    found = list(values.values())
    missing = [None] * (_COLUMNS - len(found))
    return [*found[:_COLUMNS], *missing, found[_COLUMNS:] or None]


def joined(names: Names, columns: Sequence[Any]) -> dict[str, float | None]:
    """Values by name, from what stands in the columns `VALUES`."""
    if len(names) <= _COLUMNS:
        return dict(zip(names, columns, strict=False))
    return dict(zip(names, [*columns[:_COLUMNS], *columns[_COLUMNS]], strict=True))


def value_of(sets: dict[int, Names], metric: str) -> str | None:
    """An SQL expression for the value of this metric in a row of `scores`; None where no set has it."""
    places = {number: names.index(metric) + 1 for number, names in sets.items() if metric in names}
    if not places:
        return None
    if len(places) == len(sets) and len(set(places.values())) == 1:
        return _column(min(places.values()))
    cases = " ".join(f"when {number} then {_column(place)}" for number, place in places.items())
    return f"case metric_set {cases} end"


def _column(place: int) -> str:
    """Where the value at this place, from 1, stands."""
    return f"value_{place}" if place <= _COLUMNS else f"further[{place - _COLUMNS}]"


Columns = Mapping[str, Sequence[Any]]
"""Rows to be added by the columns of their table, in its order: integers, numbers, strings and lists, None among them.
"""

_MANY = 500
"""Rows from which NumPy's start is worth it."""


def add_columns(connection: "DuckDBPyConnection", table: str, columns: Columns) -> None:
    """Add rows to a table, column by column where there are many: a fifth of the time."""
    n = len(next(iter(columns.values())))
    if n < _MANY or any(isinstance(value, list) for value in columns.get("further", ())):
        appender = connection.appender(table)
        appender.append_rows(zip(*columns.values(), strict=True))
        appender.flush()
        return
    import numpy as np

    arrays: dict[str, np.ndarray] = {}
    chosen = []
    for name, values in columns.items():
        kind = next((type(value) for value in values if value is not None), None)
        if kind is None:
            chosen.append("null")
            continue
        # DuckDB guesses what a column of objects holds, so nothing but strings stands in one.
        blank, whole = kind(), None not in values
        kept = values if whole else [blank if value is None else value for value in values]
        arrays[name] = np.array(kept, dtype=object if kind is str else None)
        if whole:
            chosen.append(name)
        else:
            arrays[f"has_{name}"] = np.array([value is not None for value in values])
            chosen.append(f"case when has_{name} then {name} end")
    connection.register("added_rows", arrays)
    try:
        connection.execute(f"insert into {table} select {', '.join(chosen)} from added_rows")
    finally:
        connection.unregister("added_rows")


_BETWEEN = "output >= ? and output < ?"

_TAKEN = 200_000
"""Outputs of another store that are taken over in one transaction."""


class ResultTable:
    """Every method is one short transaction (a long iteration: one a chunk); safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def commit(self, run: str, rows: Sequence[ResultRow], *, gold: int | None = None) -> None:
        """Keep a finished batch: outputs, predictions and scores, all or none.

        Of several rows of one (sample, repeat) the last counts; the others stay, superseded.

        Args:
            gold: the version of gold that the scores were computed under; None: today's.
        """
        with self._turns.writing() as connection:
            commit(connection, run, rows, gold)

    def take_over(self, run: str, path: Path, theirs: str, offset: int, *, gold: int) -> None:
        """Take a run's outputs, current predictions and scores from another store of this version into a run of this
        one, but for those of a (sample, repeat) that has an output here already. In parts, each of them all or none.

        Args:
            path: the other store. That no line in it does harm was looked at before.
            theirs: what the run is called there.
            offset: from a sample's number there to its number here.
            gold: the version of gold that the scores were computed under.
        """
        with self._turns.writing(beside=path) as connection:
            (source,) = connection.execute("select number from staged.runs where run = ?", [theirs]).fetchone() or (-1,)
            number = number_of(connection, run)
            _, known = _output_bounds(connection, number)
            start, end = _output_bounds(connection, source, "staged.outputs")
        for first in range(start, end, _TAKEN):
            with self._turns.writing(beside=path) as connection:
                _take(connection, (number, source), (first, first + _TAKEN), offset, known, gold)

    def revise(self, run: str, rows: Sequence[ResultRow], withdrawn: Sequence[int], *, gold: int) -> None:
        """Let a person's source say these rows, and nothing of the `withdrawn` samples any more, all or none.

        Its state is `done`, and its size what it says something about.

        Args:
            gold: the version of gold that the scores were computed under.
        """
        with self._turns.writing() as connection:
            number = number_of(connection, run)
            samples = sorted({*withdrawn, *(row.sample for row in rows)})
            for table in ("outputs", "predictions", "scores"):
                connection.execute(
                    f"delete from {table} where run = ? and sample in (select unnest(?::bigint[]))", [number, samples]
                )
            commit(connection, run, rows, gold)
            connection.execute(
                "update runs set n = said, done = said, failed = 0, state = 'done', finished = $1"
                " from (select count(*) as said from (select distinct sample, repeat from outputs where run = $2))"
                " where number = $2",
                [now(), number],
            )

    def done(self, run: str, passed_over: str = "") -> set[tuple[int, int]]:
        """Each (sample, repeat) that has an output. Those that only failed are not among them: ask them again.

        Args:
            passed_over: those that failed with an error that begins so are among them; empty: none is.
        """
        with self._turns.reading() as connection:
            found = connection.execute(
                "select distinct sample, repeat from outputs "
                "where run = ? and (error is null or (? <> '' and starts_with(error, ?)))",
                [number_of(connection, run), passed_over, passed_over],
            )
            return {(sample, repeat) for sample, repeat in found.fetchall()}

    def of_run(self, run: str, numbers: "Numbers | None" = None) -> Iterator[ResultRow]:
        """What a run kept (of these samples only), in the order committed, with current predictions and scores."""
        if numbers is not None:
            wanted = plain(numbers)
            if len(wanted) == 1:  # several parts of a screen ask at once; of many samples it would be kept too long
                yield from self._turns.once(("results of one", run, *wanted), lambda: self._about(run, wanted))
            else:
                yield from self._about(run, wanted)
            return
        size = chunk_rows()
        with self._turns.reading(access.ROOMY) as connection:
            start, end = _output_bounds(connection, number_of(connection, run))
            rows = _results(connection, run, _BETWEEN, [start, start + size]) if start < end else []
        while start < end:
            yield from rows
            start += size
            size = chunk_rows(size, sum(map(_length, rows)))
            if start < end:
                with self._turns.reading(access.ROOMY) as connection:
                    rows = _results(connection, run, _BETWEEN, [start, start + size])

    def _about(self, run: str, numbers: Sequence[int]) -> list[ResultRow]:
        with self._turns.reading(access.ROOMY) as connection:
            return _results_of(connection, run, numbers)

    def outcomes(self, run: str) -> Iterator[Outcome]:
        """What became of each question of a run, without the outputs themselves: for tables over all of it.

        By sample, in pieces; in each piece by repeat. Half the time of `of_run` and less (docs/results.md).
        """
        with self._turns.reading(access.ROOMY) as connection:
            first, end = _bounds(connection, run)
            rows = _outcomes_between(connection, run, first, min(first + WIDE_CHUNK, end)) if first < end else []
        yield from rows
        for start in range(first + WIDE_CHUNK, end, WIDE_CHUNK):
            with self._turns.reading(access.ROOMY) as connection:
                rows = _outcomes_between(connection, run, start, min(start + WIDE_CHUNK, end))
            yield from rows

    def metric_names(self, dataset: int, besides: Collection[str], task: str) -> list[str]:
        """Metrics, other than these, of which some run of a task has values, in the order in which they came."""
        key = "metric names", dataset, frozenset(besides), task
        return list(self._turns.once(key, lambda: self._metric_names(dataset, besides, task)))

    def _metric_names(self, dataset: int, besides: Collection[str], task: str) -> list[str]:
        with self._turns.reading() as connection:
            known = set(besides)
            sets = {number: names for number, names in metric_sets(connection).items() if not set(names) <= known}
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

    def value_sums(self, run: str, part: str) -> list[ValueSum]:
        """The values of each metric of a run, added up by repeat, by whether a sample's record holds `part` letter by
        letter, and by its emotion and valence.
        """
        with self._turns.reading(access.ROOMY) as connection:
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

    def replace_scores(
        self, run: str, rows: Sequence[ResultRow], *, gold: int | None = None, of: int | None = None
    ) -> None:
        """Score a run again: `rows` are those of `of_run` with new `prediction` and `score`.

        All older predictions and scores of the run are superseded; its outputs stay untouched.

        Args:
            gold: the version of gold that the scores were computed under; None: today's.
            of: how many outputs the run had when they were read; None: however many it has.

        Raises:
            StoreError: the run has more outputs by now.
            ValueError: a row did not come from the store.
        """
        with self._turns.writing() as connection:
            number, today = _number_and_gold(connection, run)
            if of is not None:
                ((n,),) = connection.execute("select count(*) from outputs where run = ?", [number]).fetchall()
                if n != of:
                    raise StoreError(f"run {run} has been answered more meanwhile: try again once it is over")
            kept: list[tuple[int, ResultRow]] = []
            for row in rows:
                if row.output is None:
                    raise ValueError("only rows that came from the store can be scored again")
                kept.append((row.output, row))
            for table in ("predictions", "scores"):
                connection.execute(f"update {table} set current = false where run = ? and current", [number])
            _add_results(connection, number, kept, False, today if gold is None else gold)


def commit(connection: "DuckDBPyConnection", run: str, rows: Sequence[ResultRow], gold: int | None = None) -> None:
    """Add outputs with what was parsed and scored from them. A later row of one (sample, repeat) supersedes.

    Args:
        gold: the version of gold that the scores were computed under; None: today's.
    """
    number, today = _number_and_gold(connection, run)
    before = _outcomes(connection, number, rows)
    ids = _ids(connection, "output_ids", len(rows))
    _add_outputs(connection, number, ids, rows)
    added = [(output, row) for output, row in zip(ids, rows, strict=True)]
    _add_results(connection, number, added, bool(before), today if gold is None else gold)
    after = dict(before)
    for row in rows:
        pair = (row.sample, row.repeat)
        after[pair] = after.get(pair, False) or row.error is None
    connection.execute(
        "update runs set done = done + ?, failed = failed + ? where number = ?",
        [
            sum(after.values()) - sum(before.values()),
            sum(not good for good in after.values()) - sum(not good for good in before.values()),
            number,
        ],
    )


def _take(
    connection: "DuckDBPyConnection",
    runs: tuple[int, int],
    between: tuple[int, int],
    offset: int,
    known: int,
    gold: int,
) -> None:
    """Take over one part of a run that stands in `staged`; arguments as of `ResultTable.take_over`.

    Args:
        runs: the run's number here and there.
        between: the first output of the part, and the first one behind it.
        known: the first number of an output that the run did not have before all of this.
    """
    number, source = runs
    theirs = f"run = {source} and output >= {between[0]} and output < {between[1]}"
    connection.execute(
        "create or replace temp table part as"
        f" select output as old, sample + {offset} as sample, repeat, error is null as good,"
        "   row_number() over (order by output) - 1 as output"
        f" from staged.outputs where {theirs} and (sample + {offset}, repeat) not in ("
        f"   select (sample, repeat) from outputs where run = {number} and output < {known} and error is null)"
    )
    counted = "select count(*), coalesce(min(sample), 0), coalesce(max(sample), -1) from temp.part"
    n, low, high = connection.execute(counted).fetchone() or (0, 0, -1)
    if not n:
        connection.execute("drop table temp.part")
        return
    base = _ids(connection, "output_ids", n)[0]
    connection.execute(f"update temp.part set output = output + {base}")
    # DuckDB passes over blocks whose samples lie outside of these.
    before = f"run = {number} and output < {base} and sample between {low} and {high}"
    gained, lost = connection.execute(
        "with new as (select sample, repeat, bool_or(good) as good from temp.part group by all),"
        f" old as (select sample, repeat, bool_or(error is null) as good from outputs where {before} group by all)"
        " select count(*) filter (old.good is not true and new.good),"
        "   count(*) filter (old.good is null and not new.good) - count(*) filter (not old.good and new.good)"
        " from new left join old using (sample, repeat)"
    ).fetchone() or (0, 0)
    connection.execute(
        f"insert into outputs select p.output, {number}, p.sample, p.repeat, attempt, prompt, raw, error, seconds"
        f" from (select * from staged.outputs where {theirs}) as o join temp.part as p on p.old = o.output"
        " order by p.output"
    )
    sets = {int(kind): tuple(names) for kind, names in connection.execute("from staged.metric_sets").fetchall()}
    here = numbers_of(connection, sets.values())
    kinds = " ".join(f"when {kind} then {here[names]}" for kind, names in sets.items())
    kind = f"case metric_set {kinds} end" if kinds else "null"
    for table, sequence, columns, which in (
        ("predictions", "prediction_ids", "record", ""),
        ("scores", "score_ids", f"convention, marks, detail, {kind}, {VALUES}, {gold}", f" and {kind} is not null"),
    ):
        rows = f"select * from staged.{table} where {theirs} and current{which}"
        current = f"({rows}) as r join temp.part as p on p.old = r.output"
        connection.execute(
            f"update {table} set current = false where {before} and current"
            f" and (sample, repeat) in (select (p.sample, p.repeat) from {current})"
        )
        (count,) = connection.execute(f"select count(*) from {current}").fetchone() or (0,)
        if count:
            first = _ids(connection, sequence, count)[0]
            connection.execute(
                f"insert into {table} select {first} + row_number() over (order by p.output) - 1, p.output, {number},"
                " p.sample, p.repeat, p.output = max(p.output) over (partition by p.sample, p.repeat),"
                f" {columns} from {current} order by p.output"
            )
    connection.execute("drop table temp.part")
    connection.execute("update runs set done = done + ?, failed = failed + ? where number = ?", [gained, lost, number])


def _output_bounds(connection: "DuckDBPyConnection", number: int, outputs: str = "outputs") -> tuple[int, int]:
    """The number of the first output of a run in a table, and the first one behind its last; (0, 0) for none."""
    bounds = f"select coalesce(min(output), 0), coalesce(max(output) + 1, 0) from {outputs} where run = ?"
    first, behind = connection.execute(bounds, [number]).fetchone() or (0, 0)
    return int(first), int(behind)


def _results_of(connection: "DuckDBPyConnection", run: str, wanted: Sequence[int]) -> list[ResultRow]:
    """The rows of a run about these samples, in the order of their commits."""
    if not wanted:
        return []
    there = "sample between ? and ? and sample in (select unnest(?::bigint[]))"
    return _results(connection, run, there, [min(wanted), max(wanted), list(wanted)])


def _results(connection: "DuckDBPyConnection", run: str, there: str, bounds: list[Any]) -> list[ResultRow]:
    # Each table within the bounds by its own column: DuckDB passes over the blocks that lie outside.
    here, parameters = f"run = ? and {there}", [number_of(connection, run), *bounds]
    found = connection.execute(
        f"with o as (select * from outputs where {here}),"
        f" p as (select output, record from predictions where {here} and current),"
        f" s as (select output, convention, marks, detail, metric_set, {VALUES} from scores where {here} and current)"
        " select o.sample, o.repeat, o.attempt, o.prompt, o.raw, o.error, o.seconds, p.record, o.output,"
        f" s.convention, s.marks, s.detail, s.metric_set, {VALUES}"
        " from o left join p using (output) left join s using (output) order by o.output",
        parameters * 3,
    )
    rows = found.fetchall()
    sets = metric_sets(connection)
    alike: dict[Any, Any] = {}
    return [_result(row, sets, alike) for row in rows]


def _outcomes(connection: "DuckDBPyConnection", number: int, rows: Sequence[ResultRow]) -> dict[tuple[int, int], bool]:
    """Of the (sample, repeat) of these rows that the run already has: whether one has an output."""
    if not rows:
        return {}
    wanted = sorted({row.sample for row in rows})
    found = connection.execute(
        "select sample, repeat, bool_or(error is null) from outputs"
        " where run = ? and sample between ? and ? and sample in (select unnest(?::bigint[])) group by sample, repeat",
        [number, wanted[0], wanted[-1], wanted],
    )
    asked = {(row.sample, row.repeat) for row in rows}
    return {(sample, repeat): good for sample, repeat, good in found.fetchall() if (sample, repeat) in asked}


def _add_results(
    connection: "DuckDBPyConnection",
    number: int,
    rows: Sequence[tuple[int, ResultRow]],
    asked_before: bool,
    gold: int,
) -> None:
    """Add predictions and scores; of several of one (sample, repeat) only the last is current."""
    predicted = [(output, row, row.prediction) for output, row in rows if row.prediction is not None]
    scored = [(output, row, row.score) for output, row in rows if row.score is not None]
    if asked_before:
        for table, present in (("predictions", predicted), ("scores", scored)):
            pairs = [[row.sample, row.repeat] for _, row, _ in present]
            connection.execute(
                f"update {table} set current = false where run = ? and current"
                " and [sample, repeat] in (select unnest(?::bigint[][]))",
                [number, pairs],
            )
    last = {(row.sample, row.repeat): output for output, row, _ in predicted}
    columns: Columns = {
        "id": _ids(connection, "prediction_ids", len(predicted)),
        "output": [output for output, _, _ in predicted],
        "run": [number] * len(predicted),
        "sample": [row.sample for _, row, _ in predicted],
        "repeat": [row.repeat for _, row, _ in predicted],
        "current": [last[row.sample, row.repeat] == output for output, row, _ in predicted],
        "record": [record.decode() for _, _, record in predicted],
    }
    add_columns(connection, "predictions", columns)
    last = {(row.sample, row.repeat): output for output, row, _ in scored}
    named = [tuple(score.values) for _, _, score in scored]
    sets = numbers_of(connection, named)
    values = [split(score.values) for _, _, score in scored]
    bits: dict[str, int] = {}
    columns = {
        "id": _ids(connection, "score_ids", len(scored)),
        "output": [output for output, _, _ in scored],
        "run": [number] * len(scored),
        "sample": [row.sample for _, row, _ in scored],
        "repeat": [row.repeat for _, row, _ in scored],
        "current": [last[row.sample, row.repeat] == output for output, row, _ in scored],
        "convention": [score.convention for _, _, score in scored],
        "marks": [
            bits[score.marks] if score.marks in bits else bits.setdefault(score.marks, marks_to_bits(score.marks))
            for _, _, score in scored
        ],
        "detail": [score.detail.decode() for _, _, score in scored],
        "metric_set": [sets[names] for names in named],
        **{f"value_{at + 1}": [each[at] for each in values] for at in range(_COLUMNS)},
        "further": [each[_COLUMNS] for each in values],
        "gold": [gold] * len(scored),
    }
    add_columns(connection, "scores", columns)


def _add_outputs(connection: "DuckDBPyConnection", number: int, ids: Sequence[int], rows: Sequence[ResultRow]) -> None:
    columns: Columns = {
        "output": ids,
        "run": [number] * len(rows),
        "sample": [row.sample for row in rows],
        "repeat": [row.repeat for row in rows],
        "attempt": [row.attempt for row in rows],
        "prompt": [row.prompt for row in rows],
        "raw": [row.raw for row in rows],
        "error": [row.error for row in rows],
        "seconds": [row.seconds for row in rows],
    }
    add_columns(connection, "outputs", columns)


def _ids(connection: "DuckDBPyConnection", sequence: str, n: int) -> list[int]:
    """`n` new numbers of a sequence."""
    return [row[0] for row in connection.execute(f"select nextval('{sequence}') from range(?)", [n]).fetchall()]


def number_of(connection: "DuckDBPyConnection", run: str) -> int:
    """The number of a run in the tables of results. Raises BadInput where there is no such run."""
    return int(_of_run(connection, run, "number")[0])


def _number_and_gold(connection: "DuckDBPyConnection", run: str) -> tuple[int, int]:
    """A run's number, and today's version of gold of the data set that it is over: one question for both."""
    number, gold = _of_run(connection, run, "number, (select gold from datasets where datasets.dataset = runs.dataset)")
    return int(number), int(gold or 1)


def _of_run(connection: "DuckDBPyConnection", run: str, wanted: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(f"select {wanted} from runs where run = ?", [run]).fetchone()
    if row is None:
        raise BadInput(f"there is no run {run!r} (see: emotui runs)")
    return row


def _length(row: ResultRow) -> int:
    return len(row.prompt or "") + len(row.raw or "") + (len(row.score.detail) if row.score else 0)


def _result(row: tuple[Any, ...], sets: dict[int, Names], alike: dict[Any, Any]) -> ResultRow:
    """`alike`: what stood in rows before, so that what many say alike is held once."""
    sample, repeat, attempt, prompt, raw, error, seconds, record, output, *scored = row
    prediction = None if record is None else alike.get(record)
    if record is not None and prediction is None:
        prediction = alike.setdefault(record, record.encode())
    raw = alike.setdefault(("raw", raw), raw)
    convention, marks, detail, kind, *values = scored
    score = None
    if convention is not None and kind in sets:  # a score of no metrics is none, whoever wrote it
        key = (kind, *values) if values[-1] is None else None
        named = alike.get(key)
        if named is None:
            named = joined(sets[kind], values)
            if key is not None:
                alike[key] = named
        convention = alike.setdefault(("convention", convention), convention)
        score = ScoreRow(convention, named, bits_to_marks(marks), detail.encode())
    return ResultRow(sample, repeat, attempt, prompt, raw, error, seconds, prediction, score, output)


def _outcomes_between(connection: "DuckDBPyConnection", run: str, start: int, stop: int) -> list[Outcome]:
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


def _bounds(connection: "DuckDBPyConnection", run: str) -> tuple[int, int]:
    """The first number of the run's data set, and the number after its last; (0, 0) for an unknown run."""
    row = connection.execute(
        "select first, first + n from datasets where dataset = (select dataset from runs where run = ?)", [run]
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)
