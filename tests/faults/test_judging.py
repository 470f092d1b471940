"""People who judge are struck at any moment, or their disk is full: what was kept stands, and one goes on there."""

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from emotui.store.store import Store
from tests.effort import MINUTES, times, tried
from tests.faults.people import WORKS, Wanted, after, plain
from tests.paths import CHECKOUT
from tests.templates import copy_of

pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="programs are forked, where the system can"),
]
every_work = pytest.mark.parametrize("work", WORKS)

ROOM = 2**14
"""Bytes that the log of the store may have: some dozens of acts."""

BLOWS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)

INTERRUPTED = re.compile(r"KeyboardInterrupt|Query interrupted")
"""What Ctrl-C raises, where DuckDB has taken it too."""


class People:
    """Programs of people, one at a time."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.people"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=CHECKOUT,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        )

    def __enter__(self) -> "People":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def _line(self) -> str:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line, "the server of people is gone"
        return line.rstrip("\n")

    def at_work(self, wanted: Wanted, chance: random.Random | None = None) -> list[str]:
        """What one writes until it ends, or is struck after some acts at some moment."""
        assert self._server.stdin is not None
        self._server.stdin.write(msgspec.json.encode(wanted).decode() + "\n")
        self._server.stdin.flush()
        acts = chance.randrange(8) if chance else 0
        pid, lines = 0, list[str]()
        while (line := self._line()) != "ended":
            if line.startswith("pid "):
                pid = int(line.removeprefix("pid "))
                continue
            lines.append(line)
            if chance is not None and pid and len(lines) > acts:
                # Between two acts or within one: that is drawn by how far it has come when the blow is there.
                os.kill(pid, chance.choice(BLOWS))
                chance, pid = None, 0
        return lines


@pytest.fixture(scope="module")
def people() -> Iterator[People]:
    with People() as server:
        yield server


def new_store(work: str, folder: Path) -> Path:
    path = folder / "w.duckdb"

    def make(to: Path) -> None:
        inside = to.parent / f"{to.name}-made"
        inside.mkdir()
        WORKS[work].make(inside).rename(to)

    copy_of(path, f"judged: {WORKS[work].make.__name__}", make)
    return path


def standing(work: str, path: Path) -> dict[str, str]:
    return plain(WORKS[work].kept(Store.open(path)))


def check(work: str, path: Path, before: dict[str, str], lines: list[str]) -> None:
    """All that was told is there, and of what was not told yet the act that was under way at most."""
    assert not [line for line in lines if line.startswith("broke") and not INTERRUPTED.search(line)], lines
    told = after(before, [line for line in lines if line.startswith("=")])
    begun = after(before, [line for line in lines if line.startswith(("=", "+"))])
    assert standing(work, path) in (told, begun), lines


@every_work
def test_a_person_who_is_struck_loses_at_most_the_act_under_way(work: str, people: People, tmp_path: Path) -> None:
    path = new_store(work, tmp_path)
    chance = random.Random(None if MINUTES else work)
    acts = 0
    for _ in range(times(4, 120)):
        before = standing(work, path)
        lines = people.at_work(Wanted(work, str(path), chance.randrange(2**32)), chance)
        tried("kills")
        assert not any(line.startswith("refused") for line in lines), lines
        check(work, path, before, lines)
        acts += sum(line.startswith("=") for line in lines)
    assert acts, "nothing was ever kept"


@every_work
def test_a_person_whose_disk_is_full_is_told_in_a_line_and_goes_on_once_there_is_room(
    work: str, people: People, tmp_path: Path
) -> None:
    path = new_store(work, tmp_path)
    chance = random.Random(None if MINUTES else work)
    for _ in range(times(1, 10)):
        before = standing(work, path)
        lines = people.at_work(Wanted(work, str(path), chance.randrange(2**32), room=ROOM))
        refusal = f"refused {path}: the disk is full; what was stored before is safe: free some space, then try again"
        assert lines[-1] == refusal
        check(work, path, before, lines)
        before = standing(work, path)
        more = people.at_work(Wanted(work, str(path), chance.randrange(2**32)), random.Random(99))
        assert [line for line in more if line.startswith("=")]
        check(work, path, before, more)
