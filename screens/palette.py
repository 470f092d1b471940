"""The command palette: the actions of the registry that can be done now, and the themes."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from emotui.screens.actions import ACTIONS
from emotui.themes import THEMES

if TYPE_CHECKING:
    from emotui.screens.app import EmotuiApp


class ActionProvider(Provider):
    """Finds actions by name or by what their help says."""

    @property
    def _found(self) -> list[tuple[str, str, Callable[[], None]]]:
        app: EmotuiApp = self.app  # type: ignore[assignment]
        frame = app.frame
        found: list[tuple[str, str, Callable[[], None]]] = [
            (f"{action.label}  {action.shown}".rstrip(), action.help, partial(frame.action_do, action.id))
            for action in ACTIONS
            if action.id != "palette" and frame.can(action.id)
        ]
        found += [
            (f"colours: {name}", "Use these colours from now on", partial(frame.remember_theme, name))
            for name in THEMES
        ]
        return found

    async def discover(self) -> Hits:
        """Everything that can be done now."""
        for name, about, do in self._found:
            yield DiscoveryHit(name, do, help=about)

    async def search(self, query: str) -> Hits:
        """What matches by name, then by help."""
        matcher = self.matcher(query)
        for name, about, do in self._found:
            score = max(matcher.match(name), matcher.match(about) / 2)
            if score > 0:
                yield Hit(score, matcher.highlight(name), do, help=about)
