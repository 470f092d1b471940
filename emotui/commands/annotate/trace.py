"""`emotui annotate log`: every event, and how each answer came about."""

import click
import msgspec

from emotui.commands.output import as_written, json_option, print_json, say, shown, terminal
from emotui.commands.program_options import annotator_option, db_option, look_into, read_only_option
from emotui.workbench.annotate.traces import answer_traces, event_traces
from emotui.workbench.datasets.sets import dataset_named


@click.command()
@click.argument("dataset")
@annotator_option("Of this annotator alone.")
@db_option
@read_only_option
@json_option
def log(dataset: str, annotator: str | None, db: str | None, read_only: bool, as_json: bool) -> None:
    """How the answers to DATASET came about: order, seconds, suggestions followed; with --json every event too."""
    store = look_into(db, read_only=read_only).store
    found = dataset_named(store, dataset)
    answers = list(answer_traces(store, found, annotator))
    if as_json:
        events = event_traces(store, found, annotator)
        rows = [msgspec.structs.asdict(one) | {"what": msgspec.to_builtins(one.what)} for one in events]
        print_json({"dataset": dataset, "answers": [msgspec.structs.asdict(one) for one in answers], "events": rows})
        return
    if not answers:
        say("No answers yet. Annotate in place 2 of the workbench: emotui")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("annotator", "text", "place", "seconds", "events", "suggested by", "taken", "mended", "away"):
        table.add_column(column, justify="left" if column in ("annotator", "text", "suggested by") else "right")
    for one in answers:
        name = one.annotator + (" again" if one.round else "")
        of = f"{one.taken}/{one.shown}" if one.source else "–"
        cells = (name, one.id, shown(one.place), shown(one.answered), str(one.events), one.source or "–", of)
        table.add_row(*map(as_written, (*cells, str(one.mended) if one.source else "–", shown(one.away))))
    terminal().print(table)
