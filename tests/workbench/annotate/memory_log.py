"""A store that holds one dataset and an annotation log in memory: thousands of edits take seconds."""

from collections.abc import Sequence

import msgspec

from emotui.errors import BadInput
from emotui.records import SpanSample
from emotui.store.annotations import Entry
from emotui.store.query import Dataset
from emotui.store.rows import Annotation, Outline

FIRST = 100
"""The number of the first sample."""


class MemorySamples:
    """The calls of a store's samples that an annotator needs."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._samples = [SpanSample(id=str(place), text=text) for place, text in enumerate(texts)]

    def file_order(self, dataset: int) -> range:
        return range(FIRST, FIRST + len(self._samples))

    def records(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        return [(number, msgspec.json.encode(self._samples[number - FIRST])) for number in numbers]


class MemorySettings:
    """A store's settings: none."""

    def get(self, key: str, default: object = None) -> object:
        return default


class MemoryLog:
    """A store's annotations."""

    def __init__(self) -> None:
        self.made: list[Annotation] = []

    def append_each(self, entries: Sequence[Entry]) -> list[Annotation]:
        made = []
        for kind, sample, annotator, payload, undoes in entries:
            if undoes is not None and any(one.undoes == undoes for one in self.made):
                raise BadInput(f"annotation {undoes} is undone already")
            number = len(self.made) + 1
            made.append(Annotation(number, kind, sample, annotator, payload, undoes, "2026-11-21T06:00:00.000+00:00"))
            self.made.append(made[-1])
        return made

    def entries(
        self,
        sample: int | None = None,
        annotator: str | None = None,
        *,
        after: int = 0,
        kind: str = "",
        within: range | None = None,
    ) -> list[Annotation]:
        return [
            one
            for one in self.made
            if sample in (None, one.sample)
            and annotator in (None, one.annotator)
            and one.annotation > after
            and (within is None or one.sample in within)
        ]

    def outlines(self, annotator: str, *, kind: str, within: range, after: int) -> list[Outline]:
        found = [one for one in self.made if one.annotator == annotator and one.annotation > after]
        return [(one.annotation, one.kind, one.sample, one.undoes) for one in found]


class MemoryStore:
    """The parts of `Store` that an annotator needs."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.held = Dataset(1, "texts", "spans", len(texts), "fingerprint", "a test")
        self.samples = MemorySamples(texts)
        self.settings = MemorySettings()
        self.annotations = MemoryLog()
