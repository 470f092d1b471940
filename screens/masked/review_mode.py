"""Going through doubtful masks in the place: kept, dropped, or moved by their borders."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from emotui.errors import BadInput
from emotui.screens.actions import Acting
from emotui.screens.keymaps.words import keyed
from emotui.screens.masked.review_rows import moved

if TYPE_CHECKING:
    from emotui.workbench.masked.review import Doubt, Reviewing, ReviewSaid

WHILE_REVIEWING = frozenset({"help", "palette", "theme", "quit", "stop", "pane", "pane_back"})
"""What list and frame can do while a review is open: the list is not about its posts."""


class ReviewMode(Acting):
    """What keys do while a review is open.

    Args:
        keep: keeps what was said, which is known here already.
        take_back: takes back what was said last.
        go_to: puts the cursor on a doubtful mask.
        draw: draws anew.
        tell: says something in passing.
        leave: leaves the review.
        write: asks for a file and writes the set.
    """

    def __init__(
        self,
        reviewing: "Reviewing",
        *,
        keep: "Callable[[ReviewSaid], object]",
        take_back: Callable[[], object],
        go_to: Callable[[int], object],
        draw: Callable[[], object],
        tell: Callable[[str], object],
        leave: Callable[[], object],
        write: Callable[[], object],
    ) -> None:
        self.reviewing = reviewing
        self.doubts = reviewing.doubts
        self.at = 0
        self._keep, self._take_back, self._go_to, self._draw = keep, take_back, go_to, draw
        self._tell, self._leave, self._write = tell, leave, write

    @property
    def doubt(self) -> "Doubt":
        """The one under the cursor."""
        return self.doubts[self.at]

    def again(self) -> None:
        """What has been said is other than it was."""
        self.doubts = self.reviewing.doubts
        self._draw()

    def _say(self, to: tuple[int, int] | None) -> bool:
        doubt = self.doubt
        try:
            said = self.reviewing.check(doubt, to)
        except BadInput as error:
            self._tell(str(error))
            return False
        if said != doubt.said:
            self.reviewing.note(said)
            self._keep(said)
            self.again()
        return True

    def do_keep_mask(self) -> None:
        """The mask stays where it is; one that was dropped is set where the protocol has it."""
        if self._say(self.doubt.mask or self.doubt.place):
            self._walk(1, quiet=True)

    def do_drop_mask(self) -> None:
        if self._say(None):
            self._walk(1, quiet=True)

    def _border(self, border: str, step: int) -> None:
        doubt = self.doubt
        here = doubt.mask or doubt.place
        to = moved(doubt.text, here, border, step)
        if to == here:
            self._tell("There is no further word that way")
        else:
            self._say(to)

    def do_mask_start_back(self) -> None:
        self._border("start", -1)

    def do_mask_start_on(self) -> None:
        self._border("start", 1)

    def do_mask_end_back(self) -> None:
        self._border("end", -1)

    def do_mask_end_on(self) -> None:
        self._border("end", 1)

    def _walk(self, step: int, *, quiet: bool = False) -> None:
        n = len(self.doubts)
        order = [(self.at + step * away) % n for away in range(1, n + 1)]
        found = next((at for at in order if self.doubts[at].said is None), None)
        if found is not None:
            self._go_to(found)
        elif quiet and self.at + step < n:
            self._go_to(self.at + step)
        else:
            self._tell(f"All {n} doubtful masks are decided: " + keyed("{write_set} writes the set"))

    def do_go_on(self) -> None:
        """To the next one of which nothing is said."""
        self._walk(1)

    do_open_on = do_go_on

    def do_open_back(self) -> None:
        self._walk(-1)

    def do_next(self) -> None:
        self._go_to(min(self.at + 1, len(self.doubts) - 1))

    def do_previous(self) -> None:
        self._go_to(max(self.at - 1, 0))

    def do_undo(self) -> None:
        self._take_back()

    def do_write_set(self) -> None:
        self._write()

    def do_leave(self) -> None:
        self._leave()
