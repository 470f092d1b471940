"""The process in which one model lives: it loads the model, then answers batches until its parent goes away."""

import os
import queue
import re
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

from msgspec.structs import replace

from emotui.backends import messages, stopping
from emotui.backends.base import METHODS, Backend, Embed, Refused, Request, SideBySide
from emotui.backends.relabelled import Relabelled, read_label_map, split_label_map
from emotui.backends.spec import loader, parse_spec
from emotui.errors import BadInput, EmotuiError, NotNow

if TYPE_CHECKING:
    import asyncio

_LONGEST = 200
"""Letters of a library's own words in a refusal."""


def main() -> None:
    """Serve the parent over standard input and output until standard input closes."""
    status = 0
    try:
        _serve()
    except SystemExit as leaving:
        print(leaving.code, file=sys.stderr)
        status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    # The listening thread holds standard input, and the interpreter's own way out would abort over it.
    os._exit(status)


def _serve() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    incoming, outgoing = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints belongs to the last words, not between the messages
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # and is there when the process is killed
    incoming_asks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, incoming_asks), daemon=True).start()
    first: messages.Load = incoming_asks.get()

    def say(message: messages.Said) -> None:
        messages.send(outgoing, messages.encoded(message))

    try:
        backend = _load(first.spec, first.options, lambda line: say(messages.Step(messages.cut(line))))
    except EmotuiError as error:
        say(messages.Failed(messages.cut(str(error)), isinstance(error, BadInput)))
        return
    # A library's own kind of string (torch's version) is made a plain one.
    plain = {str(name): str(value) for name, value in backend.card.identity.items()}
    say(messages.Loaded(replace(backend.card, identity=plain)))
    if backend.card.at_once > 1:
        answer_side_by_side(cast(SideBySide, backend), incoming_asks, outgoing)
    while True:
        asked: messages.Ask | messages.TakeBack = incoming_asks.get()
        if isinstance(asked, messages.TakeBack):
            continue  # it was answered or stopped before this was read
        number, requests = asked.number, messages.requests_of(asked)
        stopping.begin(number)
        try:
            messages.send(outgoing, *messages.answer(number, requests, _answer(backend, requests)))
        except stopping.Stopped:
            say(messages.Error(number, "stopped", False))
        except EmotuiError as error:
            say(messages.Error(number, messages.cut(str(error)), isinstance(error, NotNow)))
        except MemoryError:
            why = "out of memory: try smaller batches or a smaller model"
            say(messages.Error(number, why, False))


def _listen(incoming: Any, asks: "queue.SimpleQueue[Any]") -> None:
    """Pass messages on; leave at once, also in the middle of a batch, when the parent is gone."""
    try:
        while True:
            message = messages.told(messages.receive(incoming, bounded=False)[0])
            if isinstance(message, messages.TakeBack):
                stopping.take_back(message.number)
            asks.put(message)
    except (EOFError, OSError):
        os._exit(0)


def _load(spec: str, options: Mapping[str, Any], progress: Any) -> Backend:
    kind, argument = parse_spec(spec)
    _, file = split_label_map(spec)
    names = None if file is None else read_label_map(file)  # a wrong file is told before minutes of loading
    backend = loader(kind)(argument, options, progress)
    return backend if file is None or names is None else cast(Backend, Relabelled(backend, names, file))


_NO_NUMBER = re.compile(r"\b(nans?|infs?|infinity|not finite|non-finite)\b", re.IGNORECASE)


def _of_one_kind(backend: Backend, requests: list[Request]) -> Any:
    """The backend's answers. Where a library stumbles over a number that is none, the request that it is of is refused
    and the others are answered; of whatever else goes wrong the process dies, as it would by itself."""
    method = getattr(backend, METHODS[type(requests[0])])
    try:
        return method(requests)
    except (ArithmeticError, RuntimeError, ValueError) as error:
        if isinstance(requests[0], Embed) or not _NO_NUMBER.search(str(error)):
            raise
        if len(requests) == 1:
            return [Refused(f"the model's answer is no number: {' '.join(str(error).split())[:_LONGEST]}")]
    return [answer for request in requests for answer in _of_one_kind(backend, [request])]


def _answer(backend: Backend, requests: list[Request]) -> Any:
    kinds = list(dict.fromkeys(map(type, requests)))
    if len(kinds) < 2:
        return _of_one_kind(backend, requests) if kinds else []
    answers: list[Any] = [None] * len(requests)
    for kind in kinds:
        places = [place for place, request in enumerate(requests) if type(request) is kind]
        found = _of_one_kind(backend, [requests[place] for place in places])
        for place, answer in zip(places, messages.counted(found, places), strict=True):
            answers[place] = answer
    return answers


# Several asks at a time: each is answered when it is done, whatever the others do, and one can be taken back alone.


def answer_side_by_side(backend: SideBySide, asks: "queue.SimpleQueue[Any]", outgoing: IO[bytes]) -> NoReturn:
    """Answer asks as they come, until the process ends.

    Args:
        asks: each a `messages.Ask`, or a `messages.TakeBack` where one is no longer wanted.
    """
    backend.runner.run(_answer_all(backend, asks, outgoing))
    raise AssertionError("asks never end")


async def _answer_all(backend: SideBySide, waiting: "queue.SimpleQueue[Any]", outgoing: IO[bytes]) -> NoReturn:
    import asyncio  # only models of servers need it, and a model that is asked once waits for each import

    coming: asyncio.Queue[Any] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_pass_on, args=(waiting, loop, coming), daemon=True).start()
    under_way: dict[int, asyncio.Task[None]] = {}
    async with asyncio.TaskGroup() as asks:  # what nobody foresaw in one of them ends the process, as it would alone
        while True:
            asked: messages.Ask | messages.TakeBack = await coming.get()
            number = asked.number
            if isinstance(asked, messages.TakeBack):
                if number in under_way:
                    under_way[number].cancel()
                continue
            task = asks.create_task(_answer_beside(backend, number, messages.requests_of(asked), outgoing))
            under_way[number] = task
            task.add_done_callback(partial(_forget, under_way, number))


def _forget(under_way: dict[int, "asyncio.Task[None]"], number: int, _: "asyncio.Task[None]") -> None:
    del under_way[number]


def _pass_on(
    waiting: "queue.SimpleQueue[Any]", loop: "asyncio.AbstractEventLoop", coming: "asyncio.Queue[Any]"
) -> None:
    while True:
        loop.call_soon_threadsafe(coming.put_nowait, waiting.get())


async def _answer_beside(backend: SideBySide, number: int, requests: Sequence[Request], outgoing: IO[bytes]) -> None:
    try:
        answers = await _of_all_kinds(backend, requests)
        for build in backend.new_builds():
            messages.send(outgoing, messages.encoded(messages.Build(messages.cut(build))))
        messages.send(outgoing, *messages.answer(number, requests, answers))
    except EmotuiError as error:
        refusal = messages.Error(number, messages.cut(str(error)), isinstance(error, NotNow))
        messages.send(outgoing, messages.encoded(refusal))


async def _of_all_kinds(backend: SideBySide, requests: Sequence[Request]) -> Any:
    kinds = list(dict.fromkeys(map(type, requests)))
    if len(kinds) == 1:
        return await backend.answer(requests)
    answers: list[Any] = [None] * len(requests)
    for kind in kinds:
        places = [place for place, request in enumerate(requests) if type(request) is kind]
        found = await backend.answer([requests[place] for place in places])
        for place, answer in zip(places, messages.counted(found, places), strict=True):
            answers[place] = answer
    return answers
