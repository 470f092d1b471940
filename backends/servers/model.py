"""A model behind a server, as a backend: batches in, answers and refusals out."""

import asyncio
from collections.abc import Sequence

from emotui.backends.base import Generate, Generation, ModelCard, Refused
from emotui.backends.servers.abilities import Abilities
from emotui.backends.servers.batch import answer_all
from emotui.backends.servers.budget import Budget
from emotui.backends.servers.connection import Connection
from emotui.backends.servers.writing import Writer


class ServerModel:
    """Lives in the child process; its event loop runs while a batch is under way."""

    def __init__(
        self,
        card: ModelCard,
        connection: Connection,
        model: str,
        abilities: Abilities,
        budget: Budget,
        runner: asyncio.Runner,
    ) -> None:
        self.card = card
        self._connection = connection
        self._runner = runner
        self._writer = Writer(connection, model, abilities, budget)

    def generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        """Write each answer, at most `concurrency` at once.

        Raises:
            ModelError: not one was answered (see `emotui.backends.servers.batch`).
        """
        settings = self._connection.settings
        return self._runner.run(
            answer_all(requests, self._writer.write, concurrency=settings.concurrency, limit=settings.batch_limit)
        )

    def close(self) -> None:
        """Close the connections and the event loop."""
        self._runner.run(self._connection.close())
        self._runner.close()
