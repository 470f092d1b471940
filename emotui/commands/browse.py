"""`emotui` and `emotui view`: the workbench on a workspace, and on files."""

import sys
from typing import TYPE_CHECKING

import click

from emotui.commands.output import skip_bad_option
from emotui.errors import EmotuiError

if TYPE_CHECKING:
    from emotui.screens.app import EmotuiApp
    from emotui.workbench.workspace import Workspace


def open_workbench(db: str | None, *, read_only: bool = False) -> None:
    """Open the workbench; the workspace itself is opened behind the first paint."""
    from emotui.screens.app import EmotuiApp

    def open_source() -> "Workspace":
        from emotui.workbench.workspace import Workspace

        return Workspace.open(db, read_only=read_only)

    _show(EmotuiApp(open_source))


@click.command()
@click.argument("gold")
@click.argument("predicted", nargs=-1)
@skip_bad_option
def view(gold: str, predicted: tuple[str, ...], skip_bad: bool) -> None:
    """Browse the gold records of GOLD, each file of PREDICTED over them, without importing anything."""
    from emotui.screens.app import EmotuiApp
    from emotui.workbench.file_view import FileView

    source = FileView(gold, predicted, skip_bad=skip_bad, warn=lambda line: click.echo(line, err=True))
    _show(EmotuiApp(lambda: source))


def _show(app: "EmotuiApp") -> None:
    if not sys.stdout.isatty():
        raise EmotuiError("the workbench needs a terminal; see emotui --help for what works without one")
    app.run()
    if app.return_code:
        sys.exit(app.return_code)
