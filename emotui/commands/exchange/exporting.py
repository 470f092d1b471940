"""`emotui export`: predictions, datasets and what sources say of them out of the store, into files."""

import click

from emotui.commands.exchange.written import is_forced, written_option
from emotui.commands.output import json_option, print_json, say, warn
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.workbench.runs.export_rows import export_run


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="DATASET|RUN|ANNOTATOR...")
@written_option("--to", "target", required=True, help="The file to write; its ending says how, or --format.")
@click.option("--format", "layout", metavar="NAME", help="How it is laid out: wide, long, label-studio, ... .")
@click.option("--with", "parts", metavar="PART,...", help="text, gold, scores, marks (default: text,gold).")
@db_option
@read_only_option
@json_option
def export(
    names: tuple[str, ...],
    target: str,
    layout: str | None,
    parts: str | None,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Write a dataset with its gold and what chosen runs and annotators say, in any layout (docs/data_formats.md).

    A RUN alone, without --format and --with, is written as predictions that `emotui score` of its task takes.
    """
    from emotui.workbench.datasets.samples import check_not_over_origin
    from emotui.workbench.runs.export_rows import PARTS, export_rows, found_sources, layout_to_write, write_rows

    store = look_into(db, read_only=read_only).store
    if len(names) == 1 and layout is None and parts is None and store.dataset(names[0]) is None:
        n = export_run(store, names[0], target)
        if as_json:
            print_json({"run": names[0], "to": target, "n": n})
        else:
            say(f"{n} predictions written to {target}")
        return
    wanted = ("text", "gold") if parts is None else tuple(part.strip() for part in parts.split(",") if part.strip())
    if unknown := [part for part in wanted if part not in PARTS]:
        raise BadInput(f"--with {unknown[0]}: name some of {', '.join(PARTS)}")
    writer = layout_to_write(target, layout)
    sources = found_sources(store, names)
    check_not_over_origin(target, sources.dataset)
    rows = export_rows(store, sources, wanted)
    lost = write_rows(target, writer, rows, force=is_forced())
    for line in lost:
        warn(f"{target}: {writer.name} cannot hold {line}")
    if as_json:
        print_json({"sources": names, "to": target, "format": writer.name, "n": len(rows), "lost": lost})
    else:
        say(literal(f"{len(rows)} samples written to {target}"))
