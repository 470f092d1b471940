"""A data set that grows: numbers stay, ids are never given twice, and runs over it stay what they were.

And a run that grows by what another store has of it.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from emotui.errors import StoreError
from emotui.store.query import ListQuery
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.store.store import Store
from tests.store.store_samples import failure, result, sample, samples, score


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "w.duckdb")


def test_samples_come_behind_those_that_are_there_whatever_was_added_in_between(store: Store) -> None:
    kept = store.datasets.add("kept", "spans", samples(2), "", "of 2", room=10)
    other = store.datasets.add("other", "spans", samples(3), "", "of 3")
    grown = store.datasets.extend(kept.dataset, [sample("new", "one more")], "of 2", "of 2 and 1")
    assert (grown.dataset, grown.name, grown.n, grown.fingerprint) == (kept.dataset, "kept", 3, "of 2 and 1")
    assert [number for number, _ in store.samples.of_dataset(kept.dataset)] == [1, 2, 3]
    assert [number for number, _ in store.samples.of_dataset(other.dataset)] == [11, 12, 13]
    assert store.listing.order(ListQuery(kept.dataset, text="one more")).tolist() == [3]
    assert [row.id for row in store.list_rows.page([3, 11], None)] == ["new", "s1"]


def test_room_is_kept_free_also_behind_a_data_set_that_grew(store: Store) -> None:
    kept = store.datasets.add("kept", "spans", samples(1), "", "a", room=5)
    store.datasets.extend(kept.dataset, samples(3)[1:], "a", "b")
    store.datasets.add("other", "spans", samples(1), "", "c")
    assert store.listing.order(ListQuery(2)).tolist() == [6]


def test_labels_of_new_samples_can_be_filtered_by(store: Store) -> None:
    store.datasets.add("kept", "spans", [sample("a", emotions=("sad",))], "", "1", room=5)
    same, other = sample("b", emotions=("sad",)), sample("c", emotions=("sad", "angry"))
    store.datasets.extend(1, [same, other, sample("d")], "1", "2")
    assert store.listing.order(ListQuery(1, emotions=("sad",))).tolist() == [1, 2, 3]
    assert store.listing.order(ListQuery(1, emotions=("angry",))).tolist() == [3]
    assert store.samples.emotions(1) == ["angry", "sad"]


def test_a_run_over_the_first_samples_stays_what_it_was(store: Store) -> None:
    store.datasets.add("kept", "spans", samples(2), "", "1", room=5)
    before = store.runs.start("r-1", "identity of 2", "spans", "m", 1, {}, 2)
    store.results.commit("r-1", [result(1, scored=score(0.5)), result(2, scored=score(1.0))])
    store.runs.set_state("r-1", "done")
    store.datasets.extend(1, [sample("new")], "1", "2")
    run = store.runs.get("r-1")
    assert (run.identity, run.n, run.done, run.state) == (before.identity, 2, 2, "done")
    assert [row.sample for row in store.results.of_run("r-1")] == [1, 2]
    assert [(row.id, row.values.get("f1")) for row in store.list_rows.page([1, 2, 3], "r-1")] == [
        ("s1", 0.5),
        ("s2", 1.0),
        ("new", None),
    ]
    assert store.listing.order(ListQuery(1, run="r-1", sort="f1")).tolist() == [1, 2, 3]


def test_a_data_set_that_came_from_a_file_does_not_grow(store: Store) -> None:
    store.datasets.add("file", "spans", samples(2), "", "1")
    with pytest.raises(StoreError, match="'file' does not grow"):
        store.datasets.extend(1, [sample("new")], "1", "2")
    assert store.datasets.all()[0].n == 2


@pytest.mark.parametrize(
    ("rows", "after", "why"),
    [
        (samples(6)[2:], "1", "is full with its 2 samples"),
        ([sample("s2")], "1", "two samples have the id 's2'"),
        ([sample("new"), sample("new")], "1", "two samples have the id"),
        ([sample("new")], "0", "has changed meanwhile"),
    ],
)
def test_what_cannot_be_added_leaves_the_data_set_as_it_was(
    store: Store, rows: list[SampleRow], after: str, why: str
) -> None:
    store.datasets.add("kept", "spans", samples(2), "", "1", room=5)
    with pytest.raises(StoreError, match=why):
        store.datasets.extend(1, rows, after, "2")
    assert (store.datasets.all()[0].n, store.datasets.all()[0].fingerprint) == (2, "1")
    assert len(list(store.samples.of_dataset(1))) == 2


def test_an_unknown_data_set_cannot_grow(store: Store) -> None:
    with pytest.raises(StoreError, match="has changed meanwhile"):
        store.datasets.extend(7, [sample("new")], "1", "2")


OUTCOMES = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 1), st.sampled_from(["failed", "raw", "scored", "many"])), max_size=12
)


def outcome(number: int, repeat: int, kind: str, at: int) -> ResultRow:
    if kind == "failed":
        return failure(number, repeat, at)
    if kind == "raw":
        return result(number, repeat, at)
    values = {f"m{place}": number / (place + 2) for place in range(6 if kind == "many" else 2)}
    return result(number, repeat, at, ScoreRow("words", values, "MX", f'{{"at":{at}}}'.encode()))


def commit(store: Store, rows: Sequence[ResultRow]) -> None:
    """Keep rows one after another, in as few commits as have each sample's answer once."""
    waiting: dict[tuple[int, int], ResultRow] = {}
    for row in rows:
        if (row.sample, row.repeat) in waiting:
            store.results.commit("r", [*waiting.values()])
            waiting.clear()
        waiting[row.sample, row.repeat] = row
    if waiting:
        store.results.commit("r", [*waiting.values()])


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Stores with a run of six texts that has no answer yet; before them stand so many others."""
    of = {}
    for n in (0, 3):
        of[n] = tmp_path_factory.mktemp("begun") / f"{n}.duckdb"
        store = Store.open(of[n])
        store.datasets.add("before", "spans", samples(n), "before", "f0")
        dataset = store.datasets.add("texts", "spans", samples(6), "texts", "f")
        store.runs.start(run="r", identity="i", task="spans", model="m", dataset=dataset.dataset, config={}, n=12)
    return of


@given(OUTCOMES, OUTCOMES, st.integers(1, 5))
@settings(deadline=None, max_examples=25)
def test_a_run_of_another_store_is_taken_over_as_if_its_rows_were_kept_here(
    begun: dict[int, Path], theirs: list[tuple[int, int, str]], own: list[tuple[int, int, str]], part: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("emotui.store.results._TAKEN", part)
        source, by_sql, by_rows = [
            Store.open(Path(shutil.copy(begun[n], Path(folder, f"{name}.duckdb"))))
            for name, n in (("theirs", 0), ("sql", 3), ("rows", 3))
        ]
        commit(source, [outcome(*row, at) for at, row in enumerate(theirs)])
        for store in (by_sql, by_rows):
            commit(store, [outcome(number + 3, repeat, kind, 99) for number, repeat, kind in own])
        done = by_rows.results.done("r")
        moved = [replace(row, sample=row.sample + 3, output=None) for row in source.results.of_run("r")]
        by_rows.results.commit("r", [row for row in moved if (row.sample, row.repeat) not in done], gold=1)
        by_sql.results.take_over("r", source.path, "r", 3, gold=1)
        said = [[replace(row, output=None) for row in store.results.of_run("r")] for store in (by_sql, by_rows)]
        assert said[0] == said[1]
        runs = [store.runs.get("r") for store in (by_sql, by_rows)]
        assert (runs[0].done, runs[0].failed) == (runs[1].done, runs[1].failed)
        assert len({row.output for row in by_sql.results.of_run("r")}) == len(said[0])
