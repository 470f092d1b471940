"""Models of this package's own kinds are forked from a server that has imported their libraries, see `fork_server`.

Other packages' kinds, and models under other paths or variables than the server's, have a process of their own.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO

import msgspec
import pytest

from emotui.backends.host import ModelProcess, child_environment
from emotui.backends.spec import parse_spec
from tests.fork_server import OFFLINE, Wanted
from tests.kept_engines import others

KINDS = ("embedded", "hf", "openai")
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "AF_UNIX")
"""Not on Windows: models are started there as they are for anybody."""


class Forked:
    """A child of the server, with what `ModelProcess` uses of `subprocess.Popen`."""

    def __init__(self, address: str, wanted: Wanted, words: IO[bytes]) -> None:
        self.returncode: int | None = None
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self._told, tells = os.pipe()
        document = msgspec.json.encode(wanted)
        ends = (theirs_in, theirs_out, words.fileno(), tells)
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(address)
            socket.send_fds(server, [len(document).to_bytes(4, "little")], ends)
            server.sendall(document)
        for end in (theirs_in, theirs_out, tells):
            os.close(end)
        self.stdin, self.stdout = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
        self.pid = self._number()
        """0 where the server has other paths or variables, and forks none; -1 where it has ended."""
        if self.pid < 0:
            self.returncode = -signal.SIGKILL

    def poll(self) -> int | None:
        """The status with which it has ended; None while it runs."""
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self.returncode = self._number()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its status, once it has ended."""
        if self.returncode is None and not select.select([self._told], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a forked model", timeout or 0)
        status = self.poll()
        assert status is not None
        return status

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _number(self) -> int:
        return int.from_bytes(os.read(self._told, 8) or b"\xff", "little", signed=True)

    def __del__(self) -> None:
        os.close(self._told)


class Server:
    """The server; `address` is its socket's."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="emotui-forks-")
        self.address = f"{self._folder.name}/socket"
        environment = child_environment("hf")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen()
            boot = f"import sys; sys.path[:] = {sys.path!r}; from tests.fork_server import serve; "
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{boot}serve({listener.fileno()}, {environment!r})"],
                pass_fds=[listener.fileno()],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env={**environment, OFFLINE: "1"},
            )
        others.discard(self._process)

    def close(self) -> None:
        """End it; each child ends when its own standard input does."""
        self._process.communicate()
        self._folder.cleanup()


@contextmanager
def forked_models(address: str | None = None) -> Iterator[None]:
    """While it lasts, starting a `ModelProcess` forks one: from the server at `address`, else from one of its own."""
    if not CAN_FORK:
        yield
        return
    spawn, starting = ModelProcess._spawn, threading.Lock()
    with ExitStack() as ends:

        def fork(process: ModelProcess, words: IO[bytes], environment: Mapping[str, str]) -> object:
            nonlocal address
            kind, _ = parse_spec(process.spec)
            if kind not in KINDS:
                return spawn(process, words, environment)
            with starting:
                address = address or ends.enter_context(closing(Server())).address
            forked = Forked(address, Wanted(kind, sys.path, dict(environment), str(Path.cwd())), words)
            if forked.pid == 0:
                return spawn(process, words, environment)
            if process._closed:  # while the server was starting
                forked.kill()
            return forked

        patched = ends.enter_context(pytest.MonkeyPatch.context())
        patched.setattr(ModelProcess, "_spawn", fork)
        yield
