"""EAnS and a stand-in for EPS over sentence embeddings, each distinct text embedded once."""

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.eans import Reading, eans
from emotui.metrics.eps import EPS_LABELS
from emotui.metrics.span_scoring import Embed

Floats = NDArray[np.float64]

TEMPLATE = "This text shows {emotion}."
"""The sentence about an emotion that is embedded for E_t and E_n; the paper does not print its own."""

HYPOTHESIS = "This text is {label}."
NEUTRAL = "neutral"

Triple = tuple[str, str, str, str]
"""Original, neutral and emotional text, and the target."""


def once(embed: Embed) -> Embed:
    """The same embeddings, each text asked for once however many metrics ask about it."""
    known: dict[str, NDArray[np.floating]] = {}

    def remembered(texts: Sequence[str]) -> NDArray[np.floating]:
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known.update(zip(fresh, embed(fresh), strict=True))
        return np.stack([known[text] for text in texts])

    return remembered


def distinct(texts: Sequence[str], embed: Embed) -> Mapping[str, Floats]:
    """The unit embedding of each text, asked for once however often it occurs."""
    different = list(dict.fromkeys(texts))
    if not different:
        return {}
    rows = np.asarray(embed(different), dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return dict(zip(different, rows / np.where(lengths > 0, lengths, 1.0), strict=True))


def eans_of(
    triples: Sequence[Triple], embed: Embed, reading: Reading = "table", template: str = TEMPLATE
) -> list[dict[str, float]]:
    """The six relations of each triple (`emotui.metrics.eans`); none of one with a text that was not embedded.

    Args:
        template: with `{emotion}` in it.
    """
    if not triples:
        return []
    labels = {target: template.replace("{emotion}", target) for *_, target in triples}
    neutral = template.replace("{emotion}", NEUTRAL)
    known = distinct([*(text for one in triples for text in one[:3]), *labels.values(), neutral], embed)
    original, of_neutral, emotional = (np.stack([known[one[k]] for one in triples]) for k in range(3))
    found = eans(
        original,
        of_neutral,
        emotional,
        np.stack([known[labels[target]] for *_, target in triples]),
        np.stack([known[neutral]] * len(triples)),
        reading,
    )
    rows = ({name: float(column[row]) for name, column in found.items()} for row in range(len(triples)))
    return [row if all(map(isfinite, row.values())) else {} for row in rows]


def nearest_label(texts: Sequence[str], embed: Embed) -> list[dict[str, float]]:
    """For each text the cosine with a sentence for each of EPS's labels: what stands in where no NLI model is given.

    Nothing of a text that was not embedded.
    """
    hypotheses = [HYPOTHESIS.replace("{label}", label) for label in EPS_LABELS]
    known = distinct([*texts, *hypotheses], embed)
    against = np.stack([known[one] for one in hypotheses])
    found = (dict(zip(EPS_LABELS, (against @ known[text]).tolist(), strict=True)) for text in texts)
    return [one if all(map(isfinite, one.values())) else {} for one in found]
