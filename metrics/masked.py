"""Masked emotion words, compared as words and as ten-dimensional vectors: the document of `emotui score masked`.

EXPRESS, section "Measuring Accuracy of Emotion Recognition" and appendix "Evaluation Metrics".
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emotui.errors import BadInput
from emotui.metrics.beside import Drawn, Intervals, Resampled, Shared, beside, of_ratios, ratios, with_beside

DIMENSIONS = (
    "anger",
    "anticipation",
    "disgust",
    "fear",
    "joy",
    "sadness",
    "surprise",
    "trust",
    "negative",
    "positive",
)
"""The order of a word's vector (EmoLex)."""

Lexicon = Mapping[str, Sequence[int]]
"""Lower-cased word to its ten 0s and 1s."""


ITSELF, EXPRESS = OUTSIDES = ("itself", "express")
"""What a word outside the lexicon counts as. `itself`: it matches nothing but itself, and then fully (F1 1).
`express`: ten zeros, so that its vector matches another of ten zeros, with F1 0, also against itself.

EXPRESS prints no rule for such a word; `express` is what its all-zeros row (Table 3: Acc_V .037, F1_V .000) says of a
word without any 1.
"""

_ZEROS = (0,) * len(DIMENSIONS)

STANDINGS = ("known", "zero", "supplement", "unknown")
"""How a word stands to a lexicon: in it, with a vector that is not all zeros or that is; in what was added to it; not
in it."""


def fold(word: str) -> str:
    """The form in which words are compared: lower-cased, ends trimmed."""
    return word.strip().lower()


def vector_f1(gold: Sequence[int], predicted: Sequence[int]) -> float:
    """Harmonic mean of precision and recall over the dimensions of one pair of vectors, in [0, 1].

    Args:
        gold, predicted: equally long, of 0 or 1.

    Raises:
        ValueError: lengths differ.

    Source: EXPRESS, appendix "Evaluation Metrics".
    """
    shared = sum(g and p for g, p in zip(gold, predicted, strict=True))
    # EXPRESS prints no rule for two all-zero vectors; its all-zeros baseline has F1 0.000 (Table 3), so they score 0.
    return 2 * shared / (sum(gold) + sum(predicted)) if shared else 0.0


def standing(word: str, lexicon: Lexicon, supplement: Container[str] = ()) -> str:
    """One of `STANDINGS`. `word` is folded; `supplement`: the words whose vectors were added to the lexicon."""
    if word in supplement:
        return "supplement"
    vector = lexicon.get(word)
    return "unknown" if vector is None else "known" if any(vector) else "zero"


@dataclass(frozen=True, slots=True)
class MaskScore:
    """One mask. `gold` and `predicted` are folded words; `predicted` is None where the model gave none."""

    gold: str
    predicted: str | None
    same_word: bool
    same_vector: bool
    f1: float


def score_mask(gold: str, predicted: str | None, lexicon: Lexicon, outside: str = ITSELF) -> MaskScore:
    """Compare one masked word with one guess.

    A word outside the lexicon has no vector: what then counts says `outside`, one of `OUTSIDES`. A word in the lexicon
    whose vector is all zeros shares no 1 with anything: F1 0 even against itself, though the vectors match.
    """
    word, guess = fold(gold), fold(predicted) if predicted is not None else ""
    if not guess:
        return MaskScore(word, None, False, False, 0.0)
    without = _ZEROS if outside == EXPRESS else None
    first, second = lexicon.get(word, without), lexicon.get(guess, without)
    if first is None or second is None:
        return MaskScore(word, guess, word == guess, word == guess, float(word == guess))
    same = all(g == p for g, p in zip(first, second, strict=True))
    return MaskScore(word, guess, word == guess, same, vector_f1(first, second))


def masked_report(
    gold: Mapping[str, Sequence[str]],
    predicted: Mapping[str, Sequence[str]],
    lexicon: Lexicon,
    top: int = 20,
    supplement: Container[str] = (),
    shared: Shared | None = None,
    outside: str = ITSELF,
) -> dict[str, Any]:
    """The document of `emotui score masked`.

    Args:
        gold: id to its words, one a mask.
        predicted: id to the model's words. A short list leaves masks without an answer, which are wrong; words beyond
            the last mask are not read.
        lexicon: lower-cased word to ten 0s and 1s, in the order of `DIMENSIONS`.
        top: how many mispredictions are listed.
        supplement: the words of `lexicon` that were added to it.
        shared: of each gold record what it shares with others; where given, intervals stand beside (`ci95`), of
            records: masks of one text are drawn together.
        outside: what a word outside the lexicon counts as, one of `OUTSIDES`.

    Returns:
        `n` (records), `masks`, `acc_l`, `acc_v`, `f1_v` (means over masks), `valid_answers` (share of the
        records whose answer has a word for each mask), `gold_in_lexicon` (share of the masks),
        `pred_in_lexicon` (share of the masks that have an answer), `gold_words` and `predicted_words` (masks by the
        standing of their word), `top_mispredictions`, `notes`. A word of the supplement is not in the lexicon. A
        misprediction is a pair that `acc_v` counts wrong; its `share` is over the masks with that gold word (as in
        Table A.6), and the list is by count, then share; `supplement` names the words of it that are of the supplement.

    Raises:
        BadInput: an id in one of the two only; one line each, beginning with the id.
    """
    problems = [f"{key}: no prediction for this gold record" for key in gold if key not in predicted]
    problems += [f"{key}: predicted, but not in the gold file" for key in predicted if key not in gold]
    if problems:
        raise BadInput(*problems)
    scored = scored_masks(gold, predicted, lexicon, outside)
    answered = [mask.predicted for mask in scored if mask.predicted is not None]
    gold_words = _standings([mask.gold for mask in scored], lexicon, supplement)
    predicted_words = _standings(answered, lexicon, supplement)
    masks = len(scored)
    notes: dict[str, str] = {}
    if not masks:
        names = ("acc_l", "acc_v", "f1_v", "gold_in_lexicon")
        notes |= dict.fromkeys(names, "there is no mask to score")
    if not gold:
        notes["valid_answers"] = "there is no record to score"
    if not answered:
        notes["pred_in_lexicon"] = "there is no predicted word"
    report = {
        "n": len(gold),
        "masks": masks,
        "acc_l": _mean([mask.same_word for mask in scored]),
        "acc_v": _mean([mask.same_vector for mask in scored]),
        "f1_v": _mean([mask.f1 for mask in scored]),
        "valid_answers": _mean([len(predicted[key]) == len(words) for key, words in gold.items()]),
        "gold_in_lexicon": _share_in(gold_words),
        "pred_in_lexicon": _share_in(predicted_words),
        "gold_words": gold_words,
        "predicted_words": predicted_words,
        "top_mispredictions": [_marked(pair, supplement) for pair in _mispredictions(scored)[:top]],
        "notes": notes,
    }
    return (
        report if shared is None else with_beside(report, beside(_intervals(gold, predicted, scored, shared), shared))
    )


def scored_masks(
    gold: Mapping[str, Sequence[str]], predicted: Mapping[str, Sequence[str]], lexicon: Lexicon, outside: str = ITSELF
) -> list[MaskScore]:
    """Every mask of the gold records, in their order; one without an answer is wrong.

    Args:
        gold, predicted: id to its words, one a mask; `predicted` has every id of `gold`.
        lexicon: lower-cased word to ten 0s and 1s.
        outside: as of `score_mask`.
    """
    return [
        score_mask(word, predicted[key][place] if place < len(predicted[key]) else None, lexicon, outside)
        for key, words in gold.items()
        for place, word in enumerate(words)
    ]


def _intervals(
    gold: Mapping[str, Sequence[str]],
    predicted: Mapping[str, Sequence[str]],
    scored: Sequence[MaskScore],
    shared: Shared,
) -> Intervals:
    return of_ratios(_parts(gold, predicted, scored), shared)


def masks_resampled(
    gold: Mapping[str, Sequence[str]],
    predicted: Mapping[str, Sequence[str]],
    lexicon: Lexicon,
    by: Drawn,
    outside: str = ITSELF,
) -> Resampled:
    """The four figures over resamples of texts. Args: as of `masked_report`; by: a row a text, as gold."""
    return ratios(_parts(gold, predicted, scored_masks(gold, predicted, lexicon, outside)), by)


def mask_parts(
    gold: Mapping[str, Sequence[str]],
    predicted: Mapping[str, Sequence[str]],
    lexicon: Lexicon,
    outside: str = ITSELF,
) -> dict[str, tuple[list[float], list[int]]]:
    """By figure (texts,) numerators and denominators of the means over masks. Args: as of `masked_report`."""
    return _parts(gold, predicted, scored_masks(gold, predicted, lexicon, outside))


def _parts(
    gold: Mapping[str, Sequence[str]], predicted: Mapping[str, Sequence[str]], scored: Sequence[MaskScore]
) -> dict[str, tuple[list[float], list[int]]]:
    owners = [place for place, words in enumerate(gold.values()) for _ in words]
    parts: dict[str, list[float]] = {name: [0.0] * len(gold) for name in ("acc_l", "acc_v", "f1_v")}
    for place, mask in zip(owners, scored, strict=True):
        for name, value in (("acc_l", mask.same_word), ("acc_v", mask.same_vector), ("f1_v", mask.f1)):
            parts[name][place] += value
    masks = [len(words) for words in gold.values()]
    valid = [float(len(predicted[key]) == len(words)) for key, words in gold.items()]
    return {name: (sums, masks) for name, sums in parts.items()} | {"valid_answers": (valid, [1] * len(gold))}


def _standings(words: Sequence[str], lexicon: Lexicon, supplement: Container[str]) -> dict[str, int]:
    counts = Counter(standing(word, lexicon, supplement) for word in words)
    return {name: counts[name] for name in STANDINGS}


def _share_in(counts: Mapping[str, int]) -> float | None:
    total = sum(counts.values())
    return (counts["known"] + counts["zero"]) / total if total else None


def _marked(pair: dict[str, Any], supplement: Container[str]) -> dict[str, Any]:
    added = [word for word in (pair["label"], pair["predicted"]) if word in supplement]
    return pair | ({"supplement": added} if added else {})


def _mispredictions(scored: Sequence[MaskScore]) -> list[dict[str, Any]]:
    masks = Counter(mask.gold for mask in scored)
    answered = [(mask.gold, mask.predicted) for mask in scored if mask.predicted is not None and not mask.same_vector]
    found = [
        {"label": word, "predicted": guess, "count": count, "share": count / masks[word]}
        for (word, guess), count in Counter(answered).items()
    ]
    return sorted(found, key=lambda pair: (-pair["count"], -pair["share"], pair["label"], pair["predicted"]))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
