"""Many requests at once, a bounded number under way: what was answered is kept, whatever happens to the rest."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from emotui.backends.base import Refused
from emotui.backends.servers.faults import Unanswered
from emotui.errors import ModelError, NotNow

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
