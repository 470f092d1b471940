"""Asking a model about many texts, of which one may be more than it can finish: that one costs itself."""

from collections.abc import Sequence
from typing import Any

from emotui.backends.base import Embed, Refused, Request
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import Unanswered
from emotui.tasks.embedding import MOST_IN_A_ROW, asked_twice

PASSED_OVER = "passed over: "
"""Begins why a text has no answer that the model did not finish when it was asked about nothing else."""


class Asking:
    """A model's `ask`, which asks again one by one where a whole batch was too much."""

    def __init__(self, model: ModelProcess, cancelled: IsCancelled | None = None) -> None:
        self._model, self._cancelled = model, cancelled
        self._in_a_row = 0

    def __call__(self, requests: Sequence[Request]) -> Any:
        """The answers; `Refused` in place of those that the model could not finish alone.

        Raises:
            ModelError: the model died, or did not answer, one text after the other.
            Cancelled: the person stopped it.
        """
        try:
            return asked_twice(self._model, requests, self._cancelled)
        except Unanswered as error:
            if any(isinstance(request, Embed) for request in requests):
                raise
            if len(requests) == 1:
                return [self._passed_over(error)]
        return [self._alone(request) for request in requests]

    def _alone(self, request: Request) -> Any:
        try:
            (answer,) = self._model.ask([request], cancelled=self._cancelled)
        except Unanswered as error:
            return self._passed_over(error)
        self._in_a_row = 0
        return answer

    def _passed_over(self, error: Unanswered) -> Refused:
        """Raises: the error, where so many texts in a row were too much that none of them is to blame."""
        self._in_a_row += 1
        if self._in_a_row == MOST_IN_A_ROW:
            raise error
        how = f"gave no answer in {self._model.limit:g} s" if error.slow else "died"
        return Refused(f"{PASSED_OVER}the model {how} when asked about this text alone")
