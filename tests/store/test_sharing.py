"""Several programs on one store at the same time, and programs that are killed in the middle."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from emotui.errors import StoreError
from emotui.store import refusals
from emotui.store.query import ListQuery
from emotui.store.store import Store
from tests.effort import tried
from tests.paths import CHECKOUT
from tests.store.store_samples import result, samples

pytestmark = pytest.mark.faults

WRITER = Path(__file__).with_name("store_writer.py")
HOLDER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def program(*args: object, **environment: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)} | {key: str(value) for key, value in environment.items()},
    )


def heard(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "workspace.duckdb", patience=60)
    made.datasets.add("stories", "spans", samples(2000), "stories.jsonl", "abc")
    made.runs.start("run", "identity", "spans", "model", 1, {}, 2000)
    return made


def test_a_program_that_keeps_the_file_is_named_with_what_to_do(store: Store) -> None:
    hurried = Store.open(store.path, patience=0.2)
    holder = program("-c", HOLDER, store.path)
    try:
        assert heard(holder) == "held\n"
        with pytest.raises(StoreError) as refused:
            hurried.runs.all()
        assert str(refused.value).startswith(f"{store.path} has been held by python")
        assert f"(pid {holder.pid})" in str(refused.value)
        assert str(refused.value).endswith("close that program, then try again")
        assert "\n" not in str(refused.value)
    finally:
        holder.communicate()
    assert [run.run for run in hurried.runs.all()] == ["run"]


ALONE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from emotui.store.store import Store

with Store.open(Path(sys.argv[1])).alone():
    print("alone", flush=True)
    sys.stdin.read()
"""


def test_who_brings_answers_together_is_alone_until_done_or_killed(store: Store) -> None:
    hurried = Store.open(store.path, patience=0.2)
    other = program("-c", ALONE, store.path)
    try:
        assert heard(other) == "alone\n"
        assert [run.run for run in hurried.runs.all()] == ["run"]  # a turn is nobody's alone
        with (
            pytest.raises(
                StoreError, match=r"workspace\.duckdb: another program has been .*: try again when it is done"
            ),
            hurried.alone(),
        ):
            pass
        store.runs.start("while waiting", "other", "spans", "model", 1, {}, 2000)
    finally:
        other.kill()
        other.communicate()
    patient = Store.open(store.path, patience=5)
    with patient.alone(), patient.alone():  # who is inside may ask again
        pass


def test_a_turn_is_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    holder, refused = program("-c", HOLDER, store.path), []
    is_held = refusals.is_held

    def end_the_holder_at_the_third(error: Exception) -> bool:
        refused.append(error)
        if len(refused) == 3:
            holder.communicate()
        return is_held(error)

    assert heard(holder) == "held\n"
    monkeypatch.setattr(refusals, "is_held", end_the_holder_at_the_third)
    store.results.commit("run", [result(1)])
    assert len(refused) == 3
    assert store.runs.get("run").done == 1


def test_a_reader_sees_the_rows_of_a_writer_as_they_come_and_neither_starves(store: Store) -> None:
    writer = program(WRITER, store.path, "run", 1, 480, 16)
    seen, read = set(), 0
    while writer.poll() is None:
        page = store.list_rows.page(range(1, 481), "run")
        assert len(page) == 480
        seen.add(sum(row.values.get("f1") is not None for row in page))
        read += 1
    out, _ = writer.communicate()
    assert writer.returncode == 0
    assert out.split()[-1] == "480"
    assert all(count % 16 == 0 for count in seen), "half a batch was seen"
    assert len(seen) >= 5
    assert read >= 10
    assert store.runs.get("run").done == 480


def test_two_writers_lose_nothing(store: Store) -> None:
    store.runs.start("other", "identity", "spans", "model", 1, {}, 2000)
    writers = [program(WRITER, store.path, run, 1, 100, 5) for run in ("run", "other")]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    for run in ("run", "other"):
        assert store.results.done(run) == {(number, 0) for number in range(1, 101)}
    outputs = [row.output for run in ("run", "other") for row in store.results.of_run(run)]
    assert len(set(outputs)) == 200


def test_two_programs_that_make_the_same_store_make_one(tmp_path: Path) -> None:
    make = (
        "import sys; from emotui.store.store import Store; s = Store.open(sys.argv[1]);"
        "s.annotations.append('spans', 1, sys.argv[2], b'[]')"
    )
    makers = [program("-c", make, tmp_path / "new" / "workspace.duckdb", name) for name in "abc"]
    for maker in makers:
        maker.communicate()
        assert maker.returncode == 0
    store = Store.open(tmp_path / "new" / "workspace.duckdb")
    assert sorted(entry.annotator for entry in store.annotations.entries()) == ["a", "b", "c"]
    assert sorted(entry.annotation for entry in store.annotations.entries()) == [1, 2, 3]
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["workspace.duckdb"]


def test_after_a_kill_at_any_moment_every_committed_batch_is_there_and_no_part_of_one(store: Store) -> None:
    draw = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID", "kill"))
    first = 1
    for _ in range(6):
        writer = program(WRITER, store.path, "run", first, 2000, 7)
        heard(writer)
        time.sleep(draw.uniform(0, 0.25))  # the moment of the kill is drawn; nothing is waited for
        writer.send_signal(signal.SIGKILL)
        tried("kills")
        out, _ = writer.communicate()
        told = int(out.split()[-1]) if out.split() else first + 6
        fresh = Store.open(store.path)
        done = {number for number, _ in fresh.results.done("run")}
        assert done == set(range(1, len(done) + 1)), "a hole, or a sample that nobody committed"
        assert len(done) >= told, "a batch that was committed is gone"
        assert (len(done) - first + 1) % 7 == 0, "a part of a batch is there"
        rows = list(fresh.results.of_run("run"))
        assert {row.sample for row in rows} == done
        assert all(row.score is not None and row.prediction == b"{}" for row in rows)
        assert fresh.runs.get("run").done == len(done)
        first = len(done) + 1


def test_a_kill_while_samples_are_added_leaves_all_or_none_of_them(tmp_path: Path) -> None:
    add = (
        "import sys; from emotui.store.store import Store; from tests.store.store_samples import samples\n"
        "store = Store.open(sys.argv[1]); print('begun', flush=True)\n"
        "store.datasets.add('many', 'spans', samples(20_000), 'many', 'm')\n"
    )
    draw = random.Random(5)
    for attempt in range(4):
        path = tmp_path / f"{attempt}.duckdb"
        # What is laid out there before it goes into the store stays behind after a kill.
        adder = program("-c", add, path, TMPDIR=tmp_path)
        heard(adder)
        time.sleep(draw.uniform(0, 0.6))  # as above
        adder.send_signal(signal.SIGKILL)
        tried("kills")
        adder.communicate()
        store = Store.open(path)
        found = len(store.listing.order(ListQuery(1, text="text")))
        assert found == (20_000 if store.datasets.all() else 0)


def test_who_waits_is_told_for_whom_and_the_others_of_its_process_need_not_wait_with_it(store: Store) -> None:
    holder, told = program("-c", HOLDER, store.path), []
    assert heard(holder) == "held\n"

    def tell(who: str, seconds: float) -> None:
        told.append((who, seconds))
        # While one waits, another one of this process asks, is refused after its own patience, and nobody is stuck.
        with pytest.raises(StoreError, match="has been held by"):
            Store.open(store.path, patience=0)
        if len(told) == 2:
            holder.communicate()

    store.waiting(tell, 60).results.commit("run", [result(1)])
    assert store.runs.get("run").done == 1
    assert [str(holder.pid) in who and who.startswith("python") for who, _ in told] == [True, True]
    assert 0 < told[0][1] < told[1][1]


def test_what_is_told_of_waiting_can_end_it(store: Store) -> None:
    holder = program("-c", HOLDER, store.path)
    assert heard(holder) == "held\n"

    def enough(who: str, seconds: float) -> None:
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            store.waiting(enough, 60).runs.all()
    finally:
        holder.communicate()
    assert [run.run for run in store.runs.all()] == ["run"]


def test_ctrl_c_at_any_look_at_the_clock_lets_the_store_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, left = time.monotonic, 0

    def struck() -> float:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        return clock()

    met = 0
    for look in range(1, 12):
        left = look
        with monkeypatch.context() as patch:
            patch.setattr("emotui.store.access.time.monotonic", struck)
            try:
                store.runs.all()
            except KeyboardInterrupt:
                met += 1
        with ThreadPoolExecutor(1) as other:
            assert [run.run for run in other.submit(store.runs.all).result(timeout=20)] == ["run"]
    assert met >= 3
