"""What an upgrade of an older store tells and keeps, and what a kill in the middle of it leaves."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import duckdb
import pytest

from emotui import scratch
from emotui.errors import BadStore, StoreError
from emotui.store import questions, schema, upgrade
from emotui.store.access import Access
from emotui.store.store import Store
from tests.conftest import Emotui
from tests.effort import tried
from tests.store.test_versions import VERSION_1, asked


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(VERSION_1.read_text())
    return path


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def test_an_upgrade_tells_what_it_brings_and_where_the_copy_is_and_that_the_copy_is_gone(old: Path) -> None:
    told: list[str] = []
    Store.open(old, on_upgrade=told.append)
    copy = f"{old}.{os.getpid()}.version-1"
    begun, done = told
    assert f"{old} is a store of version 1, and this emotui needs {schema.VERSION}: it is brought up to date" in begun
    assert all(step.brings in begun for step in schema.MIGRATIONS)
    assert begun.endswith(f": {copy}")
    assert done == f"{old} is of version {schema.VERSION} now; the copy {Path(copy).name} is removed"
    assert names(old) == [old.name]


def test_while_the_tables_change_the_copy_is_byte_for_byte_the_old_store(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, seen = old.read_bytes(), []
    change = schema.migrate

    def look(connection: object, version: int) -> None:
        (copy,) = upgrade.copies_left(old)
        seen.append((copy.read_bytes(), stat.S_IMODE(copy.stat().st_mode)))
        change(connection, version)  # type: ignore[arg-type]

    monkeypatch.setattr(schema, "migrate", look)
    old.chmod(0o640)
    Store.open(old)
    assert seen == [(before, 0o640)]


def test_a_copy_that_is_to_be_kept_takes_a_name_that_no_file_has(old: Path) -> None:
    before = old.read_bytes()
    taken = old.with_name("old.version-1.duckdb")
    taken.write_text("mine")
    store = Store.open(old, keep_copy=True)
    assert store.upgraded is not None
    assert store.upgraded.copy == old.with_name("old.version-1-2.duckdb")
    assert store.upgraded.copy.read_bytes() == before
    assert taken.read_text() == "mine"


def test_a_log_of_a_killed_program_is_in_the_copy(old: Path) -> None:
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import duckdb, os, signal, sys\n"
            "c = duckdb.connect(sys.argv[1])\n"
            "c.execute(\"insert into settings values ('late', '1')\")\n"
            "os.kill(os.getpid(), signal.SIGKILL)",
            str(old),
        ],
        check=False,
    )
    assert old.with_name(old.name + ".wal").exists()
    read = Store.open(old, read_only=True)
    assert read.settings.get("late") == 1
    store = Store.open(old, keep_copy=True)
    assert store.settings.get("late") == 1
    assert store.upgraded is not None
    assert store.upgraded.copy is not None
    assert ("late", "1") in asked(store.upgraded.copy, "from settings")


def test_no_upgrade_begins_where_the_disk_has_no_room_for_a_copy(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = old.read_bytes()
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 5 * 2**20))
    with pytest.raises(StoreError, match=r"takes \d+ MB in .*, which has 5 MB left. It was left as it is: free some"):
        Store.open(old)
    with pytest.raises(StoreError, match="Open it once without --read-only, or set TMPDIR"):
        Store.open(old, read_only=True)
    assert old.read_bytes() == before
    assert names(old) == [old.name]


def test_a_store_of_an_older_version_that_may_only_be_read_is_read_and_stays_as_it_is(old: Path) -> None:
    before, told = old.read_bytes(), []
    old.parent.chmod(0o555)
    try:
        store = Store.open(old, read_only=True, on_upgrade=told.append)
        assert [dataset.name for dataset in store.datasets.all()] == ["stories"]
        assert store.waiting(lambda *_: None).runs.get("old").done == 1
        assert questions.ask(old, "select run from runs").rows == (("old-run",),)
        with pytest.raises(StoreError, match="is open read-only"):
            store.settings.set("a", 1)
    finally:
        old.parent.chmod(0o755)
    assert old.read_bytes() == before
    assert names(old) == [old.name]
    (line,) = told
    assert f"{old} is a store of version 1 and stays as it is" in line


def test_a_query_of_another_process_reads_an_older_store_too(old: Path) -> None:
    asks = (
        "import sys; from pathlib import Path; from emotui.store import questions\n"
        "print(questions.ask(Path(sys.argv[1]), 'select dataset from runs').rows)"
    )
    before = old.read_bytes()
    done = subprocess.run([sys.executable, "-c", asks, str(old)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(('stories',),)"
    assert old.read_bytes() == before


def test_an_older_store_that_computes_is_neither_read_nor_brought_up_to_date(old: Path) -> None:
    with duckdb.connect(old) as connection:
        connection.execute("create macro lower(x) as 'not this'")
    for read_only in (True, False):
        with pytest.raises(BadStore, match="a macro"):
            Store.open(old, read_only=read_only)
    assert names(old) == [old.name]


@pytest.mark.parametrize("version", ["0", "-3", "null", "'7'", "true"])
def test_a_version_that_no_emotui_wrote_is_no_store(old: Path, version: str) -> None:
    with duckdb.connect(old) as connection:
        connection.execute("alter table workspace alter version drop not null")
        if version in ("'7'", "true"):
            connection.execute(
                f"alter table workspace alter version type {'boolean' if version == 'true' else 'varchar'}"
            )
        connection.execute(f"update workspace set version = {version}")
    with pytest.raises(BadStore, match="not an emotui store"):
        Store.open(old)


KILLED = {
    "while it copies": """
copy = upgrade.shutil.copyfileobj
def half(source, to, length):
    to.write(source.read(length))
    to.flush()
    die()
upgrade.shutil.copyfileobj = half
""",
    "when it has copied": """
def migrate(self, connection):
    die()
upgrade.Upgrade.migrate = migrate
""",
    "before the commit": """
change = schema.migrate
def migrate(connection, version):
    change(connection, version)
    die()
schema.migrate = migrate
""",
    "after the commit, before the log is taken in": """
def migrate(self, connection):
    connection.execute("begin")
    upgrade.migrate(connection, self.path, self.version)
    connection.execute("commit")
    die()
upgrade.Upgrade.migrate = migrate
""",
    "before the copy is removed": """
upgrade.Upgrade.finish = lambda self: die()
""",
}


@pytest.mark.faults
@pytest.mark.parametrize("moment", KILLED)
def test_a_kill_in_the_middle_leaves_the_old_store_or_the_new_one_and_no_copy_for_long(old: Path, moment: str) -> None:
    program = (
        "import os, signal, sys\nfrom emotui.store import schema, upgrade\nfrom emotui.store.store import Store\n"
        f"def die():\n    os.kill(os.getpid(), signal.SIGKILL)\n{KILLED[moment]}\nStore.open(sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(old)], check=False)
    assert done.returncode == -signal.SIGKILL
    tried("kills")
    left = upgrade.copies_left(old)
    assert len(left) == (moment != "while it copies")
    new = moment.startswith("after the commit") or moment == "before the copy is removed"
    assert Access(old, read_only=True).version() == (schema.VERSION if new else 1)
    for copy in left:
        assert asked(copy, "select version from workspace") == [(1,)]
    store = Store.open(old)
    assert [dataset.name for dataset in store.datasets.all()] == ["stories"]
    assert store.runs.get("old").done == 1
    assert store.settings.get("theme") == "dark"
    store.settings.set("theme", "light")
    scratch.sweep(old)
    assert names(old) == [old.name]


def test_a_damaged_store_names_the_copy_that_a_killed_upgrade_left(old: Path) -> None:
    copy = old.with_name(f"{old.name}.999999999.version-1")
    shutil.copy(old, copy)
    old.write_bytes(old.read_bytes()[:12_288] + bytes(500))
    with pytest.raises(StoreError, match="one from before an upgrade that was cut short") as caught:
        Store.open(old)
    assert str(caught.value).endswith(str(copy))
    assert copy.exists()


def test_the_command_shows_what_would_be_done_and_keeps_the_copy_where_it_is_told(old: Path, emotui: Emotui) -> None:
    before = old.read_bytes()
    looked = emotui("upgrade", "--dry-run", "--json", "--db", old).document
    assert (looked["from"], looked["to"], looked["done"], looked["copy"]) == (1, schema.VERSION, False, None)
    assert len(looked["steps"]) == schema.VERSION - 1
    assert old.read_bytes() == before
    did = emotui("upgrade", "--keep-copy", "--json", "--db", old).document
    assert did["done"]
    assert Path(did["copy"]).read_bytes() == before
    assert emotui("upgrade", "--json", "--db", old).document["steps"] == []
