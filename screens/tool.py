"""Colours, help, the palette, and leaving: what is the same whatever is open."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget

from emotui.screens.actions import Acting
from emotui.screens.session import Session

if TYPE_CHECKING:
    from emotui.screens.dialogs.tour import Tour
    from emotui.screens.keys import Keys


class ToolActions(Acting):
    """Each through the app of `owner`.

    Args:
        keys: what keys mean, for the help.
        signs: what the marks of the places mean, under a heading each.
    """

    def __init__(
        self,
        session: Session,
        owner: Widget,
        keys: "Callable[[], Keys]",
        signs: Sequence[tuple[str, tuple[tuple[str, str], ...]]],
    ) -> None:
        self._session, self._owner = session, owner
        self._keys, self._signs = keys, signs
        self._tour: Tour | None = None

    def do_theme(self) -> None:
        from emotui.screens.dialogs.choices import ChoiceDialog, themes

        app = self._owner.app

        def changed(theme: str | None) -> None:
            if theme is not None:
                self.use_theme(theme)

        app.push_screen(ChoiceDialog("Colours", themes(), app.theme), changed)

    def use_theme(self, theme: str) -> None:
        """Use these colours from now on."""
        self._owner.app.theme = theme
        self._session.remember("theme", theme)

    def can_sql(self) -> bool:
        return self._session.source is not None and self._session.source.ask_sql is not None

    def do_sql(self) -> None:
        from emotui.screens.dialogs.sql import SqlDialog

        ask = self._session.bound.ask_sql
        if ask is not None:
            self._owner.app.push_screen(SqlDialog(ask, self._session))

    def do_help(self) -> None:
        from emotui.screens.dialogs.help import HelpDialog

        keys = self._keys()
        own, rest = keys.of_here()

        def left(what: str | None) -> None:
            if what == "tour" and self.can_tour():
                self.do_tour()

        self._owner.app.push_screen(HelpDialog(keys.title, own, rest, keys.titles, self._signs), left)

    def can_tour(self) -> bool:
        return self._session.source is not None

    def do_tour(self) -> None:
        """Begin the tour, from its first step; it stands between the panes and the footer."""
        from emotui.screens.dialogs.tour import Tour

        if self._tour is not None:
            self._tour.begin_again()
            return
        self._tour = Tour(self._keys(), self.do_end_tour)
        self._owner.mount(self._tour, after="#body")
        self._owner.screen.refresh_bindings()

    def can_end_tour(self) -> bool:
        return self._tour is not None and not self._keys().in_field

    def do_end_tour(self) -> None:
        if self._tour is not None:
            self._tour.remove()
            self._tour = None
            self._owner.screen.refresh_bindings()

    def pressed(self, key: str) -> None:
        """The tour, while there is one, looks which keys are pressed."""
        if self._tour is not None:
            self._tour.pressed(key)

    def do_palette(self) -> None:
        from emotui.screens.dialogs.textual_private_options import Palette

        self._owner.app.push_screen(Palette(id="--command-palette"))

    def can_quit(self) -> bool:
        return not self._keys().closes

    def do_quit(self) -> None:
        if self._session.source is None or self._session.leaving:
            self._owner.app.exit()
        else:
            self._session.leave()
