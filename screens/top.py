"""The line at the top: the places by number, the store, the live model and its state, or the work in progress."""

from collections.abc import Mapping

from emotui.screens import jobs
from emotui.screens.places import TITLES
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Line, Part, opened, taken

_NAME = "emotui "


def places(titles: Mapping[int, str], here: int, cells: int) -> list[Part]:
    """Every place by its number, in so many cells: the open one with its title, of the others the first that fit."""
    if width(_NAME) + sum(width(f"  {number} {title} ") for number, title in titles.items()) <= cells:
        found = [Part(_NAME, "strong")]
        for number, title in titles.items():
            name, opens = f"{number} {title}", _opens(number)
            found += [Part(" "), opened(name, opens) if number == here else Part(f" {name} ", "plain", opens)]
        return found
    room = cells - width(_NAME) - sum(width(f" {number}") for number in titles) - width(f"  {titles[here]} ")
    found = [Part(_NAME, "strong")]
    for number, title in titles.items():
        if number == here:
            found += [Part(" "), opened(f"{number} {title}", _opens(number))]
            continue
        named = f" {title}" if width(f" {title}") <= room else ""
        room = room - width(named) if named else 0
        found += [Part(f" {number}", "key", _opens(number)), Part(named, "plain", _opens(number))]
    return found


def _opens(number: int) -> str:
    return f"place({number})"


def standing(store: str, live: str | None, state: str, cells: int, most: int) -> list[Part]:
    """Which store is open and which model is live, in so many cells; of a long SPEC the end is shown, which tells more.

    Args:
        live: None where there are no models.
        most: the cells that the numbers of the places leave; the state, which Models tells too, gives way to them.
    """
    if live is None:
        return [Part(fit(store, most).rstrip(), "dim")]
    said = shown(live)
    if width(store) + min(width(said), 8) + width(state) + 4 > most:
        state = ""
    store = fit(store, max(most - min(width(said), 8) - width(state) - 4, 8)).rstrip()
    room = max(cells - width(store) - width(state) - 4, 8)
    if width(said) > room:
        said = "…" + said[1 - room :]
    press = "do('name_model')"
    how = Part(f" {state}".rstrip(), "dim", press)
    return [Part(store, "dim"), Part(" · ", "dim"), Part(said, "strong", press), how]


_NAMED = width(_NAME) + sum(width(f" {number} {title}") for number, title in TITLES.items()) + width("  ")
"""Cells in which every place has its name."""

_FEW_WORDS, _FEWEST = 26, 18
"""Cells in which work can be told of: whose it is, how far, and what stops it; without whose."""


class Top(Line):
    """Drawn anew when it is told how the session stands."""

    DEFAULT_CSS = "Top { dock: top; padding: 0 1; background: $panel; }"

    def draw(self, session: Session, number: int, *, key_stops: bool) -> None:
        """Show this.

        Args:
            number: that of the open place.
            key_stops: would its key stop the work now?
        """
        cells = self.screen.size.width - 3
        room = cells - taken(places(TITLES, number, 0))
        told = (session.title, session.live), (max(cells // 3, 24), room)
        right = standing(*told[0], session.live_state, *told[1])
        # What the model is doing gives way to the names of the places where they fit without it.
        named = cells - _NAMED
        if taken(right) > named >= taken(short := standing(*told[0], "", *told[1])):
            right = short
        left = cells - taken(right)
        if session.job is not None:
            # Work is told of in the words that leave the places the names that they have without it.
            most = named if named >= _FEWEST else min(max(taken(right), _FEW_WORDS), room)
            left = min(left, cells - most)
            right = jobs.parts(session.job, most, key_stops=key_stops)
        self.show(places(TITLES, number, left), right)
