"""One annotator's entries about one dataset: which stand, what undo and redo name next, and the state of each text.

An undo is an entry that takes another one back; a redo is an undo of the undo, so an event keeps its number through
both. Events are decoded a text at a time, when somebody asks for that text: opening a long log costs no decoding.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from emotui.store.rows import Annotation
from emotui.workbench.annotate.events import (
    KIND,
    LASTING_KINDS,
    UNDO,
    Accept,
    Kept,
    Present,
    Reopen,
    Retest,
    SetFlag,
    SetUnsure,
    kind_of,
)
from emotui.workbench.annotate.marks import Said, Step, apply, replay

ACCEPT, REOPEN, RETEST, PRESENT = kind_of(Accept()), kind_of(Reopen()), kind_of(Retest()), kind_of(Present(0))
NOTED = (kind_of(SetFlag(True)), kind_of(SetUnsure(True)))

_DECODER = msgspec.json.Decoder(Kept)


@dataclass(frozen=True, slots=True)
class Entry:
    """One event in the log, with its moment (UTC, ISO 8601); `stands`: it is not taken back."""

    number: int
    sample: int
    kept: Kept
    at: str
    stands: bool


class Log:
    """The entries of one annotator about the samples of one dataset.

    `last`: the number of the last one taken in. `presented`: how often a text came into sight.
    """

    def __init__(self) -> None:
        self.last = 0
        self._events: dict[int, Annotation] = {}
        self._of: dict[int, list[tuple[int, int]]] = {}  # by sample: (number, of which event), in order
        self._first_of: dict[int, int] = {}  # undos and redos to the event that they are about
        self._tips: dict[int, int] = {}  # events that were ever taken back to the last undo or redo
        self._off: set[int] = set()
        self._done: list[int] = []
        self._undone: list[int] = []
        self._retested: set[int] = set()
        self._noted: set[int] = set()
        self.presented = 0
        self._states: dict[tuple[int, int], Said] = {}

    def take(self, entries: Iterable[Annotation]) -> None:
        """Take in what came after `last`, in its order; entries of other kinds of work are passed over."""
        for each in entries:
            self.last = max(self.last, each.annotation)
            if each.sample is None or not each.kind.startswith(KIND):
                continue
            if each.kind == UNDO:
                self._take_undo(each)
            else:
                self._take_event(each)

    def _take_event(self, each: Annotation) -> None:
        sample, number = int(each.sample or 0), each.annotation
        self._events[number] = each
        self._of.setdefault(sample, []).append((number, number))
        if each.kind == RETEST:
            self._retested.add(sample)
        elif each.kind == PRESENT:
            self.presented += 1
        elif each.kind in NOTED:
            self._noted.add(sample)
        if each.kind not in LASTING_KINDS:
            self._done.append(number)
            self._undone.clear()
        if self._states:
            kept = _DECODER.decode(each.payload)
            known = self._states.get((sample, kept.round))
            if known is not None:
                self._states[sample, kept.round] = apply(known, kept.event)

    def _take_undo(self, each: Annotation) -> None:
        undoes = each.undoes or 0
        of = self._first_of.get(undoes, undoes)
        if of not in self._events:
            return
        self._first_of[each.annotation] = of
        self._tips[of] = each.annotation
        sample = int(each.sample or 0)
        self._of.setdefault(sample, []).append((each.annotation, of))
        self._states.pop((sample, 0), None)
        self._states.pop((sample, 1), None)
        if of in self._off:
            self._off.discard(of)
            _drop(self._undone, of)
            self._done.append(of)
        else:
            self._off.add(of)
            _drop(self._done, of)
            self._undone.append(of)

    # What undo and redo are about.

    def to_undo(self) -> tuple[int, int] | None:
        """(the sample, the entry that an undo has to name): what was made last and stands."""
        return self._named(self._done)

    def to_redo(self) -> tuple[int, int] | None:
        """The same for a redo: what was undone last, unless something new was made since."""
        return self._named(self._undone)

    def _named(self, stack: list[int]) -> tuple[int, int] | None:
        if not stack:
            return None
        of = stack[-1]
        return int(self._events[of].sample or 0), self._tips.get(of, of)

    def undo_depth(self) -> tuple[int, int]:
        """How many events can be undone, and how many redone."""
        return len(self._done), len(self._undone)

    # How texts stand.

    def samples(self) -> tuple[int, ...]:
        """The texts with any entry, in the order of their first ones."""
        return tuple(self._of)

    def state(self, sample: int, round: int = 0) -> Said:
        """The answer of a round as it stands."""
        if (known := self._states.get((sample, round))) is None:
            known = self._states[sample, round] = replay(self._steps(sample, round))
        return known

    def accepted(self, sample: int) -> bool:
        """Whether the first answer is given. Costs no decoding for a text that did not come back."""
        if sample in self._retested:
            return self.state(sample).accepted
        for number, of in reversed(self._of.get(sample, ())):
            if number == of and number not in self._off and (kind := self._events[number].kind) in (ACCEPT, REOPEN):
                return kind == ACCEPT
        return False

    def touched(self, sample: int) -> bool:
        """Whether something stands that is about the answer."""
        return any(
            number == of and number not in self._off and self._events[number].kind not in LASTING_KINDS
            for number, of in self._of.get(sample, ())
        )

    def noted(self) -> tuple[int, ...]:
        """The texts that were ever flagged or called unsure."""
        return tuple(self._noted)

    def retested(self) -> frozenset[int]:
        """The texts that came back for a second answer."""
        return frozenset(self._retested)

    def round(self, sample: int) -> int:
        """Which answer is being given: 1 from when a text comes back until its second answer is accepted."""
        return int(sample in self._retested and not self.state(sample, 1).accepted)

    def entries(self, sample: int | None = None) -> Iterator[Entry]:
        """The events of a text, or of all, in the order of the log, those taken back among them."""
        numbers = (
            sorted(self._events)
            if sample is None
            else [number for number, of in self._of.get(sample, ()) if number == of]
        )
        for number in numbers:
            each = self._events[number]
            kept = _DECODER.decode(each.payload)
            yield Entry(number, int(each.sample or 0), kept, each.at, number not in self._off)

    def _steps(self, sample: int, round: int) -> Iterator[Step]:
        """Those of one round, with the undos of its events."""
        there: set[int] = set()
        for number, of in self._of.get(sample, ()):
            if number != of:
                if of in there:
                    yield Step(number, None, of)
                continue
            kept = _DECODER.decode(self._events[number].payload)
            if kept.round == round:
                there.add(number)
                yield Step(number, kept.event)


def _drop(stack: list[int], number: int) -> None:
    """Take a number off a stack; it is at the top unless two programs work under one name."""
    for at in range(len(stack) - 1, -1, -1):
        if stack[at] == number:
            del stack[at]
            return
