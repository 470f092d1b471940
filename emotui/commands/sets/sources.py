"""`emotui sources`, `make-gold` and `import predictions`: whoever says something about a dataset; and SQL."""

from dataclasses import asdict
from pathlib import Path

import click

from emotui.backends.relabelled import hash_of, read_label_map
from emotui.commands.exchange.written import is_forced, written_option
from emotui.commands.options import lexicon_options
from emotui.commands.output import (
    as_written,
    json_option,
    print_figures,
    print_json,
    say,
    skip_bad_option,
    terminal,
    warn,
)
from emotui.commands.program_options import Waiting, db_option, look_into, read_only_option, upgraded_store
from emotui.errors import BadInput
from emotui.formats import write_text
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.rows import literal
from emotui.store import questions, schema
from emotui.store.access import Access
from emotui.store.questions import Answer
from emotui.store.store import default_path
from emotui.store.upgrade import Upgraded, steps_from
from emotui.tasks.parts import Lexicon
from emotui.workbench import query_process
from emotui.workbench.datasets import label_maps
from emotui.workbench.datasets import sources as said
from emotui.workbench.datasets.sets import dataset_named, described
from emotui.workbench.files.score import MISSING
from emotui.workbench.query_process import SHOWN, Table, ends_at
from emotui.workbench.runs.elsewhere import import_predictions
from emotui.workbench.runs.run import EMBEDDING
from emotui.workbench.runs.scores import Embedder

# `emotui map-labels`: the mappings of span labels that are kept with a dataset.


@click.command("map-labels")
@click.argument("dataset")
@click.option("--guess", is_flag=True, help="Propose a mapping and keep nothing.")
@click.option("--model", metavar="SPEC", help="With --guess: of the labels of this model (it is loaded).")
@click.option("--run", "run_name", metavar="RUN", help="With --guess: of the labels that this run says.")
@click.option("--nearest", is_flag=True, help="With --guess: tell the nearest label by `embedded` beside each.")
@click.option("--source", "whose", metavar="NAME", help="The mapping of this model, person or file alone.")
@click.option("--set", "pairs", multiple=True, metavar="THEIRS=OURS", help="Add a line, or remove it: THEIRS= .")
@click.option("--from", "source", type=click.Path(), help="Keep the mapping of this TOML file.")
@written_option("--to", "target", type=click.Path(), help="Write what would be printed to this file.")
@click.option("--clear", is_flag=True, help="Keep no mapping any more.")
@db_option
@json_option
def map_labels(
    dataset: str,
    guess: bool,
    model: str | None,
    run_name: str | None,
    nearest: bool,
    whose: str | None,
    pairs: tuple[str, ...],
    source: str | None,
    target: str | None,
    clear: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Show or change what sources call the labels of DATASET's gold spans, as TOML lines `theirs = "ours"`.

    The mapping is applied whenever runs and files over DATASET are scored; scores that are there keep what they were
    computed under until `emotui rescore`. What is kept with --source goes before what is kept for all. A guess is
    printed, never kept: look at it, then `--from` it.
    """
    if (model or run_name or nearest) and not guess:
        raise BadInput("--model, --run and --nearest say how labels are guessed: add --guess")
    if guess and (pairs or source or clear):
        raise BadInput("--guess keeps nothing: write it to a file with --to, then --from that file")
    workspace = look_into(db)
    try:
        store = workspace.store
        found = dataset_named(store, dataset)
        own = label_maps.gold_labels(store, found)
        near = None
        if guess:
            if model:
                theirs = label_maps.labels_of_model(workspace.model(model).load())
            else:
                runs = (store.runs.get(run_name).run,) if run_name else label_maps.runs_of(store, found)
                theirs = label_maps.labels_said(store, runs)
            shown: dict[str, str | None] = label_maps.guessed(theirs, own)
            if nearest:
                near = label_maps.nearest(theirs, own, Embedder(workspace.model(EMBEDDING)))
        else:
            mapping = {} if clear else read_label_map(source) if source else label_maps.label_map(store, found, whose)
            for theirs_name, ours in map(_pair, pairs):
                mapping.pop(theirs_name, None)
                if ours:
                    mapping[theirs_name] = ours
            if clear or source or pairs:
                label_maps.keep_label_map(store, found, mapping, whose)
                say("Runs keep their scores until they are scored again: emotui rescore RUN", err=True)
            shown = dict(mapping)
    finally:
        workspace.close()
    if as_json:
        name = hash_of({label: image for label, image in shown.items() if image})
        told = {} if near is None else {"nearest": {k: {"label": v, "cosine": c} for k, (v, c) in near.items()}}
        head = {"dataset": found.name, "gold_labels": list(own), "source": whose, "mapping": shown, "hash": name}
        print_json(head | {"kept": not guess} | told)
        return
    lines = label_maps.as_toml(shown, near)
    if target is None:
        say("".join(f"{literal(line)}\n" for line in lines.splitlines()) or "# no mapping", nl=not lines)
        return
    write_text(target, lines)


def _pair(given: str) -> tuple[str, str]:
    theirs, equals, ours = given.partition("=")
    if not (equals and theirs.strip()):
        raise BadInput(f"--set takes THEIRS=OURS, not {given!r}")
    return theirs.strip(), ours.strip()


@click.command()
@click.argument("dataset")
@click.option("--take", metavar="NAME", help="Keep what this person says inside the gold records as a source, scored.")
@click.option("--no-sim", is_flag=True, help="Score without Sim (no model is loaded).")
@db_option
@read_only_option
@json_option
def sources(dataset: str, take: str | None, no_sim: bool, db: str | None, read_only: bool, as_json: bool) -> None:
    """List whoever says something about DATASET: gold, people, models and files."""
    store = look_into(db, read_only=read_only).store
    if take is not None:
        said.take_person(store, dataset, take, sim=not no_sim)
    found = said.sources(store, dataset)
    if as_json:
        versions = [
            {"version": version, "from": origin, "made": made}
            for version, origin, made in store.gold.versions(dataset_named(store, dataset).dataset)
        ]
        print_json({"dataset": dataset, "sources": [asdict(one) for one in found], "gold_versions": versions})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("source", "kind", "texts", "gold", "run", "state"):
        table.add_column(column, justify="right" if column in ("texts", "gold") else "left")
    for one in found:
        gold = "–" if one.gold is None else str(one.gold)
        table.add_row(*map(as_written, (one.name, one.kind, str(one.n), gold, one.run or "–", one.state or "–")))
    terminal().print(table)


@click.command("make-gold")
@click.argument("dataset")
@click.argument("source")
@click.option("--keep-missing", is_flag=True, help="Texts that SOURCE says nothing about keep the gold that they have.")
@db_option
@json_option
def make_gold(dataset: str, source: str, keep_missing: bool, db: str | None, as_json: bool) -> None:
    """Make what SOURCE says the gold of DATASET: a person, a run, or a file of predictions.

    All that it says is taken: spans, labels and numbers of texts. Of each kind what gold said before goes, in the texts
    that SOURCE answered.

    The former gold is kept as a version of its own. Scores keep the version that they were computed under, until
    `emotui rescore` renews them.
    """
    made = said.make_gold(look_into(db).store, dataset, source, keep_missing=keep_missing, warn=warn)
    if as_json:
        print_json(described(made))
    else:
        say(literal(f"{made.name}: gold version {made.gold}, from {source}"))


@click.command("import predictions")
@click.argument("file")
@click.option("--dataset", required=True, help="The dataset of the store that they are about.")
@click.option("--source", required=True, help="The name that they are kept under.")
@click.option("--as", "kind", help="What they are: spans, labels, values, ... (default: by what is said in the file).")
@click.option("--format", "format_name", help="`project`, or the layout of another program (default: found out).")
@click.option("--map", "columns", help="FIELD=COLUMN,...: in which column of the file what stands.")
@click.option("--delimiter", help="Between the cells of a table.")
@click.option("--encoding", help="Of a text file, such as cp1252.")
@click.option("--missing", type=click.Choice(MISSING), help="What a text without a prediction counts as.")
@click.option("--no-sim", is_flag=True, help="Score without Sim (no model is loaded).")
@lexicon_options
@skip_bad_option
@db_option
@json_option
def predictions(
    file: str,
    dataset: str,
    source: str,
    kind: str | None,
    format_name: str | None,
    columns: str | None,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    no_sim: bool,
    by: Lexicon | None,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Keep the predictions of FILE, made elsewhere, as a source of a dataset: scored, and beside its runs."""
    workspace = look_into(db)
    imported = import_predictions(
        workspace.store,
        dataset_named(workspace.store, dataset),
        file,
        source,
        kind=kind,
        format_name=format_name,
        options=ReadOptions(delimiter, encoding, _columns(columns)),
        missing=missing,
        sim=not no_sim,
        lexicon=by,
        skip_bad=skip_bad,
        warn=warn,
    )
    run = imported.run
    figures = workspace.summary(run.run)
    if as_json:
        head = {"run": run.run, "source": source, "dataset": dataset, "task": run.task, "format": imported.format}
        print_json(head | {"n": run.n, "missing": imported.missing, "metrics": figures})
        return
    silent = f", {imported.missing} without a prediction" if imported.missing else ""
    print_figures(f"{literal(source)}: {run.n} predictions about {dataset} ({imported.format}){silent}", figures)


def _columns(given: str | None) -> dict[str, str]:
    """`FIELD=COLUMN,...` as a mapping."""
    found = {}
    for part in (given or "").split(",") if given else ():
        field, equals, column = part.partition("=")
        if not (equals and field.strip() and column.strip()):
            raise BadInput(f"--map takes FIELD=COLUMN,..., not {part!r}")
        found[field.strip()] = column.strip()
    return found


# `emotui sql`, `snapshot` and `upgrade`: a researcher's own questions, copies, and stores of older versions.


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
