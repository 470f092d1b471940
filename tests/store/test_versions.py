"""Stores of older and newer versions."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from emotui.errors import StoreError
from emotui.store import schema
from emotui.store.query import ListQuery
from emotui.store.rows import Annotation, ResultRow, ScoreRow
from emotui.store.store import Store
from tests.store.store_samples import result, samples

VERSION_1 = Path(__file__).with_name("store_version_1.sql")

COLUMNS = (
    "select table_name, column_name, data_type, is_nullable from duckdb_columns() where not internal"
    " order by table_name, column_index"
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(VERSION_1.read_text())
    return path


def asked(path: Path, question: str) -> list[Any]:
    with duckdb.connect(path, read_only=True) as connection:
        return list(connection.execute(question).fetchall())


def test_an_old_store_is_brought_up_to_date_with_all_that_it_holds(old: Path) -> None:
    store = Store.open(old)
    assert asked(old, "select version from workspace") == [(schema.VERSION,)]
    assert [(dataset.name, dataset.n, dataset.added) for dataset in store.datasets.all()] == [("stories", 2, None)]
    assert store.listing.order(ListQuery(1, emotions=("happy",))).tolist() == [2]
    assert store.samples.records([1]) == [(1, b'{"id":"s1"}')]
    assert [(row.id, row.values.get("f1"), row.marks) for row in store.list_rows.page([1, 2], "old-run")] == [
        ("s1", 0.8, "HF"),
        ("s2", None, ""),
    ]
    assert (store.runs.get("old").state, store.runs.get("old").done, store.runs.get("old").config) == (
        *("stopped", 1),
        {"style": "retrieve"},
    )
    score = ScoreRow("words", {"f1": 0.8, "sim": None}, "HF", b'{"f1":0.8}')
    prediction = b'{"spans":["slammed the door"]}'
    assert list(store.results.of_run("old-run")) == [
        ResultRow(1, 0, 0, "prompt", "slammed the door", None, 0.25, prediction, score, output=1)
    ]
    assert store.annotations.entries() == [
        Annotation(1, "spans", 1, "ada", b"[[2,9]]", None, "2026-01-02T03:04:07.000+00:00")
    ]
    assert store.settings.get("theme") == "dark"


def test_an_old_store_can_be_written_afterwards_and_goes_on_with_its_numbers(old: Path) -> None:
    store = Store.open(old)
    more = store.datasets.add("more", "spans", samples(3), "more.jsonl", "def")
    assert (more.dataset, more.added is not None) == (2, True)
    assert [number for number, _ in store.samples.of_dataset(2)] == [3, 4, 5]
    store.results.commit("old-run", [result(2)])
    assert [row.output for row in store.results.of_run("old-run")] == [1, 2]
    assert store.annotations.append("undo", 1, "ada", b"null", undoes=1) == 2


def test_an_old_store_and_a_new_one_have_the_same_tables(old: Path, tmp_path: Path) -> None:
    Store.open(old)
    Store.open(tmp_path / "new.duckdb")
    assert asked(old, COLUMNS) == asked(tmp_path / "new.duckdb", COLUMNS)


def test_a_step_that_fails_leaves_the_old_store_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = "alter table runs add column extra integer; alter table nowhere add column a integer;"
    steps = (*schema.MIGRATIONS, schema.Step("nothing", fails))
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    monkeypatch.setattr(schema, "VERSION", len(steps) + 1)
    before = asked(old, COLUMNS)
    with pytest.raises(StoreError, match=r"cannot be brought up to \d+, because its tables are not .*nowhere"):
        Store.open(old)
    assert asked(old, COLUMNS) == before
    assert asked(old, "select version from workspace") == [(1,)]
    assert [file.name for file in old.parent.iterdir()] == [old.name]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_a_newer_version_is_left_alone(old: Path, read_only: bool) -> None:
    Store.open(old)
    with duckdb.connect(old) as connection:
        connection.execute("update workspace set version = 99")
    before = old.read_bytes()
    with pytest.raises(
        StoreError, match=r"is a store of version 99, and this emotui knows versions up to \d+: upgrade"
    ):
        Store.open(old, read_only=read_only)
    assert old.read_bytes() == before


def test_a_store_that_another_program_upgrades_meanwhile_is_not_touched_any_more(old: Path) -> None:
    store = Store.open(old)
    with duckdb.connect(old) as connection:
        connection.execute("update workspace set version = 99")
    with pytest.raises(StoreError, match="is a store of version 99"):
        store.settings.set("theme", "light")
