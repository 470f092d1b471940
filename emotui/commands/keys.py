"""`emotui keys`: a card of keys, printed from the registry that footer, help and palette are read from."""

import click

from emotui.commands.output import json_option, print_json, say
from emotui.errors import BadInput


@click.command()
@click.argument("place", required=False)
@click.option("--markdown", is_flag=True, help="Tables in Markdown.")
@json_option
def keys(place: str | None, markdown: bool, as_json: bool) -> None:
    """Print every key with what it does; of one PLACE only its own (annotate, browse, ...)."""
    from emotui.screens.places import ACTIONS, PLACES

    if place is None:
        actions = ACTIONS
    else:
        named = {entry.title.lower().replace(" ", "-"): entry.actions for entry in PLACES.values()}
        if place.lower() not in named:
            raise BadInput(f"there is no place {place!r}: it is one of {', '.join(named)}")
        actions = named[place.lower()]
    groups: dict[str, list[tuple[str, str]]] = {}
    named_by: dict[str, str] = {}
    for action in actions:
        if action.shown:
            groups.setdefault(action.group, []).append((action.shown, action.help))
            named_by[action.help] = action.id
    if as_json:
        told = {
            group: [{"key": key, "does": does, "action": named_by[does]} for key, does in rows]
            for group, rows in groups.items()
        }
        print_json(told)
        return
    for group, rows in groups.items():
        say(f"### {group}\n\n| key | |\n|---|---|" if markdown else group)
        for key, does in rows:
            say(f"| `{key}` | {does} |" if markdown else f"  {key:<7} {does}")
        say("")
