"""A backend for tests that marks spans with labels: overlapping ones, one inside a word, and none where it refuses."""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.backends.base import Embed, Evidence, Extract, ModelCard, Progress, Refused


class Marking:
    """Marks `afraid` inside `unafraid`, and `so very glad` with `very glad` inside it; refuses `REFUSE`."""

    card = ModelCard("marking", "marking", ("extract", "embed"), {"version": "1"})

    def extract(self, requests: Sequence[Extract]) -> list[object]:
        return [self._one(request.text) for request in requests]

    def embed(self, requests: Sequence[Embed]) -> Any:
        import numpy as np

        rows = np.array([[float(len(request.text)), 1.0] for request in requests], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _one(self, text: str) -> object:
        if "REFUSE" in text:
            return Refused("the text is longer than the context")
        if "OUTSIDE" in text:
            return (Evidence(0, len(text) + 9, "joy", 0.5),)
        words = (("unafraid", 2, "fear"), ("so very glad", 0, "joy"), ("very glad", 0, "love"))
        return tuple(
            Evidence(text.index(word) + skip, text.index(word) + len(word), label, 0.25)
            for word, skip, label in words
            if word in text
        )


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Marking:
    return Marking()
