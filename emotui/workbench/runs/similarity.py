"""Sentence embeddings for Sim, from the embedded model in its own process."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.tasks.asking import embedded

if TYPE_CHECKING:
    import numpy as np


class Embedder:
    """Unit-length sentence embeddings of a model, in batches between which it can be cancelled.

    SEER section 6 uses sentence-BERT; all-MiniLM-L6-v2 is one of that family.
    """

    def __init__(self, model: ModelProcess, cancelled: IsCancelled | None = None) -> None:
        self.model = model
        """What embeds; it may be asked for more than that."""
        self._cancelled = cancelled

    def __call__(self, texts: Sequence[str]) -> "np.ndarray":
        """Returns (n, 384) float32, each row of length 1, or of NaN where the model did not finish the text."""
        return embedded(self.model, texts, self._cancelled)


class LazyEmbedder:
    """The embedded model, loaded when it is first asked for (it takes some seconds), and once."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._embedder: Embedder | None = None

    def __enter__(self) -> "LazyEmbedder":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def use(self) -> Iterator[Embedder]:
        """As `emotui.tasks.parts.Embedding`."""
        if self._embedder is None:
            self._embedder = Embedder(self._stack.enter_context(ModelProcess("embedded")))
        yield self._embedder
