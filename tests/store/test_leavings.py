"""What a kill left behind is swept away or named; what a living program uses is let be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from emotui import scratch
from emotui.errors import BadInput, BadStore, StoreError
from emotui.store.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes cannot be looked for safely")


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_folders_of_killed_programs_are_removed_and_no_others(temporary: Path, dead: int) -> None:
    swept = [temporary / f"emotui-{dead}-abcd_123", temporary / f"emotui-{dead}-spill"]
    kept = [
        temporary / f"emotui-{os.getpid()}-abcd_123",
        temporary / "emotui-1-abcd_123",
        temporary / "emotui-mine",
        temporary / f"emotui-{dead}-longer-name",
        temporary / f"other-{dead}-abcd_123",
    ]
    for folder in (*swept, *kept):
        folder.mkdir()
        (folder / "texts").touch()
    (temporary / "kept").mkdir()
    (temporary / "kept" / "file").touch()
    link = temporary / f"emotui-{dead}-abcd_124"
    link.symlink_to(temporary / "kept")
    scratch.sweep(None)
    assert not any(folder.exists() for folder in swept)
    assert all((folder / "texts").exists() for folder in kept)
    assert (link / "file").exists()


def test_a_folder_to_work_in_is_named_so_that_it_can_be_swept(temporary: Path) -> None:
    with scratch.folder() as folder:
        assert scratch._OURS.fullmatch(Path(folder).name)
        scratch.sweep(None)
        assert Path(folder).exists()
    assert scratch._OURS.fullmatch(scratch.spill().name)


def test_half_made_stores_of_killed_programs_are_removed(temporary: Path, dead: int) -> None:
    store = temporary / "w.duckdb"
    names = [f"w.duckdb.{dead}.new", f"w.duckdb.{dead}.new.wal", f"w.duckdb.{os.getpid()}.new", f"v.duckdb.{dead}.new"]
    for name in ("w.duckdb", "w.duckdb.wal", *names):
        (temporary / name).touch()
    scratch.sweep(store)
    assert {path.name for path in temporary.iterdir()} == {"w.duckdb", "w.duckdb.wal", *names[2:]}


@pytest.mark.parametrize("create", [True, False])
def test_a_log_without_its_store_is_named_and_kept(tmp_path: Path, create: bool) -> None:
    log = tmp_path / "w.duckdb.wal"
    log.write_bytes(b"what was written last")
    with pytest.raises(BadStore, match=r"w\.duckdb\.wal is the log of a store that is gone.*or move the log away"):
        Store.open(tmp_path / "w.duckdb", create=create)
    assert log.read_bytes() == b"what was written last"
    assert not (tmp_path / "w.duckdb").exists()


def test_a_store_is_made_where_the_file_system_has_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    assert Store.open(tmp_path / "w.duckdb").datasets.all() == []
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


def test_a_name_that_no_file_can_have_is_one_line(tmp_path: Path) -> None:
    for name in ("x" * 5000, "a\0b"):
        for create in (True, False):
            with pytest.raises(StoreError) as caught:
                Store.open(tmp_path / name, create=create)
            assert "\n" not in str(caught.value)


def test_a_store_that_vanishes_while_it_is_worked_with_is_no_bad_input(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    waiting = store.waiting(lambda who, seconds: None)
    (tmp_path / "w.duckdb").unlink()
    for gone in (store, waiting):
        with pytest.raises(StoreError, match="it was there before") as caught:
            gone.datasets.all()
        assert not isinstance(caught.value, BadInput)
    with pytest.raises(BadInput):
        Store.open(tmp_path / "w.duckdb", create=False)
