"""The workbench in a terminal of its own, killed while Annotate is open."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from emotui.store.store import Store
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.workspace import FIRST_START
from tests.effort import tried
from tests.paths import CHECKOUT
from tests.waiting import wait_until
from tests.workbench.annotate.small_sets import begin, numbers, store_with

pytestmark = pytest.mark.faults


def spans(store: Store) -> tuple[SpanMark, ...]:
    """What the log has of the first text."""
    return begin(store, "spans").said(numbers(store, "spans")[0]).spans


def test_a_kill_while_the_place_is_open_costs_at_most_the_last_key(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    store = store_with(path, "spans")
    store.settings.set(FIRST_START, "done")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [sys.executable, "-m", "emotui", "--db", str(path), "--annotator", "ann"]
    env = os.environ | {"PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color"}
    person = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    screen = bytearray()

    def shows(words: bytes) -> bool:
        while select.select([ours], [], [], 0)[0]:
            screen.extend(os.read(ours, 65536))
        return words in screen

    try:
        wait_until(lambda: shows(b"0 spans"), lambda: screen.decode(errors="replace"))
        for n in range(1, 4):
            os.write(ours, b"lJ")
            wait_until(
                lambda n=n: shows(b"") and len(spans(store)) == n,  # type: ignore[misc]
                lambda: f"{spans(store)}\n{screen.decode(errors='replace')}",
            )
        os.write(ours, b"lJ")
    finally:
        person.send_signal(signal.SIGKILL)
        tried("kills")
        person.wait()
        os.close(ours)
        os.close(theirs)
    assert [span.start for span in spans(store)][:3] == [2, 6, 12]
    assert len(spans(store)) in (3, 4)
