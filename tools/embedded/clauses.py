"""The head that tells clauses of evidence from others, fitted on this project's sample data, and its honest figures."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from emotui.backends.embedded.extraction import Clause, Reading, Run, clause_features, clause_runs, clauses, read
from emotui.backends.embedded.weights import Weights
from emotui.backends.embedded.words import ends_sentence
from emotui.lexicons import empath_keywords
from emotui.metrics.spans import span_score
from tools.embedded.data import Passage
from tools.embedded.logistic import logistic

Floats = NDArray[np.float64]

FOLDS = 5
PENALTY = 300.0
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


@dataclass(frozen=True)
class ClauseText:
    """A sample with its clauses, their features (clauses, d) and whether most words of each are evidence."""

    passage: Passage
    reading: Reading
    parts: list[Clause]
    features: Floats
    gold: Floats

    def score(self, runs: Sequence[Run]) -> float:
        """Span F1 of predicted runs of words against the gold spans (SEER, section 6)."""
        predicted = [self.passage.text[self.reading.places[a][0] : self.reading.places[b][1]] for a, b, _ in runs]
        return span_score([self.passage.text[start:end] for start, end in self.passage.spans], predicted)


@dataclass(frozen=True)
class ClauseHead:
    weight: Floats
    bias: float
    threshold: float

    def runs(self, text: ClauseText) -> list[Run]:
        """Predicted evidence, as runs of words."""
        return clause_runs(text.parts, expit(text.features @ self.weight + self.bias).tolist(), self.threshold)


def clause_texts(weights: Weights, passages: Sequence[Passage]) -> list[ClauseText]:
    """Features of every passage: the encoders are run once, whatever is fitted on them later."""
    readings = read(weights.pieces, [passage.text for passage in passages])
    cut = [clauses(reading.text, reading.places) for reading in readings]
    tables = clause_features((weights.goemotions.encoder, weights.base), readings, cut)
    texts = []
    for passage, reading, parts, table in zip(passages, readings, cut, tables, strict=True):
        inside = [any(s <= a and b <= e for s, e in passage.spans) for a, b in reading.places]
        gold = np.array([float(np.mean(inside[part.first : part.last + 1]) >= 0.5) for part in parts])
        texts.append(ClauseText(passage, reading, parts, table.astype(float), gold))
    return texts


def folds(texts: Sequence[ClauseText], count: int, seed: int) -> Iterator[tuple[list[ClauseText], list[ClauseText]]]:
    """`(train, test)` for each fold; each file of the sample data is spread evenly over the folds."""
    fold = [0] * len(texts)
    for group in sorted({text.passage.group for text in texts}):
        members = [index for index, text in enumerate(texts) if text.passage.group == group]
        random.Random(seed).shuffle(members)
        for place, index in enumerate(members):
            fold[index] = place % count
    for number in range(count):
        yield (
            [text for text, where in zip(texts, fold, strict=True) if where != number],
            [text for text, where in zip(texts, fold, strict=True) if where == number],
        )


def _fitted(texts: Sequence[ClauseText]) -> tuple[Floats, float]:
    return logistic(np.concatenate([t.features for t in texts]), np.concatenate([t.gold for t in texts]), PENALTY)


def fit_clauses(texts: Sequence[ClauseText], seed: int) -> ClauseHead:
    """A head on these texts alone; its threshold has the best mean span F1 in an inner cross-validation."""
    scores = dict.fromkeys(THRESHOLDS, 0.0)
    for train, test in folds(texts, FOLDS, seed + 1):
        weight, bias = _fitted(train)
        for threshold in THRESHOLDS:
            head = ClauseHead(weight, bias, threshold)
            scores[threshold] += sum(text.score(head.runs(text)) for text in test)
    return ClauseHead(*_fitted(texts), max(THRESHOLDS, key=lambda threshold: scores[threshold]))


def sentence_runs(text: ClauseText) -> list[Run]:
    """The baseline that marks every sentence."""
    runs: list[Run] = []
    for word, (start, _) in enumerate(text.reading.places):
        before = text.reading.places[word - 1][1] if word else 0
        if not runs or ends_sentence(text.passage.text, before, start):
            runs.append((word, word, 1.0))
        else:
            runs[-1] = (runs[-1][0], word, 1.0)
    return runs


def keyword_runs(reading: Reading, keywords: frozenset[str]) -> list[Run]:
    """The baseline that marks every keyword."""
    return [
        (word, word, 1.0)
        for word, (start, end) in enumerate(reading.places)
        if reading.text[start:end].lower() in keywords
    ]


def sample_span_figures(texts: Sequence[ClauseText], seed: int = 0) -> dict[str, dict[str, float]]:
    """Mean span F1 on the sample data by 5-fold cross-validation, beside the two baselines, by file and over both.

    In each fold the head and its threshold are fitted on the other four alone; the encoders below it never saw the
    sample data.
    """
    scores: dict[str, dict[str, list[float]]] = {}

    def add(name: str, text: ClauseText, runs: Sequence[Run]) -> None:
        score = text.score(runs)
        for group in (text.passage.group, "all"):
            scores.setdefault(name, {}).setdefault(group, []).append(score)

    for train, test in folds(texts, FOLDS, seed):
        head = fit_clauses(train, seed)
        for text in test:
            add("embedded, 5-fold", text, head.runs(text))
            add("every sentence", text, sentence_runs(text))
            add("empath keywords", text, keyword_runs(text.reading, empath_keywords()))
    return {name: {group: float(np.mean(values)) for group, values in by.items()} for name, by in scores.items()}
