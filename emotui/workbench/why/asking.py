"""One model asked about labels of many texts at once, each text once: what `words` and `steady` are made from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emotui.backends.host import ModelProcess
from emotui.errors import ModelError
from emotui.metrics.evidence import FILLER
from emotui.metrics.labels import label_names
from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.tasks.asking import asked_twice
from emotui.tasks.evidence.task import NEUTRAL, filler_of, mark_for
from emotui.tasks.labels.task import Labels, Prediction
from emotui.tasks.prompting.settings import configured
from emotui.workbench.runs.plan import chosen_way, sample_seed
from emotui.workbench.texts import stored_samples

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.workspace import Workspace

AT_ONCE = 256
"""Texts that a model is asked about in one call."""

OnText = Callable[[int, int], None]
"""Told how many texts were asked about, of how many."""


class LabelAsker:
    """What a model says of texts, by the labels task.

    Args:
        samples: those whose gold names the labels, where the model has none of its own.
        way: of asking; None: the model's first.
        options: of the labels task, as `emotui run labels` takes them.
        filler: what a masked word is to the model, as `emotui.tasks.evidence.task.filler_of` takes it; by default
            what is neutral.

    Attributes:
        way: in which it asks.
        filler: what a masked word is to the model, by its name.
        sign: what stands for that in the texts that it is asked about.
        labels: in the order in which the model is asked about them.

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
    ) -> None:
        self._model = model
        card, task = model.load(), Labels()
        self.way = chosen_way(task, card, way, options)
        settled: Any = task.labels.settled(card, lambda: iter(samples), self.way, options or {}, 0)
        self.filler = self.sign = filler_of(card, self.way, filler)
        asked = configured(task, self.way, settled, 1)
        assert isinstance(asked, Labels)
        if self.filler != FILLER:
            self.sign = mark_for(sample.text or "" for sample in samples)
            asked = asked.masked_by(self.sign)
        self._task = asked
        self.labels: tuple[str, ...] = tuple(settled["labels"])

    def ask(self, texts: Sequence[tuple[str, str]], on_text: OnText = lambda done, n: None) -> list[Prediction]:
        """What the model says of each (id, text); short texts are asked first, so that a batch is of one length.

        Raises:
            ModelError: it did not answer about one of them, which is named.
        """
        order = sorted(range(len(texts)), key=lambda at: len(texts[at][1]))
        found: dict[int, Prediction] = {}
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            samples = [LabelsGold(id=texts[at][0], text=texts[at][1]) for at in some]
            seeds = [sample_seed(0, 0, sample.id) for sample in samples]
            answers = self._task.ask(samples, lambda requests: asked_twice(self._model, requests), self.way, seeds)
            for at, sample, answer in zip(some, samples, answers, strict=True):
                if answer.raw is None:
                    raise ModelError(f"{sample.id}: {answer.why or 'the model gave no answer'}")
                found[at] = self._task.parse(sample, answer.raw, self.way)
            on_text(len(found), len(texts))
        return [found[at] for at in range(len(texts))]

    def probs(self, texts: Sequence[tuple[str, str]], on_text: OnText = lambda done, n: None) -> "np.ndarray":
        """(n, k): a probability a text and label. Raises ModelError as `ask`, and where the model gives none."""
        import numpy as np

        said = self.ask(texts, on_text)
        if any(not one.probs for one in said):
            raise ModelError(f"{self._model.spec} writes labels without probabilities: {self.way} has none to follow")
        return np.array([[one.probs[label] for label in self.labels] for one in said]).reshape(len(said), -1)


def labelled_texts(workspace: "Workspace", dataset: Dataset, limit: int | None) -> list[LabelsGold]:
    """The first texts of a dataset with what gold says of their labels; texts without words are left out."""
    found = dataset.read_as("labels")
    samples: Iterable[LabelsGold] = (
        sample for _, sample in stored_samples(workspace.store, found, min(found.n, limit or found.n))
    )
    return [sample for sample in samples if (sample.text or "").strip()]


def gold_names(samples: Sequence[LabelsGold]) -> tuple[str, ...]:
    """Every label that gold names, the most frequent first."""
    return tuple(label_names(sample.said or () for sample in samples))
