"""How sure the figures of masked words are: over resamples of texts, with their masks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from emotui.metrics.beside import Drawn, Resampled, beside_repeats
from emotui.metrics.label_sums import Figures, of_pairs
from emotui.metrics.masked import mask_parts
from emotui.metrics.states import Floats
from emotui.metrics.sums import made_of
from emotui.tasks.masked.detail import Detail
from emotui.tasks.masked.lexicon import WordVectors


def sureness(details: Sequence[Detail], shared: Mapping[str, str | None], words: WordVectors) -> dict[str, Any]:
    """As `beside_repeats`, of `acc_l`, `acc_v` and `f1_v` by a lexicon."""

    def resampled(of: Sequence[Detail], by: Drawn) -> Resampled:
        gold = {detail.id: detail.gold for detail in of}
        return words.resampled(gold, {detail.id: detail.predicted for detail in of}, by)

    return beside_repeats(details, shared, resampled)


def mask_sums(details: Sequence[Detail], words: WordVectors) -> Figures:
    """The means over masks, a row a text; `confusion.WORD.GUESS`: the share of a word's masks with this guess."""
    names = [str(row) for row in range(len(details))]
    gold = dict(zip(names, (one.gold for one in details), strict=True))
    said = dict(zip(names, (one.predicted for one in details), strict=True))
    figures = made_of(mask_parts(gold, said, words.table, words.outside))
    pairs: dict[tuple[str, str], Floats] = {}
    for row, one in enumerate(details):
        for at, word in enumerate(one.gold):
            guess = one.predicted[at] if at < len(one.predicted) else ""
            pair = word.strip().lower(), guess.strip().lower()
            pairs.setdefault(pair, np.zeros(len(details)))[row] += 1
    shares = of_pairs(pairs, np.ones(len(details), dtype=np.bool_))
    return figures | {name: make for name, make in shares.items() if name.startswith("confusion.")}
