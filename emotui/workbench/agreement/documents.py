"""What an agreement study comes to, as values: for commands, reports and the workbench alike."""

from collections.abc import Mapping, Sequence

import msgspec

from emotui.metrics.figure import Figure
from emotui.metrics.suspicion import Suspicion

SPANS, LABEL, LABELS, WORDS, VALUES = "spans", "label", "labels", "words", "values"
KINDS = (SPANS, LABEL, LABELS, WORDS, VALUES)
"""What is said of a text: spans, one label, several of a set (each yes or no), a word a mask, numbers by name."""

MANY = 8
"""Sources above which each has a row of its own, with all others, and no tables of who calls what."""

_FIRST = 3
"""Of more than that the first ones, which alone are named in a line."""


def named_of(names: Sequence[str]) -> str:
    """All of these names, or of many the first ones and how many there are more."""
    if len(names) <= MANY:
        return ", ".join(names)
    return f"{', '.join(names[:_FIRST])} and {len(names) - _FIRST:,} more"


Behind = Sequence[tuple[int, float]]
"""Samples behind a figure by their numbers, with how far the sources are apart there (above 0), the furthest first."""


class Measured(msgspec.Struct, frozen=True):
    """One figure. `name`: its key. `about`: what it is and under which conditions, one line."""

    name: str
    title: str
    about: str
    figure: Figure
    behind: Behind = ()


class Between(msgspec.Struct, frozen=True):
    """Two sources. `confusion`: what the first said (row) against the second (column); empty where that makes no sense.

    `n`: texts (or questions of texts) that both answered. `cells`: the samples behind each cell of the confusion, with
    how often it is so there.
    """

    a: str
    b: str
    n: int
    measured: Sequence[Measured]
    confusion: Mapping[str, Mapping[str, int]] = {}
    behind: Behind = ()
    cells: Mapping[str, Mapping[str, Behind]] = {}


class Rater(msgspec.Struct, frozen=True):
    """A source as the model of Dawid and Skene sees it.

    `accuracy`: how often it says the class that is there. `confusion`: by the class that is there, the probability of
    what it says. Of several labels a text these are of yes and no for each label, and `confusion` is left out.
    `behind`: samples with how probable it is that what it says is not there, at most of their questions. `cells`: the
    samples in which it says the column, with the probability that the row is there.
    """

    name: str
    n: int
    accuracy: float | None
    confusion: Mapping[str, Mapping[str, float]] = {}
    behind: Behind = ()
    cells: Mapping[str, Mapping[str, Behind]] = {}


class Estimate(msgspec.Struct, frozen=True):
    """Dawid and Skene's estimate. `questions`: over how many; `converged`: whether every run of EM stood still."""

    raters: Sequence[Rater]
    questions: int
    converged: bool
    steps: int


class Doubt(Suspicion, frozen=True, kw_only=True):
    """One doubtful gold answer: a suspicion with the text that it is about.

    `sample`, `id`: of the text. `question`: which, where a text has several (a label, a mask, a place).
    """

    sample: int
    id: str
    question: str


class SourceCount(msgspec.Struct, frozen=True):
    """A source that takes part. `kind`: gold, person, model or file; `n`: texts about which it says something."""

    name: str
    kind: str
    n: int
    repeats: int = 1


class Itself(msgspec.Struct, frozen=True):
    """A source against itself: its first answer to a text against its second, over the texts asked about twice."""

    name: str
    n: int
    measured: Sequence[Measured]


class Agreement(msgspec.Struct, frozen=True):
    """How far sources of a dataset agree. `texts`: those about which two of them say something."""

    dataset: str
    kind: str
    sources: Sequence[SourceCount]
    texts: int
    measured: Sequence[Measured]
    by_label: Mapping[str, Sequence[Measured]]
    pairs: Sequence[Between]
    itself: Sequence[Itself]
    estimate: Estimate | None
    doubts: Sequence[Doubt]
    notes: Mapping[str, str]
    resamples: int = 0
    seed: int = 0
