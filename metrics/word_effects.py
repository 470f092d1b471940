"""Which words move which answers over many texts: the drop without a word, beside that without other words."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.figure import LEVEL
from emotui.metrics.resampling import EQUAL
from emotui.metrics.significance import adjusted
from emotui.metrics.states import Floats

LEAST = 5
"""Texts (or groups of texts that share a passage) that a word has to stand in."""


class WordEffect(msgspec.Struct, frozen=True):
    """What a word does to the probability of a label.

    Attributes:
        n: texts with the word; those that share a passage count once.
        drop: mean over these of the probability of the whole text, less that without the word.
        above: the same, less the mean drop without each of the other words of the text that were taken away too.
        low, high: of `above`, 95%, Student's t over the n.
        q: of a t-test of `above` against 0, over all words and labels (Benjamini and Hochberg 1995).
    """

    word: str
    label: str
    n: int
    drop: float
    above: float
    low: float
    high: float
    q: float


def word_effects(
    words: Sequence[str],
    texts: Sequence[int],
    drops: Floats,
    labels: Sequence[str],
    shared: Sequence[str | None] = (),
    least: int = LEAST,
) -> list[WordEffect]:
    """The effect of every word on every label, the largest difference from other words first.

    Args:
        words: (m,), what was taken away, one a row.
        texts: (m,), the place of its text from 0 on.
        drops: (m, k) of probability.
        labels: (k,).
        shared: by place of a text what it shares with others; None or absent: nothing.
        least: texts below which a word is left out; at least 2.

    Returns:
        None of a word whose texts had no other word taken away.
    """
    if not len(words):
        return []
    place = np.asarray(texts)
    in_text = np.bincount(place)[place]
    sums = np.zeros((place.max() + 1, drops.shape[1]))
    np.add.at(sums, place, drops)
    with np.errstate(invalid="ignore", divide="ignore"):
        above = drops - (sums[place] - drops) / (in_text - 1)[:, None]
    names, which = np.unique(np.asarray(words), return_inverse=True)
    groups = _groups(place, shared)
    found: list[tuple[str, int, Floats, Floats, Floats, Floats]] = []
    for at in np.unique(which).tolist():
        rows = np.flatnonzero((which == at) & (in_text > 1))
        drop, own = (_by_group(table[rows], groups[rows]) for table in (drops, above))
        if len(own) >= max(least, 2):
            found.append((str(names[at]), len(own), drop.mean(0), own.mean(0), *_ends(own)))
    if not found:
        return []
    q = adjusted(np.concatenate([one[5] for one in found]), "benjamini-hochberg").reshape(len(found), -1)
    effects = [
        WordEffect(
            word, label, n, float(d[k]), float(a[k]), float(a[k] - half[k]), float(a[k] + half[k]), float(q[row, k])
        )
        for row, (word, n, d, a, half, _) in enumerate(found)
        for k, label in enumerate(labels)
    ]
    return sorted(effects, key=lambda one: (-abs(one.above), one.word, one.label))


def _groups(place: NDArray[np.int64], shared: Sequence[str | None]) -> NDArray[np.int64]:
    """A number for each row, the same for texts that share something."""
    of_text = {at: ("shared", shared[at]) if at < len(shared) and shared[at] is not None else ("text", at)
               for at in set(place.tolist())}  # fmt: skip
    numbers = {key: number for number, key in enumerate(dict.fromkeys(of_text.values()))}
    return np.array([numbers[of_text[at]] for at in place.tolist()])


def _by_group(table: Floats, groups: NDArray[np.int64]) -> Floats:
    """(g, k): the mean of each group's rows."""
    _, which, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    found = np.zeros((len(sizes), table.shape[1]))
    np.add.at(found, which, table)
    return found / sizes[:, None]


def _ends(table: Floats) -> tuple[Floats, Floats]:
    """Half the length of each column's interval, and the p of its mean against 0."""
    from scipy.stats import t

    n = len(table)
    mean, error = table.mean(0), table.std(0, ddof=1) / np.sqrt(n)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(error > EQUAL, 2 * t.sf(np.abs(mean) / error, n - 1), np.where(np.abs(mean) > EQUAL, 0.0, 1.0))
    return float(t.ppf(0.5 + LEVEL / 2, n - 1)) * error, np.asarray(p, dtype=np.float64)
