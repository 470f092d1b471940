"""The footer: what can be pressed now, read from the bindings that are active."""

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from textual.screen import Screen

from emotui.screens.actions import Action
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Line, Part

_GAP = 3
_LAST = ("help", "palette", "quit")


class KeyBar(Line):
    """Follows the screen's bindings. Where not all fit, those of a lower rank give way; help always stays.

    Args:
        actions: everything that a key can do.
        can: whether an action can be done now. A key that only says why it has to wait is active, and yet not offered.
    """

    DEFAULT_CSS = "KeyBar { dock: bottom; padding: 0 1; background: $panel; color: $text-muted; }"

    def __init__(self, actions: Sequence[Action], can: Callable[[str], bool]) -> None:
        super().__init__()
        self._actions, self._can = actions, can

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)
        self._follow(self.screen)

    def on_resize(self) -> None:
        self._follow(self.screen)

    def _follow(self, screen: Screen[object]) -> None:
        active: dict[str, list[str]] = {}
        for key, one in screen.active_bindings.items():
            if one.enabled:
                active.setdefault(one.binding.action, []).append(key)
        offered = [
            _reached(action, active[f"do('{action.id}')"])
            for action in self._actions
            if action.rank and f"do('{action.id}')" in active and self._can(action.id)
        ]
        offered.sort(key=lambda action: action.rank)
        room = self.size.width + _GAP - sum(_size(action) for action in offered if action.id in _LAST)
        parts: list[Part] = []
        for action in offered:
            if action.id not in _LAST:
                if _size(action) > room:
                    continue
                room -= _size(action)
            key, label = action.footer or (action.shown, action.label)
            press = f"do('{action.id}')"
            parts += [Part(key, "key", press), Part(f" {label}", "plain", press), Part(" " * _GAP)]
        self.show(parts[:-1])


def _reached(action: Action, keys: Sequence[str]) -> Action:
    """The action with a key that acts now: while text is typed, characters do not."""
    others = [key for key in keys if re.fullmatch(r"ctrl\+.|f\d+", key)]
    if not action.keys or action.keys[0] in keys or not others:
        return action
    return replace(action, shown=others[0].replace("ctrl+", "^").upper(), footer=None)


def _size(action: Action) -> int:
    key, label = action.footer or (action.shown, action.label)
    return width(key) + 1 + width(label) + _GAP
