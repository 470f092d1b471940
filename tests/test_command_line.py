"""`emotui` as a process of its own, as a shell sees it; all other tests of commands call it in theirs."""

import contextlib
import json
import os
import re
import select
import sys
from pathlib import Path
from typing import Any

import pytest

from emotui.commands import COMMANDS, GROUPS
from emotui.store.store import Store
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.conftest import Emotui

GOLD = {"id": "1", "text": "I was glad.", "spans": [[6, 10]], "emotion": "happy"}
PREDICTED = {"id": "1", "spans": ["glad"]}
SCORE = ("score", "spans", "--gold", "gold.jsonl", "--no-sim", "--json", "--pred")


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """Where the commands run."""
    (tmp_path / "gold.jsonl").write_text(json.dumps(GOLD) + "\n")
    (tmp_path / "predicted.jsonl").write_text(json.dumps(PREDICTED) + "\n")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--version",), 0),
        ((*SCORE, "predicted.jsonl"), 0),
        (("run", "spans", "--dataset", "gold.jsonl", "--model", "openai:@http://127.0.0.1:9/v1", "--json"), 1),
        ((*SCORE, "nowhere.jsonl"), 2),
        (("score", "spans", "--no-such-option"), 2),
        (("no-such-command",), 2),
        (("nowhere.csv",), 2),
        (("gold.jsonl",), 1),
    ],
    ids=["version", "done", "failed", "bad input", "bad usage", "no such command", "no such file", "a file"],
)
def test_status_and_output_are_those_of_a_call_in_this_process(
    emotui: Emotui, emotui_process: Emotui, arguments: tuple[str, ...], status: int
) -> None:
    here, there = emotui(*arguments), emotui_process(*arguments)
    assert (there.status, there.err) == (here.status, here.err)
    assert there.status == status
    assert there.out == here.out


def test_records_come_through_a_pipe(emotui_process: Emotui) -> None:
    piped = emotui_process(*SCORE, "-", stdin=json.dumps(PREDICTED))
    assert piped.document["f1"] == 1


def test_the_first_word_of_a_name_of_two_says_what_may_follow(emotui: Emotui) -> None:
    told = emotui("batch", "--help")
    assert told.status == 2
    assert "'batch' is the first of two words: batch read, batch write" in told.err


def test_the_help_has_every_command_once_under_what_one_wants() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


def test_a_file_in_place_of_a_command_opens_the_workbench_and_one_that_is_not_there_is_named(emotui: Emotui) -> None:
    assert "the workbench needs a terminal" in emotui("gold.jsonl").err
    assert emotui("nowhere.csv").err.strip() == "nowhere.csv: there is no such file"
    assert emotui("--read-only", "gold.jsonl").status == 2


def test_a_workspace_in_place_of_a_command_is_opened(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps: list[Any] = []
    monkeypatch.setattr("emotui.commands.browse.show_app", apps.append)
    told = emotui("mine.duckdb").err
    assert told.strip() == "mine.duckdb: there is no such file; emotui --db mine.duckdb makes a workspace there"
    Store.open(tmp_path / "mine.duckdb")
    assert emotui("mine.duckdb", "--read-only").status == 0
    monkeypatch.chdir(tmp_path)
    source = apps[0]._open_source()
    assert (source.store.path.name, source.store.read_only, apps[0]._file) == ("mine.duckdb", True, "")
    twice = emotui("--db", "other.duckdb", "mine.duckdb")
    assert (twice.status, "name one of them" in twice.err) == (2, True)


def test_the_workbench_leaves_the_terminal_without_a_word(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")  # Windows has no pseudo-terminal
    workspace = Workspace.open(tmp_path / "left.duckdb")
    workspace.import_files([str(tmp_path / "gold.jsonl")])
    workspace.set_setting(FIRST_START, "done")
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-m", "emotui", "--db", str(workspace.store.path)])
    written, asked = b"", False
    with contextlib.suppress(OSError):  # what Linux raises once the other end is closed
        while select.select([terminal], [], [], 120)[0] and (more := os.read(terminal, 65536)):
            written += more
            if not asked and b"glad" in written:
                os.write(terminal, b"\x11")  # Ctrl+Q
                asked = True
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    left = written.rpartition(b"\x1b[?1049l")
    assert left[1], "the terminal's own screen came back"
    assert re.sub(rb"\x1b\[[\x20-\x3f]*[\x40-\x7e]", b"", left[2]).strip() == b""
