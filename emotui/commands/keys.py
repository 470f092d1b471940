"""`emotui keys`: a card of keys as they are for this person: the registry's, and those of keys.toml in their place."""

from typing import TYPE_CHECKING

import click

from emotui.commands.output import json_option, print_json, say
from emotui.errors import BadInput

if TYPE_CHECKING:
    from emotui.screens.actions import Action


@click.command()
@click.argument("place", required=False)
@click.option("--markdown", is_flag=True, help="Tables in Markdown.")
@json_option
def keys(place: str | None, markdown: bool, as_json: bool) -> None:
    """Print every key with what it does, as your keys.toml has them; of one PLACE only its own (annotate, ...)."""
    from emotui.screens.keymaps import Keymap, read, where
    from emotui.screens.places import ACTIONS, PLACES

    actions = Keymap(ACTIONS, read(where(), ACTIONS).all).actions
    if place is not None:
        named = {entry.title.lower().replace(" ", "-"): entry.actions for entry in PLACES.values()}
        if place.lower() not in named:
            raise BadInput(f"there is no place {place!r}: it is one of {', '.join(named)}")
        own = {action.id for action in named[place.lower()]}
        actions = tuple(action for action in actions if action.id in own)
    groups: dict[str, list[Action]] = {}
    for action in actions:
        if action.shown:
            groups.setdefault(action.group, []).append(action)
    if as_json:
        told = {
            group: [{"key": one.shown, "does": one.help, "action": one.id} for one in found]
            for group, found in groups.items()
        }
        print_json(told)
        return
    for group, found in groups.items():
        say(f"### {group}\n\n| key | |\n|---|---|" if markdown else group)
        for one in found:
            say(f"| `{one.shown}` | {one.help} |" if markdown else f"  {one.shown:<7} {one.help}")
        say("")
