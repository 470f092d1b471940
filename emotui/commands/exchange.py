"""`emotui import` and `emotui export`: samples in, predictions out."""

import click

from emotui.commands.output import db_option, json_option, print_json, skip_bad_option
from emotui.workbench.exporting import export_run
from emotui.workbench.samples import import_masked, import_scenes, import_spans
from emotui.workbench.workspace import Workspace

_IMPORTS = {"spans": import_spans, "scenes": import_scenes, "masked": import_masked}


@click.command("import")
@click.argument("format_name", metavar="FORMAT", type=click.Choice(list(_IMPORTS)))
@click.argument("files", nargs=-1, required=True)
@click.option("--name", help="The dataset's name (default: the first file's, without its ending).")
@skip_bad_option
@db_option
@json_option
def import_(
    format_name: str, files: tuple[str, ...], name: str | None, skip_bad: bool, db: str | None, as_json: bool
) -> None:
    """Bring samples from FILES into the store as one dataset. FORMAT is the kind of record."""
    workspace = Workspace.open(db)
    dataset = _IMPORTS[format_name](
        workspace.store, files, name, skip_bad=skip_bad, warn=lambda line: click.echo(line, err=True)
    )
    if as_json:
        print_json({"dataset": dataset.name, "task": dataset.task, "n": dataset.n, "fingerprint": dataset.fingerprint})
    else:
        click.echo(f"{dataset.name}: {dataset.n} samples")


@click.command()
@click.argument("run")
@click.option("--to", "target", required=True, help="The file to write: .jsonl, .csv, .tsv or .parquet.")
@db_option
@json_option
def export(run: str, target: str, db: str | None, as_json: bool) -> None:
    """Write the predictions of RUN as records that `emotui score` of its task takes."""
    n = export_run(Workspace.open(db).store, run, target)
    if as_json:
        print_json({"run": run, "to": target, "n": n})
    else:
        click.echo(f"{n} predictions written to {target}")
