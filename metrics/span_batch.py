"""`span_score` of very many samples at once, for whoever needs the figure alone: thresholds, resampling, training.

The same convention as `emotui.metrics.spans`, with all spans' words as rows of one array instead of sets of strings.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count, permutations
from math import perm

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.spans import span_score
from emotui.metrics.tokens import ARTICLES, PLAIN_BREAK, hard_places, plain_tokens, tokens

_BLOCK = 4096
"""Samples at a time: bounds the memory, tens of MB."""
_LONG = 24
"""Tokens. The work grows with the square of the longest span, so samples with a longer one are scored by themselves."""
_FEW = 60
"""Matchings. Likewise where more of them would have to be looked at."""

Ints = NDArray[np.int32] | NDArray[np.int64]
Floats = NDArray[np.float64]


def span_scores(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Floats:
    """F1 of each sample: `span_score(gold[i], predicted[i])`, equal but for the last bits of rounding.

    Args:
        gold, predicted: the spans of each sample, in the same order of samples.

    Returns:
        (n,) in [0, 1].

    Raises:
        ValueError: the two differ in length.

    Source: SEER, section 6, equation 1.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} samples of gold spans, {len(predicted)} of predicted ones")
    blocks = [
        _scores(gold[start : start + _BLOCK], predicted[start : start + _BLOCK])
        for start in range(0, len(gold), _BLOCK)
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def _scores(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Floats:
    gold_spans = np.array([len(spans) for spans in gold])
    predicted_spans = np.array([len(spans) for spans in predicted])
    rows, counts = _token_rows([*chain.from_iterable(gold), *chain.from_iterable(predicted)])
    gold_first = np.cumsum(gold_spans) - gold_spans
    predicted_first = gold_spans.sum() + np.cumsum(predicted_spans) - predicted_spans

    scores: Floats = ((gold_spans == 0) & (predicted_spans == 0)).astype(float)
    shapes = gold_spans * (predicted_spans.max(initial=0) + 1) + predicted_spans
    for shape in np.unique(shapes):
        (samples,) = np.nonzero(shapes == shape)
        m, n = int(gold_spans[samples[0]]), int(predicted_spans[samples[0]])
        if not m or not n:
            continue
        if perm(max(m, n), min(m, n)) > _FEW:
            scores[samples] = [span_score(gold[i], predicted[i]) for i in samples.tolist()]
            continue
        g = gold_first[samples] + np.arange(m)[:, None]
        p = predicted_first[samples] + np.arange(n)[:, None]
        scores[samples] = _best(_f1(rows, counts, g, p))
        for i in samples[(counts[g].max(axis=0) > _LONG) | (counts[p].max(axis=0) > _LONG)].tolist():
            scores[i] = span_score(gold[i], predicted[i])
    return scores


def _token_rows(spans: Sequence[str]) -> tuple[Ints, Ints]:
    """Tokens as numbers, (longest, spans), -1 after a span's last; and how many each span has, (spans,).

    Equal numbers in two spans are equal tokens, and the second "so" of a span has a number of its own: so the numbers
    that two spans share are as many as the tokens that they share as multisets. Spans over `_LONG` are cut.
    """
    number_of: defaultdict[str, int] = defaultdict(count().__next__)
    skipped = len([number_of[word] for word in (PLAIN_BREAK, *sorted(ARTICLES))])
    hard = hard_places(spans)
    flat = plain_tokens([text if i not in hard else "" for i, text in enumerate(spans)] if hard else spans)
    numbers = np.fromiter(map(number_of.__getitem__, flat), np.int32, len(flat))
    span = np.cumsum(numbers == 0)
    if hard:
        more = np.array([(i, number_of[token]) for i in hard for token in tokens(spans[i])], np.int32).reshape(-1, 2)
        span, numbers = np.concatenate((span, more[:, 0])), np.concatenate((numbers, more[:, 1]))
        order = np.argsort(span, kind="stable")
        span, numbers = span[order], numbers[order]
    kept = numbers >= skipped
    span, numbers = span[kept], numbers[kept]
    counts = np.bincount(span, minlength=len(spans))
    place = np.arange(len(span)) - np.repeat(np.cumsum(counts) - counts, counts)
    longest = min(int(counts.max(initial=0)), _LONG)
    if counts.max(initial=0) > longest:
        fits = place < longest
        span, numbers, place = span[fits], numbers[fits], place[fits]
    rows = np.full((longest, len(spans)), -1, np.int32)
    rows[place, span] = numbers
    plain = rows.copy()
    for i in range(1, longest):
        same = plain[:i] == plain[i]
        (again,) = np.nonzero(same.any(axis=0) & (plain[i] >= 0))
        if len(again):  # its own number: beyond all tokens, by how often the token stood before
            rows[i, again] += same[:, again].sum(axis=0, dtype=np.int32) * len(number_of)
    return rows, counts


def _f1(rows: Ints, counts: Ints, gold: Ints, predicted: Ints) -> Floats:
    """F1 of each gold with each predicted span, by their places (m, k) and (n, k): (m, n, k)."""
    ours = rows[:, gold][:, :, None]
    theirs = rows[:, predicted][:, None]
    theirs[theirs < 0] = -2  # what is after the end is equal to nothing
    shared = np.zeros((len(gold), *predicted.shape), np.int8)
    for i in range(len(rows)):
        for j in range(len(rows)):
            shared += ours[i] == theirs[j]
    both = counts[gold][:, None] + counts[predicted][None]
    f1: Floats = np.where(both == 0, 1.0, 2.0 * shared / np.maximum(both, 1))
    return f1


def _best(f1: Floats) -> Floats:
    """The greatest total over all matchings, over the greater number of spans: (m, n, k) to (k,)."""
    if len(f1) > f1.shape[1]:
        f1 = f1.swapaxes(0, 1)
    m, n, k = f1.shape
    best = np.zeros(k)
    for columns in permutations(range(n), m):
        np.maximum(best, f1[np.arange(m), columns].sum(axis=0), out=best)
    best /= n
    return best
