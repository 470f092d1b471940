"""What fills masks for nothing: no feeling at all, vectors or words by chance, and one word for every mask."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.metrics.baselines import SEED, drawn_golds, most_frequent
from emotui.metrics.beside import Shared
from emotui.metrics.masked import DIMENSIONS, fold
from emotui.records import MaskedGold
from emotui.tasks.masked.lexicon import WordVectors, given_vectors
from emotui.tasks.masked.word_vectors import Vector
from emotui.tasks.parts import Embedding, shared_of

NO_WORD = "\0"
"""Stands for a vector that is no word's; no gold word holds it."""


def score_baselines(
    golds: Sequence[MaskedGold], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, Any]]:
    """The figures of five answers to every mask: `baseline_figures`, by the vectors that the options name."""
    shared = list(shared_of(golds).values())
    return baseline_figures({sample.id: sample.labels for sample in golds}, given_vectors(given), shared)


def baseline_figures(
    gold: Mapping[str, Sequence[str]], words: WordVectors, shared: Shared | None = None
) -> dict[str, dict[str, Any]]:
    """The figures of five answers to every mask.

    `zeros`: no word but the vector of ten zeros. `random`: a gold word that is drawn. `random_vectors`: no word but ten
    drawn digits, each 0 or 1 with equal chance (the paper's random baseline). `constant`: the most frequent gold word.
    `best_constant`: the gold word with the highest F1_V of all, under `word`.

    Args:
        shared: of each gold record what it shares with others; where given, intervals stand beside (`ci95`).
    """
    masks = [fold(word) for labels in gold.values() for word in labels]
    most, guesses, source = most_frequent(masks), iter(drawn_golds(masks)), random.Random(SEED)
    drawn = [tuple(source.choice((0, 1)) for _ in DIMENSIONS) for _ in masks]
    numbers = iter(range(len(masks)))
    counted = Counter(masks)
    best = max(counted, key=lambda word: _constant_f1(word, counted, words))

    def said(fill: Any) -> dict[str, list[str]]:
        return {key: [fill() for _ in row] for key, row in gold.items()}

    return {
        "zeros": _without_words(gold, said(lambda: NO_WORD), words, {NO_WORD: (0,) * len(DIMENSIONS)}, shared),
        "constant": _document(gold, said(lambda: most), words, shared) | {"word": most},
        "best_constant": _document(gold, said(lambda: best), words, shared) | {"word": best},
        "random": _document(gold, said(lambda: next(guesses)), words, shared),
        "random_vectors": _without_words(
            gold,
            said(lambda: f"{NO_WORD}{next(numbers)}"),
            words,
            {f"{NO_WORD}{number}": vector for number, vector in enumerate(drawn)},
            shared,
        ),
    }


def _constant_f1(word: str, masks: Mapping[str, int], words: WordVectors) -> float:
    return sum(n * words.score(mask, word).f1 for mask, n in masks.items())


def _document(
    gold: Mapping[str, Sequence[str]], predicted: Mapping[str, Sequence[str]], words: WordVectors, shared: Shared | None
) -> dict[str, Any]:
    return words.report(gold, predicted, shared)


def _without_words(
    gold: Mapping[str, Sequence[str]],
    predicted: Mapping[str, Sequence[str]],
    words: WordVectors,
    vectors: Mapping[str, Vector],
    shared: Shared | None,
) -> dict[str, Any]:
    """The figures of bare vectors, under names that are no words and are not told as such."""
    told = _document(gold, predicted, msgspec.structs.replace(words, table={**words.table, **vectors}), shared)
    told |= {"lexicon": words.document()}
    told |= {"pred_in_lexicon": None, "predicted_words": None, "top_mispredictions": []}
    told["notes"]["pred_in_lexicon"] = "there is no predicted word"
    return told
