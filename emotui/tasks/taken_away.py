"""Texts without their evidence: comprehensiveness, sufficiency, and what random stretches do beside it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Literal

import msgspec
import numpy as np

from emotui.backends.words import word_places
from emotui.lexicons import emolex
from emotui.metrics.beside import Drawn, Resampled, beside_repeats, ratios
from emotui.metrics.evidence import (
    FILLER,
    SHARES,
    Places,
    area,
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
from emotui.metrics.lexical import cues_of
from emotui.metrics.repeats import by_repeat
from emotui.records import Mark, SpanSample
from emotui.tasks.parts import matched

# Trials of one text: all that a model is asked about it, and what its answers say of each piece of evidence.

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
        filler: what each masked word was to the model: a neutral sign, or its own mask token by its name.
        spans: a trial for each span.
        united: of all spans together; None where there is one at most.
        without, alone: the explained label's probability without each of `SHARES` of the words, and with these alone.
    """

    probs: Mapping[str, float]
    removal: Removal = "mask"
    filler: str = FILLER
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
        shares: of the words, for the areas; none: there are no areas.
        filler: stands in the texts for each masked word.
    """

    def __init__(
        self,
        text: str,
        marks: Sequence[Mark],
        removal: Removal,
        draws: int,
        seed: int,
        shares: Sequence[float] = SHARES,
        filler: str = FILLER,
    ) -> None:
        self._text, self._marks, self._removal = text, tuple(dict.fromkeys(marks)), removal
        self._filler = filler
        self._words = word_places(text)
        pieces = [united([mark.place]) for mark in self._marks]
        if len(pieces) > 1:
            pieces.append(united([mark.place for mark in self._marks]))
        self._pieces = pieces
        self._random = [random_places(places, self._words, draws, seed, text) for places in pieces]
        self._shares = self._ranked(seed, shares) if pieces else []
        texts: dict[str, None] = {text: None}
        for places in pieces:
            texts |= dict.fromkeys(self.forms(places))
        for places in (*(one for some in self._random for one in some), *self._shares):
            texts[self._without(places)] = None
        texts |= dict.fromkeys(self._alone(places) for places in self._shares)
        self.texts = tuple(texts)

    def forms(self, places: Places) -> tuple[str, str, str]:
        """The text with this masked, without it, and this alone."""
        return self._masked(places), self._deleted(places), self._alone(places)

    def _ranked(self, seed: int, shares: Sequence[float]) -> list[Places]:
        """The first words of each of these shares, those of the strongest evidence first."""
        marks = []
        for mark in self._marks:
            at = touched((mark.place,), self._words)
            if at:
                marks.append((at[0], at[-1] + 1, mark.score or 0.0))
        order = ranked_words(marks, len(self._words), f"{seed}/{self._text}")
        return [runs_of_words(first_words(order, share), self._words) for share in shares] if order else []

    def _masked(self, places: Places) -> str:
        return masked(self._text, places, self._words, self._filler)

    def _deleted(self, places: Places) -> str:
        return deleted(self._text, places).strip() or FILLER

    def _alone(self, places: Places) -> str:
        return kept_alone(self._text, places) or FILLER

    def _without(self, places: Places) -> str:
        return self._masked(places) if self._removal == "mask" else self._deleted(places)

    def read(
        self, probs: Mapping[str, Mapping[str, float]], explain: str, emotion: str | None, filler: str = FILLER
    ) -> Prediction:
        """What the answers say.

        Args:
            probs: of each of `texts`, by label.
            emotion: of the text, by gold.
            filler: what a masked word was to the model, by its name.

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
            return Prediction(whole, self._removal, filler)
        followed = trials[-1].explains
        return Prediction(
            whole,
            self._removal,
            filler,
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


FIGURES = ("comprehensiveness", "sufficiency", "random", "above_random")
"""Of each piece of evidence."""

EXPLICIT, IMPLICIT = "explicit", "implicit"
NO_LABEL = "no label"


class Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """The drops of one piece of evidence; `random`: mean over the draws, None where there is none."""

    masked: float
    deleted: float
    sufficiency: float
    random: float | None = None
    label: str | None = None
    explicit: bool = False

    def figures(self, removal: Removal) -> dict[str, float | None]:
        """By the names of `FIGURES`."""
        drop = self.masked if removal == "mask" else self.deleted
        above = None if self.random is None else drop - self.random
        return dict(zip(FIGURES, (drop, self.sufficiency, self.random, above), strict=True))


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of the score of one text; without `whole` nothing is marked in it."""

    id: str
    repeat: int
    removal: Removal
    whole: Piece | None = None
    spans: tuple[Piece, ...] = ()
    areas: tuple[float, float] | None = None
    filler: str = FILLER


def _emotion(piece: Piece) -> str:
    return piece.label or NO_LABEL


def _wording(piece: Piece) -> str:
    return EXPLICIT if piece.explicit else IMPLICIT


PARTS: Mapping[str, Callable[[Piece], str]] = {"by_emotion": _emotion, "by_wording": _wording}
"""The groups of single spans, and to which of them a span belongs."""


def detail_of(sample: SpanSample, repeat: int, prediction: Prediction) -> Detail:
    """The drops of one answer about a sample; a span without a label counts under its sentence's, or the sample's."""
    every = prediction.all_evidence
    if every is None:
        return Detail(sample.id, repeat, prediction.removal, filler=prediction.filler)
    p = prediction.probs[every.explains]
    areas = (area(p, prediction.without), area(p, prediction.alone)) if prediction.without else None
    spans = tuple(_piece(sample, one, prediction.probs) for one in prediction.spans)
    whole = _piece(sample, every, prediction.probs)
    return Detail(sample.id, repeat, prediction.removal, whole, spans, areas, prediction.filler)


def _piece(sample: SpanSample, trial: Trial, probs: Mapping[str, float]) -> Piece:
    first = trial.places[0][0]
    sentence = next((one for one in sample.sentences if one.start <= first < one.end), None)
    label = trial.label or (sentence.emotion if sentence is not None else None) or sample.emotion
    p = probs[trial.explains]
    masked, deleted, alone = (p - one[trial.explains] for one in (trial.masked, trial.deleted, trial.alone))
    random = p - fmean(trial.random) if trial.random else None
    explicit = any(cues_of(sample.text[start:end], emolex()) for start, end in trial.places)
    return Piece(masked, deleted, alone, random, label, explicit)


def report(details: Sequence[Detail]) -> dict[str, Any]:
    """The figures of a run or a file, over repeats where there are several; of texts as of `FIGURES`, all evidence
    of a text taken away together, and by emotion and wording of single spans.
    """
    found = by_repeat(details, _report)
    notes = {}
    if alone := sum(one.whole is not None and one.whole.random is None for one in details):
        notes["random"] = f"{alone} answers have no random stretch: the evidence leaves no room for another as long"
    return found | {"notes": notes | {"masked": f"each masked word is {fillers(details)}"}}


def fillers(details: Iterable[Detail]) -> str:
    """What stood for each masked word, in words."""
    every = dict.fromkeys(one.filler for one in details)
    return " or ".join(one if one == FILLER else f"{one}, the model's own token" for one in every) or FILLER


def _report(details: Sequence[Detail]) -> dict[str, Any]:
    known = [one for one in details if one.whole is not None]
    found: dict[str, Any] = {
        "n": len(known),
        "without_evidence": len(details) - len(known),
        "spans": sum(len(one.spans) for one in known),
    }
    rows = _columns(known)
    found |= {name: _rate(top, over) for name, (top, over) in rows.items() if "." not in name}
    for part in PARTS:
        groups = dict.fromkeys(name.split(".", 2)[1] for name in rows if name.startswith(f"{part}."))
        found[part] = {}
        for group in groups:
            own = {key: rows[f"{part}.{group}.{key}"] for key in FIGURES}
            n = int(own["comprehensiveness"][1].sum())
            found[part][group] = {"n": n} | {key: _rate(*sides) for key, sides in own.items()}
    return found


def _rate(top: "np.ndarray", over: "np.ndarray") -> float | None:
    return float(top.sum() / over.sum()) if over.sum() else None


def intervals(details: Sequence[Detail], shared: Mapping[str, str | None]) -> dict[str, Any]:
    """As `emotui.metrics.beside.beside_repeats`, of every figure. Args: shared: as there."""
    known = [one for one in details if one.whole is not None]
    return beside_repeats(known, shared, lambda here, by: _resampled(here, by)) if known else {}


def _resampled(details: Sequence[Detail], by: Drawn) -> Resampled:
    known = {name: sides for name, sides in _columns(details).items() if sides[1].any()}
    return {name: replace(one, bounds=bounds_of(name)) for name, one in ratios(known, by).items()}


def bounds_of(figure: str) -> tuple[float, float]:
    """The least and the greatest value of a figure: probabilities differ by 1 at most, and such differences by 2."""
    return (-2.0, 2.0) if figure.endswith("above_random") else (-1.0, 1.0)


def _columns(details: Sequence[Detail]) -> dict[str, tuple["np.ndarray", "np.ndarray"]]:
    """By figure numerators and denominators, (n,) each, of these answers with evidence."""
    wholes = [one.whole.figures(one.removal) for one in details if one.whole is not None]
    found = {name: _sums([[one[name]] for one in wholes]) for name in FIGURES}
    for name in ("masked", "deleted"):
        found[f"comprehensiveness_{name}"] = _sums([[getattr(one.whole, name)] for one in details])
    for place, name in enumerate(("comprehensiveness_area", "sufficiency_area")):
        found[name] = _sums([[None if one.areas is None else one.areas[place]] for one in details])
    for part, of in PARTS.items():
        found |= _grouped(part, details, of)
    return found


def _grouped(
    part: str, details: Sequence[Detail], of: Callable[[Piece], str]
) -> dict[str, tuple["np.ndarray", "np.ndarray"]]:
    found = {}
    for group in sorted({of(piece) for one in details for piece in one.spans}):
        own = [[piece.figures(one.removal) for piece in one.spans if of(piece) == group] for one in details]
        for name in FIGURES:
            found[f"{part}.{group}.{name}"] = _sums([[piece[name] for piece in pieces] for pieces in own])
    return found


def _sums(values: Sequence[Sequence[float | None]]) -> tuple["np.ndarray", "np.ndarray"]:
    known = [[one for one in row if one is not None] for row in values]
    return np.array([sum(row) for row in known], dtype=float), np.array([len(row) for row in known], dtype=float)
