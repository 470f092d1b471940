"""`emotui runs pack` and `emotui runs unpack`: a run as one file, and back under its own id."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_json, say
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.workbench.runs.packing import pack as pack_run
from emotui.workbench.runs.packing import unpack as unpack_run


@click.command()
@click.argument("run")
@written_option("--to", "target", required=True, help="The file to write, such as RUN.emotui-run.")
@click.option("--without-texts", is_flag=True, help="Leave the samples out: for texts that must not travel.")
@db_option
@read_only_option
@json_option
def pack(run: str, target: str, without_texts: bool, db: str | None, read_only: bool, as_json: bool) -> None:
    """Write RUN as one file: manifest, samples, prompts, outputs, scores."""
    store = look_into(db, read_only=read_only).store
    found = pack_run(store, run, target, texts=not without_texts)
    if as_json:
        print_json({"run": found.run, "to": target, "n": found.done})
    else:
        say(f"run {found.run} is written to {target}")


@click.command()
@click.argument("file")
@db_option
@json_option
def unpack(file: str, db: str | None, as_json: bool) -> None:
    """Keep the run of FILE under its own id; its dataset comes along where the store has it not."""
    workspace = open_workspace(db)
    try:
        found = unpack_run(workspace.store, file)
        dataset = workspace.store.dataset(found.dataset)
        name = dataset.name if dataset is not None else None
    finally:
        workspace.close()
    if as_json:
        print_json({"run": found.run, "task": found.task, "model": found.model, "dataset": name, "n": found.done})
    else:
        say(f"run {found.run} of {found.model} is kept, over the dataset {name}")
