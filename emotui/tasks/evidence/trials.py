"""Trials of one text: all that a model is asked about it, and what its answers say of each piece of evidence."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from emotui.backends.words import word_places
from emotui.metrics.evidence import (
    FILLER,
    SHARES,
    Places,
    deleted,
    first_words,
    kept_alone,
    masked,
    random_places,
    ranked_words,
    runs_of_words,
    touched,
    united,
)
from emotui.records import Mark
from emotui.tasks.parts import matched

Removal = Literal["mask", "delete"]
"""How random stretches and shares of words are taken away; each piece of evidence is taken away in both ways."""

OWN, GOLD = "own", "gold"
"""Whose label is explained: the model's likeliest for the whole text, or that of gold."""


class Trial(msgspec.Struct, frozen=True, omit_defaults=True):
    """Evidence, and the probabilities by label where its words are masked, deleted, and where they stand alone.

    `places`: one span, or all of a text. `label`: of the span. `explains`: the label whose probability is followed.
    `random`: that label's probability without as many words elsewhere, a number a draw.
    """

    places: Places
    explains: str
    masked: Mapping[str, float]
    deleted: Mapping[str, float]
    alone: Mapping[str, float]
    random: tuple[float, ...] = ()
    label: str | None = None


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model says of a text with and without its evidence.

    Attributes:
        probs: of the whole text, by label.
        removal: how `Trial.random` and `without` were taken away.
        spans: a trial for each span.
        united: of all spans together; None where there is one at most.
        without, alone: the explained label's probability without each of `SHARES` of the words, and with these alone.
    """

    probs: Mapping[str, float]
    removal: Removal = "mask"
    spans: tuple[Trial, ...] = ()
    united: Trial | None = None
    without: tuple[float, ...] = ()
    alone: tuple[float, ...] = ()

    @property
    def all_evidence(self) -> Trial | None:
        """The trial of all evidence; None where nothing is marked."""
        return self.united or next(iter(self.spans), None)


class Variants:
    """All texts that a model is asked about for one text, each once.

    Args:
        marks: the evidence.
        draws: random stretches beside each piece of it.
        seed: of the draws.
    """

    def __init__(self, text: str, marks: Sequence[Mark], removal: Removal, draws: int, seed: int) -> None:
        self._text, self._marks, self._removal = text, tuple(dict.fromkeys(marks)), removal
        self._words = word_places(text)
        pieces = [united([mark.place]) for mark in self._marks]
        if len(pieces) > 1:
            pieces.append(united([mark.place for mark in self._marks]))
        self._pieces = pieces
        self._random = [random_places(places, self._words, draws, seed, text) for places in pieces]
        self._shares = self._ranked(seed) if pieces else []
        texts: dict[str, None] = {text: None}
        for places in pieces:
            texts |= dict.fromkeys((self._masked(places), self._deleted(places), self._alone(places)))
        for places in (*(one for some in self._random for one in some), *self._shares):
            texts[self._without(places)] = None
        texts |= dict.fromkeys(self._alone(places) for places in self._shares)
        self.texts = tuple(texts)

    def _ranked(self, seed: int) -> list[Places]:
        """The first words of each of `SHARES`, those of the strongest evidence first."""
        marks = []
        for mark in self._marks:
            at = touched((mark.place,), self._words)
            if at:
                marks.append((at[0], at[-1] + 1, mark.score or 0.0))
        order = ranked_words(marks, len(self._words), f"{seed}/{self._text}")
        return [runs_of_words(first_words(order, share), self._words) for share in SHARES] if order else []

    def _masked(self, places: Places) -> str:
        return masked(self._text, places, self._words)

    def _deleted(self, places: Places) -> str:
        return deleted(self._text, places).strip() or FILLER

    def _alone(self, places: Places) -> str:
        return kept_alone(self._text, places) or FILLER

    def _without(self, places: Places) -> str:
        return self._masked(places) if self._removal == "mask" else self._deleted(places)

    def read(self, probs: Mapping[str, Mapping[str, float]], explain: str, emotion: str | None) -> Prediction:
        """What the answers say. Args: probs: of each of `texts`, by label; emotion: of the text, by gold.

        Raises:
            ValueError: gold's label is to be explained and the answers have none like it.
        """
        whole = probs[self._text]
        own = max(whole, key=whole.__getitem__)
        named = [mark.label for mark in self._marks]
        if len(self._pieces) > len(named):
            named.append(None)
        every = emotion or next((label for label in named if label), None)
        trials = []
        for places, random, label in zip(self._pieces, self._random, named, strict=True):
            explains = own if explain == OWN else _known(label or every, whole)
            trials.append(
                Trial(
                    places,
                    explains,
                    probs[self._masked(places)],
                    probs[self._deleted(places)],
                    probs[self._alone(places)],
                    tuple(probs[self._without(one)][explains] for one in random),
                    label,
                )
            )
        if not trials:
            return Prediction(whole, self._removal)
        followed = trials[-1].explains
        return Prediction(
            whole,
            self._removal,
            tuple(trials[: len(self._marks)]),
            trials[-1] if len(trials) > 1 else None,
            tuple(probs[self._without(places)][followed] for places in self._shares),
            tuple(probs[self._alone(places)][followed] for places in self._shares),
        )


def _known(label: str | None, probs: Mapping[str, float]) -> str:
    found = None if label is None else matched(label, probs)
    if found is None:
        raise ValueError(f"gold's label {label!r} is none that the model has a probability for")
    return found
