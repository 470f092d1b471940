"""A model behind a server, as a backend: batches in, answers and refusals out."""

import asyncio
from collections.abc import Sequence
from functools import partial

import numpy as np

from emotui.backends.base import Embed, Generate, Generation, ModelCard, Refused, Score, Scores
from emotui.backends.servers.asking import Asker
from emotui.backends.servers.batch import answer_all
from emotui.backends.servers.connection import Connection
from emotui.backends.servers.scoring import gather, judge, questions_of
from emotui.backends.servers.writing import write
from emotui.errors import ModelError


class ServerModel:
    """Lives in the child process; its event loop runs while a batch is under way."""

    def __init__(self, card: ModelCard, connection: Connection, asker: Asker, runner: asyncio.Runner) -> None:
        self.card = card
        self._connection = connection
        self._asker = asker
        self._runner = runner

    def generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        """Write each answer, at most `concurrency` at once.

        Raises:
            ModelError: not one was answered (see `emotui.backends.servers.batch`).
        """
        settings = self._connection.settings
        answer = partial(write, self._asker)
        return self._runner.run(
            answer_all(requests, answer, concurrency=settings.concurrency, limit=settings.batch_limit)
        )

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Yes against no for every question; questions are the unit of concurrency, side by side for one text.

        Raises:
            ModelError: not one question was answered (see `emotui.backends.servers.batch`).
        """
        settings = self._connection.settings
        prompts = [prompt for request in requests for prompt in questions_of(request)]
        answer = partial(judge, self._asker)
        verdicts = iter(
            self._runner.run(answer_all(prompts, answer, concurrency=settings.concurrency, limit=settings.batch_limit))
        )
        return [gather([next(verdicts) for _ in request.questions]) for request in requests]

    def embed(self, requests: Sequence[Embed]) -> np.ndarray:
        """Sentence embeddings of length 1: float32 (requests, width).

        Raises:
            ModelError: one of them was not answered, or they differ in width.
        """
        settings = self._connection.settings
        rows = self._runner.run(
            answer_all(requests, self._asker.embed, concurrency=settings.concurrency, limit=settings.batch_limit)
        )
        lost = next((row for row in rows if isinstance(row, Refused)), None)
        if lost is not None:
            raise ModelError(lost.why)
        if len({len(row) for row in rows if not isinstance(row, Refused)}) > 1:
            raise ModelError("the server's embeddings differ in length")
        vectors = np.array(rows, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)

    def close(self) -> None:
        """Close the connections and the event loop."""
        self._runner.run(self._connection.close())
        self._runner.close()
