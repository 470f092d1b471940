"""The figures of a source, or of an annotator, against the shares of people: over texts, and over resamples of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emotui.metrics.beside import SEED, Drawn
from emotui.metrics.people_spread import cross_entropy, jensen_shannon, majority, squared_distance
from emotui.metrics.permutation import f1_of_sums
from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import Replicates, estimates
from emotui.workbench.results.spread.questions import Spread

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.results.spread.questions import Figures, Places

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]


_DISTANCES = (3, 7)
"""The places of the calibration errors."""


@dataclass(frozen=True, slots=True)
class Side:
    """A source and the people whom it is laid against: questions, a row each, of texts by their place in `numbers`.

    `by`: what is drawn for intervals.
    """

    numbers: Sequence[int]
    by: Drawn
    text: "Places"
    of: "Places"
    classes: int
    said: "Figures"
    given: "Figures"
    shares: "Figures"


def of_run(spread: Spread, run: str, by: Drawn) -> Side:
    """The texts that a run says something about."""
    import numpy as np

    rows = np.flatnonzero(~np.isnan(spread.said[run]))
    said, given, shares = spread.said[run][rows], spread.given[run][rows], spread.shares[rows]
    return side_of(spread, rows, by, said, given, shares)


def side_of(spread: Spread, rows: "Places", by: Drawn, said: "Figures", given: "Figures", shares: "Figures") -> Side:
    """These rows of a spread, which hold all questions of each of their texts."""
    import numpy as np

    texts, text = np.unique(spread.text[rows], return_inverse=True)
    numbers = [spread.numbers[at] for at in texts.tolist()]
    return Side(numbers, by.rows(texts), text, spread.of[rows], len(spread.classes), said, given, shares)


def parts_of(side: Side) -> "Table":
    """(texts, parts): of each text what the figures are made of once it is added up over texts."""
    import numpy as np

    n, k, text, q, p = len(side.numbers), side.classes, side.text, side.shares, side.said
    given, voted = (side.given >= 0.5).astype(np.float64), majority(side.shares)
    sizes = np.bincount(text, minlength=n)

    def mean(values: "Figures") -> "Table":
        return (np.bincount(text, values, minlength=n) / sizes)[:, None]

    def by_class(values: "Figures") -> "Table":
        table: Table = np.bincount(text * k + side.of, values, minlength=n * k).reshape(n, k).astype(np.float64)
        return table

    distances = (cross_entropy(q, p), jensen_shannon(q, p), squared_distance(q, p), squared_distance(voted, p))
    columns = [np.ones((n, 1)), sizes[:, None], *map(mean, distances), by_bin(text, n, p, p - q)]
    columns += [by_bin(text, n, p, p - voted), by_class(voted * given), by_class(voted + given)]
    return np.concatenate(columns, axis=1).astype(np.float64)


def of_sums(sums: "Table", classes: int) -> "Table":
    """(n, columns): the figures of parts that are added up over texts. Args: sums: of all texts first."""
    import numpy as np

    edges = np.cumsum([1, 1, 1, 1, 1, 1, BINS, BINS, classes])
    n, questions, entropy, divergence, brier, of_voted, off, off_voted, hits, both = np.split(sums, edges, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        entropy, divergence, brier, of_voted = (each[:, 0] / n[:, 0] for each in (entropy, divergence, brier, of_voted))
        ece, ece_voted = (np.abs(each).sum(axis=1) / questions[:, 0] for each in (off, off_voted))
    macro, micro = f1_of_sums(hits, both, "macro", both[0] > 0), f1_of_sums(hits, both, "micro")
    return np.stack([entropy, divergence, brier, ece, macro, micro, of_voted, ece_voted], axis=1)


def by_bin(text: "Places", n: int, probabilities: "Figures", values: "Figures") -> "Table":
    """(texts, bins): values added up by the text and by the bin of the probability."""
    import numpy as np

    places = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    sums = np.bincount(text * BINS + places, values, minlength=n * BINS)
    table: Table = sums.reshape(n, BINS).astype(np.float64)
    return table


def resampled(side: Side, parts: "Table") -> "list[Replicates]":
    """Each figure over resamples of what is drawn."""
    found = estimates(parts, lambda sums: of_sums(sums, side.classes), side.by, seed=SEED)
    return [replace(one, distances=True) if at in _DISTANCES else one for at, one in enumerate(found)]
