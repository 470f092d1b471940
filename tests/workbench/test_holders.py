"""A run is locked by the process that is at it, and by no other with its number or its machine's name."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from emotui.store.beside import SettingTable
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.workbench.drafts import Draft, DraftBook, Field
from emotui.workbench.runs import states
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.states import begun, is_own, may_be_going, signed, with_state
from tests.conftest import Emotui
from tests.waiting import wait_until

pytestmark = pytest.mark.faults

HERE = signed(RunConfig())
DEAD = 2**22 + 1
"""More than a process number of Linux can be."""

linux = pytest.mark.skipif(not states.boot(), reason="the system does not name its starts")


def at(**changed: object) -> RunConfig:
    return msgspec.structs.replace(HERE, **changed)


@linux
@pytest.mark.parametrize(
    ("config", "going"),
    [
        (at(), True),
        (at(host="former-name"), True),
        (at(pid=DEAD), False),
        (at(pid=DEAD, host="former-name"), False),
        (at(pid=1), False),
        (at(begun="1"), False),
        (at(boot="another start"), False),
        (at(boot="another start", host="another machine"), True),
        (at(space="pid:[1]", pid=DEAD), True),
        (RunConfig(pid=os.getpid(), host=HERE.host), True),
        (RunConfig(pid=DEAD, host=HERE.host), False),
        (RunConfig(pid=DEAD, host="another machine"), True),
    ],
    # The configurations hold numbers of processes, by which no two workers of a run would call the tests alike.
    ids=[
        "the process itself",
        "under a former name of the machine",
        "a number that no process has",
        "a number that no process has, under a former name",
        "another process",
        "an earlier process of that number",
        "an earlier start of the machine",
        "an earlier start of another machine",
        "another space of processes",
        "without more than its number, this machine",
        "a dead number, this machine",
        "a number of another machine",
    ],
)
def test_who_may_be_at_a_run(config: RunConfig, going: bool) -> None:
    assert may_be_going(config) == going


@linux
def test_a_process_begins_once() -> None:
    assert begun(os.getpid()) == HERE.begun != ""
    assert begun(1) != HERE.begun
    assert begun(DEAD) == ""
    assert is_own(HERE)
    assert not is_own(at(begun="1"))


@linux
def test_a_run_whose_process_number_is_another_ones_now_is_stopped() -> None:
    config = msgspec.to_builtins(at(begun="1"))
    run = Run("r", "spans", "embedded", 1, "i", config, "running", "now", None, 3, 1, 0, None)
    assert with_state(run).state == "stopped"


def test_a_run_of_another_machine_is_taken_over_on_request(emotui: Emotui, tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    run = emotui("run", "spans", "--limit", "4", "--db", db, "--json").document["run"]
    store = Store.open(db)
    elsewhere = msgspec.to_builtins(RunConfig(pid=7, host="another machine", boot="another start"))
    kept = store.runs.get(run)
    config = kept.config | {name: elsewhere[name] for name in ("pid", "host", "boot")}
    store.runs.start(run, kept.identity, kept.task, kept.model, kept.dataset, config, kept.n)
    assert with_state(store.runs.get(run)).state == "running"
    refused = emotui("run", "spans", "--resume", run, "--db", db)
    assert refused.status == 2
    assert "is going on in process 7 of another machine: stop that first" in refused.err
    assert "--take-over finishes its run" in refused.err
    done = emotui("run", "spans", "--resume", run, "--take-over", "--db", db, "--json")
    assert (done.status, done.document["done"]) == (0, 4)
    alone = emotui("run", "spans", "--take-over", "--db", db)
    assert (alone.status, alone.err) == (2, "--take-over goes with --resume RUN: name the run\n")


def test_a_setting_is_read_and_written_in_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    other = Store.open(tmp_path / "w.duckdb")
    store.settings.change("n", lambda kept: [*(kept or []), 1])
    # Whatever another terminal writes between two calls is there for the second.
    other.settings.change("n", lambda kept: [*kept, 2])
    store.settings.change("n", lambda kept: [*kept, 3])
    assert store.settings.get("n") == [1, 2, 3]
    monkeypatch.setattr(SettingTable, "get", lambda *_: pytest.fail("read in a transaction of its own"))
    monkeypatch.setattr(SettingTable, "set", lambda *_: pytest.fail("written in a transaction of its own"))
    one, two = Field("note", "ann", 1, 1), Field("note", "ann", 1, 2)
    DraftBook(store).keep({one: Draft(text="mine"), two: None})
    DraftBook(other).keep({two: Draft(text="yours")})
    monkeypatch.undo()
    assert DraftBook(store).of("ann") == {one: Draft(text="mine"), two: Draft(text="yours")}


@linux
def test_a_process_that_was_killed_is_gone_also_where_its_parent_has_not_asked_for_its_end() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert begun(child.pid)
        child.kill()
        wait_until(lambda: " Z " in Path(f"/proc/{child.pid}/stat").read_text("utf-8"))
        assert begun(child.pid) == ""
