"""The very bytes that the workbench sends to a terminal hold no control that stood in data."""

import os
import pty
import re
import select
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from emotui.store.store import Store
from emotui.workbench.workspace import FIRST_START
from tests.conftest import Emotui
from tests.effort import MINUTES, tried
from tests.hostile import PLACES, H, bring_in, write_files
from tests.paths import CHECKOUT
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not MINUTES, reason="every place in a terminal of its own: make test-faults"),
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
]

SIZES = ((45, 160), (24, 80))
QUIET = 0.25
"""Seconds without a byte after which the next key is pressed."""

OWN = re.compile(r"\x1b(?:\[[0-9;:?<>=]*[A-Za-ln-z@`~$u]|\[[0-9;]*m|[=>78]|\]22;[a-z-]*\x07)|[\r\n\x08]")
"""What Textual itself sends: modes, places of the cursor, colours and styles, the shape of the pointer."""

ACTED_ON = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Terminal:
    """A pseudo-terminal with the workbench in it, and all that came from it."""

    def __init__(self, ours: int) -> None:
        self._ours = ours
        self.came = bytearray()

    def press(self, key: str) -> None:
        """Press a key, and read until nothing more comes."""
        os.write(self._ours, {"ctrl+p": b"\x10", "escape": b"\x1b"}.get(key, key.encode()))
        self.read()

    def read(self) -> None:
        while select.select([self._ours], [], [], QUIET)[0]:
            try:
                self.came += os.read(self._ours, 65536)
            except OSError:
                return


@contextmanager
def workbench(db: Path, size: tuple[int, int]) -> Iterator[Terminal]:
    """The workbench over a store, until it is left."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, size)
    command = [sys.executable, "-m", "emotui", "--db", str(db), "--annotator", H]
    env = os.environ | {"PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color", "XDG_STATE_HOME": str(db.parent)}
    own: dict[str, int] = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    person = subprocess.Popen(command, **own, env=env, start_new_session=True)  # type: ignore[call-overload]
    os.close(theirs)
    terminal = Terminal(ours)

    def opened() -> bool:
        terminal.read()
        return b"ZXZpbA" in terminal.came

    try:
        wait_until(opened, lambda: terminal.came.decode(errors="replace"))
        yield terminal
        terminal.press("\x11")
        wait_until(lambda: terminal.read() is None and person.poll() is not None, lambda: "it does not end")
    finally:
        person.kill()
        person.wait()
        os.close(ours)
    assert person.returncode == 0


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_byte_that_a_terminal_acts_on_comes_from_data(emotui: Emotui, tmp_path: Path, size: tuple[int, int]) -> None:
    write_files(tmp_path)
    bring_in(emotui, "w.duckdb")
    store = Store.open(tmp_path / "w.duckdb")
    store.settings.set("live model", f"openai:{H}@http://127.0.0.1:9/v1")
    store.settings.set(FIRST_START, "done")
    leaked = {}
    with workbench(tmp_path / "w.duckdb", size) as terminal:
        for key in PLACES:
            terminal.press(key)
            tried("hostile calls")
            said = OWN.sub("", terminal.came.decode())
            if found := ACTED_ON.findall(said):
                leaked[key] = found
            terminal.came.clear()
            terminal.press("escape")
    assert leaked == {}
    assert list(tmp_path.rglob("failures.log")) == []


def test_the_search_finds_what_a_terminal_acts_on() -> None:
    assert OWN.sub("", "\x1b[?1049h\x1b[1;31mplain\x1b[0m\r\n\x1b[2;5H") == "plain"
    assert ACTED_ON.findall(OWN.sub("", H)) == ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\t"]
