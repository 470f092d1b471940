from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.store.store import Store
from emotui.workbench.annotate.answers import Answer, SpanMark
from emotui.workbench.annotate.events import Accept, AddSpan, SetLabels
from emotui.workbench.annotate.others import both_answers, given_answers
from emotui.workbench.annotate.planning.assignment import (
    Assignment,
    Batch,
    Retest,
    assign,
    assigned,
    batches,
    comes_back,
    deal,
    own_order,
    progress_of,
    roles_of,
    share_of,
)
from emotui.workbench.annotate.planning.order import Order, distance, spread
from emotui.workbench.annotate.service import an_hour
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs.elsewhere import Said, keep_said
from tests.conftest import Emotui
from tests.workbench.annotate.small_sets import LabelsGold, begin, numbers, store_with


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_text_is_seen_by_as_many_as_wanted_and_the_work_is_shared(data: st.DataObject) -> None:
    people = tuple("abcde"[: data.draw(st.integers(1, 5))])
    overlap = data.draw(st.integers(1, len(people)))
    assignment = Assignment(annotators=people, overlap=overlap, batch=data.draw(st.integers(1, 7)), seed=3)
    found = batches(assignment, range(10, 10 + data.draw(st.integers(0, 40))))
    seen = Counter(number for batch in found for number in batch.samples)
    assert set(seen.values()) <= {1}
    assert all(len(set(batch.annotators)) == overlap for batch in found)
    load = Counter(dict.fromkeys(people, 0)) + Counter(name for batch in found for name in batch.annotators)
    counts = [load[name] for name in people]
    assert max(counts) - min(counts) <= 1
    assert found == batches(assignment, range(10, 10 + len(seen)))


def test_pairs_of_annotators_share_equally_many_batches() -> None:
    found = batches(Assignment(annotators=("a", "b", "c"), overlap=2, batch=10), range(60))
    pairs = Counter(pair for batch in found for pair in combinations(batch.annotators, 2))
    assert pairs == {("a", "b"): 2, ("a", "c"): 2, ("b", "c"): 2}


@pytest.mark.parametrize(
    ("assignment", "why"),
    [
        (Assignment(annotators=(), overlap=1, batch=1), "nobody to assign"),
        (Assignment(annotators=("a", "a"), overlap=1, batch=1), "'a' is named twice"),
        (Assignment(annotators=("a", "b"), overlap=3, batch=1), "3 of 2 annotators"),
        (Assignment(annotators=("a",), overlap=1, batch=0), "at least one text"),
        (Assignment(annotators=("a",), overlap=1, batch=1, retest=Retest(share=1.5)), "share from 0 to 1"),
        (Assignment(annotators=("a", "b"), overlap=2, batch=1, share=20.0), "20 is no share"),
        (Assignment(annotators=("a", "b"), overlap=1, batch=1, share=0.2), "--overlap all"),
        (Assignment(annotators=("a",), overlap=1, batch=1, until="soon"), "'soon' is no day"),
    ],
)
def test_an_assignment_that_cannot_be_is_refused(tmp_path: Path, assignment: Assignment, why: str) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    dataset = store.datasets.get("spans")
    assert dataset is not None
    with pytest.raises(BadInput, match=why):
        assign(store, dataset, assignment)


def test_an_annotator_gets_their_own_texts_and_others_get_all(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    dataset = store.datasets.get("spans")
    assert dataset is not None
    made = assign(store, dataset, Assignment(annotators=("ann", "ben"), overlap=1, batch=1, shuffled=False))
    one, two, three = numbers(store, "spans")
    assert [(batch.samples, batch.annotators) for batch in made] == [
        ((one,), ("ann",)),
        ((two,), ("ben",)),
        ((three,), ("ann",)),
    ]
    ann = begin(store, "spans", "ann")
    assert list(ann.order) == [one, three]
    assert (ann.progress().n, ann.next_open(one), ann.next_open(three)) == (2, three, one)
    assert list(begin(store, "spans", "ben").order) == [two]
    assert list(begin(store, "spans", "carl").order) == [one, two, three]


def holders(found: list[Batch]) -> dict[int, set[str]]:
    """Whose each text is; no text stands twice."""
    there = [number for batch in found for number in batch.samples]
    assert len(there) == len(set(there))
    return {number: set(batch.annotators) for batch in found for number in batch.samples}


def test_a_fifth_of_two_thousand_goes_to_all_and_the_rest_to_one() -> None:
    plan = Assignment(annotators=("a", "b", "c"), overlap=3, batch=20, share=0.2)
    of = holders(deal(plan, range(2000)))
    assert Counter(map(len, of.values())) == {3: 400, 1: 1600}
    load = Counter(name for names in of.values() for name in names)
    assert max(load.values()) - min(load.values()) <= 20


def test_the_share_is_the_same_in_each_stratum_and_over_all() -> None:
    strata = {number: "rare" if number % 10 == 0 else "common" for number in range(105)}
    plan = Assignment(annotators=("a", "b", "c"), overlap=2, batch=4, share=0.2)
    of = holders(deal(plan, range(105), strata=strata))
    several = Counter(strata[number] for number, names in of.items() if len(names) == 2)
    assert several == {"rare": 2, "common": 19}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_answers_stand_and_open_texts_are_shared_by_those_who_are_there(data: st.DataObject) -> None:
    people = tuple("abcd"[: data.draw(st.integers(2, 4))])
    share = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    overlap = data.draw(st.integers(2, len(people)))
    plan = Assignment(annotators=people, overlap=overlap, batch=data.draw(st.integers(1, 6)), share=share)
    numbers = range(data.draw(st.integers(1, 40)))
    first = deal(plan, numbers)
    mine = holders(first)
    answered = data.draw(st.lists(st.sampled_from(numbers), unique=True))
    held = {number: tuple(sorted(mine[number]))[:1] for number in answered}
    left = data.draw(st.sampled_from([*people, ""]))
    now = (*(name for name in people if name != left), "new")
    wider = range(len(numbers) + data.draw(st.integers(0, 5)))
    later = Assignment(annotators=now, overlap=min(overlap, len(now)), batch=plan.batch, share=share)
    again = holders(deal(later, wider, before=first, held=held))
    assert set(again) == set(wider)
    assert all(set(names) <= again[number] for number, names in held.items())
    assert all(left not in names or left in held.get(number, ()) for number, names in again.items())
    sizes = Counter(len(names) for names in again.values())
    several = round(share * len(wider))
    assert sizes[later.overlap] == several or later.overlap == 1
    open_texts = Counter(name for number, names in again.items() for name in names if name not in held.get(number, ()))
    loads = [open_texts[name] for name in now]
    assert max(loads) - min(loads) <= max(len(answered), plan.batch, 1) + plan.batch


def test_who_stays_keeps_what_he_had_and_who_leaves_gives_back_what_is_open() -> None:
    plan = Assignment(annotators=("a", "b"), overlap=1, batch=5, shuffled=False)
    first = batches(plan, range(20))
    before = holders(first)
    later = Assignment(annotators=("a", "c"), overlap=1, batch=5, shuffled=False)
    again = holders(deal(later, range(20), before=first, held={5: ("b",), 0: ("a",)}))
    assert again[5] == {"b"}
    assert all(again[number] == {"a"} for number, names in before.items() if names == {"a"})
    assert Counter(next(iter(names)) for names in again.values()) == {"a": 10, "b": 1, "c": 9}


def test_dealing_again_goes_by_the_answers_in_the_store(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 12)
    dataset = store.datasets.get("labels")
    assert dataset is not None
    assign(store, dataset, Assignment(annotators=("ann", "ben"), overlap=1, batch=2, until="2026-12-10"))
    ann, ben = begin(store, "labels", "ann"), begin(store, "labels", "ben")
    given, begun = ben.order[0], ben.order[1]
    ben.do(given, SetLabels(("joy",)), Accept(), seconds=4.0)
    ben.do(begun, SetLabels(("joy",)))
    ann.do(ann.order[0], SetLabels(("joy",)))
    theirs = set(ben.order)
    # Who settles is no annotator of these texts.
    begin(store, "labels", "settled").do(ann.order[1], SetLabels(("joy",)), Accept())
    assign(store, dataset, Assignment(annotators=("ann", "carl"), overlap=1, batch=2, until="2026-12-10"))
    now = begin(store, "labels", "ben")
    assert (list(now.order), now.next_open()) == ([given], None)
    carl = set(begin(store, "labels", "carl").order)
    assert begun in carl | set(begin(store, "labels", "ann").order)
    assert theirs - {given} <= carl | set(begin(store, "labels", "ann").order)
    how_far = progress_of(store, dataset, today=date(2026, 12, 1))
    assert [(row.annotator, row.given) for row in how_far.annotators][:3] == [("ann", 0), ("carl", 0), ("ben", 1)]
    assert [row.wanted for row in how_far.annotators[:2]] == [row.left / 10 for row in how_far.annotators[:2]]
    assert how_far.until == "2026-12-10"


def test_pace_is_of_the_hours_of_work_and_pauses_count_for_nothing() -> None:
    start = datetime(2026, 12, 1, 9, tzinfo=UTC)
    minutes = (0, 1, 2, 3, 60, 61)
    moments = [start + timedelta(minutes=minute) for minute in reversed(minutes)]
    assert an_hour(moments) == pytest.approx(60.0)
    assert an_hour([start, start + timedelta(minutes=5)]) == pytest.approx(12.0)
    assert [an_hour(some) for some in ([], [start], [start, start + timedelta(hours=1)], [start, start])] == [None] * 4


def test_progress_tells_what_was_given_today_and_what_the_day_takes(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 12)
    dataset = store.datasets.get("labels")
    assert dataset is not None
    until = datetime.now().astimezone().date() + timedelta(days=2)
    assign(store, dataset, Assignment(annotators=("ann",), overlap=1, batch=2, until=until.isoformat()))
    ann = begin(store, "labels", "ann")
    assert (ann.progress().today, ann.progress().wanted, ann.progress().left) == (0, 4, 12)
    for number in ann.order[:3]:
        ann.do(number, SetLabels(("joy",)), Accept())
    ann.do(ann.order[3], SetLabels(("joy",)))
    assert (ann.progress().today, ann.progress().wanted, ann.progress().left) == (3, 4, 9)
    assert (ann.progress().an_hour or 0) > 0
    ann.undo()
    ann.undo()
    again = begin(store, "labels", "ann").progress()
    assert (again.today, again.left) == (2, 10)
    assert begin(store, "labels", "ben").progress().today == 0


def test_a_share_by_label_is_kept_and_dealt_the_same_again(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 10)
    dataset = store.datasets.get("labels")
    assert dataset is not None
    plan = Assignment(annotators=("ann", "ben"), overlap=2, share=0.5, batch=2, by="label")
    assign(store, dataset, plan)
    labels = {
        row: ("joy" if place < 5 else "fear") for place, row in enumerate(store.samples.file_order(dataset.dataset))
    }
    found = {name: begin(store, "labels", name).order for name in ("ann", "ben")}
    both = Counter(labels[number] for number in set(found["ann"]) & set(found["ben"]))
    assert sum(both.values()) == 5
    assert set(both.values()) == {2, 3}
    assert assign(store, dataset, plan) == list((assigned(store, dataset) or plan).dealt)
    assert {name: begin(store, "labels", name).order for name in ("ann", "ben")} == found


def test_an_order_by_chance_is_everybodys_own_and_stays(tmp_path: Path) -> None:
    plan = Assignment(annotators=("a", "b"), overlap=2, batch=5, order=Order(kind="random", seed=4), own_order=True)
    assert own_order(plan, "a") == own_order(plan, "a") != own_order(plan, "b")
    assert own_order(Assignment(annotators=("a",), overlap=1, batch=1, order=plan.order), "a") == plan.order
    assert set(share_of(plan, range(10), "a")) == set(range(10))


def test_a_column_that_no_text_has_is_refused_with_those_that_are_there(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 4)
    dataset = store.datasets.get("labels")
    assert dataset is not None
    with pytest.raises(BadInput, match="no text of labels has 'topic'"):
        assign(store, dataset, Assignment(annotators=("a", "b"), overlap=2, batch=1, share=0.5, by="topic"))


def labelled(path: Path, n: int) -> Store:
    """Texts of which the first half has joy as gold and the other half has fear."""
    store = Store.open(path)
    samples = [LabelsGold(id=f"l-{i}", text=f"text {i}", labels=("joy" if i < n / 2 else "fear",)) for i in range(n)]
    add_samples(store, "labels", "labels", samples, "made for a test")
    return store


def say(store: Store, name: str, said: dict[int, dict[str, object]], kind: str = "model") -> None:
    dataset = store.datasets.get("labels")
    assert dataset is not None
    first = store.samples.file_order(dataset.dataset)[0]
    keep_said(store, dataset, name, kind, [Said(first + place, 0, keys) for place, keys in said.items()])


def places(store: Store, order: Order) -> list[int]:
    work = begin(store, "labels")
    first = numbers(store, "labels")[0]
    return [number - first for number in work.choose(order)]


def test_an_order_by_chance_is_the_same_for_the_same_seed_and_after_a_restart(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 8)
    found = places(store, Order(kind="random", seed=5))
    assert sorted(found) == list(range(8)) != found
    assert places(store, Order(kind="random", seed=5)) == found != places(store, Order(kind="random", seed=6))
    begin(store, "labels").choose(Order(kind="random", seed=5))
    again = begin(store, "labels")
    assert [number - numbers(store, "labels")[0] for number in again.order] == found


def test_what_a_model_is_least_sure_of_comes_first(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 4)
    say(store, "m", {n: {"labels": {"joy": p, "fear": 0.0}} for n, p in enumerate((0.9, 0.55, 0.2))})
    # Expected to be wrong: .1 .45 .2 over two labels each; of the last text the model says nothing.
    assert places(store, Order(kind="uncertain")) == [1, 2, 0, 3]


def test_what_the_model_got_wrong_comes_first(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 4)
    say(store, "m", {n: {"labels": [label]} for n, label in enumerate(("joy", "fear", "fear", "joy"))})
    assert places(store, Order(kind="error", sources=("m",))) == [1, 3, 0, 2]


def test_what_sources_disagree_about_comes_first_and_gold_that_all_contradict(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 4)
    say(store, "a", {0: {"labels": ["joy"]}, 1: {"labels": ["joy"]}, 2: {"labels": ["joy"]}, 3: {"labels": ["fear"]}})
    say(store, "b", {0: {"labels": ["joy"]}, 1: {"labels": ["fear"]}, 2: {"labels": ["joy"]}, 3: {"labels": ["fear"]}})
    assert places(store, Order(kind="disagree")) == [1, 0, 2, 3]
    # Both contradict gold in the text 2 (joy against fear); in the text 1 one of them does.
    assert places(store, Order(kind="gold"))[0] == 2


@pytest.mark.parametrize(
    ("kind", "why"),
    [("uncertain", "no model has run"), ("disagree", "fewer than two sources"), ("gold", "nobody but gold")],
)
def test_an_order_without_anything_to_go_by_says_what_it_needs(tmp_path: Path, kind: str, why: str) -> None:
    store = labelled(tmp_path / "w.duckdb", 2)
    with pytest.raises(BadInput, match=why):
        begin(store, "labels").choose(Order(kind=kind))  # type: ignore[arg-type]


def test_texts_come_back_silently_after_so_many_others_and_the_second_answer_is_apart(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 5)
    dataset = store.datasets.get("labels")
    assert dataset is not None
    retest = Retest(share=1.0, after=2)
    assign(store, dataset, Assignment(annotators=("ann",), overlap=1, batch=5, shuffled=False, retest=retest))
    one, two, three, *_ = numbers(store, "labels")
    work = begin(store, "labels")
    for number in (one, two):
        work.do(number, SetLabels(("joy",)), Accept())
    assert work.next_open(two) == three
    work.do(three, SetLabels(("joy",)), Accept())
    assert work.next_open(three) == one
    # It looks as if it had never been seen, also in another session.
    work = begin(store, "labels")
    assert work.said(one).labels is None
    assert work.next_open(three) == one
    work.do(one, SetLabels(("fear",)))
    assert both_answers(store, dataset, "ann") == []
    work.do(one, Accept())
    assert both_answers(store, dataset, "ann") == [(one, Answer(labels=("joy",)), Answer(labels=("fear",)))]
    assert given_answers(store, dataset)["ann"][one].blind == Answer(labels=("joy",))
    assert (work.said(one).labels, work.progress().accepted) == (("joy",), 3)
    # Undo takes the second answer back first, and the text is in its second round again.
    assert [work.undo(), work.undo()] == [one, one]
    assert work.said(one).labels is None
    assert both_answers(store, dataset, "ann") == []


def test_the_share_of_texts_that_come_back_is_about_what_was_asked_for() -> None:
    retest = Retest(share=0.2, seed=1)
    n = sum(comes_back(retest, "ann", sample) for sample in range(2000))
    assert 320 < n < 480  # 400 expected, five standard deviations to either side are 90
    assert comes_back(retest, "ann", 7) == comes_back(retest, "ann", 7)


def spans(*places: tuple[int, int]) -> Answer:
    return Answer(spans=tuple(SpanMark(id=str(n), start=start, end=end) for n, (start, end) in enumerate(places)))


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        (spans((0, 4)), spans((0, 4)), 0.0),
        (spans((0, 4)), spans(), 1.0),
        (spans((0, 4)), spans((2, 6)), 0.5),  # two characters in common of four and four
        (spans(), spans(), 0.0),
        (Answer(labels=("joy", "fear")), Answer(labels=("joy",)), 0.5),
        (Answer(labels=()), Answer(labels=()), 0.0),
        (Answer(values={"v": 2.0}), Answer(values={"v": 4.0}), 0.25),
        (Answer(values={"v": 2.0}), Answer(), 1.0),
        (Answer(words={0: "Glad", 1: "sad"}), Answer(words={0: "glad"}), 0.5),
    ],
)
def test_how_far_two_answers_are_apart(a: Answer, b: Answer, apart: float) -> None:
    assert distance(a, b, {"v": 8.0}) == distance(b, a, {"v": 8.0}) == apart
    assert spread([a, b, a], {"v": 8.0}) == pytest.approx(apart * 2 / 3)


def test_an_added_span_in_the_log_is_among_the_given_answers(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    dataset = store.datasets.get("spans")
    assert dataset is not None
    one = numbers(store, "spans")[0]
    begin(store, "spans").do(one, AddSpan(SpanMark(id="a", start=0, end=5)), Accept())
    assert list(given_answers(store, dataset)["ann"]) == [one]


def test_the_order_of_an_assignment_holds_until_another_is_assigned_or_chosen(tmp_path: Path) -> None:
    store = labelled(tmp_path / "w.duckdb", 4)
    dataset = store.datasets.get("labels")
    assert dataset is not None
    first = numbers(store, "labels")[0]

    def order(kind: str) -> list[int]:
        chosen = Order(kind=kind, sources=("m",)) if kind == "error" else Order(kind=kind)  # type: ignore[arg-type]
        assign(store, dataset, Assignment(annotators=("ann",), overlap=1, batch=9, shuffled=False, order=chosen))
        return [number - first for number in begin(store, "labels").order]

    # Without the run that it goes by, the texts come as they stand.
    assert order("error") == [0, 1, 2, 3]
    say(store, "m", {n: {"labels": [label]} for n, label in enumerate(("joy", "fear", "fear", "joy"))})
    assert order("error") == order("error") == [1, 3, 0, 2]
    assert order("fixed") == [0, 1, 2, 3]
    assert order("error") == [1, 3, 0, 2]
    begin(store, "labels").choose(Order())
    assert order("error") == [0, 1, 2, 3]


def _with_gold(path: Path, n: int = 12) -> Store:
    store = Store.open(path)
    samples = [LabelsGold(id=f"l-{k}", text=f"text {k}", labels=("joy",) if k % 2 else ()) for k in range(n)]
    add_samples(store, "labels", "labels", samples, "made for a test")
    return store


def test_training_comes_first_and_checks_stand_among_everybodys_own_texts(tmp_path: Path) -> None:
    store = _with_gold(tmp_path / "s.duckdb")
    work = begin(store, "labels")
    plan = Assignment(annotators=("ann", "bob"), overlap=1, batch=2, training=2, checks=2, least=0.9)
    assign(store, work.dataset, plan)
    kept = assigned(store, work.dataset)
    assert kept is not None
    roles = roles_of(kept)
    assert Counter(roles.values()) == {"training": 2, "check": 2}
    orders = {name: begin(store, "labels", name).order for name in ("ann", "bob")}
    for order in orders.values():
        assert [roles.get(number) for number in order] == ["training"] * 2 + [None, None, "check"] * 2
    shared = set(orders["ann"]) & set(orders["bob"])
    assert shared == set(roles)
    assert set(orders["ann"]) | set(orders["bob"]) == set(numbers(store, "labels"))
    # Dealt again, the known ones stay.
    assign(store, work.dataset, Assignment(annotators=("ann", "cem"), overlap=1, batch=3, training=2, checks=2))
    again = assigned(store, work.dataset)
    assert roles_of(again) == roles
    with pytest.raises(BadInput, match="13 more texts with gold are needed for training and checks: labels has 8"):
        assign(store, work.dataset, Assignment(annotators=("ann",), overlap=1, batch=3, checks=15))


def test_gold_is_told_of_training_and_shown_checks_alone_and_the_lead_is_told_who_is_under_the_limit(
    tmp_path: Path, emotui: Emotui
) -> None:
    store = _with_gold(tmp_path / "s.duckdb")
    dataset = begin(store, "labels").dataset
    assign(store, dataset, Assignment(annotators=("ann", "bob"), overlap=1, batch=2, training=1, checks=2, least=0.9))
    roles = roles_of(assigned(store, dataset))
    for name in ("ann", "bob"):
        work = begin(store, "labels", name)
        for number in work.order:
            role = roles.get(int(number))
            said = work.known_answer(int(number))
            assert (said is not None) == (role == "training")
            assert said is None or said.name == "gold"
            odd = int(number) % 2 == list(store.samples.file_order(dataset.dataset))[1] % 2
            right = odd if name == "ann" else not odd
            work.do(int(number), SetLabels(("joy",) if right else ()))
            work.do(int(number), Accept())
    how_far = progress_of(store, dataset, scheme=work.scheme)
    assert [(one.annotator, one.checked, one.right) for one in how_far.annotators] == [("ann", 2, 1.0), ("bob", 2, 0.0)]
    done = emotui("annotate", "progress", "labels", "--db", "s.duckdb")
    assert "bob agrees with the known answers in 0.00 over 2 texts, less than 0.9" in done.err
    assert "ann agrees" not in done.err
    assign(store, dataset, Assignment(annotators=("ann",), overlap=1, batch=2, checks=2, checks_shown=True))
    work = begin(store, "labels", "ann")
    shown = [int(number) for number in work.order if work.role(int(number)) == "check"]
    assert len(shown) == 2
    assert all(work.known_answer(number) is not None for number in shown)
