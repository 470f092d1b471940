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
from emotui.store import access, refusals, schema
from emotui.store.access import Access
from emotui.store.query import MARKS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# What a researcher asks in SQL: the tables of a store as eight views that say what they hold (docs/store.md).

NAMES = ("texts", "gold", "said", "runs", "scores", "score_values", "ratings", "notes")


def make(connection: "DuckDBPyConnection", of: str, into: str) -> None:
    """Make the views in the schema `into`, over the tables of the schema `of`."""
    for name, question in _views(of, into).items():
        connection.execute(f"create or replace view {into}.{name} as {question}")


def _views(of: str, into: str) -> dict[str, str]:
    """By name, in an order in which each can be made."""
    datasets = f"(select dataset as number, name as dataset, task, first, n from {of}.datasets where deleted is null)"
    samples = f"{datasets} d join {of}.samples s on s.sample between d.first and d.first + d.n - 1"
    runs = f"(select * from {of}.runs where deleted is null) r join {datasets} d on d.number = r.dataset"
    current = f"join {of}.samples s using (sample) where p.current"
    gold = f"select d.dataset, d.task, s.id, s.text, s.record, s.sample from {samples}"
    answers = f"from {runs} join {of}.predictions p on p.run = r.number"
    said = f"select d.dataset, r.task, {_OF_RUN}, p.record, p.repeat, s.sample {answers} {current}"
    # What people and files say beside what the task of their run is about stands in what came from them alone.
    more_said = (
        f"select d.dataset, 'labels' as task, {_OF_RUN}, {_beside_own('o.raw', 'r.task')} as record, p.repeat, s.sample"
        f" {answers} join (select output, raw from {of}.outputs) o on o.output = p.output {current}"
        " and r.source != 'model' and json_valid(o.raw)"
    )
    person = (
        "case when json_type(of_person) = 'OBJECT' and task != 'scenes' then of_person"
        " when task in ('scenes', 'labels') then json_object('labels', of_person)"
        " else json_object('spans', of_person) end"
    )
    people = " union all ".join(
        f"select dataset, {task} as task, who as source, 'person' as kind, id, text, {answer} as record, 0 as repeat,"
        " sample from ("
        f"  select *, json_extract(record, '{place}.\"' || replace(who, '\"', '\\\"') || '\"') as of_person from ("
        "   select d.dataset, d.task, s.id, s.text, s.record, s.sample,"
        f"   unnest(json_keys(s.record, '{place}')) as who"
        f"   from {samples} where json_type(s.record, '{place}') = 'OBJECT'))"
        for place, task, answer in (("$.annotators", "task", person), ("$.meta.annotators", "'labels'", "of_person"))
    )
    as_gold = " union all ".join(
        f"select dataset, {task} as task, 'gold' as source, 'gold' as kind, id, text, {record} as record, 0 as repeat,"
        f" sample from ({gold}){where}"
        for task, record, where in (
            ("task", "record", ""),
            ("'labels'", _beside_gold("record", "task"), " where json_exists(record, '$.meta')"),
        )
    )
    return {
        "texts": (
            "select d.dataset, d.task, s.id, s.text, s.length, s.emotion, s.valence,"
            " json_extract(s.record, '$.meta') as meta, s.record::json as record, s.sample"
            f" from {samples}"
        ),
        "gold": f"select dataset, id, {_SAID}, sample from ({_parts(as_gold)})",
        "said": (
            f"select dataset, source, kind, id, repeat, {_SAID}, sample from (from ({_parts(as_gold)})"
            f" union all by name from ({_parts(people)}) union all by name from ({_parts(said)})"
            f" union all by name from ({_parts(more_said)}))"
        ),
        "runs": (
            "select r.run, d.dataset, r.task, r.source as kind, r.model, r.state, r.started::timestamp as started,"
            " r.finished::timestamp as finished, r.n, r.done, r.failed, r.error, r.config::json as config"
            f" from {runs}"
        ),
        "scores": (
            "select d.dataset, r.run, s.id, p.repeat, p.gold as gold_version, p.convention,"
            f" {_letters('p.marks')} as marks, p.detail::json as detail, p.score, s.sample"
            f" from {runs} join {of}.scores p on p.run = r.number {current}"
        ),
        "score_values": (
            "select dataset, run, id, repeat, unnest(names) as name,"
            " unnest(list_concat([value_1, value_2, value_3, value_4], further)[:len(names)]) as value, score, sample"
            f" from (select d.dataset, r.run, s.id, p.repeat, p.score, s.sample, m.names, p.value_1, p.value_2,"
            " p.value_3, p.value_4, p.further"
            f" from {runs} join {of}.scores p on p.run = r.number join {of}.metric_sets m using (metric_set) {current})"
        ),
        "ratings": (
            "with recursive chain as ("
            f"  select annotation as first, annotation as tip, 0 as depth from {of}.annotations where undoes is null"
            "  union all select c.first, a.annotation, c.depth + 1"
            f"  from chain c join {of}.annotations a on a.undoes = c.tip)"
            " select d.dataset, s.id, a.kind, a.annotator as rater, a.payload::json->>'emotion' as label,"
            " a.payload::json as record, a.made::timestamp as made, a.annotation as rating, a.sample"
            f" from {of}.annotations a join {of}.samples s using (sample)"
            f" join {datasets} d on s.sample between d.first and d.first + d.n - 1"
            " where a.annotation in (select first from chain group by first having max(depth) % 2 = 0)"
        ),
        "notes": (
            "with recursive live as ("
            f"  select * from {of}.notes where kind != 'undo'"
            f"  and entry not in (select undoes from {of}.notes where undoes is not null)),"
            " latest as ("
            "  select * from live where kind = 'note'"
            "  qualify row_number() over (partition by sample, annotator order by entry desc) = 1),"
            # What a code is called now: the first later name of each name that it had.
            " called as ("
            "  select entry, dataset, place, codes[place] as code, entry as since"
            "  from (select *, unnest(range(1, len(codes) + 1)) as place from latest)"
            "  union all select c.entry, c.dataset, c.place, r.codes[2], r.entry from called c"
            "  join live r on r.kind = 'rename' and r.dataset = c.dataset and r.codes[1] = c.code and r.entry > c.since"
            "  qualify row_number() over (partition by c.entry, c.place order by r.entry) = 1),"
            " codes as (select entry, list_distinct(list(code)) as codes"
            "  from (from called qualify row_number() over (partition by entry, place order by since desc) = 1)"
            "  group by entry)"
            " select d.dataset, s.id, l.annotator, l.text as note,"
            " list_sort(coalesce(c.codes, cast([] as varchar[]))) as codes, l.made::timestamp as made, l.sample"
            f" from latest l left join codes c using (entry) join {of}.samples s using (sample)"
            f" join {datasets} d on l.dataset = d.number where l.text != '' or len(l.codes) > 0"
        ),
    }


_SAID = "part, place, start, stop, label, value, words"
"""The columns that say one thing about a text."""

_OF_RUN = "r.run as source, r.source as kind, s.id, s.text"

_OF_SPANS = "('spans', 'evidence')"
"""Tasks whose `labels` are of spans."""

_OWN_TASKS = "('spans', 'scenes', 'masked', 'rephrase', 'labels', 'values', 'generation', 'evidence')"
"""Those of this package: what their records say beside what is told apart here is how it was asked for."""

_TAKEN = (
    "('id', 'text', 'subject', 'meta', 'annotators', 'spans', 'offsets', 'strengths', 'label', 'labels', 'probs',"
    " 'values', 'emotion', 'valence', 'sentences')"
)
"""Keys of records that are parts of their own, or say nothing of the text."""


def _beside_gold(record: str, task: str) -> str:
    """What gold says that the records of its task have no field for: it stands in `meta` under its key."""
    other = {"labels": f"{task} = 'masked'", "label": f"{task} = 'generation'"}
    answers = (
        f"'{key}', case when coalesce(json_type({record}, '$.{key}'), 'NULL') = 'NULL' or {other.get(key, 'false')}"
        f" then json_extract({record}, '$.meta.{key}') end"
        for key in ("spans", "label", "labels", "values")
    )
    return f"json_object({', '.join(answers)})"


def _beside_own(raw: str, task: str) -> str:
    """What a source says by the keys of files that is not what its run's task asks about."""
    asked = {"spans": f"{task} in {_OF_SPANS}", "values": f"{task} = 'values'"}
    of_texts = f"{task} not in {_OF_SPANS} and {task} != 'values'"
    answers = (
        f"'{key}', case when not ({asked.get(key, of_texts)}) then json_extract({raw}, '$.{key}') end"
        for key in ("spans", "label", "labels", "values")
    )
    return f"json_object({', '.join(answers)})"


def _letters(bits: str) -> str:
    """The letters of a number that has a bit for each."""
    letters = (
        f"case when {bits} & {1 << place} != 0 then '{letter}' else '' end" for place, letter in enumerate(MARKS)
    )
    return "concat(" + ", ".join(letters) + ")"


def _parts(records: str) -> str:
    """A row for each thing that the records say; `records` has `record` (JSON), `task` and `text`, and what is kept.

    A span has offsets, words and perhaps a label and its strength; a label has 1, 0 or its probability as its value;
    a word of a mask and a number have their name as the label, and so has what a task of another package says.
    """
    keep = "exclude (record, text, task, i, item, key, n, starts)"
    spans = (
        f"select * {keep}, 'span' as part, i + 1 as place,"
        " starts[1] as start, starts[2] as stop,"
        " case json_type(item) when 'OBJECT' then item->>'label' when 'ARRAY' then item->>2"
        "   else json_extract_string(record, '$.labels[' || i || ']') end as label,"
        " case json_type(item) when 'OBJECT' then (item->>'score')::double when 'ARRAY' then (item->>3)::double"
        "   when 'VARCHAR' then json_extract_string(record, '$.strengths[' || i || ']')::double end as value,"
        " case when json_type(item) = 'VARCHAR' then item->>'$'"
        "   else substring(text, starts[1] + 1, starts[2] - starts[1]) end as words"
        " from (select *, case json_type(item)"
        "   when 'OBJECT' then [(item->>'start')::integer, (item->>'end')::integer]"
        "   when 'ARRAY' then [(item->>0)::integer, (item->>1)::integer]"
        "   else [json_extract_string(record, '$.offsets[' || i || '][0]')::integer,"
        "     json_extract_string(record, '$.offsets[' || i || '][1]')::integer] end as starts"
        " from (select *, null as key, json_extract(record, '$.spans[' || i || ']') as item from ("
        "   select *, unnest(range(n)) as i from (select *, json_array_length(record, '$.spans')::integer as n"
        f"   from ({records}) where json_type(record, '$.spans') = 'ARRAY'))))"
    )
    items = (
        f"select * {keep}, case task when 'masked' then 'mask' else 'label' end as part, i + 1 as place,"
        " null as start, null as stop, json_extract_string(record, '$.labels[' || i || ']') as label,"
        " 1.0 as value, null as words"
        " from (select *, null as key, null as item, null as starts, unnest(range(n)) as i from ("
        f"   select *, json_array_length(record, '$.labels')::integer as n from ({records})"
        f"   where task not in {_OF_SPANS} and json_type(record, '$.labels') = 'ARRAY'"
        "   and coalesce(json_type(record, '$.probs'), 'NULL') != 'OBJECT'))"
    )
    one = (
        f"select * {keep}, 'label' as part, 1 as place, null as start, null as stop, record->>'label' as label,"
        " 1.0 as value, null as words from (select *, null as key, null as item, null as starts, null as n, null as i"
        f" from ({records}) where json_type(record, '$.label') = 'VARCHAR'"
        " and coalesce(json_type(record, '$.probs'), 'NULL') != 'OBJECT')"
    )
    named = " union all by name ".join(
        f"select * {keep}, '{part}' as part, row_number() over (partition by sample, repeat, source) as place,"
        f" null as start, null as stop, key as label,"
        f" json_extract_string(record, '$.{field}.\"' || replace(key, '\"', '\\\"') || '\"')::double as value,"
        " null as words"
        f" from (select *, null as item, null as starts, null as n, null as i, unnest(json_keys(record, '$.{field}'))"
        f" as key from ({records}) where json_type(record, '$.{field}') = 'OBJECT')"
        for part, field in (("label", "labels"), ("label", "probs"), ("number", "values"))
    )
    own = (
        f"select * {keep}, 'answer' as part, row_number() over (partition by sample, repeat, source) as place,"
        " null as start, null as stop, key as label,"
        " case json_type(item) when 'BOOLEAN' then (item::varchar = 'true')::integer::double"
        "   when 'VARCHAR' then null else item::varchar::double end as value,"
        " case json_type(item) when 'VARCHAR' then item->>'$' end as words"
        " from (select *, json_extract(record, '$.\"' || replace(key, '\"', '\\\"') || '\"') as item from ("
        "  select *, null as starts, null as n, null as i, unnest(json_keys(record)) as key"
        f"  from ({records}) where task not in {_OWN_TASKS} and json_type(record) = 'OBJECT'))"
        f" where key not in {_TAKEN} and json_type(item) in ('BOOLEAN', 'VARCHAR', 'DOUBLE', 'BIGINT', 'UBIGINT')"
    )
    return " union all by name ".join((spans, items, one, named, own))


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
        make(connection, "main", "views")
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
        make(connection, "store.main", "memory.main")
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
        raise BadInput("a query is one SELECT: nothing can be changed here (the views: " + ", ".join(NAMES) + ")")
    return str(found[0].query).strip().rstrip(";")


def fetched(relation: Any) -> list[tuple[Any, ...]]:
    """All rows of a relation of DuckDB as Python's own values. Raises BadInput where one has none."""
    import duckdb

    try:
        return list(relation.fetchall())
    except duckdb.Error as error:
        raise BadInput(_told(error)) from error


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
