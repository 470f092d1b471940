"""Any sequence of edits, undos, redos and restarts, over several texts, against plain sets of spans."""

from typing import cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from emotui.store.store import Store
from emotui.workbench.annotate.answers import SpanMark, new_id
from emotui.workbench.annotate.events import (
    Accept,
    AddSpan,
    Event,
    LabelSpan,
    MoveBorder,
    RemoveSpan,
    Reopen,
    Reveal,
)
from emotui.workbench.annotate.marks import Said
from emotui.workbench.annotate.scheme import Group, Label, Scheme
from emotui.workbench.annotate.service import Annotating
from tests.workbench.annotate.memory_log import FIRST, MemoryStore

LENGTH, TEXTS = 12, 3
LABELS = (None, "joy", "fear")
SCHEME = Scheme(name="s", spans=True, groups=(Group(name="label", labels=(Label(name="joy"), Label(name="fear"))),))

Spans = dict[str, tuple[int, int, str | None]]
State = tuple[Spans, bool]
"""The spans by their ids, and whether the answer is given."""

places = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, LENGTH)).filter(lambda place: place[0] < place[1])
texts = st.integers(FIRST, FIRST + TEXTS - 1)
labels = st.sampled_from(LABELS)


class Replay(RuleBasedStateMachine):
    """Every rule does the same to the log and to the plain sets; the invariant compares them."""

    spans = Bundle("spans")

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore(["x" * LENGTH] * TEXTS)
        self.work = self.begin()
        self.plain: dict[int, State] = {FIRST + place: ({}, False) for place in range(TEXTS)}
        self.first: dict[int, Spans] = {}
        self.before: list[tuple[int, State, State]] = []
        self.after: list[tuple[int, State, State]] = []

    def begin(self) -> Annotating:
        return Annotating(cast(Store, self.store), self.store.held, "ann", SCHEME)

    def change(self, sample: int, event: Event, spans: Spans, accepted: bool) -> None:
        self.before.append((sample, self.plain[sample], (spans, accepted)))
        self.after.clear()
        self.plain[sample] = (spans, accepted)
        self.work.do(sample, event)

    def taken(self, sample: int, place: tuple[int, int, str | None], besides: str = "") -> bool:
        return any(there == place for id, there in self.plain[sample][0].items() if id != besides)

    @rule(target=spans, sample=texts, place=places, label=labels)
    def add(self, sample: int, place: tuple[int, int], label: str | None) -> tuple[int, str]:
        span = (*place, label)
        id = new_id()
        if not self.taken(sample, span):
            spans, accepted = self.plain[sample]
            mark = SpanMark(id=id, start=place[0], end=place[1], label=label)
            self.change(sample, AddSpan(mark), {**spans, id: span}, accepted)
        return sample, id

    @rule(span=consumes(spans))
    def remove(self, span: tuple[int, str]) -> None:
        sample, id = span
        spans, accepted = self.plain[sample]
        if id in spans:
            rest = {key: there for key, there in spans.items() if key != id}
            self.change(sample, RemoveSpan(id), rest, accepted)

    @rule(span=spans, place=places)
    def move(self, span: tuple[int, str], place: tuple[int, int]) -> None:
        sample, id = span
        spans, accepted = self.plain[sample]
        if id in spans and not self.taken(sample, moved := (*place, spans[id][2]), id):
            self.change(sample, MoveBorder(id, *place), {**spans, id: moved}, accepted)

    @rule(span=spans, label=labels)
    def label(self, span: tuple[int, str], label: str | None) -> None:
        sample, id = span
        spans, accepted = self.plain[sample]
        if id in spans and not self.taken(sample, labelled := (*spans[id][:2], label), id):
            self.change(sample, LabelSpan(id, label), {**spans, id: labelled}, accepted)

    @rule(sample=texts)
    def accept_or_reopen(self, sample: int) -> None:
        spans, accepted = self.plain[sample]
        self.change(sample, Reopen() if accepted else Accept(), spans, not accepted)

    @rule(target=spans, sample=texts, place=places, label=labels)
    def add_and_accept_in_one_keystroke(
        self, sample: int, place: tuple[int, int], label: str | None
    ) -> tuple[int, str]:
        span = (*place, label)
        id = new_id()
        if not self.taken(sample, span):
            after = ({**self.plain[sample][0], id: span}, True)
            self.before.append((sample, self.plain[sample], after))
            self.after.clear()
            self.plain[sample] = after
            self.work.do(sample, AddSpan(SpanMark(id=id, start=place[0], end=place[1], label=label)), Accept())
        return sample, id

    @rule(sample=texts)
    def reveal(self, sample: int) -> None:
        if self.plain[sample][1] and sample not in self.first:
            self.first[sample] = self.plain[sample][0]
            self.work.do(sample, Reveal())

    @rule(sample=texts)
    def look(self, sample: int) -> None:
        self.work.present(sample)

    @rule()
    def undo(self) -> None:
        if not self.before:
            assert self.work.undo() is None
            return
        step = sample, was, _ = self.before.pop()
        self.after.append(step)
        self.plain[sample] = was
        assert self.work.undo() == sample

    @rule()
    def redo(self) -> None:
        if not self.after:
            assert self.work.redo() is None
            return
        step = sample, _, became = self.after.pop()
        self.before.append(step)
        self.plain[sample] = became
        assert self.work.redo() == sample

    @precondition(lambda self: self.before or self.after)
    @rule()
    def restart(self) -> None:
        self.work = self.begin()

    @invariant()
    def the_log_says_what_the_plain_sets_say(self) -> None:
        for sample, (spans, accepted) in self.plain.items():
            said = self.work.said(sample)
            assert _plain(said) == spans
            assert said.accepted == accepted == (sample in self.work.accepted())
            first = (
                None if said.first is None else {one.id: (one.start, one.end, one.label) for one in said.first.spans}
            )
            assert first == self.first.get(sample)


def _plain(said: Said) -> Spans:
    return {span.id: (span.start, span.end, span.label) for span in said.spans}


Replay.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestReplay = Replay.TestCase
