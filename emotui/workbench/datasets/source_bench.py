"""What a person does with sources from the workbench: take one in, score again, make gold, map labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.datasets import label_maps
from emotui.workbench.datasets.sources import (
    PERSON,
    Proposed,
    Source,
    former_again,
    make_gold,
    proposed,
    sources,
    take_person,
)
from emotui.workbench.progress import Cancelled, OnProgress, RunProgress
from emotui.workbench.runs.run import EMBEDDING, rescore
from emotui.workbench.runs.similarity import Embedder


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """Labels that a source says of spans and gold has not (`theirs`), those of gold (`own`), and what is kept.

    `guess`: by the name, None where nothing suggests itself.
    """

    dataset: Dataset
    source: str
    theirs: tuple[str, ...]
    own: tuple[str, ...]
    kept: Mapping[str, str]
    guess: Mapping[str, str | None]


class SourceBench:
    """Made by `Workspace.sources()`. Every method may be called from any thread, and may take a while."""

    def __init__(self, store: Store, process: Callable[[str], ModelProcess]) -> None:
        """`process` gives the process of a model; asked for the embedded one when the nearest labels are."""
        self._store, self._process = store, process

    def people(self, dataset: int) -> list[Source]:
        """People whose word stands inside the gold records alone, not yet beside the runs."""
        found = self._named(dataset)
        return [one for one in sources(self._store, found.name) if one.kind == PERSON and one.run is None]

    def take(self, dataset: int, name: str, on_progress: OnProgress, cancelled: IsCancelled) -> Run:
        """Keep what a person says inside the gold records beside the runs, scored.

        Raises:
            BadInput: nobody of that name says anything.
            Cancelled: stopped; it goes on when it is asked for again.
        """
        on_progress(_step(f"scoring {name}"))
        return take_person(self._store, self._named(dataset).name, name, cancelled=cancelled)

    def proposed(self, dataset: int, name: str) -> Proposed:
        """What would happen if this source were made gold; nothing changes.

        Raises:
            BadInput: there is no such source.
        """
        return proposed(self._store, self._named(dataset).name, name)

    def make_gold(
        self, proposal: Proposed, name: str, *, again: bool, on_progress: OnProgress, cancelled: IsCancelled
    ) -> Dataset:
        """Make a source gold; texts that it is silent about keep what they have.

        Args:
            again: score the runs of the proposal against the new gold.

        Raises:
            BadInput: it cannot be gold.
            Cancelled: stopped while runs were scored; the new gold stays, and so do the scores that are there.
        """
        made = make_gold(self._store, proposal.dataset.name, name, keep_missing=True)
        for run in proposal.scored if again else ():
            self.rescore(run, on_progress, cancelled)
        return made

    def take_gold_back(
        self, proposal: Proposed, *, again: bool, on_progress: OnProgress, cancelled: IsCancelled
    ) -> Dataset:
        """Make what gold said before this proposal was taken the next version.

        Args:
            again: score the runs of the proposal against it.

        Raises:
            BadInput: gold has changed since.
            Cancelled: stopped while runs were scored; the new gold stays, and so do the scores that are there.
        """
        made = former_again(self._store, self._named(proposal.dataset.dataset), proposal.dataset.gold)
        for run in proposal.scored if again else ():
            self.rescore(run, on_progress, cancelled)
        return made

    def rescore(self, run: str, on_progress: OnProgress, cancelled: IsCancelled) -> Run:
        """Parse and score what is kept of a source again, against today's gold.

        Raises:
            Cancelled: stopped; the scores that are there stay.
        """
        on_progress(_step(f"scoring {run} again"))
        if cancelled():
            raise Cancelled
        return rescore(self._store, run, cancelled=cancelled)

    def labels(self, dataset: int, run: str) -> LabelSheet:
        """What there is to map of a run's labels.

        Raises:
            BadInput: the dataset has no spans.
        """
        found, source = self._named(dataset), self._store.run(run).model
        own = label_maps.gold_labels(self._store, found)
        theirs = tuple(label for label in label_maps.labels_said(self._store, [run]) if label not in own)
        kept = label_maps.mapping_of(self._store, found, source)
        return LabelSheet(found, source, theirs, own, kept, label_maps.guessed(theirs, own))

    def nearest(self, sheet: LabelSheet) -> Mapping[str, tuple[str, float]]:
        """The nearest label of gold for each of theirs, and the cosine; the embedded model is loaded for it."""
        return label_maps.nearest(sheet.theirs, sheet.own, Embedder(self._process(EMBEDDING)))

    def keep_labels(
        self, sheet: LabelSheet, mapping: Mapping[str, str], cancelled: IsCancelled = lambda: False
    ) -> None:
        """Keep this mapping for the source of the sheet, but for what is kept for all; scores stay until `rescore`.

        Raises:
            Cancelled: stopped before it was kept.
        """
        common = label_maps.label_map(self._store, sheet.dataset)
        own = {label: ours for label, ours in mapping.items() if common.get(label) != ours}
        if cancelled():
            raise Cancelled
        label_maps.keep_label_map(self._store, sheet.dataset, own, sheet.source)

    def _named(self, dataset: int) -> Dataset:
        found = self._store.dataset(dataset)
        if found is None:
            raise BadInput(f"there is no dataset {dataset}")
        return found


def _step(words: str) -> RunProgress:
    return RunProgress("", words, 0, 0, 0, None, None, words)
