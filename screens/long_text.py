"""Texts that take a while to write: kept while they are written, and written on in a person's own editor.

A person's editor is what $VISUAL or $EDITOR names, over the whole terminal until it ends.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from rich.cells import cell_len
from textual.binding import Binding
from textual.geometry import Region
from textual.timer import Timer
from textual.widget import Widget

from emotui.errors import EmotuiError
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.textual_private_text import Input

if TYPE_CHECKING:
    from emotui.workbench.drafts import Draft, DraftBook, Field

KEEP_AFTER = 0.5
"""Seconds after which a first key, and whatever was typed since, is kept: what a kill or a power cut costs at most."""


class Drafts:
    """What a person writes and has not kept yet, in every field. It goes into the store in a thread: no key waits.

    Args:
        owner: the widget in whose message pump answers arrive.
        book_of: what keeps drafts; None: nothing does, and they last as long as this.
    """

    def __init__(self, owner: Widget, book_of: "Callable[[], DraftBook | None]") -> None:
        self._owner, self._book_of = owner, book_of
        self._drafts: dict[Field, Draft] = {}
        self._unsaved: dict[Field, Draft | None] = {}
        self._timer: Timer | None = None
        self._told = False
        self._writing = threading.Lock()
        self._desk: LatestRequest[None, Mapping[Field, Draft | None]] = LatestRequest(
            "drafts", owner, lambda _: self._keep(), self._kept, self._not_kept, older=True
        )

    def _keep(self) -> "Mapping[Field, Draft | None]":
        """Keep what is new by now; nothing older is ever written behind it."""
        with self._writing:
            changed, book = dict(self._unsaved), self._book_of()
            if book is not None and changed:
                book.keep(changed)
            return changed

    @property
    def busy(self) -> bool:
        """Is something on its way into the store?"""
        return self._desk.busy

    def begin(self, kept: "Mapping[Field, Draft]") -> None:
        """These were left behind."""
        self._drafts = dict(kept)

    def of(self, field: "Field") -> "Draft | None":
        """What was being written there."""
        return self._drafts.get(field)

    def all_of(self, field: "Field") -> "dict[Field, Draft]":
        """Every draft of this field about this sample, whatever name it has, the newest first."""
        found = {one: draft for one, draft in self._drafts.items() if replace(one, draft=field.draft) == field}
        return dict(sorted(found.items(), key=lambda pair: pair[1].at, reverse=True))

    def put(self, field: "Field", draft: "Draft") -> None:
        """This stands there now."""
        known = self._drafts.get(field)
        if known is None or replace(known, at="") != replace(draft, at=""):
            self._drafts[field] = replace(draft, at=datetime.now(UTC).isoformat(timespec="seconds"))
            self._change(field, self._drafts[field])

    def drop(self, field: "Field") -> None:
        """Nothing of one's own stands there: it was kept, emptied, or taken back."""
        if self._drafts.pop(field, None) is not None:
            self._change(field, None)

    def kept(self, field: "Field", text: str) -> None:
        """This is kept there now: a draft of the same words has done its work."""
        draft = self._drafts.get(field)
        if draft is not None and draft.text.strip() == text.strip():
            self.drop(field)

    def _change(self, field: "Field", draft: "Draft | None") -> None:
        self._unsaved[field] = draft
        if self._timer is None:
            self._timer = self._owner.set_timer(KEEP_AFTER, self.save)

    def save(self) -> None:
        """Keep what is new."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._unsaved:
            self._desk.ask(None)

    def save_at_once(self) -> None:
        """The session ends: keep what is new before anything else happens. Nobody is left to be told of an error."""
        if self._unsaved:
            with contextlib.suppress(EmotuiError):
                self._keep()

    def _kept(self, _: None, changed: "Mapping[Field, Draft | None]") -> None:
        for field, draft in changed.items():
            if self._unsaved.get(field, "") == draft:
                del self._unsaved[field]

    def _not_kept(self, _: object, why: str) -> None:
        if not self._told:
            # Once: what has to be kept in the end says it again.
            self._told = True
            said = f"What is typed is kept only until you leave: {why}"
            self._owner.notify(said, severity="warning", markup=False)


def typed_when(draft: "Draft") -> str:
    """When a draft was typed, by this machine's clock: the time, and the day where it was another one."""
    if not draft.at:
        return "in an earlier session"
    try:
        then = datetime.fromisoformat(draft.at).astimezone()
    except ValueError:
        return "in an earlier session"
    today = then.date() == datetime.now().astimezone().date()
    return f"at {then:%H:%M}" if today else f"on {then:%Y-%m-%d} at {then:%H:%M}"


class LongInput(Input):
    """A line for a text that may be long: Ctrl+O writes it in the person's own editor, whose lines become one.

    What is typed is kept as a draft while it is not what stands in the store, and comes back with the line: Ctrl+Z puts
    what the store has in its place, Ctrl+R the draft again.

    Args:
        value: what the store has.
        drafts, field: where drafts are, and whose this one is; None: there is none.
    """

    BINDINGS = [
        Binding("ctrl+o", "elsewhere", show=False),
        Binding("ctrl+z", "as_kept", show=False),
        Binding("ctrl+r,ctrl+y", "as_written", show=False),
    ]

    def __init__(
        self, value: str = "", *, drafts: Drafts | None = None, field: "Field | None" = None, **options: Any
    ) -> None:
        self._drafts: Drafts | None = None
        self._field: Field | None = None
        super().__init__(**options)
        self._selects = self.select_on_focus
        self.came_back: Draft | None = None
        """The draft with which the line began."""
        self.put(value, drafts, field)

    def put(self, value: str, drafts: "Drafts | None", field: "Field | None") -> None:
        """Begin with a draft, where there is one, else with what the store has."""
        self._drafts = self._field = None
        if drafts is not None and field is not None:
            drafts.kept(field, value)
            self.came_back = drafts.of(field)
        else:
            self.came_back = None
        self._stored, self._written = value, self.came_back.text if self.came_back is not None else value
        self.value = self._written
        self.cursor_position = len(self.value)
        # Else the first key would take the place of all that came back.
        self.select_on_focus = self._selects and self.came_back is None
        self._drafts, self._field = drafts, field

    def on_resize(self) -> None:
        """The cursor is seen, also at the end of what came back before there was any room."""
        before = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(before, 0, 1, 1), force=True, animate=False)

    def watch_value(self, value: str) -> None:
        """Keep what is new; where nothing is, there is no draft."""
        if self._drafts is None or self._field is None:
            return
        from emotui.workbench.drafts import Draft

        if value.strip() in ("", self._stored.strip()):
            self._drafts.drop(self._field)
        else:
            self._written = value
            self._drafts.put(self._field, Draft(text=value))

    def action_elsewhere(self) -> None:
        """Write on in the editor that $EDITOR names."""
        from emotui.screens.widgets.editor import write_elsewhere

        self._show(" ".join(write_elsewhere(self.app, self.value).split("\n")).strip())

    def action_as_kept(self) -> None:
        """What the store has, in place of what was written and not kept."""
        self._show(self._stored)

    def action_as_written(self) -> None:
        """What was written and not kept, again."""
        self._show(self._written)

    @property
    def told(self) -> str:
        """What is to be said of a draft that came back; empty: there is none."""
        draft = self.came_back
        return "" if draft is None else f"You typed this {typed_when(draft)} and it is not kept yet"

    def _show(self, text: str) -> None:
        if text != self.value:
            self.value = text
            self.cursor_position = len(text)
