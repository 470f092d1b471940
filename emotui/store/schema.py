"""The tables of a workspace, and how an older one becomes a newer one.

`VERSION_1` is frozen: a change of the tables is one more entry in `MIGRATIONS`, and a new store walks the same way as
an old one, so that both end up with the same tables.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from emotui.errors import BadStore

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

VERSION_1 = """
create table workspace(version integer not null, revision bigint not null);
insert into workspace values (1, 0);

create table datasets(
    dataset integer not null, name varchar not null, task varchar not null, n bigint not null,
    fingerprint varchar not null, source varchar not null, first bigint not null);

-- Samples of a dataset have the numbers first .. first + n - 1, in the order of their file. There is no index: numbers
-- only grow, so DuckDB's own minima and maxima a block find them. `text` stays uncompressed because a search reads
-- all of it, and decompressing took most of the time (docs/store.md).
create table samples(
    sample bigint not null, id varchar not null, text varchar not null using compression uncompressed,
    length integer not null, emotion varchar, valence varchar, label_set integer not null, record varchar not null);

-- Each distinct combination of emotions and valences of a dataset once: a filter compares small numbers, not lists.
create table label_sets(
    dataset integer not null, label_set integer not null, emotions varchar[] not null, valences varchar[] not null);

create table runs(
    number integer not null, run varchar not null, identity varchar not null, task varchar not null,
    model varchar not null, dataset integer not null, config varchar not null, state varchar not null,
    started varchar not null, finished varchar, n bigint not null, done bigint not null, failed bigint not null,
    error varchar);

create sequence output_ids;
create table outputs(
    output bigint not null, run integer not null, sample bigint not null, repeat integer not null,
    attempt integer not null, prompt varchar, raw varchar, error varchar, seconds double not null);

-- Predictions and scores are never changed, only superseded: `current` goes from true to false, once.
create sequence prediction_ids;
create table predictions(
    prediction bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, record varchar not null);

create sequence score_ids;
create table scores(
    score bigint not null, output bigint not null, run integer not null, sample bigint not null,
    repeat integer not null, current boolean not null, convention varchar not null, f1 double, sim double,
    marks integer not null, detail varchar not null);

create sequence annotation_ids;
create table annotations(
    annotation bigint not null, kind varchar not null, sample bigint, annotator varchar not null,
    payload varchar not null, undoes bigint, made varchar not null);

create table settings(key varchar not null, value varchar not null);
"""


class Step(NamedTuple):
    """How the tables of one version become those of the next."""

    brings: str
    """What is new then, as who is told of an upgrade reads it."""

    change: "str | Callable[[DuckDBPyConnection], None]"
    """Statements, or what is called with the store as the current database, inside the transaction of the upgrade."""


MIGRATIONS: tuple[Step, ...] = (
    # 2: when a data set was added; unknown for those that were there before.
    Step("when a dataset was added", "alter table datasets add column added varchar;"),
    # 3: numbers that are set aside for a data set that grows; null for one that never does.
    Step("datasets that grow", "alter table datasets add column room bigint;"),
    # 4: any number of values a score, by the names of their metrics; before, `f1` and `sim` for every task.
    Step(
        "any number of values a score",
        """
    create table metric_sets(metric_set integer not null, names varchar[] not null);
    create table named_scores(
        score bigint not null, output bigint not null, run integer not null, sample bigint not null,
        repeat integer not null, current boolean not null, convention varchar not null, marks integer not null,
        detail varchar not null, metric_set integer not null,
        value_1 double, value_2 double, value_3 double, value_4 double, further double[]);
    insert into named_scores
        with kept as (
            select number, case task when 'scenes' then 2 when 'masked' then 3 when 'rephrase' then 4 else 1 end as kind
            from runs)
        select score, output, run, sample, repeat, current, convention, marks, detail, kind,
            f1, case kind when 1 then sim end, null, null, null
        from scores join kept on number = run order by score;
    insert into metric_sets
        select * from (values (1, ['f1', 'sim']), (2, ['vector_f1']), (3, ['f1_v']), (4, ['accuracy']))
        where col0 in (select metric_set from named_scores);
    drop table scores;
    alter table named_scores rename to scores;
    create view score_values as
        select score, unnest(names) as name,
            unnest(list_concat([value_1, value_2, value_3, value_4], further)[:len(names)]) as value
        from scores join metric_sets using (metric_set);
    """,
    ),
    # 5: versions of gold, and under which one a score was computed; a trash; runs that are no model's; a fingerprint
    # of what is asked about, apart from gold (null: not computed yet).
    Step(
        "versions of gold, a trash, sources beside models",
        """
    alter table datasets add column gold integer default 1;
    alter table datasets add column deleted varchar;
    alter table datasets add column asked varchar;
    alter table runs add column source varchar default 'model';
    alter table runs add column deleted varchar;
    alter table scores add column gold integer default 1;
    create table gold_versions(
        dataset integer not null, version integer not null, fingerprint varchar not null, source varchar not null,
        made varchar);
    insert into gold_versions select dataset, 1, fingerprint, source, added from datasets order by dataset;
    create table former_gold(
        dataset integer not null, version integer not null, sample bigint not null, record varchar not null);
    """,
    ),
    # 6: notes with codes on samples, a log as annotations are; filters under a name.
    Step(
        "notes and saved slices",
        """
    create sequence note_ids;
    create table notes(
        entry bigint not null, kind varchar not null, dataset integer not null, sample bigint,
        annotator varchar not null, text varchar not null, codes varchar[] not null, undoes bigint,
        made varchar not null);
    create table slices(
        dataset integer not null, name varchar not null, conditions varchar not null, made varchar not null);
    """,
    ),
    # 7: vectors of texts by what embedded them, so that nothing is embedded twice.
    Step(
        "embeddings of texts",
        """
    create table embeddings(model varchar not null, digest varchar not null, vector blob not null);
    """,
    ),
)
"""The step that leads from version `k + 1` to `k + 2`, at index `k`."""

VERSION = 1 + len(MIGRATIONS)


def create(connection: "DuckDBPyConnection") -> None:
    """Make all tables in an empty database."""
    connection.execute(VERSION_1)
    migrate(connection, 1)


def migrate(connection: "DuckDBPyConnection", version: int) -> None:
    """Bring the tables from `version` to `VERSION`, inside the caller's transaction."""
    for step in MIGRATIONS[version - 1 :]:
        if isinstance(step.change, str):
            connection.execute(step.change)
        else:
            step.change(connection)
    connection.execute("update workspace set version = ?", [VERSION])


def version_of(connection: "DuckDBPyConnection", first: str = "") -> int | None:
    """The version of the tables; None where this is no workspace at all. Statements of `first` come before it."""
    from emotui.store import duckdb_core

    try:
        row = connection.execute(f"{first}select version, revision from workspace").fetchone()
    except (duckdb_core.CatalogException, duckdb_core.BinderException):
        return None
    return row[0] if row and type(row[0]) is int and row[0] >= 1 else None


def is_empty(connection: "DuckDBPyConnection") -> bool:
    """Whether no table of the attached `store` holds a row but the one that says of which version it is."""
    named = "select table_name from duckdb_tables() where database_name = 'store' and schema_name = 'main'"
    tables = [name for (name,) in connection.execute(named).fetchall() if name != "workspace"]
    return not any(connection.execute(f'select 1 from store.main."{name}" limit 1').fetchone() for name in tables)


_OTHERS = """
    select 'a view' as what, schema_name, view_name as name, sql from duckdb_views() where database_name = 'store'
    union all select 'a trigger', schema_name, trigger_name, '' from duckdb_triggers() where database_name = 'store'
    union all select 'a computed column', schema_name, table_name, '' from duckdb_tables()
        where database_name = 'store' and contains(sql, 'GENERATED ALWAYS')
"""
_MACROS = "select 'a macro', schema_name, function_name, '' from duckdb_functions() where database_name = 'store'"
_COPIED = "views"
"""The schema in which a snapshot has views. Nothing here reads them."""


def check_plain(connection: "DuckDBPyConnection", path: Path) -> None:
    """See that the attached `store` holds tables, our own view and nothing else that computes when it is read.

    Macros take DuckDB 20 ms to list: see `check_no_macros`. While they stand there, `access.SEARCHED` leaves them
    nothing to do.

    Raises:
        BadStore: it holds a view, a trigger or a computed column, which emotui never made.
    """
    for what, schema, name, definition in connection.execute(_OTHERS).fetchall():
        if schema != _COPIED and not (what == "a view" and name == "score_values" and _is_ours(definition)):
            raise _foreign(path, what, name)


def check_no_macros(connection: "DuckDBPyConnection", path: Path) -> None:
    """See that the attached `store` holds no macro, which could stand in for a function of DuckDB's.

    Raises:
        BadStore: it holds one.
    """
    for what, _, name, _ in connection.execute(_MACROS).fetchall():
        raise _foreign(path, what, name)


def _foreign(path: Path, what: str, name: str) -> BadStore:
    return BadStore(
        f"{path} holds {what} ({name!r}), which emotui never makes: whoever made this file wanted it to do something "
        "when it is opened; ask them for an `emotui export`"
    )


def _is_ours(definition: str) -> bool:
    """Whether this is the view of version 4, as any DuckDB writes its definition out again."""
    (made,) = (text for text in str(MIGRATIONS[2].change).split(";") if "create view score_values" in text)
    return _bare(definition) == _bare(made)


def _bare(definition: str) -> str:
    """A definition without what DuckDB writes in several ways: case, space, quotes and brackets."""
    text = definition.lower().replace("inner join", "join").replace("list_value", "")
    return "".join(sign for sign in text if sign not in ' \n\t"()[];')
