"""`emotui`, `emotui view` and `emotui serve`: the workbench on a workspace, on files, in a browser; a card of keys."""

import getpass
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emotui.commands.output import end_with_terminal, json_option, print_json, say, skip_bad_option, warn
from emotui.commands.program_options import annotator_option, db_option, read_only_option
from emotui.errors import BadInput, EmotuiError
from emotui.installing import install

if TYPE_CHECKING:
    from textual.app import App

    from emotui.screens.actions import Action
    from emotui.workbench.workspace import Workspace

_UPGRADE_TOLD = 20.0
"""Seconds for which the screen shows that the workspace is brought up to date, and where its copy is."""

WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""What textual-serve has the workbench draw with."""


def open_workbench(db: str | None, *, read_only: bool = False, annotator: str | None = None, file: str = "") -> None:
    """Open the workbench; the workspace itself is opened behind the first paint.

    Args:
        annotator: who annotates, from the first screen on; None: the user name of the system, and Browse is first.
        file: is shown as it would be imported; empty: none.

    Raises:
        BadInput: the annotator's name is blank.
    """
    from emotui.collector import start_without

    start_without()  # before what is imported for the first screen: looking at that once takes as long as ten modules
    from emotui.screens.app import EmotuiApp

    if annotator is not None and not annotator.strip():
        raise BadInput("--annotator: the name is blank")

    def open_source() -> "Workspace":
        from emotui.store.access import start_ahead

        start_ahead()
        from emotui.workbench.workspace import Workspace

        return Workspace.open(db, read_only=read_only, at_once=True, on_upgrade=tell)

    def tell(line: str) -> None:
        app.call_from_thread(app.notify, line, timeout=_UPGRADE_TOLD)

    name, annotates = (annotator or user_name()).strip(), annotator is not None
    app = EmotuiApp(open_source, annotator=name, keys_file=own_keys, file=file, annotates=annotates)
    show_app(app)


def own_keys() -> "Path":
    """Where a person's own keys are."""
    from emotui.screens.keymaps import where

    return where()


def user_name() -> str:
    """The name that the system knows the user by; where it knows none, as in some containers, a plain word."""
    try:
        return getpass.getuser() or "someone"
    except (KeyError, OSError):
        return "someone"


@click.command()
@click.argument("file", type=click.Path())
@db_option
@read_only_option
@annotator_option("Who annotates, from the first screen on.")
def open_with_file(file: str, db: str | None, read_only: bool, annotator: str | None) -> None:
    """Open the workbench and show how FILE would be imported; Enter there brings it in. A workspace is opened."""
    from emotui.store.access import is_duckdb

    path = Path(file)
    if path.is_file() and is_duckdb(path):
        if db is not None:
            raise BadInput(f"{file}: is a workspace, and so is --db {db}: name one of them")
        open_workbench(file, read_only=read_only, annotator=annotator)
    elif read_only:
        raise BadInput(f"{file} would be imported, which writes into the workspace: leave --read-only out")
    else:
        open_workbench(db, annotator=annotator, file=file)


@click.command()
@click.argument("gold")
@click.argument("predicted", nargs=-1)
@skip_bad_option
def view(gold: str, predicted: tuple[str, ...], skip_bad: bool) -> None:
    """Browse the gold records of GOLD, each file of PREDICTED over them, without importing anything."""
    from emotui.screens.app import EmotuiApp
    from emotui.workbench.files.view import FileView

    source = FileView(gold, predicted, skip_bad=skip_bad, warn=warn)
    show_app(EmotuiApp(lambda: source, keys_file=own_keys))


def show_app(app: "App[None]") -> None:
    """Run an app on this terminal. Raises EmotuiError where there is none."""
    from emotui.collector import collect_at_end, start_without

    # `emotui serve` starts the workbench with a driver that draws into a pipe.
    if not sys.stdout.isatty() and os.environ.get("TEXTUAL_DRIVER") != WEB_DRIVER:
        raise EmotuiError("the workbench needs a terminal; see emotui --help for what works without one")
    end_with_terminal()
    start_without()
    app.run()
    collect_at_end()
    if app.return_code:
        sys.exit(app.return_code)


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@db_option
@read_only_option
@annotator_option("Who annotates and writes; named, one begins in Annotate (default: your user name).")
def serve(port: int, db: str | None, read_only: bool, annotator: str | None) -> None:
    """Show the workbench in a browser, on this machine alone (127.0.0.1). Ctrl-C ends it.

    The address that it prints holds a secret: whoever has it may do in the workbench what you may (docs/security.md).
    """
    import shlex

    try:
        from emotui.commands.serving.server import OwnServer
    except ImportError as error:
        raise BadInput(f"emotui serve needs the package textual-serve: {install('serve')}") from error

    options = [*(["--db", db] if db else []), *(["--read-only"] if read_only else [])]
    options += ["--annotator", annotator] if annotator else []
    command = [sys.executable, "-m", "emotui", *options]
    # In place of the shell, so that it is the server's own child.
    OwnServer(("exec " if os.name == "posix" else "") + shlex.join(command), port).serve()


# `emotui keys`: a card of keys as they are for this person: the registry's, and those of keys.toml in their place.


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
