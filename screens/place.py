"""A place of the workbench: what fills the frame to the right of the list."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Vertical
from textual.message import Message

from emotui.screens.actions import Acting, Action, PlaceEntry
from emotui.screens.session import Session
from emotui.screens.widgets.notice import Notice
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.source import BrowseSource

NO_WORKSPACE = "files are browsed without it: {quit} leaves, emotui without files opens a workspace"
"""Why a place that writes or computes is empty over files."""

EMPTY_LIST = "the list is empty: {clear} shows all again, {filter} changes the filter"
"""Why a place has no sample."""

OTHERS = "{next} and {previous} go on to others"
"""What to press where one sample cannot be shown."""

WHILE_TYPING = frozenset({"help", "palette", "pane", "pane_back", "quit", "stop"})
"""What list and frame can do while a word is typed into a place."""


class Place(Acting, Vertical):
    """A place answers an action with a method `do_<id>`, and says with `can` whether it makes sense.

    The frame tells it which source to ask, which sample is selected and which run is shown; it asks for the rest
    itself. Long work is begun through the session.
    """

    entry: ClassVar[PlaceEntry]
    headings: ClassVar[Mapping[str, str]] = {}
    """By the id of a widget that takes the keys: the selector of the heading over it."""
    modes: ClassVar[tuple[type[Acting], ...]] = ()
    """What answers in its stead while it is open: a key may mean one thing in each."""

    alone: bool = False
    """Does it stand without the list, and without the keys of that?"""

    marks_errors: ClassVar[bool] = True
    """Do n and p, H, F and N go through the errors of the run over the list while this place is open?"""

    on_sight: ClassVar[Collection[str]] = ()
    """Actions that say or change something of what is shown: while the list covers it, their keys open it alone."""

    into_sight: ClassVar[Collection[str]] = ()
    """Actions that show something in it: where the list covers it, it comes to the front with them."""

    in_front: ClassVar[bool] = False
    """Does it come to the front when it is opened, where the list would cover it?"""

    blind: ClassVar[bool] = False
    """Does the list keep to itself what gold and runs say while this place is open?"""

    class OfList(Message):
        """What the list is to do while this place is open, and no longer."""

        place: "Place | None" = None
        """The one that says so, told on the message's way up."""

    class Tagged(OfList):
        """What the list is to say beside each sample, in up to six cells under a name; None: its own marks again.
        `of`: what its figures are of, where that may be taken for something else. `legend`: what its signs mean.
        """

        def __init__(self, name: str, tags: Mapping[int, str] | None, of: str = "", legend: str = "") -> None:
            super().__init__()
            self.name, self.tags, self.of, self.legend = name, tags, of, legend

    class Sought(OfList):
        """The nearest of these samples is to be selected, below (1) or above (-1) in the list; 0: wherever it is."""

        def __init__(self, samples: frozenset[int], step: int) -> None:
            super().__init__()
            self.samples, self.step = samples, step

    class Listed(Message):
        """The list is to hold just these samples, and Browse to show them; `why` says what they are.

        `dataset`: the name of theirs, None for the one of the list; `run`: the run over them, None for the one that is.
        `mark`: the letter of the errors that they are listed for, where it is for errors; `at`: the one to open, None:
        the first.
        """

        def __init__(
            self,
            samples: Sequence[int],
            why: str,
            dataset: str | None,
            run: str | None,
            mark: str = "",
            at: int | None = None,
        ) -> None:
            super().__init__()
            self.at = at
            self.samples, self.why, self.dataset, self.run, self.mark = tuple(samples), why, dataset, run, mark

    class Opened(Message):
        """A dataset is to be shown in the place of its task, with all samples in the list."""

        def __init__(self, dataset: str, task: str) -> None:
            super().__init__()
            self.dataset, self.task = dataset, task

    class Arranged(OfList):
        """The list is to hold just these samples, in this order, while this place is open; `why` says what they are.

        None: all of them, as they stand in the file.
        """

        def __init__(self, samples: Sequence[int] | None, why: str) -> None:
            super().__init__()
            self.samples, self.why = samples, why

    class Released(OfList):
        """The list is to be in the order that is chosen again, after it was arranged."""

    class Veiled(OfList):
        """The list is to keep what gold and runs say to itself, as `blind` does, or to show it again."""

        def __init__(self, veiled: bool) -> None:
            super().__init__()
            self.veiled = veiled

    class Secluded(Message):
        """Whether the place is `alone` has changed."""

    class Stepped(Message):
        """The next (1) or previous (-1) sample with an error of the run over the list is to be selected."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Turned(Message):
        """Another place, by its title, is to be opened over the same list, and told `what` with its value."""

        def __init__(self, title: str, what: str, value: str) -> None:
            super().__init__()
            self.title, self.what, self.value = title, what, value

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session

    @on(OfList)
    def _sign(self, event: OfList) -> None:
        event.place = self

    def bind_source(self, source: "BrowseSource") -> None:
        """Ask this source from now on."""
        raise NotImplementedError

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Show this sample, or that there is none."""
        raise NotImplementedError

    def show_noted(self, *, noted: bool) -> None:
        """Say of the selected sample whether there is a note on it; what it says stands in a line of the frame."""

    @property
    def beside(self) -> "Tagged | None":
        """What the list says beside samples from the first frame on, before it is known of any; None: its own marks."""
        return None

    @property
    def list_order(self) -> "OfList | None":
        """In which order the list is to stand here: `Arranged` or `Released`; None: the place is still to say it."""
        return self.Released()

    @property
    def at_once(self) -> Collection[str]:
        """What can be done with any sample: the footer has it while that is on its way, and keys wait for it."""
        return ()

    def look_for(self, marks: str) -> None:
        """The next sample is shown for the sake of errors with one of these letters; empty: for none."""

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        """Say what this place is for, and why it is empty."""
        raise NotImplementedError

    def focus_first(self) -> None:
        """Put the keys into the first pane."""
        raise NotImplementedError

    def focus_soon(self) -> None:
        """Put the keys into the first pane once it is laid out, where this place is still open by then."""

        def focus() -> None:
            focused = self.screen.focused
            if self.display and (focused is None or self not in focused.ancestors or not focused.is_on_screen):
                self.focus_first()  # else a key has gone on from there already

        self.call_after_refresh(focus)

    def use_model(self, spec: str) -> None:
        """Ask this model from now on, where one text at a time is asked about."""

    def say(self, title: str, *lines: str, failed: bool = False) -> None:
        """Say why there is nothing to show, in place of it."""
        self.query_children(Notice).only_one().say(title, *lines, failed=failed)
        self.refresh_bindings()

    def tell(self, what: str, value: object) -> None:
        """A part of a line of this place was clicked."""

    @property
    def own_keys(self) -> tuple[Action, ...]:
        """What keys do here that no registry knows of: labels of a scheme, for the help."""
        return ()

    @property
    def selected_text(self) -> str:
        """What is selected here for more than to be copied, such as words that are to be marked."""
        return ""

    @property
    def takes_letters(self) -> bool:
        """Do letters mean something else just now than the keys of the list and the frame?"""
        return False

    @property
    def only(self) -> Collection[str] | None:
        """The actions of list and frame that can be done just now; None: all of them."""
        return None

    @property
    def busy(self) -> bool:
        """Is an answer on its way?"""
        return False

    @property
    def reads(self) -> bool:
        """Is there nothing to act on yet, which is on its way? Keys wait until it is shown or fails."""
        return False
