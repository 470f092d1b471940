"""A backend for tests whose answers about a text that begins with `NAN` hold a number that is none."""

from collections.abc import Mapping, Sequence
from math import inf, nan
from typing import Any

from emotui.backends.base import (
    Classification,
    Classify,
    Evidence,
    Extract,
    Filled,
    FillMask,
    ModelCard,
    Progress,
    Rank,
    Ranked,
    Regress,
    Regressed,
    Score,
    Scores,
)

ALL = ("classify", "score", "fill_mask", "extract", "regress", "rank")
LABELS = ("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation")


class Nan:
    """It can all but write."""

    def __init__(self, able: Sequence[str]) -> None:
        self.card = ModelCard("nan", "nan", tuple(able), {"version": "1"}, {"own": LABELS, "values": ("valence",)})

    def classify(self, requests: Sequence[Classify]) -> list[object]:
        return [
            Classification({label: _of(one.text) if label == "joy" else 0.05 for label in LABELS}, "joy", False)
            for one in requests
        ]

    def score(self, requests: Sequence[Score]) -> list[object]:
        n = [len(one.questions) for one in requests]
        return [Scores((_of(one.text),) * k, (-1.0,) * k, (1.0,) * k) for one, k in zip(requests, n, strict=True)]

    def rank(self, requests: Sequence[Rank]) -> list[object]:
        return [
            Ranked(tuple(_of(str(one)) for _ in one.continuations), (1,) * len(one.continuations), (True,) * 2)
            for one in requests
        ]

    def fill_mask(self, requests: Sequence[FillMask]) -> list[object]:
        return [Filled(((("happy", _of(one.text)), ("sad", 0.1)),)) for one in requests]

    def extract(self, requests: Sequence[Extract]) -> list[object]:
        return [(Evidence(0, 3, "joy", _of(one.text)),) for one in requests]

    def regress(self, requests: Sequence[Regress]) -> list[object]:
        return [Regressed({"valence": _of(one.text)}) for one in requests]


def _of(text: str) -> float:
    if "RAISES" in text:
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    return nan if "NAN" in text else inf if "INF" in text else 0.25


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Nan:
    return Nan(argument.split(",") if argument else ALL)
