"""The head for scenes: fitted on sentences written for this project, calibrated on scenes put together from them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from emotui.backends.embedded.backend import LONGEST, scene_embeddings
from emotui.backends.embedded.inference import sentence_embeddings
from emotui.backends.embedded.weights import Weights
from emotui.records import PLUTCHIK
from tools.embedded.calibration import Floats, f1_thresholds, fit_probabilities
from tools.embedded.logistic import logistic

PENALTY = 100.0
FOLDS = 6
SCENES = 400
SHARES = {0: 0.04, 1: 0.49, 2: 0.39, 3: 0.08}
"""How many emotions a scene that is put together has, by share."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A sentence in which somebody's emotion shows without its word; `emotion` is None where none does."""

    setting: str
    emotion: str | None
    text: str

    @property
    def vector(self) -> list[float]:
        """Plutchik's eight, 0 or 1."""
        return [float(emotion == self.emotion) for emotion in PLUTCHIK]


def situations() -> list[Situation]:
    """The sentences: in each setting one for each of the eight emotions, and one without any."""
    file = Path(__file__).with_name("situations.jsonl")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Situation(record["setting"], None if record["emotion"] == "neutral" else record["emotion"], record["text"])
        for record in records
    ]


def fit_scenes(weights: Weights, seed: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The head's tensors, and its slope, shifts and thresholds.

    These are fitted on scenes of sentences from a sixth of the settings, answered by a head that has seen the others.
    """
    given = situations()
    settings = list(dict.fromkeys(situation.setting for situation in given))
    fold_of = np.array([settings.index(situation.setting) % FOLDS for situation in given])
    gold: Floats = np.array([situation.vector for situation in given])
    embedded = sentence_embeddings(weights.base, _ids(weights, given)).astype(float)
    drawn, logits = [], []
    for fold in range(FOLDS):
        weight, bias = _head(embedded[fold_of != fold], gold[fold_of != fold])
        here = [situation for situation, its in zip(given, fold_of.tolist(), strict=True) if its == fold]
        scenes = put_together(here, SCENES // FOLDS, seed * FOLDS + fold)
        sentences = [[situation.text for situation in scene] for scene in scenes]
        logits.append(scene_embeddings(weights.base, weights.pieces, sentences).astype(float) @ weight.T + bias)
        drawn += scenes
    there: Floats = np.array([np.max([situation.vector for situation in scene], axis=0) for scene in drawn])
    slope, shifts = fit_probabilities(np.concatenate(logits), there, top_weight=0.0)
    probabilities: Floats = expit(slope * np.concatenate(logits) + shifts)
    thresholds = f1_thresholds(probabilities, probabilities, there)
    weight, bias = _head(embedded, gold)
    tensors = {"weight": torch.tensor(weight).float(), "bias": torch.tensor(bias).float()}
    return tensors, {"slope": slope, "shifts": shifts.tolist(), "thresholds": thresholds.tolist()}


def put_together(given: Sequence[Situation], count: int, seed: int) -> list[list[Situation]]:
    """Scenes of four to seven sentences: one or two for each of its emotions, the rest without any, in any order.

    Where there are too few sentences, or an emotion has none, a scene is shorter.
    """
    draw = random.Random(seed)
    neutral = [situation for situation in given if situation.emotion is None]
    scenes = []
    for _ in range(count):
        (many,) = draw.choices(list(SHARES), list(SHARES.values()))
        scene = []
        for emotion in draw.sample(PLUTCHIK, many):
            its = [situation for situation in given if situation.emotion == emotion]
            scene += draw.sample(its, min(len(its), draw.randint(1, 2)))
        scene += draw.sample(neutral, min(len(neutral), max(0, draw.randint(4, 7) - len(scene))))
        draw.shuffle(scene)
        scenes.append(scene)
    return scenes


def _head(features: Floats, gold: Floats) -> tuple[Floats, Floats]:
    """(8, 384) weights and (8,) biases."""
    fitted = [logistic(features, column, PENALTY) for column in gold.T]
    return np.stack([weight for weight, _ in fitted]), np.array([bias for _, bias in fitted])


def _ids(weights: Weights, given: Sequence[Situation]) -> list[list[int]]:
    return weights.pieces.ids([situation.text for situation in given], LONGEST)
