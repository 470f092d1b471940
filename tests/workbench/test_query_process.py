"""A researcher's question is asked beside whatever else reads the store."""

import threading
from pathlib import Path

import pytest

from emotui.errors import BadInput, EmotuiError, StoreError
from emotui.store.store import Store
from emotui.workbench import query_process
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
            Store.open(path, patience=0).settings.set("a", 1)
        except StoreError:
            return True
        return False

    asking = threading.Thread(target=long)
    asking.start()
    try:
        wait_until(held)
        assert [one.name for one in Store.open(path, patience=0, read_only=True).datasets.all()] == ["d"]
    finally:
        stop.set()
        asking.join()
    assert refused == [True]
    Store.open(path).settings.set("a", 2)


def test_the_answer_is_in_words_and_a_refusal_is_that_of_the_question(path: Path) -> None:
    table = ask(path, "SELECT id, start, 0.5 AS half, NULL AS none FROM gold", threading.Event())
    assert (table.columns, table.rows) == (("id", "start", "half", "none"), (("a", "5", "0.5", "–"),))
    assert ask(path, "SELECT * FROM range(3)", threading.Event(), limit=2).more
    with pytest.raises(BadInput, match="nothing can be changed"):
        ask(path, "DROP TABLE samples", threading.Event())
    with pytest.raises(BadInput, match="nope"):
        ask(path, "SELECT nope FROM texts", threading.Event())


@pytest.mark.parametrize(
    "question",
    [
        "SELECT repeat('x', 4000000000)",
        "SELECT repeat('x', 5000000) FROM range(10000)",
        "SELECT list(range) FROM range(200000000)",
        "SELECT length(string_agg(repeat('x', 1000000), '')) FROM range(10000)",
    ],
)
def test_an_answer_that_takes_more_memory_than_there_is_for_it_ends_with_a_line(path: Path, question: str) -> None:
    with pytest.raises(EmotuiError, match=r"the query needs more than 1 GB of memory: .*LIMIT"):
        ask(path, question)


def test_a_file_has_bounds_of_memory_too_and_none_is_left_behind(path: Path) -> None:
    with pytest.raises(EmotuiError, match="more than 1 GB of memory"):
        query_process.write(path, "SELECT repeat('x', 4000000000)", path.with_name("a.csv"))
    assert sorted(each.name for each in path.parent.iterdir()) == ["d.jsonl", "w.duckdb"]
    assert query_process.write(path, "FROM range(1000000)", path.with_name("a.csv")) == 1_000_000


def test_nothing_is_drawn_between_the_words_of_an_answer_that_takes_long(path: Path) -> None:
    assert query_process.rows(path, "SELECT current_setting('enable_progress_bar')").rows == ((False,),)


def test_what_a_query_puts_aside_on_the_disk_is_bounded(path: Path) -> None:
    aside = query_process.rows(path, "SELECT current_setting('max_temp_directory_size')").rows
    assert aside == (("3.7 GiB",),)


def test_time_counts_until_the_last_byte(path: Path) -> None:
    with pytest.raises(EmotuiError, match=r"stopped after 0\.05 s: .*--timeout.*LIMIT"):
        ask(path, LONG, seconds=0.05)
    with pytest.raises(EmotuiError, match=r"stopped after 0\.05 s"):
        query_process.write(path, LONG, path.with_name("a.csv"), seconds=0.05)
    assert not path.with_name("a.csv").exists()
    assert query_process.rows(path, "SELECT 1 AS a", seconds=100).rows == ((1,),)


def test_a_program_gets_as_many_rows_as_it_asks_for_and_hears_of_the_rest(path: Path) -> None:
    answer = query_process.rows(path, "FROM range(100001)")
    assert (len(answer.rows), answer.more, answer.full) == (100_000, True, False)
    assert len(query_process.rows(path, "FROM range(100001)", 100_001).rows) == 100_001
    answer = query_process.rows(path, "SELECT repeat('x', 1048568), i FROM range(100) t(i)")  # 1 MiB a row
    assert (len(answer.rows), answer.more, answer.full) == (64, True, True)
    table = ask(path, "SELECT repeat('x', 1048568), i FROM range(100) t(i)")
    assert (len(table.rows), table.more, table.full) == (4, True, True)
    assert table.ending.startswith("the first 4 rows, which are long; the others: emotui sql --to FILE.csv")
