"""What a researcher asks in SQL: the tables of a store as eight views that say what they hold (docs/sql.md).

The views are made anew wherever they are asked for, so that they need no migration.
"""

from typing import TYPE_CHECKING

from emotui.store.query import MARKS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
    said = (
        "select d.dataset, d.task, r.run as source, r.source as kind, s.id, s.text, p.record, p.repeat, s.sample"
        f" from {runs} join {of}.predictions p on p.run = r.number {current}"
    )
    people = (
        "select dataset, task, who as source, 'person' as kind, id, text,"
        " case when json_type(of_person) = 'OBJECT' and task != 'scenes' then of_person"
        "   when task in ('scenes', 'labels') then json_object('labels', of_person)"
        "   else json_object('spans', of_person) end"
        " as record, 0 as repeat, sample from ("
        "  select *, json_extract(record, '$.annotators.\"' || replace(who, '\"', '\\\"') || '\"') as of_person from ("
        "   select d.dataset, d.task, s.id, s.text, s.record, s.sample,"
        "   unnest(json_keys(s.record, '$.annotators')) as who"
        f"   from {samples} where json_exists(s.record, '$.annotators')))"
    )
    as_gold = (
        f"select dataset, task, 'gold' as source, 'gold' as kind, id, text, record, 0 as repeat, sample from ({gold})"
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
            f" union all by name from ({_parts(people)}) union all by name from ({_parts(said)}))"
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


def _letters(bits: str) -> str:
    """The letters of a number that has a bit for each."""
    letters = (
        f"case when {bits} & {1 << place} != 0 then '{letter}' else '' end" for place, letter in enumerate(MARKS)
    )
    return "concat(" + ", ".join(letters) + ")"


def _parts(records: str) -> str:
    """A row for each thing that the records say; `records` has `record` (JSON), `task` and `text`, and what is kept.

    A span has offsets, words and perhaps a label and its strength; a label has 1, 0 or its probability as its value;
    a word of a mask and a number have their name as the label.
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
        "   where task != 'spans' and json_type(record, '$.labels') = 'ARRAY'"
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
    return " union all by name ".join((spans, items, one, named))
