"""Which numbers a model is asked for, and on which scale: those of the dataset, or of a person's list."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from emotui.backends.base import ModelCard
from emotui.errors import BadInput
from emotui.metrics.values import value_names
from emotui.records import ValuesGold
from emotui.tasks.rephrase.labelling import known_label

REGRESS = "regress"
"""The way of a model with a regression head."""

OF_REGRESSION = "values"
"""Under which name a card has what its numbers are called."""

USUAL = ("valence", "arousal", "dominance")
USUAL_RANGE = (1.0, 5.0)
"""What is asked for where nothing is said: Bradley and Lang's three scales, from 1 to 5 as in EmoBank."""

_SCALE = re.compile(r"(.+?)\s+([+-]?\d+(?:\.\d+)?)\s*\.\.\s*([+-]?\d+(?:\.\d+)?)")


class Scales:
    """The numbers that are asked for."""

    always = True

    def of_file(self, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
        """The given ones, else those of the model's head, else `USUAL`.

        Raises:
            BadInput: a given one has no good scale, or the model does not give it.
        """
        own = _own(card)
        if given is None:
            return own or USUAL
        if own:
            _known(card, [read_scale(line)[0] for line in given])
        return tuple(given)

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[ValuesGold]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """With `labels`, the names, and for a model that writes `scales`, from where to where each goes.

        A person's line is a name, or a name and its scale (`valence 1..9`). Without a scale it goes by the gold
        numbers, outward to whole ones. Of a regression head the names are those that both data and model have.

        Raises:
            BadInput: a line has no good scale; the model does not give a name of the person's, or none of the data's.
        """
        chosen: Any = options.get("labels")
        stated: Any = options.get("scales") or {}
        lines = dict(map(read_scale, chosen or ()))
        golds = [sample.values for sample in samples() if sample.values]
        found = {**options}
        if way == REGRESS:
            found.pop("scales", None)
            names = list(lines) or _shared(card, value_names(golds))
            _known(card, names)
            return {**found, "labels": names}
        names = list(lines) or value_names(golds) or list(USUAL)
        scales = {name: stated.get(name) or lines.get(name) or _seen(name, golds) for name in names}
        return {**found, "labels": names, "scales": {name: list(scale) for name, scale in scales.items()}}


def read_scale(line: str) -> tuple[str, tuple[float, float] | None]:
    """A name, with the scale that stands behind it: `valence 1..9`.

    Raises:
        BadInput: the scale does not go up.
    """
    found = _SCALE.fullmatch(line.strip())
    if found is None:
        return line.strip(), None
    low, high = float(found[2]), float(found[3])
    if not low < high:
        raise BadInput(f"{line!r}: a scale goes from a lower number to a higher one, such as valence 1..9")
    return found[1], (low, high)


def seen_scales(golds: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """From where to where each gold number goes, outward to whole ones."""
    return {name: _seen(name, golds) for name in value_names(golds)}


def _seen(name: str, golds: Sequence[Mapping[str, float]]) -> tuple[float, float]:
    there = [one[name] for one in golds if name in one]
    if not there:
        return USUAL_RANGE
    low, high = float(math.floor(min(there))), float(math.ceil(max(there)))
    return (low, high) if low < high else (low, low + 1)


def _own(card: ModelCard) -> tuple[str, ...]:
    return tuple(card.labels.get(OF_REGRESSION, ())) if REGRESS in card.capabilities else ()


def _shared(card: ModelCard, names: Sequence[str]) -> list[str]:
    """The names of the data that the model gives, or all of the model's where the data has none."""
    own = _own(card)
    there = [name for name in names if known_label(name, own) is not None]
    if names and not there:
        raise BadInput(f"{card.spec} gives none of these numbers: {', '.join(names)}; it gives: {', '.join(own)}")
    return there or list(own)


def _known(card: ModelCard, names: Sequence[str]) -> None:
    own = _own(card)
    strange = [name for name in names if known_label(name, own) is None]
    if strange:
        raise BadInput(f"{card.spec} gives no number {strange[0]!r}; it gives: {', '.join(own)}")
