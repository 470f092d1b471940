"""Long texts in a person's own editor: what $VISUAL or $EDITOR names, over the whole terminal until it ends."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported
from textual.binding import Binding
from textual.widgets import Input

from emotui.errors import BadInput


def editor_of(environment: Mapping[str, str]) -> list[str]:
    """The command that starts the editor.

    Raises:
        BadInput: none is named, or not as a command.
    """
    named = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        command = shlex.split(named)
    except ValueError as error:
        raise BadInput(f"$EDITOR is no command: {error}") from None
    if not command:
        raise BadInput("$EDITOR names no editor: export EDITOR=vim, and start emotui again")
    return command


def edited(text: str, command: Sequence[str]) -> str:
    """The text as the editor leaves it, without the line's end that editors add.

    Raises:
        BadInput: the editor cannot be started, says that it failed, or leaves what is no text.
    """
    with tempfile.TemporaryDirectory(prefix="emotui-") as folder:
        path = Path(folder) / "text.txt"
        path.write_text(text, encoding="utf-8")
        try:
            ended = subprocess.run([*command, str(path)], check=False)
            left = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{command[0]}: {error}") from None
        if ended.returncode != 0:
            raise BadInput(f"{command[0]} ended with {ended.returncode}: the text is as it was")
    return left if text.endswith("\n") else left.removesuffix("\n")


def write_elsewhere(app: "App[Any]", text: str) -> str:
    """Leave the terminal to the editor, and give back what it made of the text; where that fails, say so: the text."""
    try:
        command = editor_of(os.environ)
        with app.suspend():
            return edited(text, command)
    except BadInput as problem:
        app.notify(str(problem), severity="warning", markup=False)
    except SuspendNotSupported:
        app.notify("Another editor needs a terminal of its own, which this is not", severity="warning", markup=False)
    return text


class LongInput(Input):
    """A line for a text that may be long: Ctrl+O writes it in the person's own editor, whose lines become one."""

    BINDINGS = [Binding("ctrl+o", "elsewhere", show=False)]

    def action_elsewhere(self) -> None:
        """Write on in the editor that $EDITOR names."""
        text = " ".join(write_elsewhere(self.app, self.value).split("\n")).strip()
        if text != self.value:
            self.value = text
            self.cursor_position = len(text)
