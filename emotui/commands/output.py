"""How commands print: one JSON document with `--json`, tables for people without."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from emotui.formats import to_json_document

json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)
db_option: Callable[[Any], Any] = click.option(
    "--db", type=click.Path(), help="The workspace file (default: in the user's data folder)."
)
skip_bad_option: Callable[[Any], Any] = click.option(
    "--skip-bad", is_flag=True, help="Leave out bad lines and say which, instead of refusing the file."
)


CONFUSION = "confusion"
WIDEST = 12
"""Labels of a confusion that fit into a terminal side by side."""


def print_json(document: object) -> None:
    """One JSON document on standard output."""
    click.echo(to_json_document(document))


def print_figures(title: str, figures: Mapping[str, object]) -> None:
    """A two-column table of the figures of a report; nested groups (`by_emotion`) become tables of their own."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
    groups = {name: value for name, value in figures.items() if isinstance(value, Mapping) and name != "notes"}
    for name, value in figures.items():
        if not isinstance(value, Mapping | list):
            table.add_row(Text(name), Text(shown(value), justify="right"))
    console.print(table if table.row_count else Text(title))
    for name, group in groups.items():
        _print_group(console, name, group)
    notes = figures.get("notes")
    if isinstance(notes, Mapping):
        for name, why in notes.items():
            console.print(Text(f"{name}: {why}", style="dim"))


def _print_group(console: Any, name: str, group: Mapping[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    rows = {key: value for key, value in group.items() if isinstance(value, Mapping)}
    single = {key: value for key, value in group.items() if not isinstance(value, Mapping | list)}
    if single:
        pairs = Table(title=name, title_justify="left", show_header=False, box=None, pad_edge=False)
        for key, value in single.items():
            pairs.add_row(Text(str(key)), Text(shown(value), justify="right"))
        console.print(pairs)
    if not rows or single:
        return
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    if name == CONFUSION and len(columns) > WIDEST:
        _print_confused(console, rows)
        return
    table = Table(title=name, title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for key, row in rows.items():
        table.add_row(Text(str(key)), *(Text(shown(row.get(column))) for column in columns))
    console.print(table)


def _print_confused(console: Any, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Of a confusion too wide for a terminal its most frequent mistakes."""
    from rich.table import Table
    from rich.text import Text

    pairs = [(count, gold, said) for gold, row in rows.items() for said, count in row.items() if said != gold]
    worst = sorted(pairs, key=lambda pair: -pair[0])[:WIDEST]
    table = Table(title=f"{CONFUSION}: the most frequent mistakes", title_justify="left", box=None, pad_edge=False)
    for column in ("gold", "predicted", "count"):
        table.add_column(column, justify="right" if column == "count" else "left")
    for count, gold, said in worst:
        table.add_row(Text(gold), Text(said or "–"), Text(str(count)))
    console.print(table)


def shown(value: object) -> str:
    """A figure as people read it: three decimals, `–` where it is undefined."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)
