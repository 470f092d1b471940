"""One model asked about labels of many texts at once, each text once and for good: for `words` and `steady`."""

import hashlib
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.host import ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.metrics.evidence import FILLER
from emotui.metrics.labels import label_names
from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.asking import asked_twice
from emotui.tasks.label_questions import NEUTRAL, Prediction, filler_of, known_labels, mark_for
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import task_named
from emotui.workbench.runs.plan import chosen_way, identity, sample_seed
from emotui.workbench.texts import stored_samples

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.workspace import Workspace

FIRST, AT_ONCE = 16, 256
"""Texts that a model is asked about in the first call, and at most: as many as it answers about in `PATIENCE`."""

PATIENCE = 5.0
"""Seconds after which answers are to be kept: what is killed loses no more."""

_KEPT = "why/answers/"

OnText = Callable[[int, int], None]
"""Told how many texts were asked about, of how many."""


class LabelAsker:
    """What a model says of texts, by the labels task.

    Answers are kept in a store, by what the model and the question are: none is asked for twice.

    Args:
        store: keeps the answers; None: nothing does.
        samples: those whose gold names the labels, where the model has none of its own.
        way: of asking; None: the model's first.
        options: of the labels task, as `emotui run labels` takes them.
        filler: what a masked word is to the model, as `emotui.tasks.label_questions.filler_of` takes it; by default
            what is neutral.

    Attributes:
        way: in which it asks.
        filler: what a masked word is to the model, by its name.
        sign: what stands for that in the texts that it is asked about.
        labels: in the order in which the model is asked about them.
        left_out: labels of gold that the model has not, where it has some of them.

    Raises:
        BadInput: the model cannot be asked so, there are no labels, or it lacks the mask token of its own.
        ModelError: it cannot be loaded or asked.
    """

    def __init__(
        self,
        model: ModelProcess,
        samples: Sequence[LabelsGold],
        way: str | None = None,
        options: Mapping[str, object] | None = None,
        filler: str | None = NEUTRAL,
        store: Store | None = None,
    ) -> None:
        self._model, self._store = model, store
        card, task = model.load(), task_named("labels")
        assert task.labels is not None
        self.way = chosen_way(task, card, way, options)
        named = gold_names(samples)
        known = () if (options or {}).get("labels") else known_labels(card, self.way, named)
        self.left_out = tuple(name for name in named if known and name not in known)
        asked_about = {**(options or {}), **({"labels": list(known)} if self.left_out else {})}
        settled: Any = task.labels.settled(card, lambda: iter(samples), self.way, asked_about, 0)
        self.filler = self.sign = filler_of(card, self.way, filler)
        asked = configured(task, self.way, settled, 1)
        if self.filler != FILLER:
            self.sign = mark_for(sample.text or "" for sample in samples)
            asked = asked.with_mask(self.sign)
        self._task = asked
        self.labels: tuple[str, ...] = tuple(settled["labels"])
        self._mark = _KEPT + _hashed(identity(asked, {"filler": self.filler}, card, 0, 1, self.way or ""), self.labels)

    def ask(self, texts: Sequence[tuple[str, str]], on_text: OnText = lambda done, n: None) -> list[Prediction]:
        """What the model says of each (id, text); short texts are asked first, so that a batch is of one length.

        Raises:
            ModelError: it did not answer about one of them, which is named; what it answered by then is kept.
        """
        keys = [_hashed(key, text) for key, text in texts]
        found = self._kept() if self._store is not None else {}
        order = sorted((at for at, key in enumerate(keys) if key not in found), key=lambda at: len(texts[at][1]))
        done, size = len(texts) - len(order), FIRST
        on_text(done, len(texts))
        while order:
            some, order = order[:size], order[size:]
            began = time.monotonic()
            samples = [LabelsGold(id=texts[at][0], text=texts[at][1]) for at in some]
            seeds = [sample_seed(0, 0, sample.id) for sample in samples]
            answers = self._task.ask(samples, lambda requests: asked_twice(self._model, requests), self.way, seeds)
            new = {
                keys[at]: self._task.parse(sample, answer.raw, self.way)
                for at, sample, answer in zip(some, samples, answers, strict=True)
                if answer.raw is not None
            }
            self._keep(new)
            for sample, answer in zip(samples, answers, strict=True):
                if answer.raw is None:
                    raise ModelError(f"{sample.id}: {answer.why or 'the model gave no answer'}")
            found |= new
            done += len(some)
            on_text(done, len(texts))
            taken = time.monotonic() - began
            size = min(2 * size, AT_ONCE) if 2 * taken < PATIENCE else size if taken < PATIENCE else max(size // 2, 1)
        return [found[key] for key in keys]

    def _kept(self) -> dict[str, Prediction]:
        assert self._store is not None
        every = self._store.settings.beginning(f"{self._mark}/")
        return {key: msgspec.convert(one, Prediction) for each in every.values() for key, one in each.items()}

    def _keep(self, new: Mapping[str, Prediction]) -> None:
        if self._store is not None and new:
            values = {key: msgspec.to_builtins(one) for key, one in new.items()}
            self._store.settings.set(f"{self._mark}/{uuid.uuid4().hex}", values)

    def probs(self, texts: Sequence[tuple[str, str]], on_text: OnText = lambda done, n: None) -> "np.ndarray":
        """(n, k): a probability a text and label. Raises ModelError as `ask`, and where the model gives none."""
        import numpy as np

        said = self.ask(texts, on_text)
        if any(not one.probs for one in said):
            raise ModelError(f"{self._model.spec} writes labels without probabilities: {self.way} has none to follow")
        return np.array([[one.probs[label] for label in self.labels] for one in said]).reshape(len(said), -1)


def left_out_note(asker: LabelAsker, spec: str) -> dict[str, str]:
    """For the notes of a document: labels of gold that the model was not asked about."""
    names = ", ".join(asker.left_out)
    return {"labels": f"{spec} has no such label and was not asked about it: {names}"} if names else {}


def labelled_texts(workspace: "Workspace", dataset: Dataset, limit: int | None) -> list[LabelsGold]:
    """The first texts of a dataset with what gold says of their labels; texts without words are left out."""
    found = dataset.read_as("labels")
    samples: Iterable[LabelsGold] = (
        sample for _, sample in stored_samples(workspace.store, found, min(found.n, limit or found.n))
    )
    return [sample for sample in samples if (sample.text or "").strip()]


def _hashed(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]


# Documents that were found, kept to be read again without a model.


def keep_document(store: Store, kind: str, dataset: Dataset, document: Mapping[str, Any]) -> None:
    """Keep what was found last of a dataset with a model. Args: kind: the command."""
    store.settings.set(f"why/{kind}/{dataset.dataset}/{document['model']}", {**document, "gold": dataset.gold})


def kept_document(store: Store, kind: str, dataset: Dataset, spec: str) -> dict[str, Any]:
    """What was found last; `notes.gold` where gold has changed since.

    Raises:
        BadInput: nothing is kept of this model over this dataset.
    """
    found: dict[str, Any] | None = store.settings.get(f"why/{kind}/{dataset.dataset}/{spec}")
    if found is None:
        raise BadInput(f"nothing is kept of {spec} over {dataset.name}: emotui {kind} without --kept asks it")
    if (gold := found.pop("gold")) != dataset.gold:
        found["notes"] = {**found.get("notes", {}), "gold": f"by gold {gold}; today's is {dataset.gold}"}
    return found


def gold_names(samples: Sequence[LabelsGold]) -> tuple[str, ...]:
    """Every label that gold names, the most frequent first."""
    return tuple(label_names(sample.said or () for sample in samples))
