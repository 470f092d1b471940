"""The footer: what can be pressed now in the pane that has the focus, and why a key did nothing."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Protocol

from msgspec.structs import replace
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer

from emotui.screens.actions import Action
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Line, Part

_GAP = 2
_LAST = ("help", "palette", "close_view", "quit")

_SAID = 4.0
"""Seconds for which something is said in place of the keys."""


class Told(Protocol):
    """Who knows what keys mean."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action, with the keys that it has."""

    @property
    def main(self) -> Sequence[str]:
        """The actions that stand first here, by their ids."""

    def of_one_moment(self) -> AbstractContextManager[None]:
        """Within it nothing that decides what keys mean changes."""

    def pressed_for(self, action: Action, taken: Collection[str]) -> str | None:
        """How the key is shown that does this now, but for those that are `taken`; None: none does."""

    def worded(self, action: str) -> str:
        """What an action is called now, by its id; empty: as it always is."""


class KeyBar(Line):
    """Follows the focus. Where not all fit, those of a lower rank give way to `? help`; it never has a second line."""

    DEFAULT_CSS = "KeyBar { dock: bottom; padding: 0 1; background: $panel; color: $text-muted; }"

    def __init__(self, keys: Told) -> None:
        super().__init__()
        self._keys = keys
        self._why, self._warns = "", False
        self._due = False
        self._until: Timer | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)
        self._follow()

    def on_resize(self) -> None:
        self._follow()

    def say(self, why: str, *, warns: bool = False, stays: bool = False) -> None:
        """Say this in place of the keys, until the next key or for some seconds; empty: show the keys.

        Args:
            why: what is said.
            warns: something may be lost: it is asked, and stands until the next key.
            stays: the next key depends on it, so that it stands until then too.
        """
        if self._until is not None:
            self._until.stop()
        self._until = self.set_timer(_SAID, lambda: self.say("")) if why and not (warns or stays) else None
        if (why, warns) != (self._why, self._warns):
            self._why, self._warns = why, warns
            self._follow()

    @property
    def text(self) -> str:
        """What is shown, without its styles."""
        self._catch_up()
        return super().text

    def render_line(self, y: int) -> Strip:
        if self._due:
            self._due = False
            self._left = tuple(self._now(self.screen))
        return super().render_line(y)

    def _follow(self, _: object = None) -> None:
        """Something has changed, and more may before it is painted: at a start that is told a dozen times."""
        if not self._due:
            self._due = True
            self.call_later(self._catch_up)

    def _catch_up(self) -> None:
        if self._due:
            self._due = False
            self.show(self._now(self.screen))

    def _now(self, screen: Screen[object]) -> list[Part]:
        if self._why:
            return [Part(self._why, "mark" if self._warns else "strong")]
        focused = screen.focused
        taken = frozenset(
            key for key, one in screen.active_bindings.items() if one.enabled and one.node not in (screen, self.app)
        )
        own = getattr(focused, "footer_keys", ())
        room = self.size.width
        with self._keys.of_one_moment():
            return self.fitted(own, room, taken)

    def fitted(self, own: Sequence[tuple[str, str]], room: int, taken: Collection[str] = ()) -> list[Part]:
        """As many as fit into so many cells; where some do not, the last says which key shows them.

        The frame is asked in the order in which keys are wanted, and no further than there is room: asking all of a
        hundred actions takes most of the time of a key.

        Args:
            own: keys and label of what the pane that has the focus does of its own.
            room: cells.
            taken: keys that mean something else now.
        """
        last = [_entry(action) for action in self._offered(taken, last=True)]
        more = last[:1]
        entries: list[_Entry] = []
        kept: list[_Entry] = []
        room += _GAP  # each entry counts with the gap after it; the last one has none
        all_of_it, fitting = _cells(last), _cells(more)

        def may_fit(action: Action) -> bool:
            if all_of_it <= room:
                return True
            left = room - fitting - _GAP - 1
            return width(action.label) <= left or (action.footer is not None and width(action.footer[1]) <= left)

        offered = self._offered(taken, last=False, may_fit=may_fit)
        for entry in chain((_Entry(*pair) for pair in own), map(_entry, offered)):
            entries.append(entry)
            all_of_it += entry.cells
            if fitting + entry.cells <= room:
                kept.append(entry)
                fitting += entry.cells
        entries = [*entries, *last] if all_of_it <= room else [*kept, *more]
        parts: list[Part] = []
        for entry in entries:
            parts += [
                Part(entry.keys, "key", entry.press),
                Part(f" {entry.label}", "plain", entry.press),
                Part(" " * _GAP),
            ]
        return parts[:-1]

    def _offered(
        self, taken: Collection[str], *, last: bool, may_fit: Callable[[Action], bool] = lambda _: True
    ) -> Iterator[Action]:
        """What can be done now, in the order in which it is wanted: what stands at the end, or all but that."""
        first = self._keys.main
        main = {name: at for at, name in reversed([*enumerate(first)])}
        wanted = [
            action
            for action in self._keys.actions
            if (action.id in _LAST) == last and (action.rank or action.id in main)
        ]
        wanted.sort(key=lambda action: (main.get(action.id, len(first)), action.rank))
        for action in wanted:
            if may_fit(action) and (shown := self._shown(action, taken)) is not None:
                yield shown

    def _shown(self, action: Action, taken: Collection[str]) -> Action | None:
        """The action under the key that does it now; None: no key does."""
        shown = self._keys.pressed_for(action, taken)
        if shown is None or shown == action.shown:
            word = "" if shown is None or action.footer is None else self._keys.worded(action.id)
            action = replace(action, footer=(action.footer[0], word)) if word and action.footer is not None else action
            return None if shown is None else action
        return replace(action, shown=shown, footer=None)


class _Entry:
    def __init__(self, keys: str, label: str, press: str = "") -> None:
        self.keys, self.label, self.press = keys, label, press
        self.cells = width(keys) + 1 + width(label) + _GAP


def _entry(action: Action) -> _Entry:
    keys, label = action.footer or (action.shown, action.label)
    return _Entry(keys, label, f"do('{action.id}')")


def _cells(entries: Sequence[_Entry]) -> int:
    """With the gap after the last one."""
    return sum(entry.cells for entry in entries)
