from pathlib import Path

import pytest

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.annotate.answers import Answer, SentenceSaid, SpanMark
from emotui.workbench.annotate.events import (
    Accept,
    AddSpan,
    MoveBorder,
    SuggestionMended,
    SuggestionRefused,
    SuggestionTaken,
)
from emotui.workbench.annotate.planning.assignment import Assignment, assign, progress_of
from emotui.workbench.annotate.planning.protocols import assignment_by, percent_agreement, protocol_named
from emotui.workbench.annotate.traces import answer_traces, event_traces
from emotui.workbench.runs.elsewhere import Said, keep_said
from tests.workbench.annotate.small_sets import begin, numbers, store_with


def held(store: Store) -> Dataset:
    found = store.datasets.get("spans")
    assert found is not None
    return found


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A source `emb` that marks two spans in the first text."""
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    keep_said(store, held(store), "emb", "file", [Said(one, 0, {"spans": [[0, 10], [12, 23]]})], sim=False)
    return store


def shown(store: Store) -> tuple[int, str, str]:
    """The first text, in which `ann` looks at the suggestion after 3 s; and the ids of its two spans."""
    one = numbers(store, "spans")[0]
    work = begin(store, "spans")
    work.present(one)
    suggestion = work.suggest(one, "emb").suggestion
    assert suggestion is not None
    first, second = suggestion.answer.spans
    return one, first.id, second.id


def test_an_answer_that_takes_a_suggestion_as_it_is_followed_it(store: Store) -> None:
    one, first, second = shown(store)
    begin(store, "spans").do(one, SuggestionTaken("emb", first), SuggestionTaken("emb", second), seconds=3.0)
    begin(store, "spans").do(one, Accept(), seconds=5.0)
    (trace,) = answer_traces(store, held(store))
    assert (trace.annotator, trace.id, trace.place, trace.first, trace.answered) == ("ann", "p-1", 1, 3.0, 5.0)
    assert (trace.source, trace.shown, trace.taken, trace.mended, trace.refused) == ("emb", 2, 2, 0, 0)
    assert (trace.followed, trace.away, trace.before, trace.events) == (True, 0.0, False, 3)


def test_what_was_mended_refused_and_taken_back_is_told_apart(store: Store) -> None:
    one, first, second = shown(store)
    work = begin(store, "spans")
    work.do(one, SuggestionMended("emb", SpanMark(id=first, start=0, end=8)))
    work.do(one, SuggestionTaken("emb", second))
    work.undo()
    work.do(one, SuggestionRefused("emb", second))
    work.do(one, Accept())
    (trace,) = answer_traces(store, held(store), "ann")
    assert (trace.shown, trace.taken, trace.mended, trace.refused, trace.followed) == (2, 0, 1, 1, False)
    # Eight characters of the suggested 10 + 11: 1 - 2 * 8 / (8 + 21).
    assert trace.away == pytest.approx(1 - 16 / 29)


def test_a_span_that_is_taken_and_then_changed_is_mended(store: Store) -> None:
    one, first, _ = shown(store)
    begin(store, "spans").do(one, SuggestionTaken("emb", first), MoveBorder(first, 0, 9), Accept())
    (trace,) = answer_traces(store, held(store))
    assert (trace.taken, trace.mended) == (0, 1)


def test_an_answer_without_a_suggestion_has_none_in_its_trace_and_an_open_one_has_no_trace(store: Store) -> None:
    one, two, _ = numbers(store, "spans")
    work = begin(store, "spans")
    work.do(one, AddSpan(SpanMark(id="a", start=0, end=5)), Accept())
    work.do(two, AddSpan(SpanMark(id="b", start=0, end=5)))
    (trace,) = answer_traces(store, held(store))
    assert (trace.id, trace.source, trace.followed, trace.place) == ("p-1", None, None, None)
    assert [event.id for event in event_traces(store, held(store))] == ["p-1", "p-1", "p-2"]


def test_the_progress_of_all_is_counted_over_what_is_theirs(store: Store) -> None:
    one, two, three = numbers(store, "spans")
    assign(store, held(store), Assignment(annotators=("ann", "ben"), overlap=1, batch=2, shuffled=False))
    begin(store, "spans").do(one, Accept(), seconds=4.0)
    begin(store, "spans", "carl").do(one, Accept())
    found = progress_of(store, held(store))
    rows = [(row.annotator, row.n, row.given, row.left, row.seconds) for row in found.annotators]
    assert rows == [("ann", 2, 1, 1, 4.0), ("ben", 1, 0, 1, None), ("carl", 3, 1, 2, None)]
    assert found.answers == {0: 2, 2: 1}
    assert (two, three) == (one + 1, one + 2)


def test_the_words_of_consent_are_asked_for_once_and_again_when_they_change(store: Store) -> None:
    seer = protocol_named("seer")
    plan = assignment_by(seer, ("ann", "ben", "carl"), n=3)
    assert (plan.batch, plan.overlap) == (20, 3)
    assign(store, held(store), plan)
    work = begin(store, "spans")
    assert work.consent() == seer.consent
    work.agree()
    assert (work.consent(), begin(store, "spans").consent()) == ("", "")
    assert begin(store, "spans", "ben").consent() == seer.consent
    assign(store, held(store), assignment_by(seer, ("ann", "ben", "carl"), n=3, consent="our own words"))
    assert begin(store, "spans").consent() == "our own words"


def labels(*said: str) -> dict[int, Answer]:
    return {place: Answer(labels=(one,)) for place, one in enumerate(said)}


def test_percent_agreement_counts_equal_verdicts_and_those_who_all_agree_with_the_model() -> None:
    model = labels("joy", "joy", "joy", "joy")
    found = percent_agreement(model, [labels("joy", "fear", "fear", "joy"), labels("joy", "fear", "sad", "fear")])
    # Verdicts: both agree, both disagree twice (once with the same label), they differ.
    assert (found.n, found.annotators, found.model, found.same, found.kept) == (4, 0.75, 0.25, 0.5, (0,))
    assert percent_agreement(model, []).annotators is None


def test_a_passage_is_kept_where_everybody_agrees_about_all_of_its_sentences() -> None:
    def passage(*emotions: str) -> Answer:
        return Answer(sentences={place: SentenceSaid(emotion=one) for place, one in enumerate(emotions)})

    model = {1: passage("sad", "happy"), 2: passage("sad", "sad")}
    person = {1: passage("sad", "happy"), 2: passage("sad", "fear")}
    found = percent_agreement(model, [person, person], "emotion")
    assert (found.n, found.model, found.kept) == (4, 0.75, (1,))
