"""A backend for tests that answers, waits, prints, dies, refuses or hangs as its requests say."""

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emotui.backends.base import (
    Classification,
    Classify,
    Embed,
    Evidence,
    Extract,
    Filled,
    FillMask,
    ModelCard,
    Progress,
    Refused,
    Score,
    Scores,
)
from emotui.errors import ModelError


class Version(str):
    """A string that only its own library can read, as torch's version is."""

    __slots__ = ()


class Breaking:
    """Does to its own process what the text of a request names."""

    def __init__(self, *, able_to_all: bool) -> None:
        able = ("extract", "embed", "score", *(("fill_mask", "classify") if able_to_all else ()))
        self.card = ModelCard("breaking", "breaking", able, {"version": Version("1")})

    def extract(self, requests: Sequence[Extract]) -> list[object]:
        return [self._one(request.text) for request in requests]

    def embed(self, requests: Sequence[Embed]) -> Any:
        import numpy as np

        rows = [[float(len(request.text)), 1.0] for request in requests]
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def score(self, requests: Sequence[Score]) -> list[object]:
        """Yes to the first question, no to the others; whatever the text does, it does here too."""
        said = [(self._one(request.text), len(request.questions)) for request in requests]
        return [
            one if isinstance(one, Refused) else Scores((-0.5,) + (-2.0,) * (n - 1), (-1.0,) * n, (0.9,) * n)
            for one, n in said
        ]

    def fill_mask(self, requests: Sequence[FillMask]) -> list[Filled]:
        """The same word for every mask."""
        return [Filled(((("calm", 1.0),),) * request.text.count("<mask>")) for request in requests]

    def classify(self, requests: Sequence[Classify]) -> list[Classification]:
        """All on the first of the labels."""
        return [
            Classification({label: float(place == 0) for place, label in enumerate(labels)}, labels[0], False)
            for labels in (request.labels or ("calm",) for request in requests)
        ]

    def _one(self, text: str) -> object:
        word, _, rest = text.partition(" ")
        match word:
            case "SEGFAULT":
                print("about to touch what is not mine", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGSEGV)
            case "KILL":
                os.kill(os.getpid(), signal.SIGKILL)
            case "EXIT":
                sys.exit("gave up")
            case "RAISE":
                raise ModelError("this batch is too much for me")
            case "BUG":
                raise RuntimeError("a bug in the backend")
            case "REFUSE":
                return Refused("the text is longer than the context (9999 tokens of 512)")
            case "SLEEP":
                time.sleep(float(rest or 0))
            case "WAIT":
                begun = time.monotonic()
                while not Path(rest).exists() and time.monotonic() - begun < 600:
                    time.sleep(0.01)
            case "PRINT":
                print("noise from a library")
            case "PID":
                return (Evidence(0, 0, str(os.getpid()), 1.0),)
        return (Evidence(0, len(word), "happy", 0.5),) if word else ()


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Breaking:
    """`breaking:ARGUMENT`: loads, or does not."""
    progress("thinking about it")
    if argument == "cannot":
        raise ModelError("model.bin is cut short (1 of 2 bytes): download it again")
    if argument == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if argument == "slow":
        time.sleep(600)
    return Breaking(able_to_all=argument == "able")
