"""Several asks at a time: each is answered when it is done, whatever the others do, and one can be taken back alone."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, BinaryIO, NoReturn

from emotui.backends import messages
from emotui.backends.base import Request, SideBySide
from emotui.errors import EmotuiError, NotNow


def answer_side_by_side(backend: SideBySide, asks: "queue.SimpleQueue[Any]", outgoing: BinaryIO) -> NoReturn:
    """Answer asks as they come, until the process ends.

    Args:
        asks: each a `messages.Ask`, or a `messages.TakeBack` where one is no longer wanted.
    """
    backend.runner.run(_answer_all(backend, asks, outgoing))
    raise AssertionError("asks never end")


async def _answer_all(backend: SideBySide, waiting: "queue.SimpleQueue[Any]", outgoing: BinaryIO) -> NoReturn:
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
            task = asks.create_task(_answer(backend, number, messages.requests_of(asked), outgoing))
            under_way[number] = task
            task.add_done_callback(partial(_forget, under_way, number))


def _forget(under_way: dict[int, "asyncio.Task[None]"], number: int, _: "asyncio.Task[None]") -> None:
    del under_way[number]


def _pass_on(waiting: "queue.SimpleQueue[Any]", loop: asyncio.AbstractEventLoop, coming: "asyncio.Queue[Any]") -> None:
    while True:
        loop.call_soon_threadsafe(coming.put_nowait, waiting.get())


async def _answer(backend: SideBySide, number: int, requests: Sequence[Request], outgoing: BinaryIO) -> None:
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
