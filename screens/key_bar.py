"""The footer: what can be pressed now, read from the bindings that are active."""

from textual.screen import Screen

from emotui.screens.actions import ACTIONS, Action
from emotui.screens.cells import width
from emotui.screens.line import Line, Part

_GAP = 3
_LAST = ("help", "palette", "quit")


class KeyBar(Line):
    """Follows the screen's bindings. Where not all fit, those of a lower rank give way; help always stays."""

    DEFAULT_CSS = "KeyBar { dock: bottom; padding: 0 1; background: $panel; color: $text-muted; }"

    def on_mount(self) -> None:
        """Follow the screen that this is on."""
        self.screen.bindings_updated_signal.subscribe(self, self._follow)
        self._follow(self.screen)

    def on_resize(self) -> None:
        """Show what fits now."""
        self._follow(self.screen)

    def _follow(self, screen: Screen[object]) -> None:
        active = {one.binding.action for one in screen.active_bindings.values() if one.enabled}
        offered = [action for action in ACTIONS if action.rank and f"do('{action.id}')" in active]
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


def _size(action: Action) -> int:
    key, label = action.footer or (action.shown, action.label)
    return width(key) + 1 + width(label) + _GAP
