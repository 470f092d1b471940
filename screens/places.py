"""Which places there are, by the number that opens them, and the line that names them. A new place is one line here."""

import asyncio
from collections.abc import Mapping
from importlib import import_module

from textual.app import ComposeResult
from textual.containers import Horizontal

from emotui.screens import jobs
from emotui.screens.actions import SHARED, TOOL, Action, PlaceEntry
from emotui.screens.annotate.entry import ENTRY as ANNOTATE_ENTRY
from emotui.screens.browse.entry import ENTRY as BROWSE_ENTRY
from emotui.screens.generate.entry import ENTRY as GENERATE_ENTRY
from emotui.screens.masked.entry import ENTRY as MASKED_ENTRY
from emotui.screens.models.actions import SIGNS as MODEL_SIGNS
from emotui.screens.place import Place
from emotui.screens.rephrase.entry import ENTRY as REPHRASE_ENTRY
from emotui.screens.results.entry import ENTRY as RESULTS_ENTRY
from emotui.screens.scenes.entry import ENTRY as SCENES_ENTRY
from emotui.screens.session import Session
from emotui.screens.spot.entry import ENTRY as SPOT_ENTRY
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Line, Part, opened, taken

PLACES: dict[int, PlaceEntry] = {
    1: BROWSE_ENTRY,
    2: ANNOTATE_ENTRY,
    3: REPHRASE_ENTRY,
    4: SCENES_ENTRY,
    5: MASKED_ENTRY,
    6: GENERATE_ENTRY,
    7: RESULTS_ENTRY,
    8: SPOT_ENTRY,
}

WAYS: dict[int, tuple[int, str, str]] = {9: (7, "view", "two")}
"""Digits that open a view of a place: what that place is told, and its value."""

TITLES = {number: place.title for number, place in PLACES.items()}

OPENED = TITLES | {number: f"{TITLES[of]}: {value}" for number, (of, _, value) in WAYS.items()}
"""What each digit opens."""

ACTIONS: tuple[Action, ...] = (*SHARED, *(action for place in PLACES.values() for action in place.actions), *TOOL)
"""Everything that a key can do, once."""

BROWSE = 1
"""Where samples are looked at that have no place of their own."""

ANNOTATE = 2
"""Where somebody begins who is named as an annotator."""

SIGNS = (*(place.signs for place in PLACES.values() if place.signs[1]), MODEL_SIGNS)
"""What the marks of the places in the list mean, and those of the sheet of models."""


def list_tasks() -> tuple[str, ...]:
    """Of which tasks there are lists; first that of the place that is open at first."""
    tasks = (place.samples_of for place in (PLACES[BROWSE], *PLACES.values()))
    return tuple(dict.fromkeys(task for task in tasks if task))


def place_of(task: str) -> int:
    """Where samples of a task are looked at: the first place whose list has them."""
    return next((number for number, place in PLACES.items() if place.samples_of == task), BROWSE)


def class_of(entry: PlaceEntry) -> type[Place]:
    """The class of a place, imported now."""
    module, _, name = entry.place.partition(":")
    found: type[Place] = getattr(import_module(module), name)
    return found


class OpenPlaces(Horizontal):
    """The places that were opened, of which one is to be seen. Each is made when it is first opened."""

    def __init__(self, session: Session) -> None:
        super().__init__(id="places")
        self.number = BROWSE
        self._session = session
        self._places = {BROWSE: self._make(BROWSE)}
        self._told: dict[int, str] = {}
        self._opening = asyncio.Lock()

    def _make(self, number: int) -> Place:
        return class_of(PLACES[number])(self._session, id=f"place-{number}")

    def compose(self) -> ComposeResult:
        yield self.here

    @property
    def here(self) -> Place:
        """The one that is to be seen."""
        return self._places[self.number]

    @property
    def opens(self) -> bool:
        """Is another one about to be seen?"""
        return self._opening.locked()

    @property
    def opened(self) -> tuple[Place, ...]:
        """All that there are by now."""
        return tuple(self._places.values())

    async def open(self, number: int) -> None:
        """Show another place."""
        # One at a time: keys that are pressed meanwhile may open others.
        async with self._opening:
            if number not in self._places:
                place = self._make(number)
                # Shown, and told anything, only once all of it is there and knows what to ask.
                place.display = False
                await self.mount(place)
                try:
                    if self._session.source is not None:
                        place.bind_source(self._session.source)
                except Exception:
                    await place.remove()  # the next time it is made anew
                    raise
                self._places[number] = place
            before, focused = self.here, self.screen.focused
            before.display = False
            if focused is not None and before in focused.ancestors:
                self.screen.set_focus(None)  # a pane that was not laid out yet is told of no hiding
            self.number = number
            self.tell_model()
            self.here.display = True

    def tell_model(self, *, again: bool = False) -> None:
        """Tell the place which model is live, where it does not know yet; `again`: every place, once it is seen."""
        live = self._session.live
        if again:
            self._told.clear()
        if live is not None and self._told.get(self.number) != live:
            self._told[self.number] = live
            self.here.use_model(live)


# The line at the top: the places by number, the store, the live model and its state, or the work in progress.

_NAME = "emotui "


def places(titles: Mapping[int, str], here: int, cells: int) -> list[Part]:
    """Every place by its number, in so many cells: all with their titles where these fit, else the open one alone."""
    if width(_NAME) + sum(width(f"  {number} {title} ") for number, title in titles.items()) <= cells:
        found = [Part(_NAME, "strong")]
        for number, title in titles.items():
            name, opens = f"{number} {title}", _opens(number)
            found += [Part(" "), opened(name, opens) if number == here else Part(f" {name} ", "plain", opens)]
        return found
    named = width(_NAME) + sum(width(f" {number} {title}") for number, title in titles.items()) + width("  ") <= cells
    found = [Part(_NAME, "strong")]
    for number, title in titles.items():
        if number == here:
            found += [Part(" "), opened(f"{number} {title}", _opens(number))]
        else:
            said = f" {title}" if named else ""
            found += [Part(f" {number}", "key", _opens(number)), Part(said, "plain", _opens(number))]
    return found


def _opens(number: int) -> str:
    return f"place({number})"


def standing(store: str, live: str | None, state: str, cells: int, most: int) -> list[Part]:
    """Which store is open and which model is live, in so many cells; of a long SPEC the end is shown, which tells more.

    Args:
        live: None where there are no models.
        most: the cells that the numbers of the places leave; the store's name gives way to them, then the state.
    """
    if live is None:
        return [Part(fit(store, most).rstrip(), "dim")]
    said = shown(live)
    least = min(width(said), 8) + width(state) + 1
    store = fit(store, min(most - least - 3, width(store))).rstrip() if most - least - 3 >= 8 else ""
    state = state if least <= most else ""
    before = [Part(store, "dim"), Part(" · ", "dim")] if store else []
    room = max(cells - taken(before) - width(state) - 1, 8)
    if width(said) > room:
        said = "…" + said[1 - room :]
    press = "do('name_model')"
    how = Part(f" {state}".rstrip(), "dim", press)
    return [*before, Part(said, "strong", press), how]


_NAMED = width(_NAME) + sum(width(f" {number} {title}") for number, title in TITLES.items()) + width("  ")
"""Cells in which every place has its name."""

_SPACED = width(_NAME) + sum(width(f"  {number} {title} ") for number, title in TITLES.items())
"""Cells in which they stand well apart."""

_TOLD, _FEWEST = 44, 18
"""Cells in which work can be told of with its bar, and those for how far it is and what stops it."""


def room_for_places(cells: int) -> int:
    """How many of so many cells the places have, whatever is told beside them: they stay where they are."""
    return next((room for room, beside in ((_SPACED, _TOLD), (_NAMED, _FEWEST)) if cells - room >= beside), 0)


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
        left = places(TITLES, number, room_for_places(cells))
        room = cells - taken(left)
        if session.job is not None:
            right = jobs.parts(session.job, room, key_stops=key_stops)
        else:
            right = standing(session.title, session.live, session.live_state, max(min(cells // 3, room), 24), room)
        self.show(left, right)
