"""Undo and redo over a log that only grows: the same as two stacks, for each annotator by themselves."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from emotui.store.rows import Annotation
from emotui.workbench.rephrase.log import (
    ATTEMPT,
    REDO,
    SKIP,
    UNDO,
    AttemptEntry,
    ClassifierMark,
    Log,
    SkipEntry,
    last_made,
    last_undone,
    made,
    read_log,
)

MARK = ClassifierMark(spec="embedded", identity="one")
SAMPLES = frozenset((1, 2, 3))


def attempt(text: str) -> bytes:
    return msgspec.json.encode(AttemptEntry(text=text, predicted="joy", model=MARK, round=1))


class Annotators:
    """The log as the service writes it, beside the stacks that it has to equal."""

    def __init__(self) -> None:
        self.log = Log()
        self.written: list[Annotation] = []
        self.done: dict[str, list[tuple[int, str]]] = {"ann": [], "bob": []}
        self.undone: dict[str, list[tuple[int, str]]] = {"ann": [], "bob": []}

    def write(self, kind: str, sample: int, who: str, payload: bytes, undoes: int | None = None) -> None:
        if undoes is not None:
            # The store's own rule: an entry is taken back once at most.
            assert undoes in {entry.annotation for entry in self.written}
            assert undoes not in {entry.undoes for entry in self.written}
        entry = Annotation(len(self.written) + 1, kind, sample, who, payload, undoes, "now")
        self.written.append(entry)
        self.log.take([entry], SAMPLES)

    def step(self, who: str, what: str, sample: int) -> None:
        text = f"text {len(self.written)}"
        if what in ("attempt", "skip"):
            payload = msgspec.json.encode(SkipEntry(model=MARK, round=1))
            self.write(*((ATTEMPT, sample, who, attempt(text)) if what == "attempt" else (SKIP, sample, who, payload)))
            self.done[who].append((sample, text if what == "attempt" else ""))
            self.undone[who] = []
            return
        entry = (last_made if what == "undo" else last_undone)(self.log, who, MARK.identity)
        have, other = (self.done, self.undone) if what == "undo" else (self.undone, self.done)
        assert (entry is None) == (not have[who])
        if entry is not None:
            kind = UNDO if what == "undo" else REDO
            self.write(kind, entry.sample, who, b"{}", self.log.tip(entry.number))
            expected = have[who].pop()
            other[who].append(expected)
            assert entry.sample == expected[0]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["attempt", "attempt", "skip", "undo", "undo", "redo"]),
        st.sampled_from([1, 2, 3]),
    ),
    max_size=40,
)


@given(STEPS)
def test_the_log_says_what_two_stacks_say(steps: list[tuple[str, str, int]]) -> None:
    people = Annotators()
    for who, what, sample in steps:
        people.step(who, what, sample)
    for who, done in people.done.items():
        found = made(people.log.in_force(), who, MARK.identity)
        for sample in SAMPLES:
            expected = [text for number, text in done if number == sample]
            one = found.get(sample)
            assert [entry.text for _, entry in one.attempts] == [text for text in expected if text] if one else True
            assert (one is not None) == bool(expected)
            assert one is None or one.skipped == (expected[-1] == "")


@given(STEPS, st.integers(0, 40))
def test_a_log_taken_in_piece_by_piece_is_the_log_read_at_once(steps: list[tuple[str, str, int]], cut: int) -> None:
    people = Annotators()
    for who, what, sample in steps:
        people.step(who, what, sample)
    piecewise = read_log(people.written[:cut], SAMPLES)
    piecewise.take([entry for entry in people.written if entry.annotation > piecewise.last], SAMPLES)
    assert piecewise == read_log(people.written, SAMPLES) == people.log


def test_entries_of_other_work_and_of_other_texts_are_passed_over() -> None:
    entries = [
        Annotation(1, "spans-mark", 1, "ann", b"not even JSON", None, "now"),
        Annotation(2, ATTEMPT, 99, "ann", attempt("x"), None, "now"),
        Annotation(3, ATTEMPT, None, "ann", attempt("x"), None, "now"),
        Annotation(4, UNDO, 99, "ann", b"{}", 2, "now"),
        Annotation(5, ATTEMPT, 1, "ann", attempt("mine"), None, "now"),
    ]
    log = read_log(entries, SAMPLES)
    assert [entry.number for entry in log.all()] == [5]
    assert log.last == 5
    assert last_made(log, "ann", "another classifier") is None
