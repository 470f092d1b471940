"""`emotui export`: predictions out."""

import click

from emotui.commands.output import json_option, print_json
from emotui.commands.program_options import db_option, read_only_option
from emotui.workbench.runs.export import export_run
from emotui.workbench.workspace import Workspace


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
