"""Yes and no in words, without probabilities: how far a model's answers can be believed, as evidence for decoding.

A model that says yes or no of each label is taken as an annotator of Dawid and Skene (1979), whose answers on different
labels are independent given the true vector E:

    s_i = P(says yes of i | E_i = 1)   (sensitivity)        c_i = P(says no of i | E_i = 0)   (specificity)

Gold vectors are known where both are fitted, so that no expectation step is needed. An answer then counts for

    d_i = log P(answer | E_i = 1) - log P(answer | E_i = 0)
        = log(s_i / (1 - c_i)) for yes,   log((1 - s_i) / c_i) for no,   0 for none

and equation 6 of EmoScene takes d_i in place of a difference of logits. It holds no base rate, so that a whole prior
with alpha 1 gives Bayes' posterior P(E) prod_i P(answer_i | E_i) / Z.

Both rates are shrunk towards those of all labels together, which are shrunk towards one half: a label that is rarely
there has few answers to count.

    s = (n(yes, there) + 1/2) / (n(there) + 1),   s_i = (n_i(yes, there) + m s) / (n_i(there) + m),   m = `PSEUDO`

An answer never speaks for its opposite: where yes is said no oftener of a label that is there than of one that is not
(s_i <= 1 - c_i), the two are pooled, weighed by their counts (the likeliest pair in the order s_i >= 1 - c_i: pool
adjacent violators, Barlow et al. 1972), and the answer decides ties alone. So alpha 0 is the model alone, of answers
as of logits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.decoding import checked_log_odds
from emotui.metrics.states import Bits, Floats, check_label_count

NONE = -1
"""Stands for a label of which a model said neither yes nor no."""

PSEUDO = 2.0
"""m: as many records at the rate of all labels stand behind each label's own."""

TIE = 1e-9
"""By how much s is above 1 - c at least, where there is gold: an answer worth nothing still has its sign."""


@dataclass(frozen=True, slots=True, eq=False)
class HardAnswers:
    """(n, k) of 1 (yes), 0 (no) or `NONE`: see `hard_answers`, which checks them."""

    said: NDArray[np.int8]


Evidence = Floats | HardAnswers
"""What a model says of each record: (n, k) log-odds, or answers whose weight has to be learnt from others' gold."""


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """(k,) each, strictly between 0 and 1."""

    sensitivity: Floats
    specificity: Floats

    def log_odds(self, answers: HardAnswers) -> Floats:
        """What answers speak for: (n, k), in nats; see the module."""
        yes = np.log(self.sensitivity) - np.log1p(-self.specificity)
        no = np.log1p(-self.sensitivity) - np.log(self.specificity)
        found: Floats = np.where(answers.said == 1, yes, np.where(answers.said == 0, no, 0.0))
        return found


def hard_answers(answers: ArrayLike) -> HardAnswers:
    """Check answers.

    Args:
        answers: (n, k) of 1, 0 or `NONE`.

    Raises:
        ValueError: another shape, k not in 1..20, or another value.
    """
    given = np.asarray(answers)
    if given.ndim != 2:
        raise ValueError(f"answers are (records, labels), got {given.ndim} axes")
    check_label_count(given.shape[1])
    if not np.isin(given, (0, 1, NONE)).all():
        raise ValueError(f"answers hold only 0, 1 and {NONE}")
    return HardAnswers(given.astype(np.int8))


def fit_reliability(answers: HardAnswers, gold: ArrayLike) -> Reliability:
    """Sensitivity and specificity of each label, from records whose gold vectors are known; see the module.

    Args:
        gold: (n, k) of 0 or 1; n may be 0, which leaves one half.

    Raises:
        ValueError: answers and gold differ in shape.
    """
    there = np.asarray(gold, dtype=bool)
    if there.shape != answers.said.shape:
        raise ValueError(f"answers {answers.said.shape} and gold {there.shape} must agree")
    yes, behind_yes = _rates(answers.said, 1, there)
    no, behind_no = _rates(answers.said, 0, ~there)
    if not len(there):
        return Reliability(yes, no)
    either = (behind_yes * yes + behind_no * (1 - no)) / (behind_yes + behind_no)
    against = yes + no <= 1
    return Reliability(np.where(against, either + TIE, yes), np.where(against, 1 - either + TIE, no))


def _rates(said: NDArray[np.int8], right: int, among: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(k,) each: how often the `right` answer was given among these, of those given; how many stand behind."""
    asked = among & (said != NONE)
    hits, n = (asked & (said == right)).sum(axis=0), asked.sum(axis=0)
    pooled = (hits.sum() + 0.5) / (n.sum() + 1.0)
    behind: Floats = n + PSEUDO
    found: Floats = (hits + PSEUDO * pooled) / behind
    return found, behind


def checked_evidence(given: ArrayLike | HardAnswers) -> Evidence:
    """Log-odds that can be decoded, or answers as they are. Raises ValueError as `checked_log_odds`."""
    return given if isinstance(given, HardAnswers) else checked_log_odds(given)


def shape_of(evidence: Evidence) -> tuple[int, ...]:
    """(n, k)."""
    return evidence.said.shape if isinstance(evidence, HardAnswers) else evidence.shape


def log_odds_given(evidence: Evidence, gold: Bits, trained: ArrayLike, rows: ArrayLike) -> Floats:
    """The log-odds of `rows`; of answers as the gold of the `trained` rows, and of no other, tells their weight.

    Args:
        gold: (n, k) of 0 or 1.
        trained, rows: numbers of rows, or (n,) of which ones.
    """
    wanted, known = np.asarray(rows), np.asarray(trained)
    if not isinstance(evidence, HardAnswers):
        found: Floats = evidence[wanted]
        return found
    weight = fit_reliability(HardAnswers(evidence.said[known]), gold[known])
    return weight.log_odds(HardAnswers(evidence.said[wanted]))


def alone(evidence: Evidence) -> Bits:
    """(n, k): what the model says by itself, 1 where yes is likelier, or was said."""
    positive = evidence.said == 1 if isinstance(evidence, HardAnswers) else evidence > 0
    return positive.astype(np.uint8)
