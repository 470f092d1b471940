from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.workbench.annotate.answers import SentenceSaid, SpanMark
from emotui.workbench.annotate.events import (
    CANNOT_JUDGE,
    Accept,
    AddSpan,
    Event,
    MoveBorder,
    RemoveSpan,
    Reveal,
    SetAttribute,
    SetFlag,
    SetLabels,
    SetNote,
    SetNumber,
    SetSentence,
    SetUnsure,
    SetWord,
    Skip,
    SuggestionTaken,
)
from emotui.workbench.annotate.others import given_answers
from emotui.workbench.annotate.planning.assignment import progress_of
from emotui.workbench.runs.export_rows import export_rows, found_sources
from tests.workbench.annotate.small_sets import TEXT, begin, numbers, store_with


def add(id: str, start: int, end: int, label: str | None = None) -> AddSpan:
    return AddSpan(SpanMark(id=id, start=start, end=end, label=label))


def test_what_was_done_is_there_after_a_restart(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    work = begin(store, "spans")
    said = work.do(one, add("a", 0, 5), SetNote("short"), SetFlag(True), SetUnsure(True), seconds=2.5)
    assert (said.note, said.flag, said.unsure, said.spans[0].start) == (
        "short",
        True,
        True,
        0,
    )
    assert begin(store, "spans").said(one) == said
    assert begin(store, "spans", "ben").said(one).answer.silent


def test_undo_and_redo_go_over_texts_and_restarts_and_say_which_text_it_was(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, _ = numbers(store, "spans")
    work = begin(store, "spans")
    work.do(one, add("a", 0, 5))
    work.do(two, add("b", 0, 7))
    work.do(two, RemoveSpan("b"))
    work = begin(store, "spans")
    assert [work.undo(), work.undo(), work.undo(), work.undo()] == [two, two, one, None]
    assert work.said(one).spans == work.said(two).spans == ()
    work = begin(store, "spans")
    assert [work.redo(), work.redo()] == [one, two]
    assert [span.id for span in begin(store, "spans").said(two).spans] == ["b"]
    work.do(one, SetNote("new"))
    assert work.redo() is None
    assert [work.undo(), work.undo(), work.undo(), work.undo()] == [one, two, one, None]


def test_the_undo_of_one_annotator_leaves_the_other_alone(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    ann, ben = begin(store, "spans"), begin(store, "spans", "ben")
    ann.do(one, add("a", 0, 5))
    ben.do(one, add("b", 0, 5))
    assert ann.undo() == one
    assert ben.said(one).spans == begin(store, "spans", "ben").said(one).spans != ()
    assert ann.undo() is None


def test_two_terminals_under_one_name_see_each_others_work(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    left, right = begin(store, "spans"), begin(store, "spans")
    left.do(one, add("a", 0, 5))
    right.do(one, add("b", 6, 9))
    assert {span.id for span in right.said(one).spans} == {"a", "b"}
    left.refresh()
    assert left.said(one) == right.said(one)
    assert right.undo() == one
    assert left.undo() == one
    assert left.undo() is None
    assert left.said(one).spans == ()


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (add("b", 5, 5), "no span of the text"),
        (add("b", 30, 41), "no span of the text, which has 40 characters"),
        (add("b", 0, 5), "marked already"),
        (add("b", 0, 5, "rage"), "no label 'rage'"),
        (MoveBorder("b", 0, 2), "not there any more"),
        (RemoveSpan("b"), "not there any more"),
        (MoveBorder("a", 3, 99), "no span of the text"),
        (SetAttribute("a", "why", 1), "no 'why' of spans"),
        (SetLabels(("joy",)), "no label 'joy' for texts"),
        (SetNumber("valence", 1), "no number 'valence'"),
        (SetSentence(0, SentenceSaid(emotion="happy")), "no emotion 'happy'"),
        (SetSentence(2, SentenceSaid()), "no sentence 3"),
        (SetWord(0, "glad"), "no mask 1"),
        (Reveal(), "accept the answer first"),
        (SuggestionTaken("gold", "labels"), "not open"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_kept(tmp_path: Path, event: Event, why: str) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    work = begin(store, "spans")
    said = work.do(one, add("a", 0, 5))
    with pytest.raises(BadInput, match=why):
        work.do(one, SetNote("with it"), event)
    assert work.said(one) == said == begin(store, "spans").said(one)


def test_overlapping_nested_and_equal_spans_with_different_labels_stand_together(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    work = begin(store, "spans")
    label = work.scheme.span_labels
    assert label is not None
    assert label.names == ("joy",)  # what gold has
    said = work.do(one, add("a", 0, 10), add("b", 5, 12), add("c", 6, 8), add("d", 0, 10, "joy"))
    assert len(said.spans) == 4


def test_others_are_hidden_until_one_has_answered_and_revealed(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    work, ben = begin(store, "spans"), begin(store, "spans", "ben")
    ben.do(one, add("b", 0, 5), Accept())
    with pytest.raises(BadInput, match="hidden until you accept"):
        work.others(one)
    work.do(one, add("a", 0, 10), Accept())
    with pytest.raises(BadInput, match="can be revealed"):
        work.others(one)
    work.do(one, Reveal())
    found = {other.name: other for other in work.others(one)}
    assert list(found) == ["gold", "ben", "A1"]
    assert [(span.start, span.end) for span in found["ben"].answer.spans] == [(0, 5)]
    assert [(span.start, span.end) for span in found["A1"].answer.spans] == [(12, 40)]
    assert found["gold"].answer.sentences[1].emotion == "happy"
    said = work.do(one, RemoveSpan("a"))
    assert said.first is not None
    assert [span.id for span in said.first.spans] == ["a"]


def test_answers_that_are_not_given_yet_are_shown_to_nobody(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    work, ben = begin(store, "spans"), begin(store, "spans", "ben")
    ben.do(one, add("b", 0, 5))
    work.do(one, Accept(), Reveal())
    assert "ben" not in [other.name for other in work.others(one)]


def test_a_suggestion_is_kept_with_its_source_and_what_became_of_it(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, three = numbers(store, "spans")
    work = begin(store, "spans")
    assert work.sources(one) == (("gold", "gold"), ("A1", "person"))
    said = work.suggest(one, "A1")
    assert said.suggestion is not None
    (item,) = [span.id for span in said.suggestion.answer.spans]
    said = work.do(one, SuggestionTaken("A1", item))
    assert [(span.start, span.end, span.label) for span in said.spans] == [(12, 40, "joy")]
    assert work.undo() == one
    assert begin(store, "spans").said(one).suggestion == work.said(one).suggestion != None  # noqa: E711
    with pytest.raises(BadInput, match="says nothing"):
        work.suggest(three, "gold")
    assert work.said(two).suggestion is None


def test_the_next_open_text_and_the_progress(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, three = numbers(store, "spans")
    work = begin(store, "spans")
    assert work.next_open() == one
    work.do(two, Accept())
    work.do(three, add("a", 0, 2), SetFlag(True))
    assert (work.next_open(one), work.next_open(two), work.next_open(three)) == (three, three, one)
    progress = work.progress()
    assert (progress.n, progress.accepted, progress.begun, progress.flagged, progress.left) == (3, 1, 1, 1, 2)
    work.do(one, Accept())
    work.do(three, Accept())
    assert work.next_open(one) is None
    assert work.undo() == three
    assert work.next_open(one) == work.next_open(three) == three


def test_labels_numbers_words_and_sentences_follow_their_schemes(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "labels", "scenes", "values", "masked", "rephrase")
    work = begin(store, "labels")
    one = numbers(store, "labels")[0]
    assert work.do(one, SetLabels(("joy",)), Accept()).labels == ("joy",)
    work = begin(store, "scenes")
    (one,) = numbers(store, "scenes")
    assert [label.name for label in work.scheme.of("text")[0].labels] == ["joy", "fear"]
    assert work.do(one, SetLabels(("joy", "fear")), Accept()).accepted
    work = begin(store, "rephrase")
    one = numbers(store, "rephrase")[0]
    with pytest.raises(BadInput, match="label is missing"):
        work.do(one, Accept())
    with pytest.raises(BadInput, match="one label"):
        work.do(one, SetLabels(("anger", "gratitude")))
    work = begin(store, "values")
    (one,) = numbers(store, "values")
    with pytest.raises(BadInput, match="from 1 to 9"):
        work.do(one, SetNumber("valence", 9.5))
    said = work.do(one, *(SetNumber(name, 5) for name in ("valence", "arousal", "dominance")), Accept())
    assert said.accepted
    with pytest.raises(BadInput, match="valence is missing: reopen"):
        work.do(one, SetNumber("valence", None))
    work = begin(store, "masked")
    (one,) = numbers(store, "masked")
    assert work.text(one).masks == ((5, 11), (16, 22))
    with pytest.raises(BadInput, match="word for mask 2"):
        work.do(one, SetWord(0, "glad"), Accept())


def test_the_text_of_an_annotator_is_without_gold(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one = numbers(store, "spans")[0]
    text = begin(store, "spans").text(one)
    assert (text.text, text.sentences) == (TEXT, ((0, 11), (12, 40)))
    assert not hasattr(text, "spans")


def test_what_one_keystroke_did_is_undone_and_redone_by_one(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, _ = numbers(store, "spans")
    work = begin(store, "spans")
    work.do(one, SetNote("first"))
    work.do(one, add("a", 0, 5), add("b", 6, 9), Accept())
    work.do(two, Accept(), Reveal())
    work = begin(store, "spans")
    assert [work.undo(), work.undo()] == [two, one]
    said = begin(store, "spans").said(one)
    assert (said.spans, said.accepted, said.note) == ((), False, "first")
    assert work.said(two).revealed  # what was seen stays seen
    assert [work.redo(), work.redo(), work.redo()] == [one, two, None]
    assert ([span.id for span in work.said(one).spans], work.said(one).accepted) == (["a", "b"], True)


def test_a_text_that_is_passed_over_is_done_and_no_answer(tmp_path: Path) -> None:
    store = store_with(tmp_path / "s.duckdb", "labels")
    work, other = begin(store, "labels"), begin(store, "labels", "bob")
    first, second, third = numbers(store, "labels")
    work.do(first, SetLabels(("joy",)))
    work.do(first, Skip(CANNOT_JUDGE))
    assert work.said(first).skipped == CANNOT_JUDGE
    assert work.next_open(None) == second
    assert work.progress().left == 2
    assert work.progress().skipped == 1
    with pytest.raises(BadInput, match="accept the answer first"):
        work.do(first, Reveal())
    work.do(second, Skip())
    work.do(third, SetLabels(()))
    work.do(third, Accept())
    other.do(first, SetLabels(()))
    other.do(first, Accept())
    assert {name: sorted(answers) for name, answers in given_answers(store, work.dataset).items()} == {
        "ann": [third],
        "bob": [first],
    }
    work.publish()
    rows = export_rows(store, found_sources(store, ["labels", "ann"]), ("text",))
    assert [row.get("skipped") for row in rows] == ["cannot judge", True, None]
    how_far = progress_of(store, work.dataset)
    assert [(one.annotator, one.given, one.skipped, one.left) for one in how_far.annotators] == [
        ("ann", 1, 2, 0),
        ("bob", 1, 0, 2),
    ]
    work.undo()
    work.undo()
    work.undo()
    assert work.said(second).skipped == ""
    work.do(first, Accept())
    assert work.said(first).skipped == ""
    assert given_answers(store, work.dataset)["ann"][first].blind.labels == ("joy",)
