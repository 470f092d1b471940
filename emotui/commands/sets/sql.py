"""`emotui sql` and `emotui snapshot`: a researcher's own questions, and copies for other programs."""

from collections.abc import Sequence
from pathlib import Path

import click

from emotui.commands.output import as_written, json_option, print_json
from emotui.commands.program_options import db_option, read_only_option
from emotui.formats import to_json_document
from emotui.formats.rows import literal
from emotui.store import questions
from emotui.workbench.workspace import Workspace

SHOWN = 200
"""Rows that a terminal gets, unless --limit says otherwise."""

_CELL = 48
"""Characters of a value in a table; a list of names and values, a row after the other, has all of it."""


@click.command()
@click.argument("query")
@click.option("--to", type=click.Path(), help="Write all rows to a file: .csv, .tsv, .jsonl or .parquet.")
@click.option("--limit", type=click.IntRange(min=1), help=f"Rows at most (default on a terminal: {SHOWN}).")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds that the query may take.")
@db_option
@read_only_option
@json_option
def sql(
    query: str, to: str | None, limit: int | None, timeout: float | None, db: str | None, read_only: bool, as_json: bool
) -> None:
    """Ask the store one SELECT, over the views texts, gold, said, runs, scores, score_values and ratings.

    Nothing can be changed and no other file read. What the views hold, and ten useful queries: docs/sql.md.
    """
    path = Workspace.look_into(db, read_only=read_only).store.path
    if to is not None:
        n = questions.write(path, query, Path(to), seconds=timeout)
        if as_json:
            print_json({"to": to, "n": n})
        else:
            click.echo(f"{n} rows written to {literal(to)}")
        return
    answer = questions.ask(path, query, limit=limit or (None if as_json else SHOWN), seconds=timeout)
    if as_json:
        print_json({"columns": answer.columns, "rows": _plain(answer.rows), "n": len(answer.rows), "more": answer.more})
        return
    _print(answer)
    if answer.more:
        click.echo(f"the first {len(answer.rows)} rows; all of them: --to FILE.csv", err=True)


@click.command()
@click.option("--to", required=True, type=click.Path(), help="The file to make, such as study.duckdb.")
@click.option("--force", is_flag=True, help="Replace the file where it is there already.")
@db_option
@read_only_option
@json_option
def snapshot(to: str, force: bool, db: str | None, read_only: bool, as_json: bool) -> None:
    """Copy the store as it is now into a DuckDB file that any program may hold open.

    In the copy the views of `emotui sql` stand in the schema `views`: SELECT * FROM views.said.
    """
    path = Workspace.look_into(db, read_only=read_only).store.path
    questions.snapshot(path, Path(to), force=force)
    size = Path(to).stat().st_size
    if as_json:
        print_json({"to": to, "bytes": size})
    else:
        click.echo(f"{literal(to)}: {size / 2**20:.1f} MB")


def _plain(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """Values that JSON has; what it has no form for becomes text."""
    return [[_json_value(value) for value in row] for row in rows]


def _json_value(value: object) -> object:
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, list | tuple):
        return [_json_value(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _json_value(one) for key, one in value.items()}
    return str(value)


def _shown(value: object) -> str:
    """A value for people."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | dict):
        return to_json_document(_json_value(value))
    return str(value)


def _print(answer: questions.Answer) -> None:
    """A table where it fits the terminal, else a row after the other, a line a value."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    texts = [[literal(_shown(value)) for value in row] for row in answer.rows]
    cut = [[text if len(text) <= _CELL else text[: _CELL - 1] + "…" for text in row] for row in texts]
    names = [literal(name) for name in answer.columns]
    widths = [max(map(len, column)) for column in zip(names, *cut, strict=True)]
    if sum(widths) + 2 * len(widths) - 2 <= console.width:
        table = Table(box=None, pad_edge=False)
        for place, name in enumerate(names):
            numbers = all(isinstance(row[place], int | float) or row[place] is None for row in answer.rows)
            table.add_column(as_written(name), justify="right" if numbers and answer.rows else "left", no_wrap=True)
        for row in cut:
            table.add_row(*map(as_written, row))
        console.print(table)
        return
    lead = max(map(len, names))
    for number, row in enumerate(texts, start=1):
        console.print(as_written(f"row {number}", "dim"))
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(min_width=lead, no_wrap=True)
        table.add_column(overflow="fold")
        for name, text in zip(names, row, strict=True):
            table.add_row(as_written(name), as_written(text))
        console.print(table)
