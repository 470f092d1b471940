"""What the Generate place asks of a store: versions of a text, and the figures of all models over a dataset."""

import threading
from collections.abc import Mapping
from typing import Any

import msgspec

from emotui.backends.host import IsCancelled
from emotui.records import GenerationGold
from emotui.store.store import Store
from emotui.tasks.generation.task import EmotionGeneration
from emotui.workbench.datasets.samples import is_sample_data
from emotui.workbench.datasets.whole_records import add_own_samples
from emotui.workbench.generation.figures import Figures, Texts, figures_of, on_texts
from emotui.workbench.generation.rating import (
    OPTIONS,
    Sitting,
    begin,
    labels_given,
    options_from,
    rating_log,
    with_labels,
)
from emotui.workbench.generation.rating_batches import RatingOptions
from emotui.workbench.generation.versions import (
    TASK,
    Versions,
    Writer,
    all_versions,
    dataset_of,
    invented,
    versions_of,
    writers_of,
)
from emotui.workbench.progress import OnProgress, RunProgress
from emotui.workbench.task_words import metrics_named

SAMPLES = "generation samples"
"""The setting that says how far the texts that come with the task were brought in."""

_BEGUN = "begun"
_Read = tuple[object, Mapping[str, tuple[Writer, Texts]]]


class GenerationBench:
    """Made by `Workspace.generation()`. Every method may be called from any thread, and may take a while."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._read: dict[int, _Read] = {}

    def lacks_samples(self) -> bool:
        """Whether the texts that come with the task may be put here: they are neither here nor in the trash, or only
        half here since that was stopped. A store of nobody's but a person's own texts gets none.
        """
        there, gone = self._store.datasets.all(), self._store.datasets.all(trash=True)
        if self._store.read_only or any(one.task == TASK for one in gone):
            return False
        if there and not any(map(is_sample_data, there)):
            return False
        here = any(one.task == TASK for one in there)
        return not here or self._store.settings.get(SAMPLES) == _BEGUN

    def add_samples(self, on_progress: OnProgress, cancelled: IsCancelled = lambda: False) -> None:
        """Put the texts that come with the task here, with the three writers' versions.

        Raises:
            Cancelled: stopped; it goes on when it is asked for again.
        """
        self._store.settings.set(SAMPLES, _BEGUN)
        on_progress(RunProgress("", TASK, 0, 0, 0, None, None, "70 texts coming"))
        add_own_samples(self._store, TASK, cancelled=cancelled)
        self._store.settings.set(SAMPLES, "done")

    def versions(self, dataset: int, sample: int) -> Versions:
        """Everything about one text. Raises BadInput where it is not there."""
        found, given = versions_of(self._store, dataset, sample), self._given(dataset)
        versions = tuple([with_labels(one, sample, given) for one in found.versions])
        return msgspec.structs.replace(found, versions=versions)

    def _given(self, dataset: int) -> "Mapping[tuple[str, int, str], tuple[str, ...]]":
        """The labels that were given here."""
        return labels_given(rating_log(self._store, dataset))

    def figures(self, dataset: int) -> Figures:
        """The figures of all sources of a dataset. Raises BadInput where it is not there."""
        by_writer = self._texts(dataset)
        names = dict.fromkeys(name for _, texts in by_writer.values() for _, one in texts for name in one.values)
        illustration = invented(dataset_of(self._store, dataset), [writer for writer, _ in by_writer.values()])
        metrics = metrics_named(EmotionGeneration(), names)
        return figures_of(by_writer, metrics, illustration=illustration, ties=self.rating_options().ties)

    def on_texts(self, dataset: int, metric: str) -> Mapping[str, Any]:
        """How a metric goes with people text by text."""
        return on_texts(self._texts(dataset), metric)

    def rating_options(self) -> RatingOptions:
        """How ratings are gathered, as it was chosen last."""
        return options_from(self._store.settings.get(OPTIONS))

    def begin_rating(self, dataset: int, rater: str, options: RatingOptions) -> Sitting:
        """A rater's batch that is not finished, else a new one by these options, which are remembered.

        Raises:
            BadInput: nothing is left for this rater.
        """
        self._store.settings.set(OPTIONS, msgspec.to_builtins(options))
        return begin(self._store, dataset, rater, options)

    def _texts(self, dataset: int) -> Mapping[str, tuple[Writer, Texts]]:
        """By run its writer, and targets with versions; read once for all figures, as long as nothing changes."""
        marker = self._store.marker()
        with self._lock:
            kept = self._read.get(dataset)
            if kept is not None and kept[0] == marker:
                return kept[1]
            writers = writers_of(self._store, dataset)
            targets = {
                number: msgspec.json.decode(record, type=GenerationGold).label
                for number, record in self._store.samples.of_dataset(dataset)
            }
            found: dict[str, tuple[Writer, list[Any]]] = {writer.run: (writer, []) for writer in writers}
            given = self._given(dataset)
            for number, versions in sorted(all_versions(self._store, writers).items()):
                for one in versions:
                    found[one.writer.run][1].append((targets[number], with_labels(one, number, given)))
            self._read = {dataset: (marker, found)}
            return found
