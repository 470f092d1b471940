from pathlib import Path

import msgspec
import pytest

from emotui.errors import BadInput
from emotui.records import Mark, SpanSample
from emotui.store.store import Store
from emotui.workbench.annotate.adjudicating import Adjudicating, merged
from emotui.workbench.annotate.answers import Answer, SentenceSaid, SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, RemoveSpan
from emotui.workbench.annotate.scheme import TEXT, Group, Label, Scheme
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.sources import sources
from emotui.workbench.runs.elsewhere import Said, keep_said
from tests.workbench.annotate.small_sets import begin, numbers, store_with


def span(start: int, end: int, label: str | None = None) -> SpanMark:
    return SpanMark(id=f"{start}-{end}-{label}", start=start, end=end, label=label)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Three texts: `ann` and `ben` agree about the first and disagree about the second; the third has `ann` alone."""
    store = store_with(tmp_path / "w.duckdb", "spans")
    one, two, three = numbers(store, "spans")
    ann, ben = begin(store, "spans"), begin(store, "spans", "ben")
    for work, end in ((ann, 7), (ben, 16)):
        work.do(one, AddSpan(span(12, 23, "joy")), Accept())
        work.do(two, AddSpan(span(0, end)), Accept())
    ann.do(three, Accept())
    return store


def adjudicate(store: Store) -> Adjudicating:
    return Desk(store).adjudicate("spans", ("ann", "ben"), "settled")


def places(answer: Answer) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in answer.spans]


def test_texts_are_told_apart_by_whether_the_sources_agree(store: Store) -> None:
    one, two, three = numbers(store, "spans")
    work = adjudicate(store)
    assert (work.agreed, work.disagreed, work.worst_first()) == ((one,), (two,), (two,))
    assert [(voice.source, voice.answer is None) for voice in work.voices(three)] == [("ann", False), ("ben", True)]
    assert work.apart(one) == 0 < work.apart(two) < 1
    assert (work.next_disagreement(), work.next_disagreement(two), work.next_disagreement(one)) == (two, two, two)
    assert msgspec.structs.astuple(work.standing()) == (1, 1, 0, 0, 1)


def test_a_version_is_taken_and_mended_and_all_that_is_agreed_comes_in_one_go(store: Store) -> None:
    one, two, _ = numbers(store, "spans")
    work = adjudicate(store)
    said = work.take(two, "ben")
    assert places(said.answer) == [(0, 16)]
    assert work.work.undo() == two
    said = work.take(two, "ann", accept=True)
    assert (places(said.answer), said.accepted) == ([(0, 7)], True)
    assert work.take_agreed() == (1, {})
    assert work.take_agreed() == (0, {})
    assert places(work.work.said(one).answer) == [(12, 23)]
    assert (work.work.undo(), work.work.said(one).accepted, work.work.said(one).answer.silent) == (one, False, True)
    assert (work.work.redo(), work.work.said(one).accepted) == (one, True)
    assert work.next_disagreement() is None
    assert msgspec.structs.astuple(adjudicate(store).standing()) == (1, 1, 1, 1, 1)


def test_marks_of_several_sources_are_merged(store: Store) -> None:
    two = numbers(store, "spans")[1]
    work = adjudicate(store)
    assert places(work.merge(two).answer) == [(0, 16), (0, 7)]
    assert places(work.merge(two, how="majority").answer) == []
    said = work.add(two, span(0, 7))
    assert places(said.answer) == [(0, 7)]
    work.work.do(two, RemoveSpan(said.spans[0].id))
    with pytest.raises(BadInput, match="nobody says nothing"):
        work.take(two, "nobody")


def test_an_adjudication_goes_on_after_a_restart(store: Store, tmp_path: Path) -> None:
    one, two, _ = numbers(store, "spans")
    work = adjudicate(store)
    work.take(two, "ben", accept=True)
    work.take_agreed()
    again = adjudicate(Store.open(tmp_path / "w.duckdb"))
    assert again.standing() == work.standing()
    assert (again.next_disagreement(), again.take_agreed()) == (None, (0, {}))
    assert places(again.work.said(two).answer) == [(0, 16)]
    assert (again.work.undo(), again.work.undo()) == (one, two)
    assert (again.work.said(two).accepted, again.next_disagreement()) == (False, two)


def test_the_result_is_a_source_and_becomes_gold(store: Store) -> None:
    one, two, three = numbers(store, "spans")
    work = adjudicate(store)
    work.take_agreed()
    work.take(two, "ann", accept=True)
    with pytest.raises(BadInput, match="says nothing about 1 of 3 texts"):
        work.make_gold()
    assert [source.n for source in sources(store, "spans") if source.name == "settled"] == [2]
    assert work.make_gold(keep_missing=True).gold == 2
    golds = [msgspec.json.decode(record, type=SpanSample) for _, record in store.samples.records([one, two, three])]
    assert [None if gold.spans is None else gold.places for gold in golds] == [((12, 23),), ((0, 7),), None]


def test_gold_and_people_in_its_records_can_be_sources(store: Store) -> None:
    one, two, _ = numbers(store, "spans")
    work = Desk(store).adjudicate("spans", ("gold", "A1"), "settled")
    assert (work.agreed, work.disagreed) == ((), (one,))
    work.take(one, "A1")
    assert places(work.work.said(one).answer) == [(12, 40)]
    assert work.voices(two)[1].answer is None


def test_labels_that_only_people_in_the_records_have_are_labels_of_the_scheme(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    said = {"A1": (Mark(0, 3, "awe"),), "A2": (Mark(0, 3, "joy"),)}
    add_samples(store, "spans", "spans", [SpanSample(id="1", text="Oh my.", annotators=said)], "made for a test")
    (one,) = numbers(store, "spans")
    assert [label.name for label in Desk(store).scheme("spans").groups[0].labels] == ["awe", "joy"]
    work = Desk(store).adjudicate("spans", ("A1", "A2"), "settled")
    work.take(one, "A1")
    assert [mark.label for mark in work.work.said(one).answer.spans] == ["awe"]


def test_labels_of_a_source_alone_join_the_scheme_where_it_is_adjudicated(store: Store) -> None:
    one, *_ = numbers(store, "spans")
    dataset = store.datasets.get("spans")
    assert dataset is not None
    keep_said(store, dataset, "theirs", "file", [Said(one, 0, {"spans": [[0, 3, "gloom"]]})], sim=False)
    work = Desk(store).adjudicate("spans", ("ann", "theirs"), "settled")
    work.take(one, "theirs")
    assert [mark.label for mark in work.work.said(one).answer.spans] == ["gloom"]


@pytest.mark.parametrize(
    ("voices", "name", "why"),
    [
        (("ann",), "settled", "two sources or more"),
        (("ann", "ben"), "ann", "ann is one of the sources"),
        (("ann", "carl"), "settled", "no source 'carl'"),
    ],
)
def test_what_cannot_be_adjudicated_is_refused(store: Store, voices: tuple[str, ...], name: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        Desk(store).adjudicate("spans", voices, name)


def test_a_union_says_one_label_of_a_group_that_has_one() -> None:
    tone = Group(name="tone", of=TEXT, labels=(Label(name="pos"), Label(name="neg")))
    topics = Group(name="topics", of=TEXT, exclusive=False, labels=(Label(name="work"), Label(name="home")))
    scheme = Scheme(name="two", groups=(tone, topics))
    said = [Answer(labels=one) for one in (("pos", "work"), ("neg", "home"), ("pos", "home"))]
    assert set(merged(said, "union", scheme).labels or ()) == {"pos", "work", "home"}
    assert set(merged(said[:2], "union", scheme).labels or ()) == {"work", "home"}, "of a tie nothing"


def test_a_majority_is_more_than_half_and_a_tie_says_nothing() -> None:
    three = [
        Answer(labels=("joy", "fear"), values={"v": 1}, words={0: "glad"}, sentences={0: SentenceSaid(emotion="sad")}),
        Answer(labels=("joy",), values={"v": 9}, words={0: "glad"}, sentences={0: SentenceSaid(emotion="sad")}),
        Answer(labels=(), values={"v": 2}, words={0: "sad"}, sentences={0: SentenceSaid(emotion="fear")}),
    ]
    found = merged(three, "majority")
    assert (found.labels, found.values, found.words) == (("joy",), {"v": 2.0}, {0: "glad"})
    assert found.sentences[0].emotion == "sad"
    assert merged(three[1:], "majority").labels == ()
    assert merged(three[1:], "majority").words == {}
    assert set(merged(three, "union").labels or ()) == {"joy", "fear"}
    assert merged([Answer(), Answer()], "union").labels is None
