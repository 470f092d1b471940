"""A process that has imported what models are made of, and forks one of itself for each model that a test starts.

Importing torch and transformers takes seconds, a fork milliseconds. What runs in a fork is `emotui.backends.child`, as
in a process of its own. The server computes nothing and has one thread, so a fork finds no lock taken.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

_IMPORTED = (
    "emotui.backends.child",
    "emotui.backends.embedded.backend",
    "emotui.backends.hf.causal",
    "emotui.backends.hf.classifier",
    "emotui.backends.hf.loading",
    "emotui.backends.hf.masked",
    "emotui.backends.hf.prompts",
    "emotui.backends.hf.classifier",
    "emotui.backends.hf.seq2seq",
    "emotui.backends.hf.span_models",
    "emotui.backends.hf.span_models",
    "emotui.backends.servers",
    "aiohttp",
    "tenacity",
    "transformers.models.bert.modeling_bert",
    "transformers.models.llama.modeling_llama",
)


_READ = ("CUDA", "EMOTUI", "GOMP", "MKL", "NO_", "OMP", "OPENBLAS", "TOKENIZERS", "TORCH")
_READ_BY_TRANSFORMERS = ("HF_", "TRANSFORMERS")
"""How the names of the variables begin that libraries read, most of them while they are imported."""

OFFLINE = "HF_HUB_OFFLINE"
"""The backend `hf` sets it before it imports transformers."""

_SET_WITH_A_MODEL = (OFFLINE, "TORCHINDUCTOR_CACHE_DIR")
"""Tests that load a model in their own process have these from then on."""


def read_by_libraries(kind: str, environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables that decide how a kind of model answers, sorted."""
    begin = _READ if kind == "embedded" else (*_READ, *_READ_BY_TRANSFORMERS)
    read = (name for name in environment if name.startswith(begin) and name not in _SET_WITH_A_MODEL)
    return tuple((name, environment[name]) for name in sorted(read))


class Wanted(msgspec.Struct):
    """What a child shall find as if whoever asks had started it."""

    kind: str
    path: list[str]
    environment: dict[str, str]
    folder: str

    def like(self, environment: Mapping[str, str]) -> bool:
        """Whether libraries that were imported under `environment` are what it would have imported."""
        read, own = (read_by_libraries(self.kind, each) for each in (environment, self.environment))
        return read == own and list(dict.fromkeys(self.path)) == list(dict.fromkeys(sys.path))


class _Server:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.running: dict[int, int] = {}

    def answer(self, asking: socket.socket) -> None:
        size, descriptors, _, _ = socket.recv_fds(asking, 4, 4)
        document = asking.recv(int.from_bytes(size, "little"), socket.MSG_WAITALL)
        wanted = msgspec.json.decode(document, type=Wanted)
        *streams, tells = descriptors
        child = 0
        if wanted.like(self.environment):
            child = os.fork()
            if child == 0:
                _become(wanted, streams)
            self.running[child] = tells
        with suppress(BrokenPipeError):
            os.write(tells, child.to_bytes(8, "little"))
        for descriptor in streams if child else descriptors:
            os.close(descriptor)

    def tell_who_ended(self) -> None:
        while self.running:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            tells = self.running.pop(child)
            with suppress(BrokenPipeError):
                os.write(tells, os.waitstatus_to_exitcode(status).to_bytes(8, "little", signed=True))
            os.close(tells)


def serve(listening: int, environment: Mapping[str, str]) -> None:
    """Fork a child for each request until standard input closes.

    A connection brings one request: the length of a `Wanted` (4 bytes) with four descriptors (a child's standard
    streams, and where its number, 0 for none, and then its status are written to, 8 bytes each), and it as JSON.
    """
    for name in _IMPORTED:
        importlib.import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a fork would lack the other threads"
    gc.collect()
    gc.freeze()
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.socket(fileno=listening)
    server = _Server(environment)
    while True:
        ready, _, _ = select.select([0, ended, listener], [], [])
        if 0 in ready:
            return
        if ended in ready:
            os.read(ended, 4096)
            server.tell_who_ended()
        if listener in ready:
            with listener.accept()[0] as asking:
                server.answer(asking)


def _become(wanted: Wanted, streams: list[int]) -> None:
    """Go on as the process of one model, and end with it."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
        os.closerange(3, max(int(each.name) for each in Path("/proc/self/fd").iterdir()) + 1)
        sys.path[:] = wanted.path
        os.environ.clear()
        os.environ.update(wanted.environment)
        os.chdir(wanted.folder)
        from emotui.backends.child import main

        main()
    finally:
        os._exit(1)
