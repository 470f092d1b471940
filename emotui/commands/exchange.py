"""`emotui import` and `emotui export`: samples in, predictions out."""

import click

from emotui.commands.label_columns import label_columns_options
from emotui.commands.options import TaskName
from emotui.commands.output import json_option, print_json, skip_bad_option, warn
from emotui.commands.program_options import db_option, read_only_option
from emotui.errors import BadInput
from emotui.formats.wide import FOUND, LabelColumns
from emotui.tasks.registry import kinds, task_named
from emotui.workbench.datasets.samples import import_files
from emotui.workbench.datasets.seer import TASK, Imported, import_seer
from emotui.workbench.runs.export import export_run
from emotui.workbench.workspace import Workspace

_SEER = "seer"


@click.command("import")
@click.argument("format_name", metavar="FORMAT", type=TaskName(also=(_SEER,)))
@click.argument("files", nargs=-1)
@click.option("--name", help="The dataset's name (default: the first file's, without its ending).")
@click.option("--task1", multiple=True, help="seer: a CSV of the release for Task 1 (again for more).")
@click.option("--task2", multiple=True, help="seer: a CSV of the release for Task 2 (again for more).")
@click.option("--transcripts", help="seer: the folder with MSP-Podcast's transcripts.")
@click.option("--readable-words", is_flag=True, help="seer: count only words with a letter or digit in them.")
@click.option("--trim", is_flag=True, help="seer: cut passages to their five sentences.")
@label_columns_options
@skip_bad_option
@db_option
@json_option
def import_(
    format_name: str,
    files: tuple[str, ...],
    name: str | None,
    task1: tuple[str, ...],
    task2: tuple[str, ...],
    transcripts: str | None,
    readable_words: bool,
    trim: bool,
    columns: LabelColumns,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Bring samples from FILES into the store as one dataset.

    FORMAT is the kind of record, or `seer`: the SEER benchmark's release, by --task1 and --task2 in place of FILES.
    """
    of_seer = bool(task1 or task2 or transcripts or readable_words or trim)
    if format_name == _SEER:
        if files:
            raise BadInput("name the release's files by --task1 and --task2")
        imported = import_seer(
            Workspace.open(db).store,
            task1,
            task2,
            transcripts,
            name,
            readable=readable_words,
            trim=trim,
            skip_bad=skip_bad,
            warn=warn,
        )
        _print_seer(imported, as_json)
        return
    if of_seer or not files:
        raise BadInput(f"emotui import {format_name} FILE...: options like --task1 are for seer")
    if columns != FOUND and not task_named(format_name).files.label_columns:
        there = [kind for kind, task in kinds().items() if task.files.label_columns]
        raise BadInput(f"--labels and --label-threshold are for {' and '.join(there)}, not for {format_name}")
    workspace = Workspace.open(db)
    dataset = import_files(workspace.store, format_name, files, name, columns=columns, skip_bad=skip_bad, warn=warn)
    if as_json:
        print_json({"dataset": dataset.name, "task": dataset.task, "n": dataset.n, "fingerprint": dataset.fingerprint})
    else:
        click.echo(f"{dataset.name}: {dataset.n} samples")


def _print_seer(imported: Imported, as_json: bool) -> None:
    found = {"samples": imported.samples, "labels": imported.labels}
    if as_json:
        documents = {
            key: {"dataset": one.name, "n": one.n, "fingerprint": one.fingerprint} if one else None
            for key, one in found.items()
        }
        print_json({**documents, "task": TASK, "missing": imported.missing})
        return
    for one in found.values():
        if one is not None:
            click.echo(f"{one.name}: {one.n} samples")


@click.command()
@click.argument("run")
@click.option("--to", "target", required=True, help="The file to write: .jsonl, .csv, .tsv or .parquet.")
@db_option
@read_only_option
@json_option
def export(run: str, target: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """Write the predictions of RUN as records that `emotui score` of its task takes."""
    n = export_run(Workspace.look_into(db, read_only=read_only).store, run, target)
    if as_json:
        print_json({"run": run, "to": target, "n": n})
    else:
        click.echo(f"{n} predictions written to {target}")
