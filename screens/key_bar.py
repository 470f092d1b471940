"""The footer: what can be pressed now, read from the bindings that are active."""

from textual.screen import Screen

from emotui.screens.actions import ACTIONS
from emotui.screens.cells import width
from emotui.screens.line import Line, Part

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
        room = self.size.width - sum(_size(action.shown, action.label) for action in offered if action.id in _LAST)
        kept = []
        for action in offered:
            if action.id not in _LAST:
                room -= _size(action.shown, action.label)
                if room < 0:
                    continue
            kept.append(action)
        parts = []
        for action in kept:
            press = f"do('{action.id}')"
            parts += [Part(action.shown, "key", press), Part(f" {action.label}", "plain", press), Part("   ")]
        self.show(parts)


def _size(key: str, label: str) -> int:
    return width(key) + width(label) + 4
