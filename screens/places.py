"""Which places there are, by the number that opens them. A new place is one line here."""

import asyncio
from importlib import import_module

from textual.app import ComposeResult
from textual.containers import Horizontal

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
