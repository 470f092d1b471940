"""What a workspace keeps, and that it gives it back as it came."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from emotui.errors import BadInput, StoreError
from emotui.records import LabelsGold
from emotui.store import access, datasets
from emotui.store.access import Access
from emotui.store.query import Run
from emotui.store.store import Store, default_path
from emotui.workbench.datasets.samples import add_samples
from tests.paths import CHECKOUT
from tests.store.store_samples import failure, result, sample, samples, score


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "workspace.duckdb")
    made.datasets.add("stories", "spans", samples(5), "stories.jsonl", "abc")
    return made


def start(store: Store, run: str = "run-1", n: int = 5) -> Run:
    return store.runs.start(run, "identity", "spans", "embedded", 1, {"style": "retrieve"}, n)


def test_a_missing_workspace_is_made_with_its_folders_and_nothing_beside_it(tmp_path: Path) -> None:
    Store.open(tmp_path / "a" / "b" / "workspace.duckdb")
    assert [file.name for file in (tmp_path / "a" / "b").iterdir()] == ["workspace.duckdb"]


def test_the_default_workspace_lies_in_the_platforms_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path().name == "workspace.duckdb"
    assert default_path().parent.name == "emotui"


def test_samples_come_back_in_the_order_asked_for_and_unknown_ones_are_left_out(store: Store) -> None:
    assert store.samples.records([4, 99, 2]) == [(4, b'{"id":"s4"}'), (2, b'{"id":"s2"}')]
    assert store.samples.records([]) == []


def test_samples_of_a_dataset_come_in_file_order_between_two_positions(store: Store) -> None:
    assert [number for number, _ in store.samples.of_dataset(1)] == [1, 2, 3, 4, 5]
    assert list(store.samples.of_dataset(1, 1, 3)) == [(2, b'{"id":"s2"}'), (3, b'{"id":"s3"}')]
    assert list(store.samples.of_dataset(2)) == []


def test_text_is_kept_to_the_letter(store: Store) -> None:
    text = "[red]\x1b[31m zero\u200bwidth \u202e rtl e\u0301 \N{GRINNING FACE} 'quote' \x00 end\n"
    store.datasets.add("odd", "spans", [sample("it's; drop table samples --", text)], "it's", "'")
    assert [row.id for row in store.list_rows.page([6], None)] == ["it's; drop table samples --"]
    start(store)
    store.results.commit("run-1", [replace(result(6), raw=text)])
    assert [row.raw for row in store.results.of_run("run-1")] == [text]


def test_a_dataset_has_the_numbers_after_those_of_the_one_before(store: Store) -> None:
    more = store.datasets.add("more", "spans", samples(2), "more.jsonl", "def")
    assert (more.dataset, more.n) == (2, 2)
    assert [number for number, _ in store.samples.of_dataset(2)] == [6, 7]
    assert store.datasets.all() == [store.datasets.get("stories"), store.datasets.get(2)]
    assert store.datasets.get("none") is None


def test_an_empty_dataset_is_one(store: Store) -> None:
    assert store.datasets.add("empty", "spans", [], "empty.jsonl", "0").n == 0


def test_adding_the_same_samples_again_gives_the_dataset_that_is_there(store: Store) -> None:
    again = store.datasets.add("stories", "spans", samples(5), "copy.jsonl", "abc")
    assert again == store.datasets.get("stories")
    assert len(store.datasets.all()) == 1


def test_a_name_is_not_given_to_other_samples(store: Store) -> None:
    with pytest.raises(StoreError, match="there is a data set 'stories' already"):
        store.datasets.add("stories", "spans", samples(5), "stories.jsonl", "other")


def test_a_dataset_with_an_id_twice_is_not_added_at_all(store: Store) -> None:
    with pytest.raises(StoreError, match="two samples have the id 's1'"):
        store.datasets.add("twice", "spans", [*samples(3), *samples(1)], "twice.jsonl", "2")
    assert len(store.datasets.all()) == 1


def test_long_records_among_short_ones_come_in_whole(store: Store) -> None:
    rows = samples(3)
    rows[1] = replace(rows[1], record=b'{"id":"s2","text":"' + b"x" * (1 << 20) + b'"}')
    dataset = store.datasets.add("long", "spans", rows, "test", "of three").dataset
    assert [record for _, record in store.samples.of_dataset(dataset)] == [row.record for row in rows]


def test_samples_that_nobody_needs_any_more_go_as_they_are_laid_out(store: Store) -> None:
    records: list[object] = [LabelsGold(id=f"t{number}", text="Such a day.", labels=("joy",)) for number in range(9)]
    add_samples(store, "labels", "kept", list(records), "test")
    gone = list(records)
    dataset = add_samples(store, "labels", "gone", gone, "test", let_go=True)
    assert gone == [None] * 9
    kept = store.datasets.get("kept")
    assert kept is not None
    assert [record for _, record in store.samples.of_dataset(dataset.dataset)] == [
        record for _, record in store.samples.of_dataset(kept.dataset)
    ]
    assert (dataset.fingerprint, dataset.n, dataset.asked) == (kept.fingerprint, 9, kept.asked)


def test_emotions_of_a_dataset_are_those_of_its_samples_and_sentences_only(store: Store) -> None:
    store.datasets.add("a", "spans", [sample("1", emotions=("sad", "fear")), sample("2", emotions=("sad",))], "a", "a")
    store.datasets.add("b", "spans", [sample("1", emotions=("happy",))], "b", "b")
    assert [store.samples.emotions(dataset) for dataset in (1, 2, 3)] == [[], ["fear", "sad"], ["happy"]]


def test_a_run_is_found_by_an_unambiguous_beginning_of_its_id(store: Store) -> None:
    start(store, "ab12")
    start(store, "ab34")
    start(store, "ab")
    assert store.runs.get("ab1").run == "ab12"
    assert store.runs.get("ab").run == "ab"
    with pytest.raises(BadInput, match="begins the ids of 3 runs"):
        store.runs.get("a")
    with pytest.raises(BadInput, match="there is no run '%'"):
        store.runs.get("%")


def test_runs_come_newest_first_and_by_dataset(store: Store) -> None:
    start(store, "old")
    start(store, "new")
    assert [run.run for run in store.runs.all()] == ["new", "old"]
    assert [run.run for run in store.runs.all(1)] == ["new", "old"]
    assert store.runs.all(2) == []


def test_a_run_is_taken_up_again_only_with_the_same_identity(store: Store) -> None:
    start(store)
    store.results.commit("run-1", [result(1)])
    store.runs.set_state("run-1", "stopped")
    again = start(store)
    assert (again.state, again.finished, again.done) == ("running", None, 1)
    with pytest.raises(StoreError, match="there is a run run-1 already"):
        store.runs.start("run-1", "another", "spans", "embedded", 1, {}, 5)


def test_a_finished_run_says_when_and_why(store: Store) -> None:
    assert start(store).finished is None
    store.runs.set_state("run-1", "failed", "the model died")
    run = store.runs.get("run-1")
    assert (run.state, run.error, run.config) == ("failed", "the model died", {"style": "retrieve"})
    assert run.finished is not None
    with pytest.raises(ValueError, match="no state 'over'"):
        store.runs.set_state("run-1", "over")


def test_results_come_back_as_they_were_committed(store: Store) -> None:
    start(store)
    rows = [result(2, scored=score(0.5, None, "HM")), failure(1), result(3)]
    store.results.commit("run-1", rows[:1])
    store.results.commit("run-1", rows[1:])
    kept = list(store.results.of_run("run-1"))
    assert [replace(row, output=None) for row in kept] == rows
    assert list(store.results.of_run("run-1", [1, 3])) == kept[1:]
    assert list(store.results.of_run("run-1", [])) == []


def test_results_longer_than_a_chunk_come_whole(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emotui.store.rows._CHUNK", 2)
    start(store)
    store.results.commit("run-1", [result(number) for number in (1, 2, 3, 4)])
    assert [row.sample for row in store.results.of_run("run-1")] == [1, 2, 3, 4]
    assert [number for number, _ in store.samples.of_dataset(1)] == [1, 2, 3, 4, 5]


def test_a_sample_that_only_failed_is_to_be_asked_again(store: Store) -> None:
    start(store)
    store.results.commit("run-1", [failure(1), failure(2, 0), result(2, 0, 1), result(3, repeat=1)])
    assert store.results.done("run-1") == {(2, 0), (3, 1)}
    assert (store.runs.get("run-1").done, store.runs.get("run-1").failed) == (2, 1)
    store.results.commit("run-1", [result(1, attempt=1)])
    assert store.results.done("run-1") == {(1, 0), (2, 0), (3, 1)}
    assert (store.runs.get("run-1").done, store.runs.get("run-1").failed) == (3, 0)


def test_of_several_attempts_the_last_counts_and_all_stay(store: Store) -> None:
    start(store)
    store.results.commit("run-1", [result(1, 0, 0, score(0.2)), result(1, 0, 1, score(0.4))])
    store.results.commit("run-1", [result(1, 0, 2, score(0.6)), result(2, 0, 0, score(0.1))])
    assert [row.values.get("f1") for row in store.list_rows.page([1, 2], "run-1")] == [0.6, 0.1]
    assert [row.score and row.score.values["f1"] for row in store.results.of_run("run-1")] == [None, None, 0.6, 0.1]
    assert [row.raw for row in store.results.of_run("run-1", [1])] == ["raw 1"] * 3


def test_scoring_again_supersedes_scores_and_leaves_outputs_alone(store: Store) -> None:
    start(store)
    start(store, "run-2")
    for run in ("run-1", "run-2"):
        store.results.commit(run, [result(1, scored=score(0.1, 0.2, "H")), result(2, scored=score(0.3)), failure(3)])
    before = list(store.results.of_run("run-1"))
    again = [replace(row, prediction=b'{"spans":["new"]}', score=score(0.9)) for row in before[:2]]
    store.results.replace_scores("run-1", again)
    assert list(store.results.of_run("run-1")) == [*again, before[2]]
    assert [row.values.get("f1") for row in store.list_rows.page([1, 2, 3], "run-1")] == [0.9, 0.9, None]
    assert [row.values.get("f1") for row in store.list_rows.page([1, 2, 3], "run-2")] == [0.1, 0.3, None]


def test_ids_of_predictions_and_scores_are_never_used_again(store: Store) -> None:
    start(store)
    store.results.commit("run-1", [result(1, scored=score(0.1)), result(2, scored=score(0.3))])
    for _ in range(2):
        store.results.replace_scores("run-1", list(store.results.of_run("run-1")))
    with store._turns.reading() as connection:
        for table, key in (("predictions", "prediction"), ("scores", "score")):
            found = connection.execute(f"select {key}, current from {table} order by 1").fetchall()
            assert found == [(1, False), (2, False), (3, False), (4, False), (5, True), (6, True)]


def test_only_rows_of_the_store_can_be_scored_again(store: Store) -> None:
    start(store)
    store.results.commit("run-1", [result(1, scored=score(0.1))])
    with pytest.raises(ValueError, match="only rows that came from the store"):
        store.results.replace_scores("run-1", [result(1, scored=score(0.5))])
    assert store.list_rows.page([1], "run-1")[0].values["f1"] == 0.1


def test_a_batch_with_one_bad_row_leaves_nothing_behind(store: Store) -> None:
    start(store)
    with pytest.raises(ValueError, match="no kind of error has the letter 'Z'"):
        store.results.commit("run-1", [result(1, scored=score(0.1)), result(2, scored=score(0.1, marks="Z"))])
    assert list(store.results.of_run("run-1")) == []
    assert store.runs.get("run-1").done == 0


def test_results_of_an_unknown_run_are_bad_input(store: Store) -> None:
    with pytest.raises(BadInput, match="there is no run 'nowhere'"):
        store.results.commit("nowhere", [result(1)])
    with pytest.raises(BadInput, match="there is no run 'nowhere'"):
        list(store.results.of_run("nowhere"))


def test_annotations_are_a_log_in_which_undo_is_an_entry(store: Store) -> None:
    first = store.annotations.append("spans", 1, "ada", b"[[0,4]]")
    second = store.annotations.append("undo", 1, "ada", b"null", undoes=first)
    third = store.annotations.append("spans", 2, "ben", b"[]")
    log = store.annotations.entries()
    assert [(entry.annotation, entry.kind, entry.undoes) for entry in log] == [
        (first, "spans", None),
        (second, "undo", first),
        (third, "spans", None),
    ]
    assert [entry.payload for entry in log] == [b"[[0,4]]", b"null", b"[]"]
    assert store.annotations.entries(sample=1, annotator="ada") == log[:2]
    assert store.annotations.entries(annotator="ben") == log[2:]


def test_what_is_undone_or_was_never_there_cannot_be_undone(store: Store) -> None:
    first = store.annotations.append("spans", 1, "ada", b"[]")
    store.annotations.append("undo", 1, "ada", b"null", undoes=first)
    with pytest.raises(BadInput, match="annotation 1 is undone already"):
        store.annotations.append("undo", 1, "ada", b"null", undoes=first)
    with pytest.raises(BadInput, match="there is no annotation 99 to undo"):
        store.annotations.append("undo", 1, "ada", b"null", undoes=99)
    assert len(store.annotations.entries()) == 2


def test_settings_are_any_json_and_the_last_one_holds(store: Store) -> None:
    assert store.settings.get("theme", "dark") == "dark"
    store.settings.set("theme", {"name": "light", "wide": [1, None, True]})
    store.settings.set("theme", {"name": "später"})
    assert store.settings.get("theme") == {"name": "später"}


def test_the_marker_changes_with_what_a_screen_shows_and_with_nothing_else(store: Store) -> None:
    start(store)
    seen = [store.marker()]
    store.settings.set("theme", "dark")
    store.list_rows.page([1], None)
    assert store.marker() == seen[0]
    other = Store.open(store.path)
    for change in (
        lambda: other.results.commit("run-1", [result(1)]),
        lambda: other.runs.set_state("run-1", "done"),
        lambda: other.annotations.append("spans", 1, "ada", b"[]"),
    ):
        change()
        assert store.marker() not in seen
        seen.append(store.marker())


def test_neither_duckdb_nor_numpy_is_loaded_before_a_store_opens() -> None:
    program = (
        "import sys, emotui.store.store, emotui.store.query\n"
        "print([name for name in ('duckdb', '_duckdb', 'numpy') if name in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "[]\n"


def test_the_first_page_waits_neither_for_the_package_of_duckdb_nor_for_numpy(store: Store) -> None:
    program = (
        "import sys\nfrom emotui.store.store import Store\n"
        "store = Store.open(sys.argv[1])\n"
        "rows = store.list_rows.page(store.samples.file_order(store.datasets.all()[0].dataset), None)\n"
        "print(len(rows) > 0, [name for name in ('duckdb', 'numpy') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(store.path)]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "True []\n"


def test_an_engine_that_was_started_ahead_is_that_of_the_next_store_alone(store: Store) -> None:
    access.start_ahead()
    (ahead,) = access._ahead
    stores = [Store.open(store.path), Store.open(store.path)]
    assert [one._turns._engine is ahead.result() for one in stores] == [True, False]


def test_what_is_read_together_opens_the_file_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[bool] = []
    attach = Access._attach

    def counted(self: Access, read_only: bool, beside: Path | None) -> Any:
        opened.append(read_only)
        return attach(self, read_only, beside)

    monkeypatch.setattr(Access, "_attach", counted)
    with store.together():
        (dataset,) = store.datasets.all()
        with store.together():
            assert len(store.samples.file_order(dataset.dataset)) == dataset.n
    assert opened == [True]
    store.settings.set("theme", "dark")
    assert store.settings.get("theme") == "dark"
    assert opened == [True, False, True]


def test_what_is_asked_twice_together_is_read_once_and_anew_afterwards(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str | int] = []
    find = datasets.find
    monkeypatch.setattr(datasets, "find", lambda connection, key: (read.append(key), find(connection, key))[1])
    (dataset,) = store.datasets.all()
    with store.together():
        asked = [store.datasets.get(dataset.name) for _ in range(3)]
        listed = store.runs.all()
        listed.clear()
        assert store.runs.all() == []
        assert store.datasets.get("none") is store.datasets.get("none") is None
    assert asked == [dataset] * 3
    assert read == [dataset.name, "none"]
    start(store)
    with store.together():
        store.runs.all().clear()
        assert [run.run for run in store.runs.all()] == ["run-1"]
    assert store.datasets.get(dataset.name) == dataset
    assert read == [dataset.name, "none", dataset.name]


def test_threads_share_one_store(store: Store) -> None:
    start(store, n=40)
    failed: list[Exception] = []

    def work(worker: int) -> None:
        try:
            for repeat in range(10):
                store.results.commit("run-1", [result(worker + 1, repeat, scored=score(0.5))])
                store.list_rows.page([1, 2, 3], "run-1")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert store.runs.get("run-1").done == 40


def test_annotations_after_a_number_are_those_that_came_since(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "x.duckdb")
    first = store.annotations.append("note", None, "ann", b"{}")
    assert store.annotations.append_all([("note", 1, "ann", b'{"a": 1}'), ("note", 2, "bob", b"{}")]) == 2
    assert [(entry.sample, entry.annotator) for entry in store.annotations.entries(after=first)] == [
        (1, "ann"),
        (2, "bob"),
    ]
    assert store.annotations.entries(after=first + 2) == []


def test_many_annotations_are_numbered_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "x.duckdb")
    assert store.annotations.append_all(("note", n or None, f"who {n}", b'{"n": %d}' % n) for n in range(1234)) == 1234
    kept = store.annotations.entries()
    assert [entry.sample for entry in kept] == [n or None for n in range(1234)]
    assert [entry.payload for entry in kept] == [b'{"n": %d}' % n for n in range(1234)]
    assert len({entry.annotation for entry in kept}) == 1234


def test_several_annotations_are_kept_all_or_none(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "x.duckdb")

    def broken() -> Iterator[tuple[str, int | None, str, bytes]]:
        yield "note", 1, "ann", b"{}"
        raise RuntimeError("the file broke off")

    with pytest.raises(RuntimeError):
        store.annotations.append_all(broken())
    assert store.annotations.entries() == []


def test_a_store_is_opened_and_written_by_a_link_too(tmp_path: Path, store: Store) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.duckdb"
    link.symlink_to(store.path)
    start(Store.open(link))
    assert [run.run for run in Store.open(link, read_only=True).runs.all()] == ["run-1"]


def test_many_rows_come_back_as_few_do(store: Store) -> None:
    start(store)
    rows = [
        replace(
            result(
                number % 5 + 1,
                number // 5,
                scored=None if number % 7 == 0 else score(number / 10, None, "HM"[: number % 3]),
            ),
            prompt=None if number % 2 else "Zoë\n'",
            error="no" if number % 11 == 0 else None,
        )
        for number in range(1200)
    ]
    store.results.commit("run-1", rows)
    assert [replace(row, output=None) for row in store.results.of_run("run-1")] == rows
    store.runs.start("run-2", "i", "spans", "m", 1, {}, 1)
    for first in range(0, 1200, 100):
        store.results.commit("run-2", rows[first : first + 100])
    assert [replace(row, output=None) for row in store.results.of_run("run-2")] == rows
    further = [
        replace(row, score=replace(row.score, values=dict.fromkeys("abcdef", 0.5)))
        for row in rows
        if row.score is not None
    ]
    store.runs.start("run-3", "i3", "spans", "m", 1, {}, 1)
    store.results.commit("run-3", further)
    assert [replace(row, output=None) for row in store.results.of_run("run-3")] == further
