"""Texts that a person tried on a model and kept: a dataset of spans samples that grows, without gold."""

import msgspec

from emotui.errors import BadInput, StoreError
from emotui.formats import fingerprint
from emotui.records import SpanSample
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import SPANS, task_named

SPOT_CHECKS = "spot checks"
"""The dataset that holds them."""

_SOURCE = "kept in Spot check; no gold"
_ROOM = 100_000
_TRIES = 5


class Kept(msgspec.Struct, frozen=True):
    """Where a text stands now. `known`: it was there before."""

    dataset: Dataset
    number: int
    id: str
    known: bool


class SampleText(msgspec.Struct, frozen=True):
    """The text of a sample, of whichever task."""

    number: int
    id: str
    text: str


class SpotChecks:
    """Keeps texts, and gives those of samples. Every method may be called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keep(self, text: str) -> Kept:
        """Keep a text as a sample without gold spans; the same text is kept once. White space around it goes.

        Raises:
            BadInput: there is no text.
            StoreError: the store is read-only, cannot be written, or has another dataset of this name.
        """
        text = text.strip()
        if not text:
            raise BadInput("there is no text to keep")
        for last in range(_TRIES):
            try:
                return self._keep(text)
            except _Meanwhile as other:
                # Another program kept something between our look and our writing: look again.
                if last == _TRIES - 1:
                    raise StoreError(str(other)) from other
        raise AssertionError

    def take_back(self, kept: Kept) -> None:
        """Take a text that was kept last out again; the data set goes into the trash with its only one.

        Raises:
            BadInput: it is not the last one any more, or not there.
            StoreError: something was said about it, or the store cannot be written.
        """
        there = self._store.datasets.get(SPOT_CHECKS)
        samples = [] if there is None else self._samples(there)
        if there is None or there.dataset != kept.dataset.dataset or not samples or samples[-1].id != kept.id:
            raise BadInput(f"{kept.id} is not the last text that was kept any more: it stays")
        if len(samples) > 1:
            self._store.datasets.shorten(there.dataset, there.fingerprint, fingerprint(samples[:-1]))
        elif self._store.runs.all(there.dataset):
            raise StoreError("there is a run, an answer or a note about it already: it stays")
        else:
            self._store.by_name.delete(SPOT_CHECKS)

    def _samples(self, dataset: Dataset) -> list[SpanSample]:
        kept = self._store.samples.of_dataset(dataset.dataset)
        return [msgspec.json.decode(record, type=SpanSample) for _, record in kept]

    def text_of(self, number: int) -> SampleText:
        """Raises BadInput: there is no such sample, or it has no text."""
        found = self._store.samples.records([number])
        if not found:
            raise BadInput(f"there is no sample {number}")
        one = msgspec.json.decode(found[0][1], type=_Text)
        if not one.text:
            raise BadInput(f"the sample {one.id} has no text")
        return SampleText(number, one.id, one.text)

    def _keep(self, text: str) -> Kept:
        there = self._store.datasets.get(SPOT_CHECKS)
        if there is None:
            return self._begin(text)
        kept = list(self._store.samples.of_dataset(there.dataset))
        samples = [msgspec.json.decode(record, type=SpanSample) for _, record in kept]
        for (number, _), sample in zip(kept, samples, strict=True):
            if sample.text == text:
                return Kept(there, number, sample.id, known=True)
        fresh = _sample(len(samples) + 1, text)
        mark = fingerprint([*samples, fresh])
        try:
            grown = self._store.datasets.extend(there.dataset, [task_named(SPANS).row(fresh)], there.fingerprint, mark)
        except StoreError as error:
            raise self._meanwhile(there.fingerprint, error) from error
        return Kept(grown, kept[-1][0] + 1, fresh.id, known=False)

    def _begin(self, text: str) -> Kept:
        first = _sample(1, text)
        try:
            made = self._store.datasets.add(
                SPOT_CHECKS, SPANS, [task_named(SPANS).row(first)], _SOURCE, fingerprint([first]), room=_ROOM
            )
        except StoreError as error:
            raise self._meanwhile(None, error) from error
        ((number, _),) = self._store.samples.of_dataset(made.dataset, 0, 1)
        return Kept(made, number, first.id, known=False)

    def _meanwhile(self, before: str | None, error: StoreError) -> Exception:
        """Of a refusal: whether the dataset is another one than it was, so that one looks again."""
        now = self._store.datasets.get(SPOT_CHECKS)
        changed = (None if now is None else now.fingerprint) != before
        return _Meanwhile(str(error)) if changed else error


class _Meanwhile(Exception):
    """Another program was quicker."""


class _Text(msgspec.Struct):
    """What samples of every task have."""

    id: str
    text: str | None = None


def _sample(place: int, text: str) -> SpanSample:
    return SpanSample(id=f"spot-{place:03}", text=text)
