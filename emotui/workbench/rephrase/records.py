"""What was rephrased, as the store keeps it: the log, chains, reviews and figures, without any model."""

import threading
from collections.abc import Mapping
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.lexicons import emolex
from emotui.metrics.rephrasing_statistics import statistics_report
from emotui.records import Chain, ClassGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.rephrase.task import Rephrase
from emotui.workbench.rephrase.chains import chains_of, stored_texts
from emotui.workbench.rephrase.log import (
    REVIEW,
    UNDO,
    ClassifierMark,
    Log,
    ReviewEntry,
    check_review,
    last_review,
    numbered,
    review_queue,
    reviews_report,
)
from emotui.workbench.rephrase.originals import kept_variants
from emotui.workbench.rephrase.views import ReviewItem

TASK = Rephrase.name


class Rephrased:
    """Reads and adds to a store. Every method may be called from any thread, and raises EmotuiError in one line."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._samples: dict[int, tuple[str, dict[int, ClassGold]]] = {}
        self._logs: dict[int, tuple[object, Log]] = {}

    def datasets(self) -> list[Dataset]:
        """Those whose texts can be rephrased."""
        return [dataset for dataset in self.store.datasets() if dataset.task == TASK]

    def dataset(self, key: str | int) -> Dataset:
        """The dataset of that name or number. Raises BadInput where there is none, or it is of another task."""
        found = self.store.dataset(key)
        if found is None or found.task != TASK:
            there = ", ".join(dataset.name for dataset in self.datasets()) or "none yet"
            what = "there is no dataset" if found is None else "this is a dataset of another task"
            raise BadInput(f"{key}: {what}; texts to rephrase are in: {there}")
        return found

    def samples(self, dataset: Dataset) -> dict[int, ClassGold]:
        """By number, in file order. They are read once, and again where their gold was replaced."""
        with self._lock:
            mark, known = self._samples.get(dataset.dataset, ("", {}))
        if mark != dataset.fingerprint:
            known = stored_texts(self.store, dataset)
            with self._lock:
                self._samples[dataset.dataset] = dataset.fingerprint, known
        return known

    def text(self, number: int) -> ClassGold:
        """One text, without reading the others. Raises BadInput where there is none."""
        found = self.store.samples([number])
        if not found:
            raise BadInput(f"there is no text {number}")
        return msgspec.json.decode(found[0][1], type=ClassGold)

    def log(self, dataset: Dataset) -> Log:
        """The log about this dataset. What is new in the store is read when something was written to it."""
        marker = self.store.marker()
        numbers = self.samples(dataset).keys()
        with self._lock:
            kept, log = self._logs.setdefault(dataset.dataset, (None, Log()))
            if kept != marker:
                log.take(self.store.annotations(after=log.last), numbers)
                self._logs[dataset.dataset] = (marker, log)
            return log

    # A second pair of eyes.

    def review_queue(self, dataset: str | int, reviewer: str) -> list[ReviewItem]:
        """Rephrasings that others wrote and this person has not judged, without what the classifier said to them."""
        found = self.dataset(dataset)
        return review_queue(self.log(found).in_force(), self.samples(found), reviewer.strip())

    def review(
        self, dataset: str | int, reviewer: str, attempt: int, meaning: bool, emotion: str, *, kept: bool | None = None
    ) -> None:
        """Keep a judgement of one rephrasing; a second one by the same person takes the place of the first.

        Args:
            attempt: `ReviewItem.attempt`.
            meaning: whether the meaning is kept.
            emotion: the emotion that the reviewer sees in the rephrasing, picked without knowing the gold label.
            kept: whether they say that the emotion is the original's; None: it is, where `emotion` is the gold label.

        Raises:
            BadInput: the attempt is their own, or was taken back; the reviewer or the emotion is empty.
        """
        found = self.dataset(dataset)
        who = reviewer.strip()
        of = check_review(self.log(found).in_force(), self.samples(found), who, attempt, emotion)
        entry = ReviewEntry(attempt=attempt, meaning=meaning, emotion=emotion.strip(), kept=kept)
        self.store.append_annotation(REVIEW, of.sample, who, msgspec.json.encode(entry))

    def take_review_back(self, dataset: str | int, reviewer: str) -> int | None:
        """Take this person's last judgement back; `ReviewItem.attempt` of what is to judge again, or None."""
        found = self.dataset(dataset)
        log = self.log(found)
        last = last_review(log, reviewer.strip())
        if last is None or not isinstance(last.content, ReviewEntry):
            return None
        self.store.append_annotation(UNDO, last.sample, reviewer.strip(), b"{}", undoes=log.tip(last.number))
        return last.content.attempt

    def agreement(self, dataset: str | int) -> dict[str, Any]:
        """How far reviewers agree; see `emotui.workbench.rephrase.log.reviews_report`."""
        found = self.dataset(dataset)
        return reviews_report(self.log(found).in_force(), self.samples(found))

    # What comes out of it.

    def rounds(self, dataset: str | int) -> list[ClassifierMark]:
        """The classifiers that something was rephrased against, in the order in which they came: round 1 and on.

        Chains that came from a file which names no classifier are in no round.
        """
        return numbered(self.log(self.dataset(dataset)).all())

    def chains(
        self,
        dataset: str | int,
        *,
        confirmed_only: bool = False,
        annotator: str | None = None,
        identity: str | None = None,
    ) -> list[Chain]:
        """The chains of one round as records, one for each text; see `emotui.workbench.rephrase.chains.chains_of`."""
        found = self.dataset(dataset)
        return chains_of(
            self.store,
            found,
            self.samples(found),
            self.log(found).in_force(),
            confirmed_only=confirmed_only,
            annotator=annotator,
            identity=identity,
        )

    def statistics(
        self,
        dataset: str | int,
        *,
        confirmed_only: bool = False,
        annotator: str | None = None,
        identity: str | None = None,
        variants: Mapping[str, Mapping[str, str]] | None = None,
    ) -> dict[str, Any]:
        """The figures of one round's chains; see `emotui.metrics.rephrasing_statistics.statistics_report`.

        Args:
            variants: further columns; None: those kept in the workspace (`emotui rephrasings variants`).
        """
        chains = self.chains(dataset, confirmed_only=confirmed_only, annotator=annotator, identity=identity)
        if variants is None:
            variants = kept_variants(self.store, self.dataset(dataset))
        return statistics_report(chains, emolex(), variants)
