"""A model behind a server, as a backend: batches in, answers and refusals out."""

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from emotui.backends.base import Embed, Generate, Generation, ModelCard, Refused, Request, Score, Scores
from emotui.backends.servers.asking import Asker
from emotui.backends.servers.connection import Connection
from emotui.backends.servers.faults import Unanswered
from emotui.backends.servers.scoring import gather, judge, questions_of, write
from emotui.errors import ModelError, NotNow

# Many requests at once, a bounded number under way: what was answered is kept, whatever happens to the rest.

_Request = TypeVar("_Request")
_Result = TypeVar("_Result")
_PATIENCE = 3


async def answer_all(
    requests: Sequence[_Request],
    answer: Callable[[_Request], Awaitable[_Result]],
    *,
    gate: asyncio.Semaphore,
    most: int,
    limit: float,
) -> list[_Result | Refused]:
    """Answer each request, in order of their places.

    A `ModelError` (the server is gone, the key is wrong, the budget is used up) ends the batch. So does a server that
    fails more requests in a row than are under way at once (and more than three), or takes more than `limit` seconds.
    What is answered by then is handed back, with `Refused(..., again=True)` at the place of the rest; so the next
    batch is the one that raises.

    Args:
        gate: passed by each request on its way, together with those of other batches.
        most: of this batch's requests that may wait there at once.

    Raises:
        ModelError: not one request was answered or refused for its own sake. NotNow, where others may fare better.
    """
    if not requests:
        return []
    results: list[_Result | Refused | None] = [None] * len(requests)
    places = iter(range(len(requests)))
    in_a_row = 0

    async def work() -> None:
        nonlocal in_a_row
        for place in places:
            try:
                async with gate:
                    results[place] = await answer(requests[place])
                in_a_row = 0
            except Unanswered as fault:
                results[place] = Refused(fault.why, again=fault.again)
                in_a_row = in_a_row + 1 if fault.again else 0
                if in_a_row > max(most, _PATIENCE):
                    raise ModelError(f"{in_a_row} requests in a row failed; the last one: {fault.why}") from None

    workers = [asyncio.create_task(work()) for _ in range(min(most, len(requests)))]
    done: set[asyncio.Task[None]] = set()
    try:
        done, _ = await asyncio.wait(workers, timeout=limit, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        pending = [worker for worker in workers if worker not in done]
        for worker in pending:
            worker.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    errors = [error for worker in done if (error := worker.exception()) is not None]
    for error in errors:
        if not isinstance(error, ModelError):
            raise error
    why = str(errors[0]) if errors else f"the batch was cut off after {limit:g} s"
    whole = [Refused(why, again=True) if result is None else result for result in results]
    if all(isinstance(result, Refused) and result.again for result in whole):
        if errors:
            raise ModelError(why)
        raise NotNow(next(result.why for result in whole if isinstance(result, Refused)))
    return whole


_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


class ServerModel:
    """Lives in the child process, in its own event loop; at most `concurrency` requests are under way, of all asks.

    Let go of, or at the end of its process, it closes itself.
    """

    def __init__(self, card: ModelCard, connection: Connection, asker: Asker, runner: asyncio.Runner) -> None:
        self.card = card
        self.runner = runner
        self._connection = connection
        self._asker = asker
        self._gate = asyncio.Semaphore(connection.settings.concurrency)
        # Of a model that nobody closes aiohttp would print that its session was left open.
        self._end = weakref.finalize(self, _end, connection, runner)

    async def answer(self, requests: Sequence[Request]) -> Any:
        """The results of requests of one type, as `generate`, `score` or `embed` give them."""
        by_kind: dict[type, Callable[[Any], Awaitable[Any]]] = {
            Generate: self._generate,
            Score: self._score,
            Embed: self._embed,
        }
        return await by_kind[type(requests[0])](requests)

    def new_builds(self) -> tuple[str, ...]:
        """Builds that the server has reported since this was last asked."""
        return self._asker.new_builds()

    def generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        """Write each answer, at most `concurrency` at once.

        Raises:
            ModelError: not one was answered (see `emotui.backends.servers.model`).
        """
        return self.runner.run(self._generate(requests))

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Yes against no for every question; questions are the unit of concurrency, side by side for one text.

        Raises:
            ModelError: not one question was answered (see `emotui.backends.servers.model`).
        """
        return self.runner.run(self._score(requests))

    def embed(self, requests: Sequence[Embed]) -> np.ndarray:
        """Sentence embeddings of length 1: float32 (requests, width).

        Raises:
            ModelError: one of them was not answered, or they differ in width.
        """
        return self.runner.run(self._embed(requests))

    async def _generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        return await self._all(requests, partial(write, self._asker))

    async def _score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        prompts = [prompt for request in requests for prompt in questions_of(request)]
        verdicts = iter(await self._all(prompts, partial(judge, self._asker)))
        return [gather([next(verdicts) for _ in request.questions]) for request in requests]

    async def _embed(self, requests: Sequence[Embed]) -> np.ndarray:
        rows = await self._all(requests, self._asker.embed)
        lost = next((row for row in rows if isinstance(row, Refused)), None)
        if lost is not None:
            raise ModelError(lost.why)
        if len({len(row) for row in rows if not isinstance(row, Refused)}) > 1:
            raise ModelError("the server's embeddings differ in length")
        vectors = np.array(rows, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)

    async def _all(
        self, asked: Sequence[_Asked], answer: Callable[[_Asked], Awaitable[_Answer]]
    ) -> list[_Answer | Refused]:
        settings = self._connection.settings
        return await answer_all(asked, answer, gate=self._gate, most=settings.concurrency, limit=settings.batch_limit)

    def close(self) -> None:
        """Close the connections and the event loop."""
        self._end()


def _end(connection: Connection, runner: asyncio.Runner) -> None:
    """Close both, in a thread of its own where one event loop runs already: the garbage collector lets go of a model
    wherever it happens to run."""

    def close() -> None:
        runner.run(connection.close())
        runner.close()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        close()
        return
    closing = threading.Thread(target=close)
    closing.start()
    closing.join()
