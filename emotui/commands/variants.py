"""`--variants NAME=FILE`: automatic variants of originals as further columns."""

from collections.abc import Callable
from typing import Any

import click

from emotui.errors import BadInput

variants_option: Callable[[Any], Any] = click.option(
    "--variants",
    multiple=True,
    metavar="NAME=FILE",
    help="Further columns: automatic variants of the originals, such as BT-1=back.jsonl (again for more).",
)


def named_files(pairs: tuple[str, ...]) -> dict[str, str]:
    """Name to file. Raises BadInput where one of both is missing, or a name is given twice."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, file = pair.partition("=")
        if not (name.strip() and sign and file):
            raise BadInput(f"{pair}: write a name and a file, such as BT-1={pair or 'FILE'}")
        if name.strip() in found:
            raise BadInput(f"variants: the name {name.strip()!r} is given twice")
        found[name.strip()] = file
    return found
