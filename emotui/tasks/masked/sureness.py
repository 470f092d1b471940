"""How sure the figures of masked words are: over resamples of texts, with their masks."""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.metrics.beside import Drawn, Resampled, beside_repeats
from emotui.tasks.masked.detail import Detail
from emotui.tasks.masked.lexicon import WordVectors


def sureness(details: Sequence[Detail], shared: Mapping[str, str | None], words: WordVectors) -> dict[str, Any]:
    """As `beside_repeats`, of `acc_l`, `acc_v` and `f1_v` by a lexicon."""

    def resampled(of: Sequence[Detail], by: Drawn) -> Resampled:
        gold = {detail.id: detail.gold for detail in of}
        return words.resampled(gold, {detail.id: detail.predicted for detail in of}, by)

    return beside_repeats(details, shared, resampled)
