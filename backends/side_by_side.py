"""Several asks at a time: each is answered when it is done, whatever the others do, and one can be taken back alone."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, BinaryIO, NoReturn

from emotui.backends import wire
from emotui.backends.base import Request, SideBySide
from emotui.errors import EmotuiError, NotNow


def answer_side_by_side(backend: SideBySide, messages: "queue.SimpleQueue[Any]", outgoing: BinaryIO) -> NoReturn:
    """Answer asks as they come, until the process ends.

    Args:
        messages: `(number, requests)`, or `(number, None)` where that ask is no longer wanted.
    """
    backend.runner.run(_answer_all(backend, messages, outgoing))
    raise AssertionError("asks never end")


async def _answer_all(backend: SideBySide, messages: "queue.SimpleQueue[Any]", outgoing: BinaryIO) -> NoReturn:
    coming: asyncio.Queue[Any] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_pass_on, args=(messages, loop, coming), daemon=True).start()
    under_way: dict[int, asyncio.Task[None]] = {}
    async with asyncio.TaskGroup() as asks:  # what nobody foresaw in one of them ends the process, as it would alone
        while True:
            number, requests = await coming.get()
            if requests is None:
                if number in under_way:
                    under_way[number].cancel()
                continue
            task = asks.create_task(_answer(backend, number, requests, outgoing))
            under_way[number] = task
            task.add_done_callback(partial(_forget, under_way, number))


def _forget(under_way: dict[int, "asyncio.Task[None]"], number: int, _: "asyncio.Task[None]") -> None:
    del under_way[number]


def _pass_on(messages: "queue.SimpleQueue[Any]", loop: asyncio.AbstractEventLoop, coming: "asyncio.Queue[Any]") -> None:
    while True:
        loop.call_soon_threadsafe(coming.put_nowait, messages.get())


async def _answer(backend: SideBySide, number: int, requests: Sequence[Request], outgoing: BinaryIO) -> None:
    try:
        answers = await _of_all_kinds(backend, requests)
        for build in backend.new_builds():
            wire.send(outgoing, ("build", build))
        wire.send(outgoing, ("answer", number, answers))
    except EmotuiError as error:
        wire.send(outgoing, ("error", number, str(error), isinstance(error, NotNow)))


async def _of_all_kinds(backend: SideBySide, requests: Sequence[Request]) -> Any:
    kinds = list(dict.fromkeys(map(type, requests)))
    if len(kinds) == 1:
        return await backend.answer(requests)
    answers: list[Any] = [None] * len(requests)
    for kind in kinds:
        places = [place for place, request in enumerate(requests) if type(request) is kind]
        found = await backend.answer([requests[place] for place in places])
        for place, answer in zip(places, found, strict=True):
            answers[place] = answer
    return answers
