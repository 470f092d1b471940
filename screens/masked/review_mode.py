"""Going through doubtful masks in the place: kept, dropped, or moved by their borders."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from emotui.errors import BadInput
from emotui.screens.actions import Acting
from emotui.screens.keymaps import keyed
from emotui.screens.masked.text import CURSOR, WIDEST
from emotui.screens.widgets.cell_width import fit, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import RIGHT, WRONG

if TYPE_CHECKING:
    from emotui.workbench.masked.review import Doubt, Reviewing, ReviewSaid

# A review of masks as lines: the doubtful masks, the post of one with its masks, and how a border moves by a word.

Place = tuple[int, int]
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
OPEN, KEPT, DROPPED, MOVED = "·", RIGHT, WRONG, "↔"


def state(doubt: "Doubt") -> str:
    """A sign for what was said of a doubtful mask."""
    if doubt.said is None:
        return OPEN
    return DROPPED if doubt.mask is None else KEPT if doubt.mask == doubt.place else MOVED


def doubt_lines(doubts: "Sequence[Doubt]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading, and a line a doubtful mask."""
    lines: list[list[Part]] = [[Part(f"    {'word':16}{'pattern':9}{'doubt':24}post", "dim")]]
    for at, one in enumerate(doubts):
        word = one.decision.word if one.mask is None else one.text[slice(*one.mask)]
        why = " ".join(one.decision.review)
        text = f"{fit(word, 15)} {fit(one.decision.pattern, 8)} {fit(why, 23)} {one.post}"
        kind = "picked" if at == cursor else "dim" if one.said is not None else "plain"
        lines.append([Part(fit(f"{CURSOR if at == cursor else ' '} {state(one)} {text}", max(cells, 10)), kind)])
    return lines


def post_lines(doubt: "Doubt", cells: int) -> tuple[list[list[Part]], int]:
    """The post in so many cells: the doubtful mask with a sign before it, other masks underlined; and its line."""
    start, end = doubt.mask or doubt.place
    kind = "gone" if doubt.mask is None else "ground"
    stretches = sorted([(start, end, kind), *((*other, "gold-line") for other in doubt.others)])
    parts, lines, line_of = [], [], 0
    at = 0
    for first, last, kind_here in stretches:
        parts += [(at, first, "plain"), (first, last, kind_here)]
        at = last
    parts.append((at, len(doubt.text), "plain"))
    for number, (low, high) in enumerate(wrap(doubt.text, min(max(cells - 2, 10), WIDEST))):
        line = []
        for first, last, kind_here in parts:
            begin, stop = max(first, low), min(last, high)
            if begin < stop:
                if first == start and begin == first and kind_here == kind:
                    line.append(Part(CURSOR, "key"))
                    line_of = number
                line.append(Part(doubt.text[begin:stop].replace("\n", ""), kind_here))
        lines.append(line)
    return lines, line_of


def moved(text: str, place: Place, border: str, step: int) -> Place:
    """The place with its start or end (`border`) a word further back (-1) or on (1); the same where that cannot be."""
    words = [match.span() for match in _WORD.finditer(text)]
    start, end = place
    if border == "start":
        starts = [one for one, _ in words]
        found = [one for one in starts if (one - start) * step > 0 and one < end]
        return (found[-1] if step < 0 else found[0], end) if found else place
    ends = [one for _, one in words]
    found = [one for one in ends if (one - end) * step > 0 and one > start]
    return (start, found[-1] if step < 0 else found[0]) if found else place


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
