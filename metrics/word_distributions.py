"""How far the words of one set of texts are from those of another: the Kullback-Leibler divergence of unigrams."""

import math
from collections import Counter
from collections.abc import Iterable

from emotui.metrics.lexical import words_of

SMOOTHING = 1.0
"""What is added to every count (Laplace); the paper does not print its smoothing."""


def word_counts(texts: Iterable[str]) -> Counter[str]:
    """Words of all texts together, lower case, as `emotui.metrics.lexical.words_of` finds them."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words_of(text))
    return counts


def kl_divergence(p: Counter[str], q: Counter[str], smoothing: float = SMOOTHING) -> float | None:
    """D(P || Q) in nats, at least 0; None where one side has no word.

    The vocabulary is every word of either side. P(w) = (count of w in p + s) / (words of p + s V), V the size of the
    vocabulary, and Q likewise, so that no probability is 0.

    Raises:
        ValueError: `smoothing` is not above 0.

    Source: hard emotion test sets, section 4 (Vocabulary Divergence), which prints neither smoothing nor vocabulary.
    """
    if not smoothing > 0:
        raise ValueError("smoothing must be above 0: a word of one side only would make the divergence infinite")
    if not p.total() or not q.total():
        return None
    vocabulary = p.keys() | q.keys()
    of_p, of_q = p.total() + smoothing * len(vocabulary), q.total() + smoothing * len(vocabulary)
    terms = []
    for word in vocabulary:
        share = (p[word] + smoothing) / of_p
        terms.append(share * math.log(share / ((q[word] + smoothing) / of_q)))
    return max(0.0, math.fsum(terms))
