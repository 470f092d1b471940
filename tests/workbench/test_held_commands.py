"""A command waits while a foreign program holds the store, says for whom, and goes on."""

import ast
import json
from pathlib import Path

import pytest

import emotui.commands
from emotui.commands import program_options
from emotui.commands.program_options import Waiting
from emotui.store import access
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.store.test_sharing import HOLDER, heard, program


@pytest.fixture
def db(tmp_path: Path) -> Path:
    (tmp_path / "d.jsonl").write_text(json.dumps({"id": "a", "text": "I am sad.", "spans": [[5, 8]]}) + "\n")
    Workspace.open(tmp_path / "w.duckdb").import_files([str(tmp_path / "d.jsonl")], "d")
    return tmp_path / "w.duckdb"


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "spans", "d.jsonl", "--name", "again"),
        ("export", "d", "--to", "out.jsonl"),
        ("rename", "d", "e"),
        ("sql", "SELECT count(*) FROM texts"),
        ("sql", "SELECT * FROM texts", "--to", "texts.csv"),
        ("snapshot", "--to", "copy.duckdb"),
        ("run", "class", "--dataset", "nowhere"),
    ],
)
def test_a_command_waits_for_who_holds_the_store_and_then_does_its_work(
    emotui: Emotui, db: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(db.parent)
    monkeypatch.setattr(access, "PATIENCE", 0.0)
    monkeypatch.setattr(access, "_TELL", 0.0)
    holder, tell = program("-c", HOLDER, db), Waiting.tell

    def told(self: Waiting, who: str, seconds: float = 0.0) -> None:
        tell(self, who, seconds)
        holder.communicate()

    monkeypatch.setattr(Waiting, "tell", told)
    assert heard(holder) == "held\n"
    done = emotui(*arguments, "--db", db)
    line = done.err.splitlines()[0]
    assert line.startswith("waiting since ")
    assert f"(pid {holder.pid}), which holds w.duckdb (Ctrl+C stops)" in line
    assert done.status == (2 if arguments[0] == "run" else 0)
    assert "has been held" not in done.err


def test_ctrl_c_ends_the_waiting(emotui: Emotui, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Waiting, who: str, seconds: float = 0.0) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Waiting, "tell", interrupt)
    holder = program("-c", HOLDER, db)
    assert heard(holder) == "held\n"
    try:
        done = emotui("rename", "d", "e", "--db", db)
    finally:
        holder.communicate()
    assert done.status == 1
    assert [one.name for one in Workspace.open(db).datasets()] == ["d"]


def test_a_wait_is_told_once_whoever_holds_the_store_in_turn_and_however_long_it_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, now = Waiting("folder/w.duckdb"), 0.0
    monkeypatch.setattr(program_options.time, "monotonic", lambda: now)
    for now in range(300):
        waits.tell(f"python (pid {int(now) % 3})", float(now))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" for python (pid 0), which holds w.duckdb (Ctrl+C stops)")
    now += program_options._APART
    waits.tell("R (pid 9)")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" for R (pid 9), which holds w.duckdb (Ctrl+C stops)")


def test_every_command_opens_the_workspace_where_waiting_is_told() -> None:
    """The workbench tells on its screen, and doctor is to say at once what is wrong."""
    folder = Path(emotui.commands.__file__).parent
    opened = [
        file.name
        for file in folder.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("Workspace", "open"), ("Workspace", "look_into"), ("Store", "open")}
    ]
    assert sorted(set(opened)) == ["browse.py", "program_options.py"]
