"""Texts that are kept: once each, in a dataset that grows, found like any other sample."""

import threading
from pathlib import Path

import msgspec
import pytest

from emotui.errors import BadInput, StoreError
from emotui.formats import fingerprint
from emotui.records import SpanSample
from emotui.store.query import ListQuery
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.spot_checks import SPOT_CHECKS, SpotChecks
from emotui.workbench.runs.run import rescore
from tests.screens.browse_workspace import add_run, sample_records
from tests.store.store_samples import samples


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "w.duckdb")


def records(store: Store, dataset: int) -> list[SpanSample]:
    return [msgspec.json.decode(record, type=SpanSample) for _, record in store.samples.of_dataset(dataset)]


def test_a_kept_text_is_a_sample_without_gold_spans(store: Store) -> None:
    kept = SpotChecks(store).keep("  I slammed the door.\n")
    assert (kept.dataset.name, kept.dataset.task, kept.dataset.n, kept.known) == (SPOT_CHECKS, "spans", 1, False)
    assert records(store, kept.dataset.dataset) == [SpanSample(id="spot-001", text="I slammed the door.")]
    assert store.listing.order(ListQuery(kept.dataset.dataset, text="slammed")).tolist() == [kept.number]


def test_texts_are_kept_in_one_dataset_whatever_is_imported_in_between(store: Store) -> None:
    checks = SpotChecks(store)
    first = checks.keep("one")
    imported = add_samples(store, "spans", "sample", sample_records(2, 2), "file")
    second, third = checks.keep("two"), checks.keep("three")
    assert [kept.id for kept in (first, second, third)] == ["spot-001", "spot-002", "spot-003"]
    assert [kept.number for kept in (first, second, third)] == [first.number, first.number + 1, first.number + 2]
    assert [sample.text for sample in records(store, first.dataset.dataset)] == ["one", "two", "three"]
    assert third.dataset.fingerprint == fingerprint(records(store, first.dataset.dataset))
    assert set(store.listing.order(ListQuery(imported.dataset)).tolist()).isdisjoint({first.number, third.number})


def test_the_same_text_is_kept_once(store: Store) -> None:
    checks = SpotChecks(store)
    first = checks.keep("one")
    checks.keep("two")
    again = checks.keep("one ")
    assert (again.number, again.id, again.known) == (first.number, "spot-001", True)
    assert len(records(store, first.dataset.dataset)) == 2


def test_a_run_over_what_was_kept_stays_what_it_was_when_more_is_kept(store: Store) -> None:
    checks = SpotChecks(store)
    checks.keep("one")
    dataset = checks.keep("two").dataset
    run = add_run(store, dataset, records(store, dataset.dataset))
    before = store.runs.get(run)
    kept = checks.keep("three")
    assert store.runs.get(run) == before
    assert {row.sample for row in store.results.of_run(run)} == {kept.number - 2, kept.number - 1}
    assert rescore(store, run, sim=False).done == 2


def test_what_was_kept_last_is_taken_out_again_and_the_dataset_goes_with_its_only_text(store: Store) -> None:
    checks = SpotChecks(store)
    first, second = checks.keep("one"), checks.keep("two")
    with pytest.raises(BadInput, match="not the last text"):
        checks.take_back(first)
    checks.take_back(second)
    there = store.datasets.get(SPOT_CHECKS)
    assert there is not None
    assert (there.n, there.fingerprint) == (1, first.dataset.fingerprint)
    assert [sample.text for sample in records(store, there.dataset)] == ["one"]
    assert (checks.keep("three").id, checks.keep("four").number) == ("spot-002", first.number + 2)
    checks.take_back(checks.keep("four"))
    checks.take_back(checks.keep("three"))
    checks.take_back(first)
    assert store.datasets.all() == []
    assert checks.keep("one").id == "spot-001"


def test_a_kept_text_that_somebody_has_answered_stays(store: Store) -> None:
    checks = SpotChecks(store)
    checks.keep("one")
    kept = checks.keep("two")
    add_run(store, kept.dataset, records(store, kept.dataset.dataset))
    with pytest.raises(StoreError, match="it stays"):
        checks.take_back(kept)
    assert len(records(store, kept.dataset.dataset)) == 2


def test_nothing_is_kept_of_an_empty_text(store: Store) -> None:
    with pytest.raises(BadInput, match="no text to keep"):
        SpotChecks(store).keep(" \n")
    assert store.datasets.all() == []


def test_a_read_only_store_says_why_it_keeps_nothing(store: Store) -> None:
    with pytest.raises(StoreError, match="open read-only"):
        SpotChecks(Store.open(store.path, read_only=True)).keep("one")


def test_a_dataset_of_the_persons_own_with_this_name_is_left_alone(store: Store) -> None:
    store.datasets.add(SPOT_CHECKS, "spans", samples(0), "mine.jsonl", "f")
    with pytest.raises(StoreError, match="does not grow"):
        SpotChecks(store).keep("one")


def test_several_who_keep_at_once_lose_nothing(store: Store) -> None:
    threads = [threading.Thread(target=SpotChecks(store).keep, args=(f"text {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (dataset,) = store.datasets.all()
    assert sorted(sample.text for sample in records(store, dataset.dataset)) == [f"text {n}" for n in range(4)]
    assert sorted(sample.id for sample in records(store, dataset.dataset)) == [f"spot-00{n}" for n in range(1, 5)]


def test_the_text_of_any_sample_is_there_to_be_tried(store: Store) -> None:
    from emotui.records import PLUTCHIK, ScenesGold

    scene = ScenesGold(id="s-1", text="Mara put the phone face down.", labels=dict.fromkeys(PLUTCHIK, 0))
    add_samples(store, "scenes", "scenes", [scene], "file")
    checks = SpotChecks(store)
    assert (checks.text_of(1).id, checks.text_of(1).text) == ("s-1", "Mara put the phone face down.")
    with pytest.raises(BadInput, match="no sample 7"):
        checks.text_of(7)
