"""The footer: what can be pressed now in the pane that has the focus, and why a key did nothing."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec.structs import replace
from textual.screen import Screen
from textual.strip import Strip

from emotui.screens.actions import Action
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Line, Part

_GAP = 2
_LAST = ("help", "palette", "close_view", "quit")
_MORE = "more"
_PAIR = ("run", "model")


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


class KeyBar(Line):
    """Follows the focus. Where not all fit, those of a lower rank give way to `? more`; it never has a second line."""

    DEFAULT_CSS = "KeyBar { dock: bottom; padding: 0 1; background: $panel; color: $text-muted; }"

    def __init__(self, keys: Told) -> None:
        super().__init__()
        self._keys = keys
        self._why = ""
        self._due = False

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)
        self._follow()

    def on_resize(self) -> None:
        self._follow()

    def say(self, why: str) -> None:
        """Say this in place of the keys, until the next key; empty: show the keys."""
        if why != self._why:
            self._why = why
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
            return [Part(self._why, "mark")]
        focused = screen.focused
        taken = frozenset(
            key for key, one in screen.active_bindings.items() if one.enabled and one.node not in (screen, self.app)
        )
        own = [] if focused is None else [_Entry(*pair) for pair in getattr(focused, "footer_keys", ())]
        room = self.size.width - self.styles.padding.width
        with self._keys.of_one_moment():
            offered = self._offered(taken)
        return self._fitted(own, offered, room)

    def _offered(self, taken: Collection[str]) -> list[Action]:
        """What can be done now, in the order in which it is wanted."""
        main = list(self._keys.main)
        offered = []
        for action in self._keys.actions:
            if action.rank or action.id in main:
                shown = self._keys.pressed_for(action, taken)
                if shown is not None:
                    same = shown == action.shown
                    offered.append(action if same else replace(action, shown=shown, footer=None))
        by_id = {action.id: action for action in offered}
        if all(name in by_id for name in _PAIR):
            # One entry where both can be done: the two together are the way to another model's answers.
            first, second = (by_id[name].shown for name in _PAIR)
            offered = [one for one in offered if one.id not in _PAIR]
            offered.append(replace(by_id["run"], footer=(f"{first} {second}", "runs")))
        offered.sort(key=lambda action: (main.index(action.id) if action.id in main else len(main), action.rank))
        return offered

    def _fitted(self, own: "Sequence[_Entry]", offered: Sequence[Action], room: int) -> list[Part]:
        """As many as fit into so many cells; where some do not, the last says which key shows them."""
        entries = [*own, *(_entry(action) for action in offered if action.id not in _LAST)]
        last = [_entry(action) for action in offered if action.id in _LAST]
        if _cells([*entries, *last]) > room:
            last = [_Entry(one.keys, _MORE, one.press) for one in last[:1]]
            kept: list[_Entry] = []
            for entry in entries:
                if _cells([*kept, entry, *last]) <= room:
                    kept.append(entry)
            entries = kept
        parts: list[Part] = []
        for entry in (*entries, *last):
            parts += [
                Part(entry.keys, "key", entry.press),
                Part(f" {entry.label}", "plain", entry.press),
                Part(" " * _GAP),
            ]
        return parts[:-1]


class _Entry:
    def __init__(self, keys: str, label: str, press: str = "") -> None:
        self.keys, self.label, self.press = keys, label, press


def _entry(action: Action) -> _Entry:
    keys, label = action.footer or (action.shown, action.label)
    return _Entry(keys, label, f"do('{action.id}')")


def _cells(entries: Sequence[_Entry]) -> int:
    return sum(width(entry.keys) + 1 + width(entry.label) + _GAP for entry in entries) - _GAP
