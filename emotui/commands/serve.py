"""`emotui serve`: the workbench in a browser on this machine, by textual-serve."""

import shlex
import sys

import click

from emotui.commands.output import db_option
from emotui.errors import BadInput


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@db_option
def serve(port: int, db: str | None) -> None:
    """Show the workbench in a browser, on this machine alone (127.0.0.1). Ctrl-C ends it.

    The page that textual-serve makes asks the browser for a web font; without a network it does without.
    """
    try:
        from textual_serve.server import Server
    except ImportError as error:
        raise BadInput("emotui serve needs the package textual-serve: pip install 'emotui[serve]'") from error

    command = [sys.executable, "-m", "emotui", *(["--db", db] if db else [])]
    Server(shlex.join(command), host="127.0.0.1", port=port, title="emotui").serve()
