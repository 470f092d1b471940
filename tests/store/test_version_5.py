"""Stores of before notes and slices were kept."""

from pathlib import Path

import duckdb

from emotui.store import schema
from emotui.store.store import Store
from tests.store.test_versions import COLUMNS, asked

VERSION_5 = Path(__file__).with_name("store_version_5.sql")


def test_a_store_of_version_5_gets_tables_for_notes_and_slices(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(VERSION_5.read_text())
    store = Store.open(path)
    assert asked(path, "select version from workspace") == [(schema.VERSION,)]
    assert [(one.name, one.gold, one.asked) for one in store.datasets.all()] == [("stories", 2, "asked")]
    assert [(run.run, run.source) for run in store.runs.all(1)] == [("run-1", "file")]
    store.notes.write(1, [(1, "ada", "why", ["a"])])
    assert not store.slices.save(1, "sad", "emotion=sad")
    assert [(one.entry, one.codes) for one in store.notes.entries(1)] == [(1, ("a",))]
    assert [name for name, _, _ in store.slices.all(1)] == ["sad"]
    Store.open(tmp_path / "new.duckdb")
    assert asked(path, COLUMNS) == asked(tmp_path / "new.duckdb", COLUMNS)
