"""A model in a process of its own: the screen never waits for it, and what kills it costs one error message.

Loading and asking block the calling thread only; both can be cancelled from another one within a second.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from emotui.backends import messages
from emotui.backends.base import CAPABLE_KINDS, METHODS, ModelCard, Progress, Request
from emotui.backends.spec import check_spec
from emotui.errors import BadModel, ModelError, NotNow, Unanswered

IsCancelled = Callable[[], bool]
_POLL = 0.05
_POLL_BESIDE = 0.25
"""Seconds between looks for a cancel; of many that wait at once, each looks less often."""

_MOST_STEPS = 1000
"""Lines about loading that wait to be read; further ones are dropped."""

_MOST_BUILDS = 1000

_Letter = tuple[messages.Said, bytearray] | None
"""What a child says, with the array that came with it; None: it is gone."""

_GRACE = 0.8
"""Seconds that a model is given to end a step after a cancel; then it is left, loaded. One that takes longer over a
single step is killed."""

_SPINS = "2000"
"""How often a thread of a model asks whether the others are done before it sleeps (libgomp, which torch and llama.cpp
compute with). Its own 300,000 take milliseconds: on a busy machine, threads then wait for others that are not running,
and small models are ten and more times slower (docs/performance.md)."""

_KEYLESS = ("embedded", "hf", "gguf", "batch")
"""Kinds of model whose process has no use for the key of a server, and so does not get it."""

_BOOT = "import sys; sys.path[:] = {path!r}; from emotui.backends.child import main; main()"


class Cancelled(Exception):
    """The person stopped the load or the batch."""


class _Mail:
    """What a child says: answers to who asked, all else to who loads it; None to everybody when it is gone."""

    def __init__(self) -> None:
        self.loading: queue.SimpleQueue[_Letter] = queue.SimpleQueue()
        self.outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        """What is to be written to the child, by a thread of its own: one that does not read keeps nobody waiting."""
        self.last = time.monotonic()
        """When the child last said anything."""
        self.builds: list[str] = []
        """What the model said of its own build, each once."""
        self.death: Exception | None = None
        """Why it is gone, once somebody has asked."""
        self.something_else: str | None = None
        """Why it was ended, where it said what no model says."""
        self._asked: dict[int, queue.SimpleQueue[_Letter]] = {}
        self._loaded = self._gone = False
        self._lock = threading.Lock()

    def expect(self, number: int) -> "queue.SimpleQueue[_Letter]":
        """Where the answer to a numbered ask will come."""
        box: queue.SimpleQueue[_Letter] = queue.SimpleQueue()
        with self._lock:
            self._asked[number] = box
            if self._gone:
                box.put(None)
        return box

    def forget(self, number: int) -> None:
        """Its answer is here, or nobody wants it any more."""
        with self._lock:
            self._asked.pop(number, None)

    def deliver(self, message: messages.Said, array: bytearray) -> None:
        """Raises: SomethingElse, for what is not to be said at this time, or not so often."""
        self.last = time.monotonic()
        with self._lock:
            match message:
                case messages.Answer() | messages.Error():
                    box = self._asked.pop(message.number, None)
                    if box is not None:
                        box.put((message, array))
                case messages.Build():
                    if len(self.builds) == _MOST_BUILDS:
                        raise messages.SomethingElse("one build after the other")
                    self.builds.append(message.name)
                case messages.Step():
                    if self.loading.qsize() < _MOST_STEPS:
                        self.loading.put((message, array))
                case _:
                    if self._loaded:
                        raise messages.SomethingElse("it is loaded a second time")
                    self._loaded = True
                    self.loading.put((message, array))

    def end(self) -> None:
        """The child says nothing more."""
        with self._lock:
            self._gone = True
            for box in (self.loading, *self._asked.values()):
                box.put(None)
        self.outgoing.put(None)


class ModelProcess:
    """One model, loaded on first use and again after a crash or a cancel.

    Args:
        spec: the model (see `emotui.backends.spec`).
        options: passed to the backend's loader.
        limit: seconds that a batch may take before the model counts as hanging; of a model that answers several asks
            at once, seconds in which it answers none of them. Loading takes as long as it takes.

    Raises:
        BadInput: `spec` names no installed kind of model, or has an option that its kind has not (BadModel).
    """

    def __init__(self, spec: str, options: Mapping[str, Any] | None = None, *, limit: float = 600.0) -> None:
        self._options = dict(options or {})
        check_spec(spec, self._options)
        self.spec = spec
        self.limit = limit
        self.card: ModelCard | None = None
        self._lock, self._burial = threading.Lock(), threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._mail = _Mail()
        self._number = 0
        self._closed = False
        self._asked = False  # whether the process is past loading
        self._begun = False  # whether it was started ahead of `load`

    @property
    def has_options(self) -> bool:
        """Whether it is loaded with options beside those in its SPEC."""
        return bool(self._options)

    @property
    def builds(self) -> tuple[str, ...]:
        """The builds that a server has reported since it was loaded, where they may change; in their order."""
        return tuple(self._mail.builds)

    @property
    def pid(self) -> int | None:
        """The child's process id while it lives."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def begin(self) -> None:
        """Start the process and come back at once: it loads while the caller does something else, until `load` waits.

        Raises: ModelError: nobody has named the server on this machine.
        """
        with self._lock:
            if self.pid is None:
                self._begin()
                self._begun = True

    def load(self, progress: Progress | None = None, cancelled: IsCancelled | None = None) -> ModelCard:
        """Start the process if there is none and wait until the model is loaded.

        Raises:
            ModelError: the model cannot be loaded, or its process died; with its last words. BadModel where what was
                named is at fault: no such file, a damaged one, no model in it.
            Cancelled: `cancelled()` became true; the process is gone.
        """
        with self._lock:
            return self._load(progress, cancelled)

    def ask(self, requests: Sequence[Request], *, cancelled: IsCancelled | None = None) -> Any:
        """Answer one batch of requests, in order (`embed`: an array). Loads the model first where needed.

        A batch of several types goes over in one message too, and its answers come as a list: what follows a person's
        typing waits for one round trip only. Several threads may ask at once; a model whose card says `at_once` answers
        them side by side, any other one after the other.

        Raises:
            ModelError: the model lacks a capability, refuses the batch, died or hung (Unanswered, where it was loaded);
                the next call starts it afresh. NotNow: a server was in trouble over all of the batch.
            Cancelled: `cancelled()` became true while waiting.
        """
        if not requests:
            return []
        with self._lock:
            card = self._load(None, cancelled)
            for kind in dict.fromkeys(map(type, requests)):
                if METHODS[kind] not in card.capabilities:
                    raise ModelError(lacks(self.spec, METHODS[kind]))
            self._number += 1
            number = self._number
            document = messages.ask(number, requests)
            box = self._mail.expect(number)
            self._mail.outgoing.put(document)
            if card.at_once == 1:
                return self._answer(number, requests, box, cancelled)
        return self._answer(number, requests, box, cancelled, beside=True)

    def close(self) -> None:
        """End the process. Safe from any thread, also while another one waits for an answer."""
        self._closed = True
        child = self._child
        if child is not None and child.poll() is None:
            child.kill()
            child.wait()

    def __enter__(self) -> "ModelProcess":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _answer(
        self,
        number: int,
        requests: Sequence[Request],
        box: "queue.SimpleQueue[_Letter]",
        cancelled: IsCancelled | None,
        *,
        beside: bool = False,
    ) -> Any:
        """What comes of a numbered ask; `beside`: others are under way, which a cancel of this one leaves alone."""
        mail = self._mail
        try:
            message, array = self._wait(mail, box, cancelled, beside=beside, number=number)
        except Cancelled:
            if beside and mail is self._mail and self.pid is not None:
                mail.outgoing.put(messages.encoded(messages.TakeBack(number)))
            raise
        finally:
            mail.forget(number)
        if isinstance(message, messages.Error):
            raise (NotNow if message.again else ModelError)(f"{self.spec}: {message.why}")
        assert isinstance(message, messages.Answer)  # `_Mail` puts nothing else into a box of an ask
        try:
            return messages.results_of(requests, message, array)
        except messages.SomethingElse as error:
            raise ModelError(f"{self.spec}: {error}") from None

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._child is not None
        return self._child

    def _load(self, progress: Progress | None, cancelled: IsCancelled | None) -> ModelCard:
        if self.card is not None and self.pid is not None:
            return self.card
        if not self._begun:
            self._begin()
        self._begun = False
        while True:
            match self._wait(self._mail, self._mail.loading, cancelled)[0]:
                case messages.Step(line):
                    if progress is not None:
                        progress(line)
                case messages.Failed(why, at_fault):
                    self.close()
                    # Of a model that was loaded before, something else has gone wrong than its name.
                    raise (BadModel if at_fault and self.card is None else ModelError)(why)
                case messages.Loaded(card):
                    try:
                        self.card = messages.check_card(card)
                    except messages.SomethingElse as error:
                        self.close()
                        raise ModelError(f"{self.spec}: {error}") from None
                    self._asked = True
                    return card

    def _begin(self) -> None:
        if self.spec.partition(":")[0] not in _KEYLESS:
            from emotui.backends.servers.named import check_named

            check_named(self.spec)
        self._asked = False
        self._start()

    def _start(self) -> None:
        if self._words is not None:
            self._words.close()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._mail = _Mail()
        self._closed = False
        self._child = self._spawn(self._words, child_environment(self.spec))
        self._mail.outgoing.put(messages.encoded(messages.Load(self.spec, self._options)))
        threading.Thread(target=_listen, args=(self._child, self._mail), daemon=True).start()
        threading.Thread(target=_write, args=(self._child.stdin, self._mail), daemon=True).start()

    def _spawn(self, words: IO[bytes], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with _without_interrupts():
            return subprocess.Popen(
                [sys.executable, "-c", _BOOT.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                env=environment,
            )

    def _wait(
        self,
        mail: _Mail,
        box: "queue.SimpleQueue[_Letter]",
        cancelled: IsCancelled | None,
        *,
        beside: bool = False,
        number: int | None = None,
    ) -> tuple[messages.Said, bytearray]:
        """The child's next message; None never: a dead, hanging or cancelled child raises."""
        started, stopped = time.monotonic(), None
        while True:
            with contextlib.suppress(queue.Empty):
                message = box.get(timeout=_POLL_BESIDE if beside else _POLL)
                if message is None:
                    raise self._died(mail)
                if stopped is not None and number is not None:
                    raise Cancelled
                return message
            now = time.monotonic()
            if cancelled is not None and stopped is None and cancelled():
                if beside:
                    raise Cancelled
                stopped = now
                if number is not None:
                    mail.outgoing.put(messages.encoded(messages.TakeBack(number)))
            if stopped is not None and now - stopped > _GRACE:
                self.close()
                raise Cancelled
            if self._asked and now - (max(started, mail.last) if beside else started) > self.limit:
                self.close()
                said = f"{self.spec} gave no answer for {self.limit:.0f} s and was stopped: asked again it starts anew"
                raise self._unanswered(said + self._last_words(), slow=True)

    def _died(self, mail: _Mail) -> Exception:
        """Why the messages ended, the same to everybody who waits for one."""
        with self._burial:
            if mail.death is None:
                mail.death = self._how_it_died(mail)
            return mail.death

    def _how_it_died(self, mail: _Mail) -> Exception:
        """Somebody closed the model, or its process died by itself."""
        if self._closed:
            return Cancelled()
        child = self._running()
        if mail.something_else is not None:
            return ModelError(f"{self.spec}: {mail.something_else}{self._last_words()}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=2)
        self.close()
        code = child.returncode
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
            if -code == signal.SIGKILL:
                how += " (out of memory?)"
        else:
            how = f"ended with status {code}"
        return self._unanswered(f"The process of {self.spec} {how}{self._last_words()}", slow=False)

    def _unanswered(self, why: str, *, slow: bool) -> ModelError:
        """While a model is loaded, what it was asked is not at fault."""
        return Unanswered(why, slow=slow) if self._asked else ModelError(why)

    def _last_words(self) -> str:
        """The end of a sentence with the last line that the process wrote; empty where it wrote none."""
        if self._words is None:
            return ""
        self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, self._words.tell() - 4096))
        lines = [line.strip() for line in self._words.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return f"; its last words: {lines[-1][:300]}" if lines else ""


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """A process that is started within it has Ctrl-C blocked from its first step on: that is its parent's to handle."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def child_environment(spec: str) -> dict[str, str]:
    """The variables of a model's process: this process's, a spin count that they may overrule, and quiet libraries."""
    quiet = {"TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_VERBOSITY": "error"}
    found = {"GOMP_SPINCOUNT": _SPINS, **os.environ, **quiet}
    if spec.partition(":")[0] in _KEYLESS:
        found.pop("OPENAI_API_KEY", None)
    return found


def lacks(spec: str, capability: str) -> str:
    """One sentence: this model cannot do that, these kinds can (of its own kind, others)."""
    own = spec.partition(":")[0]
    can = CAPABLE_KINDS.get(capability, ())
    kinds = ", ".join(f"other {kind}" if kind == f"{own}:" else kind for kind in can) or "none"
    return f"{spec} cannot {capability.replace('_', ' ')}; kinds of model that can: {kinds}"


def _listen(child: "subprocess.Popen[bytes]", mail: _Mail) -> None:
    """Pass the child's messages on until it is gone; one that says what no model says is ended."""
    assert child.stdout is not None
    try:
        while True:
            document, array = messages.receive(child.stdout)
            mail.deliver(messages.said(document), array)
    except (messages.SomethingElse, messages.TooLong, MemoryError) as error:
        foreign = error if isinstance(error, messages.SomethingElse) else messages.SomethingElse(str(error))
        mail.something_else = str(foreign)
        child.kill()
    except (EOFError, OSError, ValueError):
        pass
    finally:
        mail.end()
        child.stdout.close()


def _write(pipe: Any, mail: _Mail) -> None:
    """Write to the child what it is told, until it is gone."""
    with contextlib.suppress(OSError, ValueError):
        while (document := mail.outgoing.get()) is not None:
            messages.send(pipe, document)
