"""Files that are no store, folders that may not be written, disks that are full: one line each, and nothing lost."""

import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from emotui import commands
from emotui.errors import BadInput, StoreError
from emotui.store.store import Store
from tests.paths import CHECKOUT
from tests.store.store_samples import samples
from tests.waiting import LONGEST

pytestmark = pytest.mark.faults

WRITER = Path(__file__).with_name("store_writer.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a data set and a run to which nothing was committed yet."""
    store = Store.open(tmp_path / "workspace.duckdb")
    store.datasets.add("stories", "spans", samples(2000), "stories.jsonl", "abc")
    store.runs.start("run", "identity", "spans", "model", 1, {}, 2000)
    return store.path


def text_file(path: Path) -> None:
    path.write_text("This is no store.\n" * 1000)


def empty_file(path: Path) -> None:
    path.touch()


def sqlite_file(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table workspace(version, revision)")
    connection.close()


def other_duckdb(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("create table mine as select 42 as answer")


def other_workspace(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("create table workspace(name varchar)")


def folder(path: Path) -> None:
    path.mkdir()


def cut_short(path: Path) -> None:
    Store.open(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (text_file, "is not an emotui store: choose another file with --db"),
        (empty_file, "is not an emotui store: choose another file with --db"),
        (sqlite_file, "is not an emotui store: choose another file with --db"),
        (other_duckdb, "is a DuckDB file, but not an emotui store: choose another file with --db"),
        (other_workspace, "is a DuckDB file, but not an emotui store: choose another file with --db"),
        (folder, "is a folder, not a file: name the store's file with --db"),
        (cut_short, "is damaged (cut short or overwritten): restore it from a copy"),
    ],
)
def test_what_is_no_store_is_refused_in_one_line_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], said: str, read_only: bool
) -> None:
    path = tmp_path / "odd.duckdb"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError) as refused:
        Store.open(path, read_only=read_only)
    assert str(refused.value) == f"{path} {said}"
    assert isinstance(refused.value, BadInput) == (make is not cut_short)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [file.name for file in tmp_path.iterdir()] == ["odd.duckdb"]


@pytest.mark.parametrize("how", [{"read_only": True}, {"create": False}])
def test_a_missing_store_is_not_made_where_that_was_not_asked(tmp_path: Path, how: dict[str, bool]) -> None:
    path = tmp_path / "none.duckdb"
    with pytest.raises(StoreError) as refused:
        Store.open(path, **how)
    assert str(refused.value) == f"{path} does not exist: check its path"
    assert list(tmp_path.iterdir()) == []


def test_a_store_under_a_file_instead_of_a_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as refused:
        Store.open(tmp_path / "file" / "workspace.duckdb")
    assert str(refused.value).endswith("there is a file where its folder should be; choose another place with --db")
    assert "\n" not in str(refused.value)


def test_a_store_opened_read_only_answers_and_is_not_changed(path: Path) -> None:
    before = path.read_bytes()
    store = Store.open(path, read_only=True)
    assert store.list_rows.page([1], "run")[0].id == "s1"
    for change in (
        lambda: store.settings.set("theme", "dark"),
        lambda: store.annotations.append("spans", 1, "ada", b"[]"),
        lambda: store.datasets.add("new", "spans", samples(1), "new", "n"),
    ):
        with pytest.raises(StoreError, match="is open read-only: start again without --read-only to change it"):
            change()
    assert path.read_bytes() == before


READER = """
import os, sys
import duckdb, numpy, _strptime
from emotui.errors import StoreError
from emotui.store import listing
from emotui.store.query import ListQuery
from emotui.store.store import Store

if os.getuid() == 0:
    os.setuid(65534)
path = sys.argv[1]
store = Store.open(path, read_only=True)
print(len(store.listing.order(ListQuery(1))), store.settings.get("left behind"))
for attempt in (
    lambda: Store.open(path).settings.set("a", 1),
    lambda: Store.open(os.path.join(os.path.dirname(path), "new.duckdb")),
):
    try:
        attempt()
    except StoreError as error:
        print(error)
"""

KILLED = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("insert into settings values ('left behind', '7')")
os._exit(9)
"""


@pytest.fixture
def protected(path: Path) -> Iterator[Path]:
    """The store in a folder that nobody may write, with what a killed program committed still in the log file."""
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    log = path.with_name(path.name + ".wal")
    assert log.exists()
    above = [folder for folder in path.parents if folder.owner() == path.owner() and "pytest" in str(folder)]
    modes = {file: file.stat().st_mode for file in (*above, path, log)}
    # A process without root's rights must be able to come here.
    for reached in above:
        reached.chmod(0o755)
    path.parent.chmod(0o555)
    path.chmod(0o444)
    log.chmod(0o444)
    yield path
    for file, mode in modes.items():
        file.chmod(stat.S_IMODE(mode))


def test_a_store_in_a_folder_that_may_not_be_written_can_be_read_with_all_that_was_committed(protected: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READER, protected],
        capture_output=True,
        text=True,
        # Its lines are not counted: it may not write where they would be kept.
        env=os.environ | {"PYTHONPATH": str(CHECKOUT), "TMPDIR": "/tmp", "COVERAGE_PROCESS_CONFIG": ""},
        timeout=LONGEST,
        check=False,
    )
    assert done.stderr == ""
    refused = "may not be written here: open it with --read-only, or choose another file with --db"
    assert done.stdout.splitlines() == [
        "2000 7",
        f"{protected} {refused}",
        f"{protected.with_name('new.duckdb')} {refused}",
    ]


FULL = "the disk is full; what was stored before is safe: free some space, then try again"


def limited() -> None:
    """No file may become longer than 2 MiB: writing more fails, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def write_until_full(path: Path, limit: Callable[[], None] | None) -> None:
    """Commit until it fails; check what is said, and that every batch that was committed is there."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:3]; import store_writer\n"
        "from emotui.errors import StoreError\n"
        "try: store_writer.main(sys.argv[3], 'run', 1, 2000, 50)\n"
        "except StoreError as error: print(error, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, CHECKOUT, WRITER.parent, path],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=LONGEST,
        check=False,
    )
    assert done.stderr == f"{path}: {FULL}\n"
    told = int(done.stdout.split()[-1])
    for store in (Store.open(path, read_only=True), Store.open(path)):
        assert {number for number, _ in store.results.done("run")} == set(range(1, told + 1))
        assert len(list(store.results.of_run("run"))) == told
    assert 0 < told < 2000


def test_a_write_that_finds_no_room_is_one_line_and_loses_nothing_committed(path: Path) -> None:
    write_until_full(path, limited)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB; only root can make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_is_one_line_and_loses_nothing_committed(small_disk: Path) -> None:
    store = Store.open(small_disk / "workspace.duckdb")
    store.datasets.add("stories", "spans", samples(2000), "stories.jsonl", "abc")
    store.runs.start("run", "identity", "spans", "model", 1, {}, 2000)
    write_until_full(store.path, None)


def test_a_full_disk_takes_writes_again_once_there_is_room(small_disk: Path) -> None:
    store = Store.open(small_disk / "workspace.duckdb")
    ballast = small_disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small_disk).free)
    with pytest.raises(StoreError) as refused:
        store.annotations.append("spans", 1, "ada", b"[]")
    assert str(refused.value) == f"{store.path}: {FULL}"
    ballast.unlink()
    store.annotations.append("spans", 1, "ada", b"[]")
    assert len(store.annotations.entries()) == 1


def test_a_data_set_without_room_is_refused_before_the_store_is_touched(small_disk: Path) -> None:
    store = Store.open(small_disk / "workspace.duckdb")
    before = store.path.read_bytes()
    with pytest.raises(StoreError, match=r": the disk has \d MB left and 200000 samples need about \d+ MB: free some"):
        store.datasets.add("many", "spans", samples(200_000), "many", "m")
    assert store.path.read_bytes() == before
    store.datasets.add("few", "spans", samples(10), "few", "f")
    assert [dataset.name for dataset in store.datasets.all()] == ["few"]


def test_a_data_set_that_meets_the_end_of_the_disk_is_not_there_at_all(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other programs may take the room between the look at the disk and the write.
    monkeypatch.setattr("emotui.store.datasets.check_room", lambda path, staged: None)
    store = Store.open(small_disk / "workspace.duckdb")
    with pytest.raises(StoreError) as refused:
        store.datasets.add("many", "spans", samples(200_000), "many", "m")
    assert str(refused.value) == f"{store.path}: {FULL}"
    assert Store.open(store.path).datasets.all() == []


@pytest.fixture
def listens() -> Iterator[None]:
    """Ctrl-C reaches these tests also where they were started in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_in_the_middle_of_a_query_is_one_and_the_store_is_as_it_was(path: Path, listens: None) -> None:
    store = Store.open(path)

    def work() -> None:
        with store._turns.writing() as connection:
            connection.execute("insert into settings values ('half', 'null')")
            # DuckDB may look at signals only when a piece of work is done, which here is all of it: half a second.
            connection.execute("select count(*) from range(200000000) a where a.range % 7 = 3").fetchone()

    later = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    later.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    later.join()
    assert store.settings.get("half", "not there") == "not there"
    store.settings.set("whole", 1)
    assert store.settings.get("whole") == 1


def test_ctrl_c_that_duckdb_has_taken_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**given: object) -> None:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(commands.cli, "main", interrupted)
    with pytest.raises(SystemExit) as ended:
        commands.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "\nAborted!\n"
