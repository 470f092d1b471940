"""Annotators in programs of their own: killed in the middle of a keystroke, and two at once on one store."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emotui.store.store import Store
from tests.effort import tried
from tests.paths import CHECKOUT
from tests.workbench.annotate.small_sets import begin, numbers, store_with

pytestmark = pytest.mark.faults

ANNOTATOR = Path(__file__).with_name("annotator.py")


def terminal(store: Store, name: str, keystrokes: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(ANNOTATOR), str(store.path), "spans", name, str(keystrokes)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
    )


def kept(store: Store, name: str) -> list[str]:
    """The ids of a person's spans in the order in which they were made."""
    found = begin(store, "spans", name)._log.entries(numbers(store, "spans")[0])
    return [entry.kept.event.span.id for entry in found]  # type: ignore[union-attr]


def test_a_kill_in_a_keystroke_costs_that_keystroke_and_no_other(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    person = terminal(store, "ann", 800)
    assert person.stdout is not None
    told = [person.stdout.readline().strip() for _ in range(5)]
    person.send_signal(signal.SIGKILL)
    tried("kills")
    told += [line.strip() for line in person.stdout.read().splitlines()]
    person.wait()
    there = kept(store, "ann")
    # What was told is kept; of what was not told yet, at most the one in the middle of which the kill came.
    assert there[: len(told)] == told
    assert len(there) <= len(told) + 1
    assert begin(store, "spans", "ann").undo() == numbers(store, "spans")[0]


def test_two_annotators_in_two_terminals_lose_nothing_to_each_other(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    people = {name: terminal(store, name, 12) for name in ("ann", "ben")}
    told = {name: person.communicate()[0].split() for name, person in people.items()}
    assert [person.returncode for person in people.values()] == [0, 0]
    for name, ids in told.items():
        assert len(ids) == 12
        assert kept(store, name) == ids
