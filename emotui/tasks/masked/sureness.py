"""How sure the figures of masked words are: over resamples of texts, with their masks."""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.metrics.beside import Drawn, Resampled, beside_repeats
from emotui.metrics.masked import masks_resampled
from emotui.tasks.masked.detail import Detail
from emotui.tasks.masked.lexicon import word_vectors


def sureness(details: Sequence[Detail], shared: Mapping[str, str | None]) -> dict[str, Any]:
    """As `beside_repeats`, of `acc_l`, `acc_v` and `f1_v`."""
    return beside_repeats(details, shared, _resampled)


def _resampled(details: Sequence[Detail], by: Drawn) -> Resampled:
    gold = {detail.id: detail.gold for detail in details}
    return masks_resampled(gold, {detail.id: detail.predicted for detail in details}, word_vectors().table, by)
