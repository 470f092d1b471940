"""Asking a model about many texts, of which one may be more than it can finish: that one costs itself."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from emotui.backends.base import Embed, Refused, Request
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import Unanswered

if TYPE_CHECKING:
    import numpy as np

# Embeddings of many texts, of which one may be more than the model can finish: that one costs itself.

BATCH = 512

MOST_IN_A_ROW = 3
"""Texts; where so many alone are too much one after the other, it is the model that does not answer."""

UNFINISHED = "the model that embeds did not finish a text of theirs, even alone"
"""Why answers have no figure that goes by embeddings."""

_HARMLESS = "a"


def asked_twice(model: ModelProcess, requests: Sequence[Request], cancelled: IsCancelled | None = None) -> Any:
    """A model's answers; where it died over them it is asked once more: anything else may have ended its process.

    Raises:
        ModelError: as `ModelProcess.ask`; Unanswered, where it gave no answer in its time, or died twice.
        Cancelled: the person stopped it.
    """
    try:
        return model.ask(requests, cancelled=cancelled)
    except Unanswered as error:
        if error.slow:
            raise
    return model.ask(requests, cancelled=cancelled)


def embedded(model: ModelProcess, texts: Sequence[str], cancelled: IsCancelled | None = None) -> "np.ndarray":
    """(n, d), as the model embeds; a row of NaN for a text that it did not finish when asked about nothing else.

    Raises:
        ModelError: as `asked_twice`, where several texts in a row are too much, or any is.
        Cancelled: the person stopped it.
    """
    import numpy as np

    parts = []
    for start in range(0, len(texts), BATCH):
        requests = [Embed(text) for text in texts[start : start + BATCH]]
        try:
            parts.append(np.asarray(asked_twice(model, requests, cancelled)))
        except Unanswered:
            parts.append(_one_by_one(model, requests, cancelled))
    return np.concatenate(parts) if parts else np.zeros((0, 384), dtype=np.float32)


def _one_by_one(model: ModelProcess, requests: Sequence[Embed], cancelled: IsCancelled | None) -> "np.ndarray":
    import numpy as np

    rows: list[np.ndarray | None] = []
    in_a_row = 0
    for request in requests:
        try:
            rows.append(np.asarray(model.ask([request], cancelled=cancelled))[0])
            in_a_row = 0
        except Unanswered:
            in_a_row += 1
            if in_a_row == MOST_IN_A_ROW:
                raise
            rows.append(None)
    known = next((row for row in rows if row is not None), None)
    if known is None:
        known = np.asarray(model.ask([Embed(_HARMLESS)], cancelled=cancelled))[0]
    return np.stack([np.full_like(known, np.nan) if row is None else row for row in rows])


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
