"""`emotui results` and `emotui report`: SEER's tables from the store, on the screen, as JSON, or as a file."""

import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import click

from emotui.backends.host import Cancelled
from emotui.commands.exchange.written import written_option
from emotui.commands.options import lexicon_options
from emotui.commands.output import as_written, bar, json_option, print_json, say, stopping, terminal
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.tables import NOT_ASKED, Cell, Column, ResultsTable, number_of, shown_cell
from emotui.tasks.registry import SPANS
from emotui.workbench.datasets.samples import experiment_of
from emotui.workbench.progress import RunProgress
from emotui.workbench.reports.notes import footnotes
from emotui.workbench.reports.report import WRITTEN, picked, write_report
from emotui.workbench.reports.values import DAGGER, Section, column_groups
from emotui.workbench.results.service import BY
from emotui.workbench.results.span_tables import transition_table
from emotui.workbench.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

    from emotui.tasks.parts import Lexicon

Printed = tuple[Column, list[str]]
"""A column, and its cells as they are printed."""


dataset_option = click.option(
    "--dataset", help="A dataset (default: that of the first run, or of the newest, spans first)."
)
table_option = click.option("--table", "keys", multiple=True, help="Only the table of this key (again for more).")
no_sim_option = click.option("--no-sim", is_flag=True, help="Leave the annotators' Sim out (no model is loaded).")
published_option = click.option(
    "--published/--no-published", default=False, help="The papers' rows too: other samples and prompts (default: not)."
)
baselines_option = click.option(
    "--baselines",
    is_flag=True,
    default=None,
    help="All baselines of the task, in every table that has their figures (default: of spans the best alone).",
)


@click.command()
@click.argument("runs", nargs=-1)
@dataset_option
@table_option
@no_sim_option
@published_option
@baselines_option
@lexicon_options
@click.option("--samples", "with_samples", is_flag=True, help="--json: the ids of the samples behind every figure.")
@db_option
@read_only_option
@json_option
def results(
    runs: tuple[str, ...],
    dataset: str | None,
    keys: tuple[str, ...],
    no_sim: bool,
    published: bool,
    baselines: bool | None,
    by: "Lexicon | None",
    with_samples: bool,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """SEER's tables for a dataset: runs and annotators beside the paper's rows, errors, formats, transitions.

    Of other tasks, their own tables: for several labels a text by label, and what was taken for what.

    Without RUNS: of every task that the dataset was asked, of each model and setting the newest that is done. Masked
    words of all of them are compared by one lexicon: --lexicon, or that of the first one's scores.
    """
    workspace = look_into(db, read_only=read_only)
    try:
        store, found = workspace.store, workspace.results()
        name = _usual(workspace, runs) if dataset is None else dataset
        with bar("results") as progress:
            chosen = [store.runs.get(run).run for run in runs] or None
            read = found.tables(
                name,
                chosen,
                sim=not no_sim,
                published=published,
                baselines=baselines,
                lexicon=by,
                on_step=lambda step, done, n: progress(done, n, step),
            )
        tables = list(read)
        held = store.datasets.get(name)
        if held is not None and held.task == SPANS and experiment_of(held) is None:
            moves = [found.transitions(name, by) for by in BY]
            tables += [transition_table(one) for one in reversed(moves) if one.pairs]
        (section,) = picked([Section("", tuple(tables))], keys) or [Section("", ())]
        tables = list(section.tables)
        if not as_json:
            print_tables(tables)
            return
        ids = _ids(workspace, tables) if with_samples else None
        print_json(
            {
                "dataset": held.name if held else name,
                "tables": [_table_document(table, ids) for table in tables],
            }
        )
    finally:
        workspace.close()


@click.command()
@click.argument("runs", nargs=-1)
@written_option("--to", "target", required=True, help=f"The file to write: {', '.join(WRITTEN)}.")
@dataset_option
@table_option
@no_sim_option
@published_option
@baselines_option
@click.option("--document", is_flag=True, help=".tex: a whole document, in place of tables to include.")
@db_option
@read_only_option
@json_option
def report(
    runs: tuple[str, ...],
    target: str,
    dataset: str | None,
    keys: tuple[str, ...],
    no_sim: bool,
    published: bool,
    baselines: bool | None,
    document: bool,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Write the tables of RUNS, for a paper (to be included), a page, a note or a program; or a figure of one.

    Without RUNS: of every task that the dataset was asked, of each model and setting the newest that is done.
    """
    if document and not target.lower().endswith(".tex"):
        raise BadInput("--document is for .tex: leave it out")
    workspace = look_into(db, read_only=read_only)
    try:
        with bar("report") as progress, stopping() as asked:

            def show(step: RunProgress) -> None:
                progress(step.done, step.n, step.step)

            found = workspace.results()
            store = workspace.store
            named = runs or found.newest(dataset if dataset is not None else _usual(workspace, ()))
            written = write_report(
                store,
                found,
                named,
                target,
                dataset=dataset,
                sim=not no_sim,
                published=published,
                keys=keys,
                document=document,
                baselines=baselines,
                on_progress=show,
                cancelled=asked,
            )
    except Cancelled:
        say(f"interrupted: {target} is not written", err=True)
        sys.exit(1)
    finally:
        workspace.close()
    if as_json:
        print_json(written)
    else:
        many, of = (number_of(len(written[f"{one}s"]), one) for one in ("table", "run"))
        say(f"{many} of {of} written to {target}")


def _usual(workspace: Workspace, runs: Sequence[str]) -> int:
    """The dataset of the first run named, else of the newest: over spans where there is one, main tasks first."""
    store = workspace.store
    if runs:
        return store.runs.get(runs[0]).dataset
    main = {one.dataset: experiment_of(one) is None for one in workspace.results().datasets()}
    every = [run.dataset for run in store.runs.all()]
    found = [dataset for dataset in every if dataset in main]
    if not every:
        raise BadInput("there is no run yet; make one: emotui run spans --model embedded")
    return next((dataset for dataset in found if main[dataset]), (found or every)[0])


def _ids(workspace: Workspace, tables: Sequence[ResultsTable]) -> dict[int, str]:
    cells = [cell for table in tables for row in table.rows for cell in row.cells]
    numbers = sorted({number for cell in cells for number in cell.samples})
    return {row.sample: row.id for row in workspace.store.list_rows.page(numbers, None)}


def _table_document(table: ResultsTable, ids: Mapping[int, str] | None) -> dict[str, object]:
    rows = [
        {
            "label": row.label,
            "kind": row.kind,
            "source": row.source,
            "remark": row.remark or None,
            "cells": {
                column.key: _cell_document(cell, ids)
                for column, cell in zip(table.columns, row.cells, strict=True)
                if cell.asked
            },
        }
        for row in table.rows
    ]
    columns = [{"key": c.key, "title": c.title, "group": c.group or None, "unit": c.unit} for c in table.columns]
    return {"key": table.key, "title": table.title, "columns": columns, "rows": rows, "notes": list(table.notes)}


def _cell_document(cell: Cell, ids: Mapping[int, str] | None) -> dict[str, object]:
    document: dict[str, object] = {"value": cell.value, "sd": cell.sd, "convention": cell.convention, "run": cell.run}
    document["n_samples"] = len(cell.samples)
    if cell.low is not None and cell.high is not None:
        document["ci95"] = [cell.low, cell.high]
    elif cell.note:
        document["ci95"] = None
    if cell.note:
        document["note"] = cell.note
    if cell.value is None:
        document["why"] = cell.why
    if ids is not None:
        document["samples"] = [ids[number] for number in cell.samples]
    return document


def print_tables(tables: Sequence[ResultsTable]) -> None:
    """The tables, and then all their notes, each once."""
    console = terminal()
    notes: dict[str, None] = {}
    for table in tables:
        if _print_table(console, table):
            notes |= dict.fromkeys((*table.notes, *footnotes(table)))
    for note in notes:
        console.print(as_written(f"- {note}", "dim"))


def _print_table(console: "Console", table: ResultsTable) -> bool:
    """Whether there is anything in it to print. Columns that nobody was asked for are left out.

    What is too wide for the terminal goes on below, settings kept together, with the rows that were asked there.
    """
    shown = table.rows
    if not shown:
        return False
    labels = [literal(f"{row.label} {DAGGER}" if row.published else row.label) for row in shown]
    columns: list[Printed] = [
        (column, [literal(shown_cell(row.cells[place], column.unit)) for row in shown])
        for place, column in enumerate(table.columns)
        if any(row.cells[place].asked for row in shown)
    ]
    # A row's setting says what it is of, and stands in every part.
    if not columns:
        return False
    lead = columns[:1] if columns[0][0].key == "setting" else []
    room = console.width - max(map(len, labels)) - 2 - _width(lead)
    title = table.title
    for part in _pages(columns[len(lead) :], room):
        _print_part(console, title, labels, lead, part, [row.published for row in shown])
        title = f"{table.title} (further columns)"
    return True


def _pages(columns: Sequence[Printed], room: int) -> list[list[Printed]]:
    """The columns, cut into pages of at most this width; between groups, where a group fits on a page."""
    pages: list[list[Printed]] = []
    for _, found in groupby(columns, key=lambda one: one[0].group or one[0].key):
        group = list(found)
        for part in [group] if _width(group) <= room else [[one] for one in group]:
            if not pages or _width([*pages[-1], *part]) > room:
                pages.append([])
            pages[-1] += part
    return pages


def _width(columns: Sequence[Printed]) -> int:
    """Cells that columns take with their headings, and two between each and the next."""
    headings = _headings([column for column, _ in columns])
    sizes = zip(headings, columns, strict=True)
    return sum(max(*map(len, heading.split("\n")), *map(len, cells)) + 2 for heading, (_, cells) in sizes)


def _print_part(
    console: "Console",
    title: str,
    labels: Sequence[str],
    lead: Sequence[Printed],
    part: Sequence[Printed],
    dimmed: Sequence[bool],
) -> None:
    from rich.table import Table
    from rich.text import Text

    printed = Table(title=as_written(title), title_justify="left", box=None, pad_edge=False)
    printed.add_column("")
    columns = [*lead, *part]
    for (column, _), heading in zip(columns, _headings([column for column, _ in columns]), strict=True):
        side: Literal["left", "right"] = "left" if column.unit == "words" else "right"
        printed.add_column(Text("\n".join(map(literal, heading.split("\n"))), justify=side), justify=side, no_wrap=True)
    for at, label in enumerate(labels):
        if all(texts[at] == NOT_ASKED for _, texts in part):
            continue
        cells = [as_written(texts[at]) for _, texts in columns]
        printed.add_row(as_written(label, overflow="fold"), *cells, style="dim" if dimmed[at] else None)
    console.print(printed)
    console.print()


def _headings(columns: Sequence[Column]) -> list[str]:
    """Column titles, a group's name over the first of its columns ."""
    headings = []
    for group, span in column_groups(columns):
        headings += [group] + [""] * (span - 1)
    if not any(headings):
        return [column.title for column in columns]
    return [f"{heading}\n{column.title}" for heading, column in zip(headings, columns, strict=True)]
