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


class MemoryStore:
    """The calls of `Store` that an annotator needs."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._samples = [SpanSample(id=str(place), text=text) for place, text in enumerate(texts)]
        self.entries: list[Annotation] = []
        self.held = Dataset(1, "texts", "spans", len(texts), "fingerprint", "a test")

    def file_order(self, dataset: int) -> range:
        return range(FIRST, FIRST + len(self._samples))

    def samples(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        return [(number, msgspec.json.encode(self._samples[number - FIRST])) for number in numbers]

    def setting(self, key: str, default: object = None) -> object:
        return default

    def append_entries(self, entries: Sequence[Entry]) -> list[Annotation]:
        made = []
        for kind, sample, annotator, payload, undoes in entries:
            if undoes is not None and any(one.undoes == undoes for one in self.entries):
                raise BadInput(f"annotation {undoes} is undone already")
            made.append(
                Annotation(
                    len(self.entries) + 1, kind, sample, annotator, payload, undoes, "2026-11-21T06:00:00.000+00:00"
                )
            )
            self.entries.append(made[-1])
        return made

    def annotations(
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
            for one in self.entries
            if sample in (None, one.sample)
            and annotator in (None, one.annotator)
            and one.annotation > after
            and (within is None or one.sample in within)
        ]

    def outlines(self, annotator: str, *, kind: str, within: range, after: int) -> list[Outline]:
        found = [one for one in self.entries if one.annotator == annotator and one.annotation > after]
        return [(one.annotation, one.kind, one.sample, one.undoes) for one in found]
