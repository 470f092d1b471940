"""`emotui merge`: runs of several stores in one."""

import click

from emotui.commands.output import json_option, print_json, say
from emotui.commands.program_options import db_option, look_into, open_workspace
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.workbench.shards.merge import merge as merge_stores


@click.command()
@click.argument("stores", nargs=-1, required=True, metavar="STORE...")
@db_option
@json_option
def merge(stores: tuple[str, ...], db: str | None, as_json: bool) -> None:
    """Bring the runs of each STORE into the store of --db, shards of one run together as that run.

    The datasets that they are over come along. What people annotated, noted or judged in a STORE stays there.
    """
    twice = next((path for number, path in enumerate(stores) if path in stores[:number]), None)
    if twice is not None:
        raise BadInput(f"{literal(twice)} is named twice")
    sources = [look_into(path, read_only=True).store for path in stores]
    workspace = open_workspace(db)
    try:
        own = next(
            (path for path, one in zip(stores, sources, strict=True) if one.path.samefile(workspace.store.path)), None
        )
        if own is not None:
            raise BadInput(f"{literal(own)} is the store that the others are merged into: leave it out")
        found = merge_stores(workspace.store, sources)
    finally:
        workspace.close()
    if as_json:
        names = ("run", "task", "model", "state", "n", "done", "failed")
        print_json(
            [
                {name: getattr(one.run, name) for name in names} | {"shards": one.shards, "there": one.there}
                for one in found
            ]
        )
        return
    if not found:
        say("these stores hold no run of a model: nothing is merged")
    for one in found:
        parts = f", shards {', '.join(one.shards)}" if one.shards else ""
        kept = "was there already" if one.there else f"{one.run.done} of {one.run.n} done"
        say(f"run {literal(one.run.run)}   {literal(one.run.model)}{parts}: {kept}")
