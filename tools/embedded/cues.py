"""Choosing how cues are read from word probabilities, and how well they are found, beside keywords."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from emotui.backends.embedded.extraction import CueRule, Reading, Run, cue_probabilities, cue_runs, read
from emotui.backends.embedded.inference import Stack
from emotui.backends.embedded.tokens import WordPieces
from emotui.backends.embedded.weights import Weights
from emotui.lexicons import emolex, empath_keywords
from emotui.metrics.spans import span_score
from emotui.records import PLUTCHIK
from tools.embedded.clauses import keyword_runs
from tools.embedded.data import Passage

LOWS = (0.2, 0.3, 0.4, 0.5, 0.6)
HIGHS = (0.3, 0.4, 0.5, 0.6, 0.7)
SPLITS = (0.3, 0.5, 2.0)


def cue_score(passage: Passage, reading: Reading, runs: Sequence[Run]) -> float:
    """A passage's span F1 (SEER, section 6)."""
    gold = [passage.text[start:end] for start, end in passage.spans]
    return span_score(gold, [passage.text[reading.places[a][0] : reading.places[b][1]] for a, b, _ in runs])


def best_rule(stack: Stack, pieces: WordPieces, held: Sequence[Passage]) -> dict[str, float]:
    """The rule with the best mean span F1 on held-out passages."""
    readings = read(pieces, [passage.text for passage in held])
    probabilities = cue_probabilities(stack, readings)

    def mean_score(rule: CueRule) -> float:
        rows = zip(held, readings, probabilities, strict=True)
        return float(np.mean([cue_score(passage, reading, cue_runs(reading, p, rule)) for passage, reading, p in rows]))

    rules = [CueRule(low, high, split) for low, high, split in product(LOWS, HIGHS, SPLITS) if high >= low]
    best = max(rules, key=mean_score)
    return {"low": best.low, "high": best.high, "split": best.split}


def cue_figures(weights: Weights, test: Sequence[Passage]) -> dict[str, dict[str, float]]:
    """Mean span F1 on REMAN passages, over all and over those that have a cue, beside three baselines.

    EmoLex keywords are the words that it ties to one of Plutchik's eight emotions.
    """
    readings = read(weights.pieces, [passage.text for passage in test])
    rule = CueRule(**weights.calibration["spans"]["rule"])
    emotional = frozenset(word for word, ties in emolex().items() if ties & set(PLUTCHIK))
    ways: dict[str, list[list[Run]]] = {
        "embedded": [
            cue_runs(reading, values, rule)
            for reading, values in zip(readings, cue_probabilities(weights.spans, readings), strict=True)
        ],
        "empath keywords": [keyword_runs(reading, empath_keywords()) for reading in readings],
        "emolex keywords": [keyword_runs(reading, emotional) for reading in readings],
        "nothing": [[] for _ in readings],
    }
    figures = {}
    for name, found in ways.items():
        scores = [cue_score(*row) for row in zip(test, readings, found, strict=True)]
        with_cues = [score for passage, score in zip(test, scores, strict=True) if passage.spans]
        figures[name] = {"all": float(np.mean(scores)), "with a cue": float(np.mean(with_cues))}
    return figures
