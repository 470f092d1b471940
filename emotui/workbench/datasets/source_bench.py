"""What a person does with sources from the workbench: take a person in, score again, make one gold."""

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.datasets.sources import PERSON, Proposed, Source, make_gold, proposed, sources, take_person
from emotui.workbench.progress import Cancelled, OnProgress, RunProgress
from emotui.workbench.runs.run import rescore


class SourceBench:
    """Made by `Workspace.sources()`. Every method may be called from any thread, and may take a while."""

    def __init__(self, store: Store) -> None:
        self._store = store

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

    def rescore(self, run: str, on_progress: OnProgress, cancelled: IsCancelled) -> Run:
        """Parse and score what is kept of a source again, against today's gold.

        Raises:
            Cancelled: stopped; the scores that are there stay.
        """
        on_progress(_step(f"scoring {run} again"))
        if cancelled():
            raise Cancelled
        return rescore(self._store, run, cancelled=cancelled)

    def _named(self, dataset: int) -> Dataset:
        found = self._store.dataset(dataset)
        if found is None:
            raise BadInput(f"there is no dataset {dataset}")
        return found


def _step(words: str) -> RunProgress:
    return RunProgress("", words, 0, 0, 0, None, None, words)
