"""Versions of gold, the trash, and stores of before there were any."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from emotui.errors import BadInput, StoreError
from emotui.store import schema
from emotui.store.query import ListQuery
from emotui.store.rows import SampleRow
from emotui.store.store import Store
from tests.store.store_samples import failure, result, samples, score
from tests.store.test_metrics import DIES_BEFORE_THE_COMMIT
from tests.store.test_versions import COLUMNS, asked

VERSION_4 = Path(__file__).with_name("store_version_4.sql")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("old") / "old.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(VERSION_4.read_text())
    return path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "workspace.duckdb")
    made.datasets.add("stories", "spans", samples(3), "stories.jsonl", "abc")
    made.runs.start("run", "identity", "spans", "model", 1, {}, 3)
    made.results.commit("run", [result(number, scored=score(0.5)) for number in (1, 2, 3)])
    return made


def record(name: str, emotion: str, text: str | None = None) -> SampleRow:
    said = f'{{"id":"{name}","emotion":"{emotion}"}}'
    return SampleRow(name, text or f"text {name[1:]}", emotion, None, (emotion,), (), said.encode())


NEW = [record("s3", "sad"), record("s1", "angry"), record("s2", "sad")]


def test_a_store_of_version_4_is_brought_up_to_date_whole_even_where_the_first_try_is_killed(path: Path) -> None:
    with duckdb.connect(path, read_only=True) as connection:
        question = "select count(*), sum(score), sum(value_1), sum(value_4) from scores where current"
        before = connection.execute(question).fetchall()
    killed = subprocess.run([sys.executable, "-c", DIES_BEFORE_THE_COMMIT, path], check=False)
    assert killed.returncode < 0
    assert asked(path, "select version from workspace") == [(4,)]
    old = Store.open(path)
    assert asked(path, "select version from workspace") == [(schema.VERSION,)]
    assert asked(path, question) == before
    assert {(one.gold, one.asked, one.deleted) for one in old.datasets.all()} == {(1, None, None)}
    assert {(run.source, run.deleted) for run in old.runs.all()} == {("model", None)}
    assert old.gold.scored_under("spans-run") == 1
    assert old.gold.versions(1) == [(1, "a.jsonl", "2026-01-02T03:04:05.678+00:00")]
    assert old.list_rows.page([40_000], "spans-run")[0].values == {
        "f1": 0.0,
        "sim": 0.0,
        "precision": 0.5,
        "recall": 0.25,
    }


def test_a_store_of_version_4_and_a_new_one_have_the_same_tables(path: Path, tmp_path: Path) -> None:
    Store.open(path)
    Store.open(tmp_path / "new.duckdb")
    assert asked(path, COLUMNS) == asked(tmp_path / "new.duckdb", COLUMNS)


def test_another_gold_keeps_the_numbers_the_answers_and_what_gold_was_before(store: Store) -> None:
    (before,) = store.datasets.all()
    after = store.gold.replace(before, NEW, "better.jsonl", "def")
    assert (after.gold, after.fingerprint, after.n) == (2, "def", 3)
    assert [said for _, said in store.samples.records([1, 2, 3])] == [NEW[1].record, NEW[2].record, NEW[0].record]
    assert store.listing.order(ListQuery(1, emotions=("sad",))).tolist() == [2, 3]
    assert store.samples.emotions(1) == ["angry", "sad"]
    assert store.gold.former(1, 1) == {number: f'{{"id":"s{number}"}}'.encode() for number in (1, 2, 3)}
    assert store.gold.former(1, 2) == {}
    assert store.gold.fingerprints(1) == ["def", "abc"]
    assert [version[:2] for version in store.gold.versions(1)] == [(1, "stories.jsonl"), (2, "better.jsonl")]
    assert len(list(store.results.of_run("run"))) == 3


def test_of_several_versions_each_has_the_records_that_held_in_it(store: Store) -> None:
    second = store.gold.replace(store.datasets.all()[0], NEW, "2", "b")
    third = [record("s1", "angry"), record("s2", "happy"), record("s3", "sad")]
    store.gold.replace(second, third, "3", "c")
    assert store.gold.former(1, 2) == {2: record("s2", "sad").record}
    assert store.gold.former(1, 1) == {number: f'{{"id":"s{number}"}}'.encode() for number in (1, 2, 3)}


def test_a_score_keeps_the_version_of_gold_that_it_was_computed_under(store: Store) -> None:
    assert store.gold.scored_under("run") == 1
    store.gold.replace(store.datasets.all()[0], NEW, "2", "b")
    assert store.gold.scored_under("run") == 1
    store.results.replace_scores("run", list(store.results.of_run("run")))
    assert store.gold.scored_under("run") == 2
    store.results.commit("run", [result(1, scored=score(1.0))], gold=1)
    assert store.gold.scored_under("run") == 1
    store.runs.start("silent", "identity", "spans", "model", 1, {}, 1)
    store.results.commit("silent", [failure(1)])
    assert store.gold.scored_under("silent") is None


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (NEW[:2], r"samples without a new record: 1 \(s2\)"),
        ([*NEW, record("s9", "sad")], r"records with an id that it has not: 1 \(s9\)"),
        ([*NEW[:2], record("s2", "sad", "other words")], r"another text than it has under their id: 1 \(s2\)"),
    ],
)
def test_gold_of_other_ids_or_texts_is_refused_and_nothing_changes(
    store: Store, rows: list[SampleRow], why: str
) -> None:
    before = store.datasets.all()
    with pytest.raises(BadInput, match=why):
        store.gold.replace(before[0], rows, "bad", "bad")
    assert store.datasets.all() == before
    assert store.samples.records([1]) == [(1, b'{"id":"s1"}')]


def test_gold_that_has_changed_since_it_was_looked_at_is_not_replaced(store: Store) -> None:
    (before,) = store.datasets.all()
    store.gold.replace(before, NEW, "2", "b")
    with pytest.raises(StoreError, match="changed meanwhile"):
        store.gold.replace(before, samples(3), "3", "c")


def test_what_is_in_the_trash_is_not_listed_and_comes_back_as_it_was(store: Store) -> None:
    datasets, runs = store.datasets.all(), store.runs.all()
    store.by_name.delete("stories")
    assert (store.datasets.all(), store.runs.all(), store.datasets.get("stories")) == ([], [], None)
    with pytest.raises(BadInput, match="there is no run 'run'"):
        store.runs.get("run")
    assert [one.name for one in store.datasets.all(trash=True)] == ["stories"]
    store.by_name.restore("stories")
    assert (store.datasets.all(), store.runs.all()) == (datasets, runs)
    store.by_name.delete("run")
    assert (store.runs.all(), [run.run for run in store.runs.all(trash=True)]) == ([], ["run"])
    store.by_name.restore("run")
    assert store.runs.all() == runs


def test_a_name_in_the_trash_can_be_used_again_and_then_stands_in_the_way(store: Store) -> None:
    store.by_name.delete("stories")
    again = store.datasets.add("stories", "spans", samples(2), "2", "b")
    assert [number for number, _ in store.samples.of_dataset(again.dataset)] == [4, 5]
    with pytest.raises(BadInput, match="another dataset 'stories' now: rename that one first"):
        store.by_name.restore("stories")
    store.by_name.rename("stories", "new stories")
    store.by_name.restore("stories")
    assert [one.name for one in store.datasets.all()] == ["stories", "new stories"]


def test_a_run_in_the_trash_keeps_its_id(store: Store) -> None:
    store.by_name.delete("run")
    assert store.runs.names() == {"run"}
    with pytest.raises(StoreError, match="there is a run run already"):
        store.runs.start("run", "other", "spans", "model", 1, {}, 1)


def test_names_are_changed_and_none_is_given_twice(store: Store) -> None:
    store.datasets.add("more", "spans", samples(2), "2", "b")
    store.by_name.rename("stories", "tales")
    store.by_name.rename("run", "best")
    assert ([one.name for one in store.datasets.all()], store.runs.all()[0].run) == (["tales", "more"], "best")
    for old, new, why in (
        ("tales", "more", "there is a dataset 'more' already"),
        ("tales", " ", "blank"),
        ("nothing", "x", "there is no dataset and no run 'nothing'"),
        ("best", "best", "there is a run 'best' already"),
    ):
        with pytest.raises(BadInput, match=why):
            store.by_name.rename(old, new)
