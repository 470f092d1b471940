"""Tokens and money that a loaded server model may use. A request is only sent when it surely fits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from emotui.backends.servers.settings import Settings
from emotui.errors import ModelError

_TEMPLATE = 128
"""Tokens allowed for what a chat template adds around the messages."""


class Spent(ModelError):
    """The budget has no room for the next request."""


@dataclass(slots=True)
class Bill:
    """What one request used, as the server counted it."""

    read: int = 0
    written: int = 0


class Budget:
    """Counts from loading on. What is under way is held back at its most, so that the limit is not overrun.

    The most that a prompt can cost is one token a byte (no tokeniser of bytes needs more), plus its template.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.read = self.written = 0
        self._held: list[tuple[int, int]] = []
        self._settled = asyncio.Condition()

    @property
    def money(self) -> float:
        """Spent so far, in the unit of the prices."""
        return self._price(self.read, self.written)

    def _price(self, read: int, written: int) -> float:
        return (read * self._settings.price_in + written * self._settings.price_out) / 1e6

    @property
    def limited(self) -> bool:
        return self._settings.token_budget is not None or self._settings.money_budget is not None

    @asynccontextmanager
    async def hold(self, prompt_bytes: int, max_tokens: int) -> AsyncIterator[Bill]:
        """Wait until the request fits beside those under way; what the `Bill` then says is counted.

        Raises:
            Spent: it cannot fit any more.
        """
        most = (prompt_bytes + _TEMPLATE, max_tokens)
        async with self._settled:
            while not self._fits(most):
                if not self._held:
                    raise Spent(self._words())
                await self._settled.wait()
            self._held.append(most)
        bill = Bill()
        try:
            yield bill
        finally:
            self._held.remove(most)
            self.count(bill.read, bill.written)
            async with self._settled:
                self._settled.notify_all()

    def count(self, read: int, written: int) -> None:
        """Add tokens that were used."""
        self.read += read
        self.written += written

    def _fits(self, most: tuple[int, int]) -> bool:
        if not self.limited:
            return True
        read = self.read + most[0] + sum(held[0] for held in self._held)
        written = self.written + most[1] + sum(held[1] for held in self._held)
        tokens, money = self._settings.token_budget, self._settings.money_budget
        return (tokens is None or read + written <= tokens) and (money is None or self._price(read, written) <= money)

    def _words(self) -> str:
        used = f"{self.read + self.written} tokens used"
        if self._settings.money_budget is None:
            return f"the budget of {self._settings.token_budget} tokens has no room for another request ({used})"
        limit = f"{self._settings.money_budget:g}"
        if self._settings.token_budget is not None:
            limit += f" or {self._settings.token_budget} tokens"
        return f"the budget of {limit} has no room for another request ({self.money:.4f} spent, {used})"
