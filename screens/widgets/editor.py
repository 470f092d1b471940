"""The text that is being rephrased: an editor that never waits for a model, with its cue words in bold."""

import os
import shlex
import subprocess
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App, SuspendNotSupported
from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

from emotui.errors import BadInput
from emotui.screens.widgets.cell_width import NOT_TURNED, right_to_left, turns
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.textual_private_area import MarkedTextArea

LONGEST = 4000
"""Characters that a rephrasing may have, or twice its original's where that is more."""

_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")


def typeable(text: str) -> str:
    """The text without what a terminal would act on: control characters and direction marks go, tabs become spaces."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(
        one
        for one in lines
        if one == "\n" or (unicodedata.category(one) not in ("Cc", "Cs") and one not in _DIRECTIONS)
    )


# The person's own editor, that $VISUAL or $EDITOR names.


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


class Editor(MarkedTextArea, inherit_bindings=False):
    """Enter, undo and redo are the place's; everything else is typed.

    Text is shown as it is: no markup, no language. Where a paste or a key would make it too long, nothing happens to
    the text and the owner is told.
    """

    # The registry of actions has undo and redo, and knows when they mean the text and when the last attempt; and what
    # clears the text: a passage is one line to who writes it, however many the screen breaks it into.
    BINDINGS = [
        *(
            binding
            for binding in TextArea.BINDINGS
            if not isinstance(binding, tuple) and binding.action not in ("undo", "redo", "delete_to_start_of_line")
        ),
        Binding("ctrl+o", "elsewhere", "your editor", show=False),
        Binding("ctrl+home", "text_start", show=False),
        Binding("ctrl+end", "text_end", show=False),
    ]
    COMPONENT_CLASSES = {
        "editor--cue",
        "editor--carries-1",
        "editor--carries-2",
        "editor--carries-3",
        "editor--carried",
    }
    DEFAULT_CSS = """
    Editor, Editor:focus {
        border: none;
        padding: 0 1;
        background: $surface;
        scrollbar-size-vertical: 1;
        & > .editor--cue { text-style: bold; }
        & > .editor--carries-1 { background: $background; }
        & > .editor--carries-2 { color: $predicted-text; background: $predicted; }
        & > .editor--carries-3 { color: $background; background: $predicted-bar; text-style: bold; }
        & > .editor--carried { color: $text-disabled; }
    }
    Editor:focus { background: $entry; }
    Editor > .text-area--cursor-line, Editor:focus > .text-area--cursor-line { background: transparent; }
    Editor:nocolor > .editor--carries-1 { text-style: italic; }
    Editor:nocolor > .editor--carries-2 { text-style: reverse; }
    Editor:nocolor > .editor--carries-3 { text-style: bold reverse; }
    Editor:nocolor > .editor--carried { text-style: dim; }
    Editor:nocolor > .text-area--cursor { text-style: reverse; }
    """

    class TooLong(Message):
        """A paste or a key would have made the text this long; it was left out."""

        def __init__(self, characters: int, longest: int) -> None:
            super().__init__()
            self.characters, self.longest = characters, longest

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.longest = LONGEST

    def begin(self, text: str, longest: int = LONGEST) -> None:
        """Put another text here, with nothing to undo and the cursor at its end."""
        self.longest = max(longest, len(text))
        self.load_text(typeable(text))
        self.move_cursor(self.document.end)

    def action_text_start(self) -> None:
        """To the first character of all."""
        self.move_cursor((0, 0))

    def action_text_end(self) -> None:
        """Behind the last character of all."""
        self.move_cursor(self.document.end)

    def put(self, text: str) -> None:
        """Put another text in place of this one; that can be undone."""
        self.replace(typeable(text), (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Everything printable is typed; the slash too, of whose name Textual does not know that it is one."""
        return super().check_consume_key(key, "/" if key == "slash" else character)

    async def on_key(self, event: events.Key) -> None:
        # Textual goes on to the base class's own method by itself, unless that is prevented.
        if event.key == "enter":
            event.prevent_default()
        elif event.is_printable and len(self.text) >= self.longest and self.selection.is_empty:
            event.stop()
            event.prevent_default()
            self.post_message(self.TooLong(len(self.text) + 1, self.longest))

    async def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def action_elsewhere(self) -> None:
        """Write on in the editor that $EDITOR names."""
        if self.read_only:
            return
        text = write_elsewhere(self.app, self.text)
        if len(text) > self.longest:
            self.post_message(self.TooLong(len(text), self.longest))
        elif text != self.text:
            self.put(text)

    def action_paste(self) -> None:
        """Paste what was cut or copied here."""
        self.paste(self.app.clipboard)

    def paste(self, text: str) -> None:
        """Put a text in place of the selection, unless it is too long."""
        # Counted before it is looked at: a paste of megabytes costs as little as one of a word.
        after = len(self.text) - len(self.selected_text) + len(text)
        if after > self.longest:
            self.post_message(self.TooLong(after, self.longest))
            return
        self.type_in(typeable(text))


class DirectionLine(Line):
    """Says under an editor that the terminal leaves right-to-left letters in the order in which they are typed."""

    DEFAULT_CSS = "DirectionLine { display: none; padding: 0 1; color: $text-muted; }"

    def about(self, text: str) -> None:
        """There is a line only where the text needs it."""
        needed = right_to_left(text) and not turns(os.environ)
        if needed:
            self.show([Part(NOT_TURNED)])
        self.display = needed
