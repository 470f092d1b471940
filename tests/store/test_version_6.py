"""Stores of before embeddings were kept."""

from pathlib import Path

import duckdb

from emotui.store import schema
from emotui.store.store import Store
from tests.store.test_versions import COLUMNS, asked

VERSION_6 = Path(__file__).with_name("store_version_6.sql")


def test_a_store_of_version_6_gets_a_table_for_embeddings_and_keeps_notes_and_slices(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(VERSION_6.read_text())
    store = Store.open(path)
    assert asked(path, "select version from workspace") == [(schema.VERSION,)]
    assert [(one.entry, one.codes) for one in store.notes.entries(1)] == [(1, ("a",))]
    assert [name for name, _, _ in store.slices.all(1)] == ["sad"]
    store.embeddings.keep("m", {"a": b"12"})
    assert store.embeddings.known("m", ["a", "b"]) == {"a": b"12"}
    Store.open(tmp_path / "new.duckdb")
    assert asked(path, COLUMNS) == asked(tmp_path / "new.duckdb", COLUMNS)
