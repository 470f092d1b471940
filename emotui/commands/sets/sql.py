"""`emotui sql`, `snapshot` and `upgrade`: a researcher's own questions, copies, and stores of older versions."""

from pathlib import Path

import click

from emotui.commands.exchange.written import is_forced, written_option
from emotui.commands.output import as_written, json_option, print_json, say, terminal, warn
from emotui.commands.program_options import Waiting, db_option, look_into, read_only_option, upgraded_store
from emotui.formats.rows import literal
from emotui.store import questions, schema
from emotui.store.access import Access
from emotui.store.questions import Answer
from emotui.store.store import default_path
from emotui.store.upgrade import Upgraded, steps_from
from emotui.workbench import query_process
from emotui.workbench.query_process import SHOWN, Table, ends_at


@click.command()
@click.argument("query")
@written_option("--to", type=click.Path(), help="Write all rows to a file: .csv, .tsv, .jsonl or .parquet.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help=f"Rows at most (default: {SHOWN} as a table, {query_process.MOST_ROWS} as JSON).",
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds that query and answer may take.")
@db_option
@read_only_option
@json_option
def sql(
    query: str, to: str | None, limit: int | None, timeout: float | None, db: str | None, read_only: bool, as_json: bool
) -> None:
    """Ask the store one SELECT, over the views texts, gold, said, runs, scores, score_values, ratings, notes.

    Nothing can be changed and no other file read. What the views hold, and ten useful queries: docs/store.md.
    """
    path = look_into(db, read_only=read_only).store.path
    wait = Waiting(db).tell
    if to is not None:
        n = query_process.write(path, query, Path(to), seconds=timeout, on_waiting=wait)
        if as_json:
            print_json({"to": to, "n": n})
        else:
            say(f"{n} row{'s' * (n != 1)} written to {literal(to)}")
        return
    answer: Answer | Table
    if as_json:
        answer = query_process.rows(path, query, limit, seconds=timeout, on_waiting=wait)
        n = len(answer.rows)
        print_json({"columns": answer.columns, "rows": answer.rows, "n": n, "more": answer.more})
    else:
        answer = query_process.ask(path, query, limit=limit or SHOWN, seconds=timeout, on_waiting=wait)
        _print(answer)
    if answer.more:
        warn(ends_at(len(answer.rows), full=answer.full))


@click.command()
@written_option("--to", required=True, type=click.Path(), help="The file to make, such as study.duckdb.")
@db_option
@read_only_option
@json_option
def snapshot(to: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """Copy the store as it is now into a DuckDB file that any program may hold open.

    In the copy the views of `emotui sql` stand in the schema `views`: SELECT * FROM views.said.
    """
    path = look_into(db, read_only=read_only).store.path
    questions.snapshot(path, Path(to), force=is_forced(), on_waiting=Waiting(db).tell)
    size = Path(to).stat().st_size
    if as_json:
        print_json({"to": to, "bytes": size})
    else:
        say(f"{literal(to)}: {size / 2**20:.1f} MB")


@click.command()
@click.option("--keep-copy", is_flag=True, help="Keep a copy of the store as it was before, beside it.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@db_option
@json_option
def upgrade(keep_copy: bool, dry_run: bool, db: str | None, as_json: bool) -> None:
    """Bring a store of an older emotui up to date, as every command does that may write; here you see it first.

    A copy stands beside the store until that is done. An interruption leaves the old store or the new one.
    """
    path = Path(db) if db else default_path()
    version = Access(path, read_only=True, on_waiting=Waiting(db).tell).version()
    if version is None or version >= schema.VERSION or not dry_run:
        done = upgraded_store(db, keep_copy=keep_copy).upgraded
    else:
        done = Upgraded(version, steps_from(version), None)
    was, steps, copy = done or (schema.VERSION, (), None)
    if as_json:
        told = {"path": str(path), "from": was, "to": schema.VERSION, "steps": steps}
        print_json({**told, "done": not dry_run and bool(steps), "copy": copy and str(copy)})
    elif not steps:
        say(f"{literal(str(path))} is of version {schema.VERSION}: nothing to do")
    elif not dry_run:
        say(f"{literal(str(path))} was brought from version {was} to {schema.VERSION}")
    else:
        say(f"{literal(str(path))} would be brought from version {was} to {schema.VERSION}:")
        for number, step in enumerate(steps, was + 1):
            say(f"  {number}  {step}")


def _print(table: Table) -> None:
    """A table where it fits the terminal, else a row after the other, a line a value."""
    from rich.table import Table as Printed

    console = terminal()
    if table.cells() <= console.width:
        printed = Printed(box=None, pad_edge=False)
        for name, number in zip(table.columns, table.numbers, strict=True):
            printed.add_column(as_written(name), justify="right" if number else "left", no_wrap=True)
        for row in table.cut():
            printed.add_row(*map(as_written, row))
        console.print(printed)
        return
    lead = max(map(len, table.columns))
    for count, values in enumerate(table.rows, start=1):
        console.print(as_written(f"row {count}", "dim"))
        printed = Printed(box=None, pad_edge=False, show_header=False)
        printed.add_column(min_width=lead, no_wrap=True)
        printed.add_column(overflow="fold")
        for name, text in zip(table.columns, values, strict=True):
            printed.add_row(as_written(name), as_written(text))
        console.print(printed)
