"""Yes against no, read from one distribution over the next token: the same rule for every library.

A form is Yes, yes or YES (No, no, NO) that is one token of the vocabulary, with or without a space before it. The
log-probability of yes is the logarithm of the sum over its forms, so no model is marked down for how it writes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emotui.errors import ModelError

YES = ("Yes", "yes", "YES", " Yes", " yes", " YES")
NO = ("No", "no", "NO", " No", " no", " NO")


@dataclass(frozen=True, slots=True)
class Forms:
    """Token ids of the forms that a vocabulary has, and how each reads."""

    yes: Mapping[int, str]
    no: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """Log-probabilities of yes and of no, the probability of both together, and each form's part of it (sum 1)."""

    yes: float
    no: float
    mass: float
    shares: Mapping[str, float]


def find_forms(vocabulary: Iterable[tuple[int, str]]) -> Forms:
    """The forms among (token id, text that the token adds to an answer).

    Raises:
        ModelError: the vocabulary has no one-token form of yes, or none of no.
    """
    yes: dict[int, str] = {}
    no: dict[int, str] = {}
    for number, text in vocabulary:
        if text in YES:
            yes[number] = text
        elif text in NO:
            no[number] = text
    for found, word in ((yes, "Yes"), (no, "No")):
        if not found:
            raise ModelError(f"This model cannot answer by one token: its vocabulary has no token for {word!r}")
    return Forms(yes, no)


def read_logits(forms: Forms, logits: NDArray[np.floating]) -> Answer:
    """The answer that one position's logits hold. Args: logits: (vocabulary,)."""
    exact = logits.astype(np.float64)
    logprobs = exact - np.logaddexp.reduce(exact)
    return combine(
        [(text, float(logprobs[number])) for number, text in forms.yes.items()],
        [(text, float(logprobs[number])) for number, text in forms.no.items()],
    )


def combine(yes: Iterable[tuple[str, float]], no: Iterable[tuple[str, float]]) -> Answer:
    """The answer of (form, log-probability) pairs; one or more a side. Tokens that read alike are one form."""
    sides = [list(yes), list(no)]
    totals = [float(np.logaddexp.reduce(np.array([value for _, value in side]))) for side in sides]
    both = float(np.logaddexp(totals[0], totals[1]))
    shares: dict[str, float] = {}
    for text, value in (*sides[0], *sides[1]):
        shares[text] = shares.get(text, 0.0) + (float(np.exp(value - both)) if both > -np.inf else 0.0)
    return Answer(totals[0], totals[1], min(1.0, float(np.exp(both))), shares)
