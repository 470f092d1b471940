"""How well predicted spans meet gold ones (SEER, section 6): token F1, alignment, the score of a sample."""

from collections.abc import Sequence
from math import isnan, lcm

import msgspec

from emotui.metrics.assignment import assign
from emotui.metrics.tokens import Words, take_apart

Similarity = Sequence[Sequence[float]]
"""Cosines, (gold, predicted)."""


class Pair(msgspec.Struct, frozen=True, gc=False):
    """A gold and a predicted span that were aligned, by their places in the two lists."""

    gold: int
    predicted: int
    f1: float
    sim: float | None


def token_f1(gold: str, predicted: str) -> float:
    """Token overlap of two spans, in [0, 1] (SQuAD's F1).

    Words are compared as a multiset, lower-cased, without punctuation and articles. Two spans with no word left
    score 1 against each other, and 0 against anything else.

    Source: Rajpurkar et al. 2016; used by SEER, section 6.
    """
    return align_words([take_apart(gold)], [take_apart(predicted)], None)[1]


def align(gold: Sequence[str], predicted: Sequence[str], similarity: Similarity | None = None) -> tuple[Pair, ...]:
    """The one-to-one alignment of greatest total F1; among equal totals, of greatest total cosine.

    Both aims are compared exactly: F1 values are fractions, brought to one denominator, and cosines are taken as whole
    multiples of 2^-60 (which they are, down to 2^-8; smaller ones lose bits that no embedding has). Without
    `similarity`, always the same one of equal alignments: the first in the order of the lists where those are short.

    Args:
        similarity: cosine of each gold with each predicted span, (gold, predicted).

    Returns:
        min(#gold, #predicted) pairs by gold place, those with F1 0 among them.

    Raises:
        ValueError: a cosine is NaN.

    Source: SEER, section 6 (Kuhn-Munkres, after Luo 2005).
    """
    return align_words([take_apart(span) for span in gold], [take_apart(span) for span in predicted], similarity)[0]


def span_score(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """A sample's F1 in [0, 1]: the aligned pairs' F1 over the greater number of spans.

    Both sides empty: 1. One side empty: 0.

    Source: SEER, section 6, equation 1.
    """
    return align_words([take_apart(span) for span in gold], [take_apart(span) for span in predicted], None)[1]


def sim_score(pairs: Sequence[Pair], gold: int, predicted: int) -> float | None:
    """A sample's Sim: the aligned pairs' cosines (those with F1 0 too) over the greater number of spans.

    None where the pairs have no cosines. Both sides empty: 1. One side empty: 0.

    Args:
        gold: number of gold spans. predicted: number of predicted ones.

    Source: SEER, section 6, equation 1.
    """
    if not gold or not predicted:
        return float(gold == predicted)
    cosines = [pair.sim for pair in pairs if pair.sim is not None]
    return sum(cosines) / max(gold, predicted) if len(cosines) == len(pairs) else None


def align_words(
    gold: Sequence[Words], predicted: Sequence[Words], similarity: Similarity | None
) -> tuple[tuple[Pair, ...], float]:
    """As `align`, with words already taken apart; also the sample's F1, rounded once from the exact fraction."""
    if not gold or not predicted:
        return (), float(not gold and not predicted)
    fractions = [
        [_NOTHING if g.count and g.unique.isdisjoint(p.unique) else _f1(g, p) for p in predicted] for g in gold
    ]
    common = lcm(*{below for row in fractions for _, below in row})
    weights = [[above * (common // below) for above, below in row] for row in fractions]
    chosen = assign(weights if similarity is None else _ranked(weights, similarity))
    total = sum([weights[i][j] for i, j in chosen])
    pairs = [
        Pair(i, j, weights[i][j] / common, None if similarity is None else float(similarity[i][j])) for i, j in chosen
    ]
    return tuple(pairs), total / (common * max(len(gold), len(predicted)))


_NOTHING = (0, 1)
_ALL = (1, 1)


def _f1(gold: Words, predicted: Words) -> tuple[int, int]:
    """F1 as a fraction: twice the shared tokens over all tokens."""
    if not gold.count:
        return _NOTHING if predicted.count else _ALL
    return 2 * gold.shared(predicted), gold.count + predicted.count


def _ranked(weights: list[list[int]], similarity: Similarity) -> list[list[int]]:
    """F1 in the high digits, the cosine in the low ones, far enough apart that no sum of cosines reaches up."""
    shift = 62 + min(len(weights), len(weights[0])).bit_length()
    return [
        [(weight << shift) + _whole(cosine) for weight, cosine in zip(row, cosines, strict=True)]
        for row, cosines in zip(weights, similarity, strict=True)
    ]


def _whole(cosine: float) -> int:
    if isnan(cosine):
        raise ValueError("a cosine is NaN: the embedding of a span holds no number")
    return round(max(-1.0, min(1.0, float(cosine))) * (1 << 60))
