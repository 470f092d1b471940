"""Whatever is killed at whatever moment, no row is lost, nothing is left running, and the rest comes out the same."""

import contextlib
import json
import math
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from emotui.records import Mark, SpanSample
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.effort import MINUTES, rounds, tried
from tests.faults.people import WORKS
from tests.paths import CHECKOUT, TESTS
from tests.screens.browse_workspace import workspace
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(sys.platform == "win32", reason="there are neither these signals nor pseudo-terminals"),
]

SAMPLES = 48
BLOWS = [
    signal.SIGKILL,
    signal.SIGTERM,
    signal.SIGINT,
    *([signal.SIGHUP, signal.SIGQUIT] if os.name == "posix" else []),
]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color"}
CHANCE = random.SystemRandom()


def start(db: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "emotui", "run", "spans", "--db", str(db), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=db.parent,
        env=ENVIRONMENT,
    )


def said(store: Store, run: str) -> list[tuple[object, ...]]:
    """All that a run kept, but how long it took and the store's own numbers."""

    def of(row: ResultRow) -> tuple[object, ...]:
        score = None if row.score is None else row.score.detail
        return row.sample, row.repeat, row.attempt, row.prompt, row.raw, row.error, row.prediction, score

    return sorted(map(of, store.results.of_run(run)), key=repr)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[object, ...]]]:
    """A workspace without a run, and what a run over it says that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    start(folder / "w.duckdb", "--limit", "1").wait()
    shutil.copyfile(folder / "w.duckdb", folder / "ran.duckdb")
    assert start(folder / "ran.duckdb", "--limit", str(SAMPLES)).wait() == 0
    store = Store.open(folder / "ran.duckdb")
    return folder / "w.duckdb", said(store, store.runs.all()[0].run)


def end_somewhere(run: subprocess.Popen[bytes], db: Path) -> list[psutil.Process]:
    """Strike the run, its model or both, at some moment; returns all processes that there were."""
    least = CHANCE.randrange(SAMPLES)
    hasty = CHANCE.random() < 0.3
    begun = time.monotonic()
    wait = CHANCE.random() * 4

    def comes() -> bool:
        if run.poll() is not None or (hasty and time.monotonic() - begun > wait):
            return True
        return any(one.n == SAMPLES and one.done >= least for one in Store.open(db).runs.all())

    wait_until(comes)
    there: list[psutil.Process] = []
    if run.poll() is None:
        children = psutil.Process(run.pid).children(recursive=True)
        there = [psutil.Process(run.pid), *children]
        struck = CHANCE.choice([there[:1], children[:1] or there[:1], there])
        blow = CHANCE.choice(BLOWS)
        tried("kills")
        for process in struck:
            if process.is_running():
                process.send_signal(blow)
        if there[0] not in struck and blow in (signal.SIGINT, signal.SIGHUP):
            run.send_signal(signal.SIGTERM)  # Ctrl-C of a model alone changes nothing
    run.wait()
    return there


@pytest.mark.skipif(not MINUTES, reason="takes many seconds a round; the short form is in test_run_command.py")
def test_a_run_struck_anywhere_is_finished_to_the_same_bytes(
    whole: tuple[Path, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    empty, expected = whole
    for number in rounds(1):
        db = tmp_path / f"{number}.duckdb"
        shutil.copyfile(empty, db)
        name, before = "", 0
        for _ in range(CHANCE.randint(1, 3)):
            going = start(db, "--resume", name) if name else start(db, "--limit", str(SAMPLES))
            there = end_somewhere(going, db)
            wait_until(lambda there=there: not any(map(alive, there)), lambda: "a process outlives its run")  # type: ignore[misc]
            (*_, run) = [one for one in Store.open(db).runs.all() if one.n == SAMPLES] or [None]
            if run is not None:
                assert run.done >= before, "rows were lost"
                name, before = run.run, run.done
        done = start(db, "--resume", name) if name else start(db, "--limit", str(SAMPLES))
        assert done.wait() == 0
        store = Store.open(db)
        (run,) = [one for one in store.runs.all() if one.n == SAMPLES]
        assert said(store, run.run) == expected
        db.unlink()


TINY = f"hf:{TESTS / 'tiny' / 'model' / 'hf'}#threads=1"
WHY: dict[str, tuple[str, ...]] = {
    "evidence": ("run", "evidence", "--model", "embedded", "--limit", "16"),
    "words": ("words", "--model", "embedded", "--limit", "16"),
    "steady": ("steady", "--model", "embedded", "--variants", "1", "--limit", "16"),
    "gradients": ("lens", "gradients", "--model", TINY, "--steps", "3", "--limit", "8"),
    "push": ("lens", "push", "joy", "--model", TINY, "--layer", "1", "--draws", "2", "--texts", "4", "--write", "So?"),
}
"""Commands that tell why a model answers so."""


def explained(db: Path, why: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "emotui", *WHY[why], "--dataset", "mine", "--db", str(db), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=db.parent,
        env=ENVIRONMENT,
    )


def told(command: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What it found, but how long it took and what its run is called."""
    out, _ = command.communicate()
    assert command.returncode == 0
    return {key: one for key, one in json.loads(out).items() if key not in ("run", "seconds", "asked", "tokens")}


def alike(one: Any, other: Any) -> bool:
    """Whether two documents say the same, but for rounding: what is asked anew stands in another batch."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = (
            sorted(side, key=_named) if any(isinstance(item, dict) for item in side) else side for side in (one, other)
        )
        return len(one) == len(other) and all(map(alike, *pairs))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-4)
    return bool(one == other)


def _named(item: Any) -> str:
    """By what a row stands where figures that are nearly the same decide the order."""
    return json.dumps({key: said for key, said in item.items() if isinstance(said, str)}, sort_keys=True)


def answers(db: Path) -> tuple[set[str], int, dict[str, Any]]:
    """What is kept of models' answers: by name, of runs, and what was there before any was asked."""
    store = Store.open(db)
    done = sum(run.done for run in store.runs.all())
    (dataset,) = [one for one in store.datasets.all() if one.name == "mine"]
    return set(store.settings.beginning("why/answers/")), done, {"n": dataset.n, "mine": store.settings.get("mine")}


@pytest.mark.parametrize(
    "why",
    [
        pytest.param(why, marks=pytest.mark.skipif(not MINUTES and "embedded" not in words, reason="starts torch"))
        for why, words in WHY.items()
    ],
)
def test_a_command_that_tells_why_is_killed_anywhere_and_the_next_call_goes_on(why: str, tmp_path: Path) -> None:
    made = Workspace.open(tmp_path / "new.duckdb")
    moods = {"joy": "so happy", "sadness": "sad and alone", "fear": "afraid", "anger": "furious"}
    samples = []
    for at in range(48):
        label, words = list(moods.items())[at % 4]
        text = f"Today we were {words} at home, {at}."
        place = text.index(words)
        samples.append(SpanSample(id=str(at), text=text, emotion=label, spans=(Mark(place, place + 3, label),)))
    add_samples(made.store, "spans", "mine", samples, "made here")
    made.set_setting("mine", ["said", 1])
    made.store.settings.set(FIRST_START, "done")
    made.close()
    shutil.copyfile(tmp_path / "new.duckdb", tmp_path / "whole.duckdb")
    began = time.monotonic()
    whole = told(explained(tmp_path / "whole.duckdb", why))
    lasts = time.monotonic() - began
    for number in rounds(1, 0.05):
        db = tmp_path / f"{number}.duckdb"
        shutil.copyfile(tmp_path / "new.duckdb", db)
        going = explained(db, why)
        with contextlib.suppress(subprocess.TimeoutExpired):
            going.wait(CHANCE.random() * lasts)
        there = psutil.Process(going.pid).children(recursive=True) if going.poll() is None else []
        tried("kills")
        going.kill()
        going.communicate()
        wait_until(lambda there=there: not any(map(alive, there)), lambda: "a model outlives its command")  # type: ignore[misc]
        kept, done, before = answers(db)
        assert before == {"n": len(samples), "mine": ["said", 1]}
        assert alike(told(explained(db, why)), whole)
        after, done_then, _ = answers(db)
        assert kept <= after
        assert done <= done_then


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


KEYS: Sequence[bytes] = [
    *(bytes([key]) for key in b"jkJKnpNP\x1b\r\t 1234567lLhHuUmFsSrbv/?x"),
    *(bytes([key]) for key in b"cgi;aA"),
    *(b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[15~", b"\x1b[17~"),
]


def small(db: Path) -> dict[str, int]:
    """Make a workspace with a run; returns how many answers each has."""
    made = workspace(
        db, samples=[SpanSample(id=str(n), text=f"I was so glad, {n}", spans=()) for n in range(9)], run=False
    )
    made.store.settings.set(FIRST_START, "done")
    (dataset,) = made.store.datasets.all()
    made.store.runs.start("known", "identity", "spans", "embedded", dataset.dataset, {"seed": 0}, 9)
    made.store.runs.set_state("known", "stopped")
    known = {run.run: run.done for run in made.store.runs.all()}
    made.close()
    return known


def judged(work: str) -> Callable[[Path], dict[str, int]]:
    """A workspace in which people judge; a call makes it."""

    def make(db: Path) -> dict[str, int]:
        folder = db.with_suffix("")
        folder.mkdir()
        WORKS[work].make(folder).rename(db)
        store = Store.open(db)
        store.settings.set(FIRST_START, "done")
        return {run.run: run.done for run in store.runs.all()}

    return make


@pytest.mark.parametrize(
    ("make", "place", "works"),
    [
        (small, b"1", ()),
        (judged("adjudication"), b"2", ("notes", "notes of answers", "adjudication")),
        (judged("studies"), b"5", ("guesses", "studies")),
        (judged("ratings"), b"6", ("ratings",)),
    ],
    ids=["browse", "annotate", "masked", "generate"],
)
def test_a_workbench_struck_anywhere_leaves_a_store_that_opens_with_all_runs(
    make: Callable[[Path], dict[str, int]], place: bytes, works: Sequence[str], tmp_path: Path
) -> None:
    for number in rounds(1, 0.1):
        db = tmp_path / f"{number}.duckdb"
        known = make(db)
        screen, there = struck_workbench(db, place)
        wait_until(lambda there=there: not any(map(alive, there)), lambda: "a process outlives it")  # type: ignore[misc]
        assert b"Traceback" not in screen, screen.decode(errors="replace")
        after = {run.run: run.done for run in Store.open(db).runs.all()}
        assert known.items() <= after.items()
        for work in works:
            assert all(map(str.isprintable, WORKS[work].kept(Store.open(db))))
        db.unlink()


def struck_workbench(db: Path, place: bytes) -> tuple[bytes, list[psutil.Process]]:
    """Go to a place of the workbench, press keys there, and end it at some moment.

    Returns:
        What it drew, and the processes that there were.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [sys.executable, "-m", "emotui", "--db", str(db)]
    person = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=ENVIRONMENT, start_new_session=True
    )
    os.close(theirs)
    screen = bytearray()

    def draws() -> bool:
        while select.select([ours], [], [], 0)[0]:
            try:
                screen.extend(os.read(ours, 65536))
            except OSError:
                return True
        return len(screen) > 3000

    try:
        wait_until(draws, lambda: screen.decode(errors="replace"))
        for key in [place, *(CHANCE.choice(KEYS) for _ in range(CHANCE.randint(1, 80)))]:
            if person.poll() is not None:
                break
            os.write(ours, key)
            draws()
            time.sleep(CHANCE.random() * 0.05)
        there = [psutil.Process(person.pid), *psutil.Process(person.pid).children(recursive=True)]
        person.send_signal(CHANCE.choice(BLOWS))
        tried("kills")
        begun = time.monotonic()
        # It may ask a person before it ends; then it is ended all the same.
        wait_until(lambda: draws() and (person.poll() is not None or time.monotonic() - begun > 2))
    finally:
        person.kill()
        person.wait()
        os.close(ours)
    return bytes(screen), there


@pytest.mark.parametrize("hang_ups", [signal.SIG_DFL, signal.SIG_IGN], ids=["heeded", "ignored"])
def test_a_workbench_whose_terminal_is_gone_ends(tmp_path: Path, hang_ups: signal.Handlers) -> None:
    small(tmp_path / "w.duckdb")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "emotui", "--db", str(tmp_path / "w.duckdb")]
    own: dict[str, int] = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    before = signal.signal(signal.SIGHUP, hang_ups)
    person = subprocess.Popen(command, **own, env=ENVIRONMENT, start_new_session=True)  # type: ignore[call-overload]
    signal.signal(signal.SIGHUP, before)
    os.close(theirs)
    try:
        assert os.read(ours, 1)
        os.close(ours)
        wait_until(lambda: person.poll() is not None, lambda: "it goes on without a terminal")
    finally:
        person.kill()
        person.wait()
    assert person.returncode != 0
