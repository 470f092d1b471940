"""A small workspace of texts to rephrase, with the real embedded model or with one that goes by single words."""

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emotui.backends.base import Classification, Classify, Embed, ModelCard
from emotui.backends.host import ModelProcess
from emotui.errors import ModelError
from emotui.records import PLUTCHIK, ClassGold
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import add_run, sample_records
from tests.templates import copy_of
from tests.waiting import LONGEST

TEXTS = (
    ("rs-1", "sadness", "My sister moved out last spring and I have been sad and lonely in this house since."),
    ("rs-2", "joy", "We danced in the kitchen until midnight and I was so happy that I laughed out loud."),
    ("rs-3", "anger", "He read my letters behind my back and I am furious with him."),
    ("rs-4", "fear", "Something scratched at the window all night and I lay there terrified."),
    ("rs-5", "sadness", "The chairs were stacked and the lights were off when we came."),
    ("rs-6", "joy", "The [bold]letter[/bold] says yes, and I am happy beyond words."),
    ("rs-7", "sadness", "Nobody came to the station and I was sad the whole way home."),
)
"""The scripted model is wrong about rs-5, which names no emotion."""

_NAMED = {"sad": "sadness", "lonely": "sadness", "happy": "joy", "furious": "anger", "terrified": "fear"}
_NAMED |= {"alone": "sadness", "glad": "joy"}


class ByWords(ModelProcess):
    """Answers by the words that name an emotion, else `anticipation`: each adds a like share. Starts no process.

    `held`: while it is cleared no question is answered. `asked`: every text that was classified.
    """

    def __init__(self, spec: str, *, knows: Sequence[str] = PLUTCHIK) -> None:
        super().__init__("embedded")
        self.spec = spec
        self.card = ModelCard(spec, spec, ("classify", "embed"), {"version": "1"}, {"plutchik": tuple(knows)})
        self.held = threading.Event()
        self.held.set()
        self.asked: list[str] = []
        self.broken = ""

    def load(self, progress: Any = None, cancelled: Any = None) -> ModelCard:
        assert self.card is not None
        return self.card

    def ask(self, requests: Sequence[Any], *, cancelled: Any = None) -> Any:
        self.held.wait(LONGEST)
        if self.broken:
            raise ModelError(self.broken)
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        if isinstance(request, Embed):
            return _row(request.text)
        assert isinstance(request, Classify)
        self.asked.append(request.text)
        probs = _probs(request.text)
        return Classification(probs, max(probs, key=lambda label: probs[label]), False)


def _probs(text: str) -> dict[str, float]:
    words = [word.strip(".,!?").lower() for word in text.split()]
    weights = dict.fromkeys(PLUTCHIK, 1.0)
    weights["anticipation"] += 1.0
    for word in words:
        if word in _NAMED:
            weights[_NAMED[word]] += 4.0
    return {label: weight / sum(weights.values()) for label, weight in weights.items()}


def _row(text: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    row = np.full(64, 1e-3)
    for word in text.lower().split():
        row[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
    return row / np.linalg.norm(row)


class Scripted(Workspace):
    """A workspace whose every model goes by words."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.scripted: dict[str, ByWords] = {}

    def model(self, spec: str) -> ModelProcess:
        return self.scripted.setdefault(spec, ByWords(spec))

    @property
    def embedded(self) -> ByWords:
        """The default classifier."""
        model = self.model("embedded")
        assert isinstance(model, ByWords)
        return model


def workspace(path: Path, *, kind: type[Workspace] = Scripted, texts: bool = True) -> Workspace:
    """A workspace in a new file, past its first start, with spans too."""
    copy_of(path, ("rephrase", texts), lambda template: _make(template, texts=texts))
    return kind(Store.open(path))


def _make(path: Path, *, texts: bool) -> None:
    opened = Workspace(Store.open(path))
    opened.set_setting(FIRST_START, "done")
    records = sample_records(4, 4)
    add_run(opened.store, add_samples(opened.store, "spans", "sample", records, "sample data"), records)
    if texts:
        samples = [ClassGold(id=key, label=label, text=text) for key, label, text in TEXTS]
        add_samples(opened.store, "rephrase", "rephrase", samples, "sample data")


def scripted(folder: Path) -> Scripted:
    """The same, with the models that go by words, in this folder."""
    made = workspace(folder / "workspace.duckdb")
    assert isinstance(made, Scripted)
    return made
