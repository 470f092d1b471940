"""Colours, help, and leaving: what is the same whatever is open."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.screen import Screen
from textual.widget import Widget

from emotui.errors import BadInput, EmotuiError
from emotui.screens.actions import Acting, Action
from emotui.screens.keymaps import Chosen, Keymap, clashes, hold, keyed, read, write
from emotui.screens.places import ACTIONS, OPENED, PLACES, TITLES
from emotui.screens.session import Session
from emotui.screens.widgets.footer import KeyBar
from emotui.themes import THEMES

if TYPE_CHECKING:
    from emotui.screens.dialogs.tour import Tour
    from emotui.screens.keys import Keys

# The keys of one's own, from their file to what holds now.

SCOPES = {action.id: entry.title for entry in PLACES.values() for action in entry.actions}
"""By the id of an action, the place that alone does it."""


class OwnKeys:
    """Reads and keeps them.

    Args:
        where: says where their file is; None: they hold for this session.
    """

    def __init__(self, session: Session, screen: Screen[None], where: Callable[[], Path] | None) -> None:
        self._session, self._screen, self._where = session, screen, where
        self._path: Path | None = None
        self._chosen = Chosen()

    def read(self) -> None:
        """Use what the file says; where it says nothing that holds, say so."""
        self._path = None if self._where is None else self._where()
        if self._path is None or not self._path.exists():
            return
        try:
            chosen = read(self._path, ACTIONS, SCOPES)
        except BadInput as problem:
            self._screen.notify(str(problem), title="Keys of your own", severity="warning", timeout=15, markup=False)
            return
        if chosen.moved:
            self._bring_over(self._path, chosen)
        self._use(replace(chosen, moved=()))
        told = [f"{clash}" for name in self._chosen.keys for clash in self._clash(name)]
        if told:
            self._screen.notify("; ".join(told[:3]), title="Keys of your own", severity="warning", markup=False)

    def _bring_over(self, path: Path, chosen: Chosen) -> None:
        """Write a file of before back with the keys of now, once, and say what has moved."""
        told = "; ".join(chosen.moved)
        try:
            write(path, chosen)
        except (OSError, EmotuiError) as problem:
            told += f" (for this session: {problem})"
        self._screen.notify(told, title="Keys that moved are moved in your keys.toml too", timeout=15, markup=False)

    def _use(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._session.keymap = Keymap(ACTIONS, chosen.all)
        hold(self._session.keymap)
        self._screen.refresh_bindings()

    def _clash(self, name: str) -> Sequence[str]:
        return clashes(self._session.keymap, SCOPES, name)

    def _change(self, chosen: Chosen) -> Sequence[Action]:
        self._use(chosen)
        if self._path is not None:
            write(self._path, chosen)
        if self._session.source is not None:
            self._session.look_again()  # what stands in the panes names keys too
        return self._listed()

    def _listed(self) -> list[Action]:
        """All, and last the one that is there during the tour alone."""
        return sorted(self._session.keymap.actions, key=lambda action: action.id == "end_tour")

    def show(self) -> None:
        """Open the sheet."""
        from emotui.screens.dialogs.help import KeysDialog

        self._screen.app.push_screen(KeysDialog(self._listed(), self._chosen, self._change, self._clash))


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
        """The sheet of keys, marks and figures; what is chosen there is done."""
        from emotui.screens.dialogs.help import (
            COLOURS,
            EVERYWHERE,
            HERE,
            PLACE,
            WORDS,
            HelpDialog,
            Row,
            grouped,
            rows_of_words,
        )

        keys = self._keys()
        own, rest = keys.of_here()

        def row(action: Action, where: str) -> Row:
            answers = keys.answering(action.id) is not None
            lacks = "" if not answers or keys.can(action.id) else keyed(action.needs) or "it has nothing to act on"
            return Row(action.shown, action.label, keyed(action.help), where, action.id * answers, lacks)

        listed = [one for one in rest if keys.can(one.id) and one.id not in ("help", "palette")]
        places = [
            Row(str(n), title, "Open this " + ("place" if n in TITLES else "view"), "Places", f"{PLACE}{n}")
            for n, title in OPENED.items()
        ]
        colours = [
            Row("", f"colours: {name}", "Use these colours from now on", "Colours", f"{COLOURS}{name}")
            for name in THEMES
        ]
        # What waits for a work of its own, as a blind study, stands apart.
        named = [row(one, keys.title if keys.answering(one.id) is not None else one.group) for one in own]
        able = [keys.can(one.id) or not (keys.limited or line.lacks) for one, line in zip(own, named, strict=True)]
        there = [line for line, can in zip(named, able, strict=True) if can]
        later = [] if keys.limited else [line for line in named if line.lacks]
        rest = [one for one in rest if one.shown or not one.keys]
        figures = [(metric.title, metric.help) for metric in self._session.metrics]
        rows = {
            HERE: [*grouped([*there, *(row(one, one.group) for one in listed)]), *grouped(later), *places, *colours],
            EVERYWHERE: [*grouped([*named, *(row(one, one.group) for one in rest)]), *places, *colours],
            WORDS: rows_of_words(figures, self._signs),
        }
        self._owner.app.push_screen(HelpDialog(keys.title, rows), self._chosen)

    def _chosen(self, what: str | None) -> None:
        """Do what a line of the help says."""
        from emotui.screens.dialogs.help import COLOURS, PLACE

        if what is None or (what == "tour" and not self.can_tour()):
            return
        if what.startswith(COLOURS):
            self.use_theme(what.removeprefix(COLOURS))
        elif what.startswith(PLACE):
            self._owner.app.call_later(self._owner.run_action, f"place({what.removeprefix(PLACE)})")
        else:
            self._owner.app.call_later(self._owner.run_action, f"do('{what}')")

    do_palette = do_help

    def can_tour(self) -> bool:
        return self._session.source is not None

    @property
    def tour_leads(self) -> str:
        """What goes on with the tour; empty: there is none."""
        return "" if self._tour is None else self._tour.leads

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

    def can_quit(self) -> bool:
        return not self._keys().closes

    def do_quit(self) -> None:
        """Leave; while work goes on, at the second time."""
        job = self._session.job
        if self._session.source is None or self._session.leaving:
            self._owner.app.exit()
        elif job is not None and (asks := job.asks_to_leave()):
            self._owner.screen.query_one(KeyBar).say(asks, warns=True)
        else:
            self._session.leave()
