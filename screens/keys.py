"""What a key means now: in the pane that has the focus, in the place, in the list; or why it means nothing.

Keys that come before what they are about wait for it.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar, cast

from textual.events import Key
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget

from emotui.screens.actions import SHARED, Acting, Action
from emotui.screens.jobs import WAIT
from emotui.screens.keymaps import PANE, SIGNS, sign_of, typed
from emotui.screens.place import Place
from emotui.screens.places import TITLES, OpenPlaces
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import Session

T = TypeVar("T")

_NOT_ASKED = object()

_AT_AN_END = ("escape", "ctrl+x", "tab", "shift+tab")
"""Keys that end something or go through it, and then do what they do everywhere."""

LONG = ("model", "import", "export", "make_gold", "rescore", "map_labels")
"""Actions that begin long work."""

_OF_LIST = frozenset(
    [
        "search",
        "filter",
        "sort",
        "clear",
        "metric",
        "like",
        "list",
        "unfold",
        "sample_note",
        "note_here",
        "open",
        "next_error",
        "previous_error",
        "next_H",
        "next_F",
        "next_N",
        "next_M",
        "next_X",
        "next_L",
        "list_narrower",
        "list_wider",
    ]
)
"""Actions that make no sense while the list is away."""

_IN_LIST = ("next", "open", "next_error", "search", "filter", "sort", "clear")


class Keys:
    """Finds who answers an action, and which action a key means.

    Args:
        anywhere: who answers where neither the place nor the list does; the last is the frame.
        screen: the frame.
    """

    def __init__(
        self, session: Session, pane: ListPane, places: OpenPlaces, anywhere: Sequence[Acting], screen: Screen[None]
    ) -> None:
        self._session, self._pane, self._places = session, pane, places
        self._anywhere, self._screen = tuple(anywhere), screen
        self._told: dict[tuple[str, str], object] | None = None

    @property
    def _place(self) -> Place:
        return self._places.here

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action, with the keys that it has."""
        return self._session.keymap.actions

    @contextmanager
    def of_one_moment(self) -> Iterator[None]:
        """Within it nothing changes: what can be done is asked once, however many keys mean it."""
        self._told = {}
        try:
            yield
        finally:
            self._told = None

    def _once(self, question: str, ask: Callable[[str], T], action: str = "") -> T:
        if self._told is None:
            return ask(action)
        known = self._told.get((question, action), _NOT_ASKED)
        if known is _NOT_ASKED:
            known = self._told[question, action] = ask(action)
        return cast("T", known)

    # Where the focus is.

    @property
    def in_list(self) -> bool:
        """Has the list the focus?"""
        focused = self._screen.focused
        return focused is not None and self._pane in focused.ancestors

    @property
    def in_field(self) -> bool:
        """Are characters typed into a field?"""
        return self._once("in field", self._in_field)

    def _in_field(self, _: str) -> bool:
        focused = self._screen.focused
        return focused is not None and focused.check_consume_key("a", "a")

    @property
    def covered(self) -> bool:
        """Does the list stand over the place, where both do not fit?"""
        return self._screen.has_class("-narrow") and self._screen.has_class("-list") and not self._place.alone

    # Who answers.

    def answering(self, action: str) -> Acting | None:
        """Who answers an action: the place, else the list, else the frame."""
        listed = () if self._place.alone else (self._pane,)
        there: tuple[Acting, ...] = (self._place, *listed, *self._anywhere)
        return next((one for one in there if one.doing(action) is not None), None)

    def gives_way(self, action: str) -> bool:
        """Do all keys of a shared action mean something of the open place's own?"""
        if action not in _SHARED or self._place.doing(action) is not None:
            return False
        keys = self._session.keymap.keys_of(action)
        return bool(keys) and self._once("own keys", self._keys_of_own).issuperset(keys)

    def _keys_of_own(self, _: str) -> frozenset[str]:
        # Esc and Ctrl+X end whatever there is to end, and Tab goes through spans and then to the next pane: they are
        # the place's own only while it has something of its own for them. What belongs to the pane that has the focus
        # is the list's while that has it.
        listed = PANE if self.in_list else frozenset()
        return frozenset(
            key
            for one in self._own()
            for key in one.keys
            if key not in listed and (key not in _AT_AN_END or self._place.can(one.id))
        )

    def _own(self) -> list[Action]:
        """What only the open place does."""
        ids = {one.id for one in self._place.entry.actions}
        return [one for one in self.actions if one.id in ids]

    def can(self, action: str) -> bool:
        """Can this be done now, whatever has the focus?"""
        return self._once("can", self._can, action)

    def _can(self, action: str) -> bool:
        place = self._place
        if self.gives_way(action) or (place.takes_letters and not place.can(action)):
            return False
        if place.alone and action in _OF_LIST and place.doing(action) is None:
            return False
        if place.only is not None and place.doing(action) is None and action not in place.only:
            return False
        if action in place.on_sight and self.covered:
            return False
        one = self.answering(action)
        if one is self._anywhere[-1]:
            return Acting.can(one, action)
        return one is not None and one.can(action)

    # What a key means.

    def meant(self, key: str) -> Action | None:
        """What a key does now."""
        return self._once("meant", self._meant, key)

    def _meant(self, key: str) -> Action | None:
        if not self._screen.is_mounted:
            return None
        return next((one for one in self._session.keymap.on(key) if self.acts(one, key)), None)

    def acts(self, action: Action, key: str) -> bool:
        """Does this key do that now? Arrows, Enter and the like do what belongs to the pane with the focus."""
        if key in PANE and self._elsewhere(action):
            return False
        return self.can(action.id)

    def _elsewhere(self, action: Action) -> bool:
        """Is it done in the place while the list has the focus, or the other way round?"""
        return self._screen.focused is not None and self._once("elsewhere", self._is_elsewhere, action.id)

    def _is_elsewhere(self, action: str) -> bool:
        return self.in_list == (self.answering(action) is self._place)

    def pressed_for(self, action: Action, taken: Collection[str] = ()) -> str | None:
        """How the first key is shown that does this now, but for those that something else has `taken`."""
        field = self.in_field
        if not field and action.id in self._once("at once", self._at_once):
            return action.shown  # it waits for what it is about
        for key in action.keys:
            if key not in taken and not (field and typed(key)) and self.meant(key) is action:
                return action.shown if key == action.keys[0] else sign_of(key)
        return None

    def _at_once(self, _: str) -> Collection[str]:
        """What can be done as soon as what the place shows first has come, where that is on its way."""
        comes = self._place.reads or self._session.reads or self._pane.orders
        return self._place.at_once if comes else ()

    def worded(self, action: str) -> str:
        """What the footer calls an action now; empty: as it always does."""
        return self._place.worded(action)

    @property
    def main(self) -> Sequence[str]:
        """What one does first: in the list that which is of it, and then that of the place."""
        here = self._place.entry.main
        return (*_IN_LIST, *here) if self.in_list else here

    @property
    def closes(self) -> bool:
        """Is a view open in the place, which q closes?"""
        place = self._place
        return place.doing("leave") is not None and place.can("leave") and not self.in_field

    def going_on(self, key: str) -> str:
        """What a key is the first of two of."""
        found = [
            f"{sign_of(both)} {one.label}"
            for one in self.actions
            for both in one.keys
            if both.startswith(f"{key} ") and self.acts(one, both)
        ]
        return f"{sign_of(key)} …   {'   '.join(found)}"

    def unseen(self, key: str) -> str:
        """What a key would say or change of what the list covers, which is to be seen first; empty: nothing."""
        if not self.covered or key in PANE:
            return ""
        place = self._place
        own = [one.label for one in place.own_keys if one.shown == SIGNS.get(key)]
        told = [one.label for one in self._session.keymap.on(key) if one.id in place.on_sight and place.doing(one.id)]
        return next(iter([*own, *told]), "")

    def why_not(self, key: str) -> str:
        """Why a key does nothing now, in one line; empty: it does something, or none of it is ours."""
        sign, title = SIGNS[key], self._place.entry.title
        if key in "0123456789" and key.isdigit():
            return f"{key}: {title} is open" if TITLES.get(int(key)) == title else f"{key}: no place has this number"
        bound = self._session.keymap.on(key)
        here = [one for one in bound if self._is_here(one)]
        if not here and any(one.id == "view" for one in bound):
            return f"{sign}: {title} has one view"
        if not here:
            return f"{sign} does nothing in {title}: " + self._session.keymap.words("{help} shows what does")
        told = [one for one in here if self._place.doing(one.id) is not None] or here
        back = [one for one in here if one.id == "back" and not self.in_field]
        action = next((one for one in (*back, *told) if self._needs(one)), told[0])
        if action.id in LONG and self._session.job is not None:
            return self._session.keymap.words(WAIT)
        if key in PANE and self._elsewhere(action) and self.can(action.id):
            where = title if self.in_list else "the list"
            return f"{sign} is “{action.label}” in {where}: {self._way}"
        if action.id == "open" and not self.in_list:
            return f"{sign} opens a text from the list: {self._way}"
        return f"{sign} {action.label}: {self._needs(action) or 'not now'}"

    @property
    def _way(self) -> str:
        """The key from the list to the place, or from the place to the list: another where one covers the other."""
        folds = next((one for one in ("list", "unfold") if self.can(one)), "")
        key = "open" if folds and self.in_list else folds or "pane"
        return self._session.keymap.words(f"{{{key}}} goes there")

    def _needs(self, action: Action) -> str:
        """What it takes to do this now; empty: nobody knows."""
        place = self._place
        if place.alone and action.id in _OF_LIST and place.doing(action.id) is None:
            return f"{place.entry.title} stands without the list"
        if action.id == "open" and not self.in_list:
            return self._way
        if action.id == "run" and self._session.job is not None:
            return f"there are no runs yet; {self._session.under_way}"
        own = action.id in {one.id for one in place.entry.actions} or place.doing(action.id) is not None
        return place.lacking(action.id) or action.needs or (place.entry.needs if own else "")

    def _is_here(self, action: Action) -> bool:
        """Can anything here ever do this?"""
        modes = (type(self._place), *self._place.modes)
        ever = any(hasattr(one, f"do_{action.id}") for one in modes)
        return ever or any(one.doing(action.id) is not None for one in (self._pane, *self._anywhere))

    # All of it.

    def likely(self) -> list[Action]:
        """Every action: what one does here first, then what is of this place, then the rest."""
        main, own, place = list(self._place.entry.main), {one.id for one in self._place.entry.actions}, self._place

        def order(action: Action) -> tuple[int, int]:
            if action.id in main:
                return 0, main.index(action.id)
            return (1 if action.id in own or place.doing(action.id) is not None else 2), 0

        return sorted(self.actions, key=order)

    @property
    def title(self) -> str:
        """The name of the open place."""
        return self._place.entry.title

    @property
    def titles(self) -> Mapping[int, str]:
        """The places by their numbers."""
        return TITLES

    @property
    def starts_first(self) -> bool:
        """Do the first runs of a new workspace go on?"""
        return self._session.starts_first

    @property
    def limited(self) -> bool:
        """Does the open place let only some actions through, as while one judges blind?"""
        return self._place.only is not None

    def of_here(self) -> tuple[list[Action], list[Action]]:
        """What keys do in the open place, and what they do besides; nothing that gives way to it."""
        place = self._place
        own = [*place.own_keys, *self._own()]
        taken = {action.shown for action in own if action.shown not in ("Esc", "Enter")}
        taken |= {key for action in place.own_keys for key in action.keys}
        shared = [one for one in self.actions if one.id in _SHARED and one not in own]
        left = [one for one in shared if one.shown not in taken and not self.gives_way(one.id)]
        answered = [one for one in left if place.doing(one.id) is not None]
        others = [one for one in self.actions if one.id not in _SHARED and one not in own]
        return [*own, *answered], [*(one for one in left if one not in answered), *others]


_SHARED = frozenset(one.id for one in SHARED)


# Keys that come before what they are about: they wait, in their order, and then mean what they would have meant.

LOOK = 0.02
"""Seconds between two looks whether what keys wait for is there."""

_AT_ONCE = frozenset({"escape", *(f"f{number}" for number in range(1, 13))})
"""Keys that wait for nothing, as those with Ctrl, unless others wait already."""

_LEAVES = frozenset({"ctrl+q"})
"""Keys that wait for nothing ever."""


PATIENCE = 1.0
"""Seconds after which Esc gives up the keys that wait, and after which none waits any more for what another began."""

_MOVES = frozenset({"next", "previous", "first", "last", "page_down", "page_up", "next_error", "previous_error"})
"""Actions on the list, which need nothing that the place shows."""


class EarlyKeys:
    """Holds the keys that come before what they are about, and then lets them act in their order.

    They wait while the open place still reads its first text, until that is shown or fails; and behind a key that is
    still on its way through the widgets, or whose doing is: it may put the keys elsewhere. Where what they wait for
    never comes, Esc gives them up.

    Args:
        owner: in whose message pump the wait is counted.
        reads: is the open place still reading what it shows first? Told whether the place was just opened: then its
            list may still be on its way too.
        waits: does a key mean nothing until then?
        opens: does a key open a place?
        means: the action that a key means now, empty: none.
        answer: does what a key does now; returns the pumps that it passes through, none where it was typed.
        given_up: told how many keys were given up.
    """

    def __init__(
        self,
        owner: Widget,
        reads: Callable[[bool], bool],
        waits: Callable[[str], bool],
        opens: Callable[[str], bool],
        means: Callable[[str], str],
        answer: Callable[[Key], Awaitable[Sequence[MessagePump]]],
        given_up: Callable[[int], object],
    ) -> None:
        self._owner, self._reads, self._waits, self._opens, self._answer = owner, reads, waits, opens, answer
        self._means, self._given_up = means, given_up
        self._keys: deque[Key] = deque()
        self._first = self._under_way = self._behind = self._answering = False
        self._since = 0.0

    @property
    def busy(self) -> bool:
        """Does a key wait, or is one on its way?"""
        return bool(self._keys) or self._under_way

    def place_opens(self) -> None:
        """Another place is being opened: what is pressed from now on is meant for it."""
        self._first = True

    def take(self, event: Key) -> bool:
        """Let this key wait, where it has to; says whether it does."""
        if event.key in _LEAVES:
            return False
        if event.key == "escape" and self._keys and not self._answering and monotonic() - self._since > PATIENCE:
            n = len(self._keys)
            self._keys.clear()
            self._first = False
            self._given_up(n)
            return True
        if not self.busy and not self._has_to_wait(event.key):
            return False
        if not self._keys:
            self._since, self._behind = monotonic(), self._under_way
            if not self._under_way:
                self._owner.set_timer(LOOK, self._look)
        self._keys.append(event)
        return True

    def passes(self, through: Sequence[MessagePump]) -> None:
        """A key is on its way through these, to the last of them: what is pressed meanwhile comes behind it."""
        if through:
            self._under_way = True
            self._follow(through)

    def _follow(self, through: Sequence[MessagePump]) -> None:
        for at, pump in enumerate(through):
            if pump.call_later(self._follow, through[at + 1 :]):
                return  # what it does with the key comes before that
        self._under_way = False
        if self._keys:
            self._go_on()

    def _has_to_wait(self, key: str) -> bool:
        if not self._still_reads():
            return False
        if key in _AT_ONCE or key.startswith("ctrl+") or self._opens(key):
            return False
        return self._first or self._waits(key)

    def _still_reads(self) -> bool:
        reads = self._reads(self._first)
        self._first = self._first and reads
        return reads

    def _go_on(self) -> None:
        """Do the next key, or wait with it for what the one before has begun."""
        key = self._keys[0].key
        if self._first:
            self._behind = False
        if self._behind and self._means(key) in _MOVES:
            self._owner.app.call_later(self._next)
        else:
            self._look()

    def _look(self) -> None:
        if not self._keys:
            return  # they were given up
        in_time = monotonic() - self._since < PATIENCE
        if (in_time and self._reads(True)) if self._behind else self._still_reads():
            self._owner.set_timer(LOOK, self._look)
        else:
            self._owner.app.call_later(self._next)

    async def _next(self) -> None:
        """Do the next key. It counts as waiting until it is done: what is pressed meanwhile comes after it."""
        if not self._keys:
            return
        through: Sequence[MessagePump] = ()
        self._answering = True
        try:
            through = await self._answer(self._keys[0])
        finally:
            self._answering = False
            self._keys.popleft()
            self._since, self._behind = monotonic(), not self._first
            if through:
                self.passes(through)
            elif self._keys:
                self._go_on()
