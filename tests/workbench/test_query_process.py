"""A researcher's question is asked beside whatever else reads the store."""

import threading
from pathlib import Path

import pytest

from emotui.errors import BadInput, EmotuiError, StoreError
from emotui.store.store import Store
from emotui.workbench.query_process import ask
from emotui.workbench.workspace import Workspace
from tests.waiting import wait_until

LONG = "SELECT count(*) FROM range(1000000) a, range(1000000) b"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "d.jsonl").write_text('{"id": "a", "text": "I am sad.", "spans": [[5, 8]]}\n')
    Workspace.open(tmp_path / "w.duckdb").import_files([str(tmp_path / "d.jsonl")], "d")
    return tmp_path / "w.duckdb"


def test_the_store_is_read_while_a_question_takes_long(path: Path) -> None:
    stop, refused = threading.Event(), []

    def long() -> None:
        with pytest.raises(EmotuiError, match="the query was stopped"):
            ask(path, LONG, stop)
        refused.append(True)

    def held() -> bool:
        try:
            Store.open(path, patience=0).set_setting("a", 1)
        except StoreError:
            return True
        return False

    asking = threading.Thread(target=long)
    asking.start()
    try:
        wait_until(held)
        assert [one.name for one in Store.open(path, patience=0, read_only=True).datasets()] == ["d"]
    finally:
        stop.set()
        asking.join()
    assert refused == [True]
    Store.open(path).set_setting("a", 2)


def test_the_answer_is_in_words_and_a_refusal_is_that_of_the_question(path: Path) -> None:
    table = ask(path, "SELECT id, start, 0.5 AS half, NULL AS none FROM gold", threading.Event())
    assert (table.columns, table.rows) == (("id", "start", "half", "none"), (("a", "5", "0.5", "–"),))
    assert ask(path, "SELECT * FROM range(3)", threading.Event(), limit=2).more
    with pytest.raises(BadInput, match="nothing can be changed"):
        ask(path, "DROP TABLE samples", threading.Event())
    with pytest.raises(BadInput, match="nope"):
        ask(path, "SELECT nope FROM texts", threading.Event())
