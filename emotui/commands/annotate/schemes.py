"""`emotui annotate scheme`: look at schemes, check a file, keep one for a dataset."""

import click

from emotui.commands.output import as_written, json_option, print_json, say, terminal, warn
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.screens.annotate.entry import reserved
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.scheme import Scheme, check_keys, shared_keys, with_keys
from emotui.workbench.annotate.scheme_files import NAMES, read_scheme


@click.group()
def scheme() -> None:
    """Schemes: which labels and numbers there are, their keys, and the guidelines beside them."""


@scheme.command()
@click.argument("file", type=click.Path())
@json_option
def check(file: str, as_json: bool) -> None:
    """Say what is wrong with the scheme in FILE (TOML), or what it holds."""
    found = read_scheme(file)
    _check(found)
    _show(with_keys(found, reserved()), as_json)


@scheme.command()
@click.argument("dataset")
@db_option
@read_only_option
@json_option
def show(dataset: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """Show the scheme that DATASET is annotated by."""
    _show(Desk(look_into(db, read_only=read_only).store).scheme(dataset), as_json)


@scheme.command()
@click.argument("dataset")
@click.argument("file", type=click.Path(), required=False)
@click.option("--built-in", is_flag=True, help="The one that comes with the task again.")
@db_option
@json_option
def use(dataset: str, file: str | None, built_in: bool, db: str | None, as_json: bool) -> None:
    """Keep the scheme in FILE, or the built-in one of that name (seer, say), for DATASET. Answers stay as they are."""
    if (file is None) != built_in:
        raise BadInput("name the file of a scheme, or --built-in")
    desk = Desk(look_into(db).store)
    if file is not None and file not in NAMES:
        _check(read_scheme(file))
    _show(with_keys(desk.keep_scheme(dataset, file), reserved()), as_json)


def _check(scheme: Scheme) -> None:
    """Tell which keys mean two things, and which the place refuses since it has them for itself."""
    try:
        check_keys(scheme, reserved())
    except BadInput as error:
        for problem in error.problems:
            warn(problem)
    for line in shared_keys(scheme):
        warn(f"{scheme.path}: {line}")


def _show(found: Scheme, as_json: bool) -> None:
    if as_json:
        groups = [
            {
                "name": group.name,
                "of": group.of,
                "exclusive": group.exclusive,
                "required": group.required,
                "labels": [{"name": one.name, "key": one.key, "colour": one.colour} for one in group.labels],
                "key": group.key,
                "scale": None
                if group.scale is None
                else {"minimum": group.scale.minimum, "maximum": group.scale.maximum, "step": group.scale.step},
            }
            for group in found.groups
        ]
        head = {"name": found.name, "tasks": found.tasks, "spans": found.spans, "overlap": found.overlap}
        print_json({**head, "groups": groups, "guidelines": bool(found.guidelines)})
        return
    from rich.table import Table

    say(literal(found.name) + (": spans" if found.spans else ""))
    table = Table(box=None, pad_edge=False)
    for column in ("group", "of", "label", "key", "colour"):
        table.add_column(column)
    for group in found.groups:
        of = group.of + (", required" if group.required else "")
        if group.scale is not None:
            scale = f"{group.scale.minimum:g} to {group.scale.maximum:g} by {group.scale.step:g}"
            table.add_row(*map(as_written, (group.name, of, scale, group.key, "")))
        for label in group.labels:
            table.add_row(*map(as_written, (group.name, of, label.name, label.key or "–", label.colour)))
        if not group.labels and group.scale is None:
            table.add_row(*map(as_written, (group.name, of, "a word", "", "")))
    terminal().print(table)
