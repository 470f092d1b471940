"""Dialogs: small screens over the frame that ask one thing. Enter gives it back, Esc leaves everything as it was."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.validation import Number
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from emotui.errors import BadInput
from emotui.screens.long_text import LongInput
from emotui.screens.requests import in_words
from emotui.screens.widgets import textual_private_text
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.line import Line, Part

T = TypeVar("T")

_LOW = 20
"""Lines of a terminal under which a sheet has none between its fields."""


class Entered(Message):
    """Enter was pressed; passed on as keys are, from the field that has the focus, so it overtakes none of them."""


class Turned(Message):
    """Tab was pressed (1), or with shift (-1), before a field had the focus."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step


class Dialog(ModalScreen["T | None"], Generic[T]):
    """A title, a body and a line for what is wrong; which keys do what stands in the last line of the terminal.

    Attributes:
        wide: of the two widths of sheets the greater one, for tables and lists of many columns.
    """

    wide = False
    BINDINGS = [
        Binding("escape", "leave", "back"),
        Binding("q", "leave", show=False),
        Binding("enter", "accept", show=False, priority=True),
        Binding("tab", "field(1)", show=False, priority=True),
        Binding("shift+tab", "field(-1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog:nocolor { background: transparent; }
    Dialog > #sheet {
        width: 84;
        max-width: 96%;
        height: auto;
        max-height: 96%;
        background: $surface;
        border: round $primary;
        border-title-color: $foreground;
        border-title-style: bold;
        padding: 0 1;
    }
    Dialog.-wide > #sheet { width: 120; }
    Dialog Label { color: $text-muted; width: 1fr; margin: 1 0 0 0; }
    Dialog.-low Label { margin: 0; }
    Dialog #unkept { color: $foreground; text-style: bold; height: auto; margin: 0; }
    Dialog #why { color: $error; height: auto; }
    Dialog Input, Dialog Input:focus {
        height: 1; border: none; padding: 0 1; background: $entry; text-style: $entry-text-style;
    }
    Dialog OptionList, Dialog OptionList:focus {
        border: none; padding: 0; height: auto; max-height: 16; background: $surface;
    }
    Dialog OptionList > .option-list--option-highlighted, Dialog OptionList:focus > .option-list--option-highlighted {
        color: $field; background: $foreground; text-style: bold reverse;
    }
    Dialog OptionList:focus > .option-list--option-highlighted { color: $primary; background: $background; }
    Dialog > Line#sheet-keys { dock: bottom; padding: 0 1; background: $panel; color: $text-muted; }
    """

    def __init__(self, title: str, *keys: tuple[str, str]) -> None:
        super().__init__()
        self._title = title
        self._early: list[Message] = []
        self._told = ""
        self._keys = (*keys, ("Esc", "back"))

    def body(self) -> Sequence[Widget]:
        """What the dialog asks with."""
        raise NotImplementedError

    def result(self) -> T | None:
        """What is given back; None: nothing yet.

        Raises:
            BadInput: what was typed cannot be taken.
        """
        return None

    def ask(self, app: "App[Any]", then: Callable[[T], object]) -> None:
        """Open over the app; `then` gets the result, unless the dialog is left without one."""

        def given(result: "T | None") -> None:
            if result is not None:
                then(result)

        app.push_screen(self, given)

    def compose(self) -> ComposeResult:
        """Title, body, what is wrong, keys."""
        self.set_class(self.wide, "-wide")
        with Vertical(id="sheet") as sheet:
            sheet.border_title = Content(self._title)
            try:
                yield from self.body()
            except Exception:
                # What is left is an empty sheet that takes all keys: the frame tells why there is none.
                self.app.call_later(self._give_up)
                raise
            yield Label("", id="unkept", markup=False)
            yield Label("", id="why", markup=False)
        yield Line(id="sheet-keys")

    def _give_up(self) -> None:
        if self.is_current:
            self.dismiss(None)

    def on_mount(self) -> None:
        """Name the keys; nothing blinks."""
        self.refuse("")
        for field in self.query(Input):
            field.cursor_blink = False
        own = (("^Z", "as kept"),) if self._tell_of_drafts() else ()
        self.tell_keys(*own, *self._keys)

    def on_resize(self, event: events.Resize) -> None:
        """A low terminal has no lines to leave empty."""
        self.set_class(event.size.height < _LOW, "-low")

    def tell_keys(self, *keys: tuple[str, str]) -> None:
        """Say which keys do what now."""
        said = [part for key, label in keys for part in (Part("  "), Part(key, "key"), Part(f" {label}"))]
        self.query_one("#sheet-keys", Line).show(said[1:])

    def refuse(self, why: str) -> None:
        """Say what is wrong; empty: nothing is."""
        label = self.query_one("#why", Label)
        label.update(shown(why))
        label.display = bool(why)

    def _tell_of_drafts(self) -> bool:
        """Say that what stands in a field was typed before and is not kept; is there such a field?"""
        told = next((field.told for field in self.query(LongInput) if field.told), "")
        label = self.query_one("#unkept", Label)
        label.update(told)
        label.display = bool(told)
        return bool(told)

    def text(self, name: str) -> str:
        """What is typed in a field."""
        return self.query_one(f"#{name}", Input).value.strip()

    def model(self, spec: str, *, typed: bool) -> str:
        """A SPEC that is chosen; one of a server that only the workspace has named so far has to be accepted twice.

        Args:
            typed: whether the person wrote it.

        Raises:
            BadInput: it has not been accepted yet.
        """
        from emotui.workbench.models.benchmark import name, unnamed

        where = unnamed(spec)
        if where is not None and not typed and self._told != spec:
            self._told = spec
            raise BadInput(
                f"This workspace names {where}, which was never used from here. Enter again sends texts there, and "
                "your key where you have one."
            )
        name(spec)
        return spec

    def number(self, name: str) -> float | None:
        """The number in a field; None where it is empty and may be.

        Raises:
            BadInput: the field's validators do not take it.
        """
        field, written = self.query_one(f"#{name}", Input), self.text(name).replace(",", ".")
        found = field.validate(written)
        if found is not None and not found.is_valid:
            raise BadInput(found.failure_descriptions[0])
        return float(written) if written else None

    def action_accept(self) -> None:
        """Give the result back, or say why there is none, once all keys that were pressed before have arrived."""
        (self.focused or self).post_message(Entered())

    @on(Entered)
    def _entered(self, event: Entered) -> None:
        event.stop()
        if self._early:
            self._early.append(Entered())
        else:
            # Keys that a field leaves to a binding, such as backspace, act from the app's own queue.
            self.app.call_later(self._accept)

    def on_key(self, event: events.Key) -> None:
        """Hand on what was typed before a field had the focus, or was there at all; a field itself leaves no letter."""
        early = self._is_early
        if event.is_printable and (early or isinstance(self.focused, Input)):
            event.stop()
            again = events.Key(event.key, event.character)
            if self.focused is None:
                self._early.append(again)
            else:
                self.focused.post_message(again)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Give it what was typed before."""
        early, self._early = self._early, []
        to = event.widget
        for message in early:
            if isinstance(message, Turned):
                self._turn(message.step)
                to = self.focused or to
            else:
                to.post_message(message)

    @property
    def _is_early(self) -> bool:
        """Is there a field that will have the focus, and has it not yet?"""
        return self.focused is None and (not self.is_mounted or bool(self.query(Input)))

    def action_field(self, step: int) -> None:
        """To the next field before any key that follows is handed on; where there is no focus yet, once there is."""
        if self._is_early:
            self.post_message(Turned(step))
        else:
            self._turn(step)

    def on_turned(self, event: Turned) -> None:
        event.stop()
        if self._is_early:
            self._early.append(event)
        else:
            self._turn(event.step)

    def _turn(self, step: int) -> None:
        (self.focus_next if step > 0 else self.focus_previous)()

    def _accept(self) -> None:
        if not self.is_current:
            return
        try:
            given = self.result()
        except Exception as problem:
            self.refuse(in_words(problem))
        else:
            if given is not None:
                self.dismiss(given)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._accept()

    def action_leave(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)


class OptionDialog(Dialog[T]):
    """A list to choose from: j and k move in it as the arrow keys do."""

    BINDINGS = [
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    @property
    def options(self) -> OptionList:
        """The list."""
        return self.query_one(OptionList)

    @property
    def at(self) -> int:
        """The place of the option under the cursor."""
        return self.options.highlighted or 0

    def action_move(self, step: int) -> None:
        """Move by one option."""
        if step > 0:
            self.options.action_cursor_down()
        else:
            self.options.action_cursor_up()


MOST = 48
"""Cells that a name is brought to at most, so that one long name does not push away what is told of the others."""


def option(name: str, about: str, mark: str = "", cells: int = 0) -> Option:
    """An option: its name in so many cells or more, and behind it, dim, what is worth knowing about it."""
    room = " " * (min(cells, MOST) - width(name))
    return Option(Content.assemble(mark, shown(name), room, (shown(about), "$text-muted")))


def number_field(
    name: str,
    value: str,
    validator: Number,
    *,
    empty: str | None = None,
    restrict: str | None = None,
    classes: str = "",
) -> textual_private_text.Input:
    """A field for a number; `empty`: what it says while it is empty, where it may be."""
    return textual_private_text.Input(
        value,
        id=name,
        compact=True,
        placeholder=empty or "",
        restrict=restrict,
        classes=classes,
        validators=[validator],
        validate_on=["submitted"],
        valid_empty=empty is not None,
    )
