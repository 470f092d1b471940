"""`emotui doctor`: what this installation can do, what is broken, and the remedy."""

import os
import shutil
import sys

import click

from emotui.commands.output import as_written, json_option, print_json, say, show_step, terminal
from emotui.commands.program_options import db_option, read_only_option
from emotui.workbench.models.doctor import Check, Terminal, examine


@click.command()
@db_option
@read_only_option
@json_option
def doctor(db: str | None, read_only: bool, as_json: bool) -> None:
    """Look at versions, devices, builds, folders, the store and the terminal. Nothing is changed.

    Exit status 1 if something is broken; each such line ends with what to do.
    """
    terminal = _terminal()
    checks: list[Check] = []
    for check in examine(db, terminal, progress=show_step):
        checks.append(check)
        if not as_json:
            _print(check, first=len(checks) == 1 or checks[-2].group != check.group)
    broken = sum(check.state == "broken" for check in checks)
    if as_json:
        print_json({"ok": not broken, "broken": broken, "checks": checks})
    else:
        say(f"\n{broken} broken" if broken else "\nNothing is broken.")
    if broken:
        sys.exit(1)


def _print(check: Check, *, first: bool) -> None:
    show_step("")
    console = terminal()
    if first:
        console.print()
        console.print(as_written(check.group, "bold"))
    mark = {"ok": "✓", "note": "·", "broken": "✗"}[check.state]
    line = as_written(f"  {mark} {check.name}: {check.said}", "bold" if check.state == "broken" else "")
    console.print(line, soft_wrap=True)
    if check.remedy:
        console.print(as_written(f"    → {check.remedy}"), soft_wrap=True)


def _terminal() -> Terminal | None:
    """As it is told to programs; None where standard output is no terminal."""
    if not sys.stdout.isatty():
        return None
    size = shutil.get_terminal_size()
    colours = terminal().color_system
    return Terminal(os.environ.get("TERM", ""), size.columns, size.lines, colours, sys.stdout.encoding or "ascii")
