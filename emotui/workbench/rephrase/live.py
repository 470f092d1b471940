"""What follows a person's typing: verdict, similarity, and the words that carry the verdict."""

import math
import threading
from collections.abc import Callable
from typing import Any

from emotui.backends.base import Embed
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.backends.words import word_places
from emotui.tasks.rephrase.labelling import Verdict
from emotui.workbench.rephrase.views import CarryingWords, FrozenClassifier

BATCH_WORDS = 240
"""Words of a batch while words are left out: what is typed meanwhile waits for one batch at most."""

MOST_WORDS = 150
"""Words that are left out in turn; of a longer text the first."""

_ROWS = 64
"""Embeddings of originals that are kept."""


class Typing:
    """Asks the classifier of a round, and the embedding model that similarity is always by. Safe across threads.

    Args:
        embedding: the process of that model; started when it is first needed.
    """

    def __init__(self, embedding: Callable[[], ModelProcess]) -> None:
        self._embedding = embedding
        self._rows: dict[str, Any] = {}
        self._lock = threading.Lock()

    def verdict_and_similarity(
        self, classifier: FrozenClassifier, original: str, text: str
    ) -> tuple[Verdict, float | None]:
        """The classifier's verdict on `text`, and the cosine of its embedding with that of `original`.

        The embedding is the embedded model's, whatever the classifier is, so that figures of rounds compare. Where
        that model is the classifier too, both go in one round trip.

        Returns: the similarity is in [-1, 1]; None for a text without a letter or digit.
        """
        with self._lock:
            row = self._rows.get(original)
        wanted = [text] if row is not None else [text, original]
        if not any(character.isalnum() for character in text):
            return classifier.verdicts([text])[0], None
        embedding = self._embedding()
        if embedding is classifier.model:
            verdict, rows = classifier.verdict_and_rows(text, wanted)
        else:
            verdict = classifier.verdicts([text])[0]
            rows = list(embedding.ask([Embed(each) for each in wanted]))
        if row is None:
            row = rows[1]
            with self._lock:
                while len(self._rows) >= _ROWS:
                    del self._rows[next(iter(self._rows))]
                self._rows[original] = row
        return verdict, max(-1.0, min(1.0, float(rows[0] @ row)))

    def carrying_words(
        self, classifier: FrozenClassifier, number: int, gold: str, text: str, cancelled: IsCancelled
    ) -> CarryingWords | None:
        """The drop of the log-odds of `gold`, and of the label given, without each word. None when cancelled."""
        every = word_places(text)
        places = every[:MOST_WORDS]
        whole = classifier.verdicts([text])[0]
        without: list[Verdict] = []
        size = max(1, BATCH_WORDS // max(1, len(every)))
        for start in range(0, len(places), size):
            if cancelled():
                return None
            chunk = places[start : start + size]
            without += classifier.verdicts([text[:begin] + text[end:] for begin, end in chunk])

        def drops(label: str) -> tuple[tuple[int, int, float], ...]:
            all_of_it = _log_odds(whole.probs[label])
            return tuple(
                (start, end, all_of_it - _log_odds(less.probs[label]))
                for (start, end), less in zip(places, without, strict=True)
            )

        top = whole.label
        return CarryingWords(number, text, gold, top, drops(gold), drops(top), cut=len(every) > len(places))


def _log_odds(p: float) -> float:
    """Of a probability, which at 0 and 1 is taken as 1e-9 away from it."""
    p = min(max(p, 1e-9), 1 - 1e-9)
    return math.log(p / (1 - p))
