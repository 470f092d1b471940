"""Stores of several machines merged: no note and no rating is lost, in whichever order and however often."""

import contextlib
import itertools
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.records import Text
from emotui.store import annotations, beside
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.annotate import log_files
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, SetFlag, SetLabels, SetNote
from emotui.workbench.annotate.log_files import KeptLog, kept_log
from emotui.workbench.annotate.others import logs_of
from emotui.workbench.generation.rating import Answer, begin, rating_log
from emotui.workbench.generation.rating_batches import RatingOptions
from emotui.workbench.notes import NoteBook
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.shards.people import MergedBeside, merge_people
from tests.conftest import Emotui
from tests.screens.generate.workspace import workspace
from tests.templates import copy_of

TEXTS = ("I am glad.", "They are sad.", "Calm.")


@pytest.fixture(autouse=True)
def moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry has a moment of its own, whichever store it is made in."""
    clock = itertools.count()
    for module in (annotations, beside):
        monkeypatch.setattr(module, "now", lambda: f"2026-01-01T00:{(n := next(clock)) // 60:02}:{n % 60:02}.000+00:00")


def _store(path: Path, first: int = 0) -> tuple[Store, Dataset]:
    """A store with the texts; before them `first` others, so that the numbers of texts differ between stores."""

    def make(template: Path) -> None:
        store, asked = Store.open(template), task_named("labels")
        if first:
            rows = [asked.row(asked.blank(Text(id=f"o{n}", text=f"other {n}"))) for n in range(first)]
            store.datasets.add("others", "labels", rows, "texts", "o")
        rows = [asked.row(asked.blank(Text(id=f"t{n}", text=text))) for n, text in enumerate(TEXTS)]
        store.datasets.add("demo", "labels", rows, "texts", "f")

    copy_of(path, (__name__, first), make)
    store = Store.open(path)
    (dataset,) = (one for one in store.datasets.all() if one.name == "demo")
    return store, dataset


def _notes(store: Store) -> set[tuple[str, str, str, frozenset[str]]]:
    dataset = store.datasets.get("demo")
    assert dataset is not None
    book = NoteBook(store)
    return {(one.id, one.annotator, one.note, frozenset(one.codes)) for one in book.records(dataset)}


_DONE = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(["note", "note", "rename", "undo", "merge"]),
        st.integers(0, 2),
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["a", "b", "c"]),
    ),
    max_size=10,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_DONE)
def test_notes_come_to_the_same_on_every_machine(tmp_path: Path, done: list[tuple[int, str, int, str, str]]) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    stores = [_store(folder / "one.duckdb"), _store(folder / "two.duckdb", first=2)]
    texts = set[str]()
    for n, (machine, what, text, who, code) in enumerate(done):
        store, dataset = stores[machine]
        book = NoteBook(store)
        if what == "note":
            number = store.samples.numbers_by_id(dataset.dataset)[f"t{text}"]
            book.write(dataset.dataset, number, who, f"note {n}", [code])
            texts.add(f"note {n}")
        elif what == "rename" and code in {one.name for one in book.codes(dataset.dataset)}:
            book.rename(dataset.dataset, code, "abc"[text], who)
        elif what == "undo":
            book.undo(dataset.dataset, who)
        elif what == "merge":
            merge_people(store, [stores[1 - machine][0]])
    merged = []
    for order in (stores, stores[::-1]):
        target = Store.open(folder / f"{len(merged)}.duckdb")
        for store, _ in order:
            merge_people(target, [store])
        there = target.datasets.get("demo")
        if there is not None:
            entries = target.notes.entries(there.dataset)
            assert texts == {one.text for one in entries if one.kind == "note"}
            assert {one.notes for one in merge_people(target, [store for store, _ in stores]).beside} <= {0}
            merged.append(_notes(target))
    merge_people(stores[0][0], [stores[1][0]])
    merge_people(stores[1][0], [stores[0][0]])
    merged += [_notes(store) for store, _ in stores if texts]
    assert len(set(map(frozenset, merged))) <= 1


def test_two_merges_at_once_keep_what_was_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each looks at what is there before either writes, unless one waits for the other."""
    source, dataset = _store(tmp_path / "source.duckdb")
    number = source.samples.numbers_by_id(dataset.dataset)["t1"]
    bench = Desk(source).begin("demo", "ann")
    for event in (SetLabels(("joy",)), Accept()):
        bench.do(number, event)
    NoteBook(source).write(dataset.dataset, number, "ann", "a note", [])
    both, looked = threading.Barrier(2), kept_log

    def look(*given: Any) -> KeptLog:
        kept = looked(*given)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return kept

    monkeypatch.setattr(log_files, "kept_log", look)
    path = tmp_path / "target.duckdb"
    _store(path)
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda _: merge_people(Store.open(path), [source]), range(2)))
    assert sorted(one.log.entries for each in made for one in each.logs) == [0, 2]
    target = Store.open(path)
    assert [(one.annotator, one.kind) for one in target.annotations.entries()] == [
        (one.annotator, one.kind) for one in source.annotations.entries()
    ]
    assert [run.model for run in target.runs.all()] == ["ann"]
    assert _notes(target) == _notes(source)


def test_notes_flags_and_labels_of_two_machines_stand_beside_each_other(tmp_path: Path) -> None:
    stores = [_store(tmp_path / "one.duckdb"), _store(tmp_path / "two.duckdb", first=2)]
    for (store, dataset), who in zip(stores, ("ann", "bob"), strict=True):
        number = store.samples.numbers_by_id(dataset.dataset)["t1"]
        bench = Desk(store).begin("demo", who)
        for event in (SetLabels(("joy",)), SetNote(f"of {who}"), SetFlag(True), Accept()):
            bench.do(number, event)
        NoteBook(store).write(dataset.dataset, number, who, f"by {who}", [who])
    for order in (stores, stores[::-1]):
        target = Store.open(tmp_path / f"{order[0][0].path.stem}-all.duckdb")
        merge_people(target, [store for store, _ in order])
        assert not any(one.log.entries for one in merge_people(target, [store for store, _ in order]).logs)
        there = target.datasets.get("demo")
        assert there is not None
        number = target.samples.numbers_by_id(there.dataset)["t1"]
        logs = logs_of(target, there)
        said = {name: (log.state(number), log.flagged(number)) for name, log in logs.items()}
        assert {name: (one.answer.labels, one.note, flagged) for name, (one, flagged) in said.items()} == {
            "ann": (("joy",), "of ann", True),
            "bob": (("joy",), "of bob", True),
        }
        assert {(who, note) for _, who, note, _ in _notes(target)} == {("ann", "by ann"), ("bob", "by bob")}


OPTIONS = RatingOptions(size=3, checks=0.5, wanted=9)


def _rate(store: Store, rater: str, label: str, places: range) -> None:
    one = begin(store, store.datasets.all()[0].dataset, rater, OPTIONS)
    one.keep([Answer(serial, at, label) for serial, at in enumerate(places, 1)])


def _ratings(store: Store) -> list[tuple[str, str, str, str, str]]:
    dataset = store.datasets.all()[0].dataset
    ids = {number: id for id, number in store.samples.numbers_by_id(dataset).items()}
    return sorted(
        (one.rater, ids.get(one.item.sample or 0, ""), one.item.run, one.item.version, one.emotion)
        for one in rating_log(store, dataset).ratings
    )


def test_ratings_of_two_machines_come_together_with_their_batches(tmp_path: Path) -> None:
    first, second, third = (workspace(tmp_path / f"{name}.duckdb").store for name in "abc")
    _rate(first, "ann", "joy", range(3))
    _rate(second, "bob", "neutral", range(2))
    merge_people(second, [first])
    assert {rater for rater, *_ in _ratings(second)} == {"ann", "bob"}
    _rate(second, "bob", "disgust", range(2, 4))  # goes on with the batch
    for order in ((first, second), (second, first)):
        found = merge_people(third, order)
        assert _ratings(third) == _ratings(second)
        assert sum(one.strangers for one in found.beside) == 0
    assert [one.ratings for one in merge_people(third, [first, second]).beside] == [0, 0]
    merge_people(first, [second])
    assert _ratings(first) == _ratings(second)
    log = rating_log(third, third.datasets.all()[0].dataset)
    assert sorted(one.rater for one in log.batches.values()) == ["ann", "bob"]


def test_of_two_ratings_at_one_place_the_newer_counts_on_both_machines(tmp_path: Path) -> None:
    first, second = (workspace(tmp_path / f"{name}.duckdb").store for name in "ab")
    _rate(first, "ann", "joy", range(1))
    merge_people(second, [first])
    _rate(first, "ann", "neutral", range(1, 3))
    _rate(second, "ann", "disgust", range(1, 2))
    told = merge_people(first, [second]).beside
    assert [(one.ratings, one.twice) for one in told] == [(1, 1)]
    merge_people(second, [first])
    assert _ratings(first) == _ratings(second)
    assert sorted(label for *_, label in _ratings(first)) == ["disgust", "joy", "neutral"]
    assert merge_people(second, [first]).beside == (MergedBeside("trains"),)


def test_the_command_brings_notes_and_tells_what_stays(emotui: Emotui, tmp_path: Path) -> None:
    store, dataset = _store(tmp_path / "one.duckdb")
    number = store.samples.numbers_by_id(dataset.dataset)["t1"]
    NoteBook(store).write(dataset.dataset, number, "ann", "of one", ["x"])
    store.annotations.append("masked-guess", number, "ann", b'{"words":["a"]}')
    done = emotui("merge", "one.duckdb", "--db", "all.duckdb")
    assert done.out == "notes of demo: 1 new entries\n"
    assert "these entries stay where they are: 1 masked-guess" in done.err
    assert emotui("merge", "one.duckdb", "--db", "all.duckdb").out == "notes of demo: 0 new entries\n"
    assert "of one" in emotui("notes", "list", "demo", "--db", "all.duckdb").out


def _said(store: Store, source: str, labels: str) -> None:
    dataset = store.datasets.get("demo")
    assert dataset is not None
    keep_said(
        store,
        dataset,
        source,
        FILE,
        [Said(at, 0, {"labels": [labels]}) for at in store.samples.file_order(dataset.dataset)],
    )


def test_predictions_from_files_come_along_once_and_keep_apart_under_one_name(tmp_path: Path) -> None:
    target, dataset = _store(tmp_path / "all.duckdb")
    one, two = _store(tmp_path / "one.duckdb", 3)[0], _store(tmp_path / "two.duckdb", 1)[0]
    _said(one, "theirs", "joy")
    _said(two, "theirs", "fear")
    for again in (False, True):
        people = merge_people(target, [one, two])
        assert [(file.source, file.n, file.there) for file in people.files] == [
            ("theirs", 3, again),
            ("theirs of two", 3, again),
        ]
    kept = {run.model: [row.raw for row in target.results.of_run(run.run)] for run in target.runs.all(dataset.dataset)}
    assert kept == {"theirs": ['{"labels":["joy"]}'] * 3, "theirs of two": ['{"labels":["fear"]}'] * 3}
    first = target.samples.file_order(dataset.dataset).start
    assert all(row.sample >= first for run in target.runs.all() for row in target.results.of_run(run.run))
