"""One annotator's entries about one dataset: which stand, what undo and redo name next, and the state of each text.

An undo is an entry that takes another one back; a redo is an undo of the undo, so an event keeps its number through
both. What an event says is read a text at a time, when somebody asks for that text: opening a long log costs little.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from emotui.store.query import Dataset, Run
from emotui.store.rows import Annotation, Outline
from emotui.store.store import Store
from emotui.workbench.annotate.events import (
    KIND,
    LASTING,
    LASTING_KINDS,
    SETTLING,
    TOGETHER,
    UNDO,
    Accept,
    Event,
    Kept,
    Present,
    Reopen,
    Retest,
    SetFlag,
    SetUnsure,
    Skip,
    kind_of,
)
from emotui.workbench.annotate.marks import Said, Step, apply, replay

ACCEPT, REOPEN, RETEST, PRESENT = kind_of(Accept()), kind_of(Reopen()), kind_of(Retest()), kind_of(Present(0))
SKIP = kind_of(Skip())
FLAG = kind_of(SetFlag(True)), kind_of(SetFlag(False))
UNSURE = kind_of(SetUnsure(True)), kind_of(SetUnsure(False))

_PLAIN = frozenset(
    f"{KIND}:{event.__struct_config__.tag}" for event in get_args(Event) if event not in (*LASTING, SetFlag, SetUnsure)
)
"""The kinds of events about the answer, of which nothing more need be known than that they were."""

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

    Args:
        read: what stands in the store about a text, undos among it.
    """

    def __init__(self, read: Callable[[int], Sequence[Annotation]]) -> None:
        self._read = read
        self.last = 0
        self.presented = 0
        self._events: dict[int, Outline] = {}  # by number, as the store has them
        self._of: dict[int, list[int]] = {}  # sample to the numbers of its events
        self._first_of: dict[int, int] = {}  # undos and redos to the event that they are about
        self._tips: dict[int, int] = {}  # events that were ever taken back to the last undo or redo
        self._off: set[int] = set()
        self._joined: set[int] = set()  # events that belong to the one before them
        self._done: list[int] = []
        self._undone: list[int] = []
        self._retested: set[int] = set()
        self._switched: set[int] = set()
        self._entries: dict[int, list[Annotation]] = {}
        self._states: dict[tuple[int, int], Said] = {}

    def take(self, outlines: Iterable[Outline]) -> None:
        """Take in what came after `last`, in its order."""
        events, of, done, plain = self._events, self._of, self._done.append, _PLAIN
        knows = bool(self._entries or self._states)
        number = self.last
        for outline in outlines:
            number, kind, sample, undoes = outline
            if sample is None:
                continue
            if knows:
                self._forget(sample)
            if kind == UNDO:
                self._take_undo(number, undoes or 0)
                continue
            events[number] = outline
            if (there := of.get(sample)) is None:
                of[sample] = [number]
            else:
                there.append(number)
            if kind in plain:
                done(number)
                if self._undone:
                    self._undone.clear()
            else:
                self._take_special(number, kind, sample)
        self.last = number

    def _take_special(self, number: int, kind: str, sample: int) -> None:
        """What belongs to the event before it, what lasts, and switches."""
        if kind.endswith(TOGETHER):
            kind = kind.removesuffix(TOGETHER)
            self._joined.add(number)
        if kind == RETEST:
            self._retested.add(sample)
        elif kind == PRESENT:
            self.presented += 1
        if kind not in LASTING_KINDS:
            self._done.append(number)
            self._undone.clear()
            if kind in FLAG or kind in UNSURE:
                self._switched.add(sample)

    def read_ahead(self, entries: Iterable[Annotation]) -> None:
        """Have these entries at hand: all that the store holds of the texts that they are about."""
        of: dict[int, list[Annotation]] = {}
        for each in entries:
            if each.annotation <= self.last:
                of.setdefault(each.sample or 0, []).append(each)
        self._entries.update(of)

    def take_whole(self, entries: Sequence[Annotation]) -> None:
        """Take in entries that were just made, without reading them again."""
        for each in entries:
            sample = each.sample or 0
            known = self._entries.get(sample)
            states = {round: self._states.get((sample, round)) for round in (0, 1)}
            self.take([(each.annotation, each.kind, each.sample, each.undoes)])
            if known is None:
                continue
            self._entries[sample] = [*known, each]
            if each.kind == UNDO:
                continue
            kept = _DECODER.decode(each.payload)
            for round, said in states.items():
                if said is not None:
                    self._states[sample, round] = apply(said, kept.event) if round == kept.round else said

    def _take_undo(self, number: int, undoes: int) -> None:
        of = self._first_of.get(undoes, undoes)
        if of not in self._events:
            return
        self._first_of[number] = of
        self._tips[of] = number
        if of in self._off:
            self._off.discard(of)
            _drop(self._undone, of)
            self._done.append(of)
        else:
            self._off.add(of)
            _drop(self._done, of)
            self._undone.append(of)

    def _forget(self, sample: int) -> None:
        self._entries.pop(sample, None)
        self._states.pop((sample, 0), None)
        self._states.pop((sample, 1), None)

    # What undo and redo are about.

    def to_undo(self) -> list[tuple[int, int]]:
        """(sample, the entry that an undo has to name) of what was done by the last keystroke that stands, the last
        event first.
        """
        found: list[tuple[int, int]] = []
        for of in reversed(self._done):
            found.append(self._named(of))
            if of not in self._joined:
                break
        return found

    def to_redo(self) -> list[tuple[int, int]]:
        """The same for a redo, the first event first: what was undone last, unless something new was done since."""
        found: list[tuple[int, int]] = []
        for of in reversed(self._undone):
            if found and of not in self._joined:
                break
            found.append(self._named(of))
        return found

    def _named(self, of: int) -> tuple[int, int]:
        return self._sample(of), self._tips.get(of, of)

    def _sample(self, number: int) -> int:
        return self._events[number][2] or 0

    def _kind(self, number: int) -> str:
        return self._events[number][1].removesuffix(TOGETHER)

    # How texts stand.

    def samples(self) -> tuple[int, ...]:
        """The texts with any entry, in the order of their first ones."""
        return tuple(self._of)

    def samples_since(self, number: int) -> tuple[int, ...]:
        """The texts with an entry numbered above this one, undos among them."""
        recent = [sample for sample, numbers in self._of.items() if numbers[-1] > number]
        undone = [self._sample(of) for last, of in self._first_of.items() if last > number]
        return tuple(dict.fromkeys([*recent, *undone]))

    def state(self, sample: int, round: int = 0) -> Said:
        """The answer of a round as it stands."""
        if (known := self._states.get((sample, round))) is None:
            known = self._states[sample, round] = replay(self._steps(sample, round))
        return known

    def accepted(self, sample: int) -> bool:
        """Whether the first answer is given, or the text passed over. Nothing is read where none came back."""
        if sample in self._retested:
            return self.state(sample).accepted
        return self._switch(sample, (ACCEPT, SKIP, REOPEN))

    def skipped(self, sample: int) -> bool:
        """Whether the text is passed over."""
        if sample in self._retested:
            return bool(self.state(sample).skipped)
        return self._switch(sample, (SKIP, ACCEPT, REOPEN), on=1)

    def answered(self, sample: int) -> bool:
        """Whether the first answer is given, and is one."""
        return self.accepted(sample) and not self.skipped(sample)

    def accepted_since(self) -> list[tuple[int, int]]:
        """(entry, sample) of each first answer that is given, in the order in which they were given."""
        found = []
        for sample, numbers in self._of.items():
            if not self.answered(sample):
                continue
            given = [n for n in numbers if self._kind(n) == ACCEPT and n not in self._off]
            if sample in self._retested:
                begun = next(n for n in numbers if self._kind(n) == RETEST)
                given = [n for n in given if n < begun] or given
            found.append((given[-1], sample))
        return sorted(found)

    def flagged(self, sample: int) -> bool:
        """Whether the text is flagged."""
        return sample in self._switched and self._switch(sample, FLAG)

    def unsure(self, sample: int) -> bool:
        """Whether the answer is unsure."""
        return sample in self._switched and self._switch(sample, UNSURE)

    def _switch(self, sample: int, kinds: tuple[str, ...], on: int | None = None) -> bool:
        """Whether one of the first `on` of these kinds (None: of all but the last) came last, of what stands."""
        for number in reversed(self._of.get(sample, ())):
            if (kind := self._kind(number)) in kinds and number not in self._off:
                return kind in kinds[: len(kinds) - 1 if on is None else on]
        return False

    def touched(self, sample: int) -> bool:
        """Whether something stands that is about the answer."""
        return any(
            number not in self._off and self._kind(number) not in LASTING_KINDS for number in self._of.get(sample, ())
        )

    def has(self, kind: str) -> bool:
        """Whether an event of this kind stands about any text."""
        return any(number not in self._off and self._kind(number) == kind for number in self._events)

    def retested(self) -> frozenset[int]:
        """The texts that came back for a second answer."""
        return frozenset(self._retested)

    def round(self, sample: int) -> int:
        """Which answer is being given: 1 from when a text comes back until its second answer is accepted."""
        return int(sample in self._retested and not self.state(sample, 1).accepted)

    def entries(self, sample: int) -> Iterator[Entry]:
        """The events of a text in the order of the log, those taken back among them."""
        for each in self._kept(sample):
            if each.kind != UNDO:
                kept = _DECODER.decode(each.payload)
                yield Entry(each.annotation, sample, kept, each.at, each.annotation not in self._off)

    def _kept(self, sample: int) -> list[Annotation]:
        if sample not in self._of:
            return []
        if (known := self._entries.get(sample)) is None:
            known = self._entries[sample] = [each for each in self._read(sample) if each.annotation <= self.last]
        return known

    def _steps(self, sample: int, round: int) -> Iterator[Step]:
        """Those of one round, with the undos of its events."""
        there: set[int] = set()
        for each in self._kept(sample):
            if each.kind == UNDO:
                of = self._first_of.get(each.annotation, 0)
                if of in there:
                    yield Step(each.annotation, None, of)
                continue
            kept = _DECODER.decode(each.payload)
            if kept.round == round:
                there.add(each.annotation)
                yield Step(each.annotation, kept.event)


def whole_log(entries: Iterable[Annotation]) -> Log:
    """The log of entries that are all at hand."""
    of: dict[int, list[Annotation]] = {}
    outlines: list[Outline] = []
    for each in entries:
        of.setdefault(each.sample or 0, []).append(each)
        outlines.append((each.annotation, each.kind, each.sample, each.undoes))
    log = Log(lambda sample: of.get(sample, ()))
    log.take(outlines)
    return log


def _drop(stack: list[int], number: int) -> None:
    """Take a number off a stack; it is at the top unless two programs work under one name."""
    for at in range(len(stack) - 1, -1, -1):
        if stack[at] == number:
            del stack[at]
            return


# Who adjudicates: the annotators, and the sources, whose answers are taken from what others said. They are no further
# people: whatever takes all people by default (agreement, their spread, the alternative annotator test, how many
# answers a text has) leaves them out, and has them where they are named.

BLIND, REVEALED = "", ", after reveal"
"""What stands behind an annotator's name in that of their source: of the answers given blind, and of those changed."""


def identity_here(dataset: Dataset, annotator: str, which: str) -> str:
    """What the source of somebody who annotates a dataset here is known by, whatever it is called."""
    said: list[Any] = ["annotated here", dataset.dataset, annotator, which]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def adjudicators(store: Store, dataset: Dataset) -> frozenset[str]:
    """The names under which answers to this dataset were settled: what only adjudication does stands in their log.

    What was taken back does not count.
    """
    within = store.samples.file_order(dataset.dataset)
    found = set()
    for name in {name for kind in SETTLING for name in store.annotations.annotators(kind=kind, within=within)}:
        log = Log(lambda _: ())  # whether an entry stands is told without reading what it says
        log.take(store.annotations.outlines(name, kind=KIND, within=within))
        if any(log.has(kind) for kind in SETTLING):
            found.add(name)
    return frozenset(found)


def settled_among(store: Store, dataset: Dataset, runs: Collection[Run]) -> frozenset[str]:
    """The ids of these runs, over this dataset, that hold the result of an adjudication."""
    marks = {
        identity_here(dataset, name, which) for name in adjudicators(store, dataset) for which in (BLIND, REVEALED)
    }
    return frozenset(run.run for run in runs if run.identity in marks)
