"""What many tests need: a command line in a process of its own, and a workspace that is nobody's."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent

# As many tests run at once as there are cores: a model that takes all of them for each small product only waits for
# the others. The processes that tests start inherit it.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")


class Finished:
    """A command that has ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


Emotui = Callable[..., Finished]


@pytest.fixture
def emotui(tmp_path: Path) -> Emotui:
    """Run `emotui ARGS` with its folders under `tmp_path`."""
    environment = os.environ | {
        "XDG_DATA_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(CHECKOUT),
        "COLUMNS": "100",
    }

    def run(*args: object, stdin: str | bytes = b"", timeout: float = 120) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "emotui", *map(str, args)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=tmp_path,
            env=environment,
            timeout=timeout,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
