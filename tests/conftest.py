"""What many tests need: the command line, a workspace that is nobody's, and models that are loaded once."""

import asyncio
import gc
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import settings

from emotui.__main__ import main
from emotui.collector import collect_seldom
from tests.effort import LEAST, MINUTES, WHOLE, counted
from tests.forked_models import CAN_FORK, Server, forked_models
from tests.kept_engines import engines, kept_engines
from tests.kept_models import kept_models
from tests.paths import CHECKOUT
from tests.templates import copied_stores
from tests.waiting import LONGEST

# As many tests run at once as there are cores: a model that takes all of them for each small product only waits for
# the others. The processes that tests start inherit it.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

_FORKS = "FORKED_MODELS"
"""The variable that tells workers where the server of forked models listens."""

# A rule holds or not, however busy the machine is; and a failure prints the line that makes it again. The examples are
# the same ones in every run of `make test`, so that it says what changed; `make test-faults` draws new ones.
settings.register_profile("tests", deadline=None, print_blob=True, derandomize=not MINUTES)
settings.load_profile("tests")


_THREADS_END_IN = 60.0
"""Seconds after which the threads of a test that is over are left to themselves."""


async def _shutdown_default_executor(loop: Any) -> None:
    """As `BaseEventLoop.shutdown_default_executor`, but no thread is waited for without end: after a test that failed
    pytest-timeout watches no more, so that one thread that hangs would hold up the whole run and hide the failure."""
    loop._executor_shutdown_called = True
    if (executor := loop._default_executor) is None:
        return
    executor.shutdown(wait=False)
    until = time.monotonic() + _THREADS_END_IN
    while any(thread.is_alive() for thread in executor._threads) and time.monotonic() < until:
        await asyncio.sleep(0.001)


asyncio.BaseEventLoop.shutdown_default_executor = _shutdown_default_executor  # type: ignore[method-assign]


class Finished:
    """A command that has ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


Emotui = Callable[..., Finished]


@pytest.fixture(scope="session", autouse=True)
def _models() -> Iterator[None]:
    """The tests of one worker share the processes of the embedded model and of the tiny ones, and what these import."""
    with forked_models(os.environ.get(_FORKS)), kept_models():
        yield


@pytest.fixture(scope="session", autouse=True)
def _stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each worker makes the tables of an empty workspace once, and stores share engines in turn."""
    with copied_stores(), kept_engines(tmp_path_factory.getbasetemp()):
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """All workers have their models forked from one server; without workers it is started when a model is."""
    if not CAN_FORK:
        return
    server = Server()
    os.environ[_FORKS] = server.address
    config.add_cleanup(server.close)


@pytest.fixture(scope="session", autouse=True)
def _settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What emotui remembers of this machine is nobody's."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patched.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


def pytest_sessionstart(session: pytest.Session) -> None:
    """Each worker of a whole run first imports a share of the tests of its own: pytest compiles a file once, and who
    imports it later finds that, where all would compile the same file at the same time."""
    collect_seldom()
    number, workers = (os.environ.get(f"PYTEST_XDIST_WORKER{more}", "") for more in ("", "_COUNT"))
    if not number or session.config.args != session.config.getini("testpaths"):
        return
    for file in sorted(CHECKOUT.glob("tests/**/test_*.py"))[int(number.removeprefix("gw")) :: int(workers)]:
        # What goes wrong, or is left out where a package is missing, does so again where it is collected.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(CHECKOUT).with_suffix("").parts))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands over what its tests have tried; a whole `make test-faults` that tried too little has failed."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["tried"] = dict(counted)
    elif MINUTES >= WHOLE and session.config.args == session.config.getini("testpaths") and not session.exitstatus:
        session.exitstatus = int(any(counted[what] < few for what, few in LEAST.items()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take in what the tests of a worker have tried."""
    counted.update(getattr(node, "workeroutput", {}).get("tried", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the tests of faults have tried, and of how many of them something came."""
    if not counted:
        return
    wrong = sum(len(terminalreporter.getreports(outcome)) for outcome in ("failed", "error"))
    came = f"{wrong} tests failed over what came of it" if wrong else "0 of anything came of it"
    said = ", ".join(f"{counted[what]:,} {what}" for what in LEAST)
    few = [f"{few:,} {what}" for what, few in LEAST.items() if MINUTES and counted[what] < few]
    least = f" ({WHOLE} minutes of all try at least {', '.join(few)})" if few else ""
    terminalreporter.write_line(f"tried: {said}{least}: {came}")


def pytest_runtest_logfinish() -> None:
    """What a test leaves of its stores is over."""
    engines.take_back()


def pytest_collection_finish() -> None:
    """What is imported by now stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def emotui(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Emotui:
    """Run `emotui ARGS` in this process, with its folders under `tmp_path`."""
    environment = {"XDG_DATA_HOME": str(tmp_path / "home"), "COLUMNS": "100"}

    def run(*args: object, stdin: str | bytes = b"") -> Finished:
        status = 0
        with monkeypatch.context() as patched, CliRunner().isolation(stdin, environment) as (out, err, _):
            patched.chdir(tmp_path)
            patched.setattr(sys, "argv", ["emotui", *map(str, args)])
            try:
                main()
            except SystemExit as leaving:
                status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
            sys.stdout.flush()
            sys.stderr.flush()
        assert b"Traceback" not in err.getvalue(), err.getvalue().decode()
        return Finished(status, out.getvalue().decode(), err.getvalue().decode())

    return run


@pytest.fixture
def emotui_process(tmp_path: Path) -> Emotui:
    """Run `emotui ARGS` as a person does, in a process of its own; for what starting and ending one is about."""
    environment = os.environ | {
        "XDG_DATA_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(CHECKOUT),
        "COLUMNS": "100",
    }

    def run(*args: object, stdin: str | bytes = b"") -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "emotui", *map(str, args)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=tmp_path,
            env=environment,
            timeout=LONGEST,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
