"""A backend for tests whose third layer has one number for one word; all else in its states is noise of the text."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from emotui.backends.base import (
    Classification,
    Classify,
    HiddenStates,
    ModelCard,
    Progress,
    Push,
    Pushed,
    Refused,
    States,
    chosen_layers,
    hidden_states_of,
)
from emotui.backends.words import word_places

DEPTH, SIZE, KNOWS = 3, 6, 2


class Layered:
    """A word's state is noise by layer and text; in layer `KNOWS` its first number says whether it is the word."""

    def __init__(self, word: str) -> None:
        labels = {"own": ("joy", "sadness")}
        self.card = ModelCard(f"layered:{word}", "layered", ("states", "classify", "push"), {"word": word}, labels)
        self._word = word

    def classify(self, requests: Sequence[Classify]) -> list[Classification]:
        found = []
        for one in requests:
            p = 0.9 if re.search(rf"\b{self._word}\b", one.text) else 0.2
            found.append(Classification({"joy": p, "sadness": 1 - p}, "joy" if p > 0.5 else "sadness", False))
        return found

    def push(self, requests: Sequence[Push]) -> list[Pushed | Refused]:
        """What is pushed along the first number at layer `KNOWS` raises joy; nothing else does anything."""
        found: list[Pushed | Refused] = []
        for one in requests:
            p = 0.9 if re.search(rf"\b{self._word}\b", one.text) else 0.2
            along = one.strength * float(np.frombuffer(one.direction, np.float32)[0]) if one.layer == KNOWS else 0.0
            p = 1 / (1 + (1 - p) / p * np.exp(-along))
            found.append(Pushed({"joy": float(p), "sadness": float(1 - p)}))
        return found

    def states(self, requests: Sequence[States]) -> list[Any]:
        return [self._one(one) for one in requests]

    def _one(self, asked: States) -> HiddenStates | Any:
        layers = chosen_layers(asked.layers, DEPTH)
        if not isinstance(layers, tuple):
            return layers
        places = word_places(asked.text)
        seed = int.from_bytes(hashlib.sha256(asked.text.encode()).digest()[:8], "big")
        noise = np.random.default_rng(seed).normal(size=(DEPTH + 1, max(len(places), 1), SIZE)).astype(np.float32)
        noise *= 0.2
        for at, (start, end) in enumerate(places):
            noise[KNOWS, at, 0] = 4.0 * (asked.text[start:end] == self._word)
        states = noise[list(layers)]
        if asked.over == "words":
            return hidden_states_of(states[:, : len(places)], layers, DEPTH, places)
        return hidden_states_of(states.mean(1, keepdims=True), layers, DEPTH)


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> Layered:
    """`layered:WORD`."""
    return Layered(argument)
