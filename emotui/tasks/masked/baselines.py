"""What fills masks for nothing: no feeling at all, vectors or words by chance, and one word for every mask."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from emotui.metrics.baselines import SEED, drawn_golds, most_frequent
from emotui.metrics.beside import Drawn, Resampled, Shared, beside_repeats
from emotui.metrics.label_sums import Figures, of_pairs
from emotui.metrics.masked import DIMENSIONS, EXPRESS, fold, mask_parts
from emotui.metrics.states import Floats
from emotui.metrics.sums import made_of
from emotui.records import MaskedGold
from emotui.tasks.masked.lexicon import EMOTUI, WordVectors, given_vectors
from emotui.tasks.masked.word_vectors import Vector
from emotui.tasks.parts import Embedding, shared_of

# What is kept of a scored text of the masked task, and under which convention it is scored.

_LEXICON = "; lexicon "
"""In a convention, before the mark of the lexicon that scores were computed by."""


_OF_WORDS = {
    "acc_l": "masked 4: share of the masks whose word is the gold word; a mask without an answer is wrong",
    "valid_answers": "masked 4: share of the texts whose answer has a word for each mask",
}
"""How what needs no vectors is computed, by figure."""


def convention_of(words: WordVectors, figure: str = "f1_v") -> str:
    """How scores by a lexicon are computed; `lexicon_in` finds the lexicon in it again, where the figure needs one.

    Args:
        figure: one of `METRICS` or of a report; any other is made of F1_V.
    """
    if figure in _OF_WORDS:
        return _OF_WORDS[figure]
    vectors = "EmoLex vectors, emotui's supplement 2 for words that EmoLex lacks" if words.key == EMOTUI else words.name
    files = "".join(f", sha256 {one[:12]}" for one in words.sha256)
    rule = (
        "a word outside counts as ten zeros (express)"
        if words.outside == EXPRESS
        else "a pair with a word outside counts 1 if the words are equal, else 0"
    )
    of = (
        "share of the masks whose word has the gold word's vector"
        if figure == "acc_v"
        else "mean over a text's masks of the F1 of the two words' vectors"
    )
    return f"masked 4: {of} ({vectors}; {len(words.table)} words{files}); {rule}{_LEXICON}{words.mark}"


def lexicon_in(convention: str) -> str:
    """The mark of the lexicon that a convention names; that of the usual one where it names none."""
    return convention.partition(_LEXICON)[2] or EMOTUI


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One text's gold words and the model's; `f1`: of the two vectors, a value a mask. `topic`: the record's own."""

    id: str
    repeat: int
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    f1: tuple[float, ...]
    topic: str = ""


NO_WORD = "\0"
"""Stands for a vector that is no word's; no gold word holds it."""


def score_baselines(
    golds: Sequence[MaskedGold], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, Any]]:
    """The figures of five answers to every mask: `baseline_figures`, by the vectors that the options name."""
    known = shared_of(golds)
    shared = [known.get(sample.id) for sample in golds]
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


# How sure the figures of masked words are: over resamples of texts, with their masks.


def sureness(details: Sequence[Detail], shared: Mapping[str, str | None], words: WordVectors) -> dict[str, Any]:
    """As `beside_repeats`, of `acc_l`, `acc_v` and `f1_v` by a lexicon."""

    def resampled(of: Sequence[Detail], by: Drawn) -> Resampled:
        gold = {detail.id: detail.gold for detail in of}
        return words.resampled(gold, {detail.id: detail.predicted for detail in of}, by)

    return beside_repeats(details, shared, resampled)


def mask_sums(details: Sequence[Detail], words: WordVectors) -> Figures:
    """The means over masks, a row a text; `confusion.WORD.GUESS`: the share of a word's masks with this guess."""
    names = [str(row) for row in range(len(details))]
    gold = dict(zip(names, (one.gold for one in details), strict=True))
    said = dict(zip(names, (one.predicted for one in details), strict=True))
    figures = made_of(mask_parts(gold, said, words.table, words.outside))
    pairs: dict[tuple[str, str], Floats] = {}
    for row, one in enumerate(details):
        for at, word in enumerate(one.gold):
            guess = one.predicted[at] if at < len(one.predicted) else ""
            pair = word.strip().lower(), guess.strip().lower()
            pairs.setdefault(pair, np.zeros(len(details)))[row] += 1
    shares = of_pairs(pairs, np.ones(len(details), dtype=np.bool_))
    return figures | {name: make for name, make in shares.items() if name.startswith("confusion.")}
