"""Texts with numbers: what people and sources give, and how far a source's numbers are from the spread of people's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from emotui.metrics.beside import SEED, Drawn
from emotui.metrics.people_numbers import (
    inside,
    level_shares,
    levels_cross_entropy,
    levels_divergence,
    levels_of,
    wasserstein,
)
from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import Replicates, drawn_by, estimates, group_numbers
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.progress import IsCancelled
from emotui.workbench.results.spread.opinions import outcomes
from emotui.workbench.results.spread.questions import LEAST
from emotui.workbench.texts import stored_samples

if TYPE_CHECKING:
    import numpy as np

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    Figures = np.ndarray[tuple[int], np.dtype[np.float64]]
    Places = np.ndarray[tuple[int], np.dtype[np.int64]]

Said = Mapping[str, float]


@dataclass
class Numbers:
    """By name of a person, or run, and by the number of the text what is said; of a run once a repeat."""

    people: dict[str, dict[int, Said]] = field(default_factory=dict)
    sources: dict[str, dict[int, list[Said]]] = field(default_factory=dict)


class _Prediction(msgspec.Struct):
    values: dict[str, float] = {}


def read_numbers(
    store: Store, dataset: Dataset, models: Sequence[Run], people: Sequence[Run], cancelled: IsCancelled
) -> Numbers:
    """What people, inside the gold records or as sources, and models give.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    found, decoder = Numbers(), msgspec.json.Decoder(_Prediction)
    for number, sample in stored_samples(store, dataset, dataset.n):
        for name, own in sample.annotators.items():
            found.people.setdefault(name, {})[number] = own.get("values", {})
    for run, number, prediction in outcomes(store, people, cancelled):
        found.people.setdefault(run.model, {})[number] = decoder.decode(prediction).values
    for run, number, prediction in outcomes(store, models, cancelled):
        found.sources.setdefault(run.run, {}).setdefault(number, []).append(decoder.decode(prediction).values)
    return found


@dataclass(frozen=True, slots=True)
class NumberSpread:
    """The texts of which `LEAST` people give a number of this name.

    `answers`: (texts, people), NaN where somebody gives none. `said`: by run (texts, repeats), likewise. `levels`: the
    different answers; None where they are many. `low`, `high`: the lowest and the highest.
    """

    name: str
    numbers: tuple[int, ...]
    people: tuple[str, ...]
    answers: "Table"
    runs: tuple[Run, ...]
    said: Mapping[str, "Table"]
    levels: "Figures | None"
    low: float
    high: float
    by: Drawn


def number_spread(
    said: Numbers, name: str, models: Sequence[Run], groups: Mapping[int, int] | None
) -> NumberSpread | None:
    import numpy as np

    people = tuple(who for who, answers in said.people.items() if any(name in one for one in answers.values()))
    each = sorted({number for who in people for number, one in said.people[who].items() if name in one})
    table = np.array([[said.people[who].get(number, {}).get(name, np.nan) for who in people] for number in each])
    kept = (~np.isnan(table)).sum(axis=1) >= LEAST if len(table) else np.zeros(0, dtype=bool)
    if not kept.any():
        return None
    numbers, answers = tuple(number for number, keep in zip(each, kept.tolist(), strict=True) if keep), table[kept]
    runs = tuple(run for run in models if run.run in said.sources)
    found = {run.run: _repeats(said.sources[run.run], numbers, name) for run in runs}
    drawn = group_numbers([None if groups is None else groups.get(number) for number in numbers])
    by = drawn_by(drawn)
    low, high = float(np.nanmin(answers)), float(np.nanmax(answers))
    return NumberSpread(name, numbers, people, answers, runs, found, levels_of(answers), low, high, by)


def _repeats(answers: Mapping[int, Sequence[Said]], numbers: Sequence[int], name: str) -> "Table":
    import numpy as np

    known = [[one[name] for one in answers.get(number, ()) if name in one] for number in numbers]
    found = np.full((len(numbers), max(1, *map(len, known)) if known else 1), np.nan)
    for at, several in enumerate(known):
        found[at, : len(several)] = several
    return found


@dataclass(frozen=True, slots=True)
class NumberSide:
    """The texts that a source and people both give a number of; `by`: what is drawn for intervals."""

    spread: NumberSpread
    numbers: tuple[int, ...]
    by: Drawn
    answers: "Table"
    said: "Table"

    @property
    def scaled(self) -> "tuple[Figures, Figures]":
        """The means of people and of the source, from people's lowest answer (0) to their highest (1)."""
        import numpy as np

        wide = self.spread.high - self.spread.low or 1.0
        means = np.nanmean(self.answers, axis=1), np.nanmean(self.said, axis=1)
        return (means[0] - self.spread.low) / wide, (means[1] - self.spread.low) / wide


def number_side(spread: NumberSpread, answers: "Table", said: "Table") -> NumberSide:
    import numpy as np

    there = np.flatnonzero(~np.isnan(said).all(axis=1) & ~np.isnan(answers).all(axis=1))
    numbers = tuple(spread.numbers[at] for at in there.tolist())
    return NumberSide(spread, numbers, spread.by.rows(there), answers[there], said[there])


def number_parts(side: NumberSide) -> "Table":
    """(texts, parts): what the figures are made of, once it is added up over texts."""
    import numpy as np

    people, source = side.scaled
    means, own = np.nanmean(side.answers, axis=1), np.nanmean(side.said, axis=1)
    levels = side.spread.levels
    if levels is None:
        entropy = divergence = np.full(len(side.numbers), np.nan)
    else:
        q, p = level_shares(side.answers, levels), level_shares(side.said, levels)
        entropy, divergence = levels_cross_entropy(q, p), levels_divergence(q, p)
    off = np.zeros((len(side.numbers), BINS))
    off[np.arange(len(off)), bins_of(source)] = source - people
    each = (
        wasserstein(side.answers, side.said),
        entropy,
        divergence,
        inside(side.answers, side.said),
        np.abs(own - means),
        (source - people) ** 2,
        np.abs(own - np.nanmedian(side.answers, axis=1)),
    )
    return np.concatenate([np.ones((len(off), 1)), np.stack(each, axis=1), off], axis=1)


def bins_of(source: "Figures") -> "Places":
    """The bin of each number on the scale; what lies beyond either end is in the last one there."""
    import numpy as np

    return np.clip((source * BINS).astype(np.int64), 0, BINS - 1)


def number_sums(sums: "Table") -> "Table":
    """(n, columns): the figures of parts that are added up over texts."""
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums[:, 1:] / sums[:, :1]
    ece = np.abs(means[:, 7:]).sum(axis=1)
    return np.concatenate([means[:, :6], ece[:, None], means[:, 6:7]], axis=1)


def number_resampled(side: NumberSide, parts: "Table") -> "list[Replicates]":
    """Each figure over resamples; of what is nowhere defined NaN."""
    import numpy as np

    unknown = np.isnan(parts).any(axis=0)

    def figures(sums: "Table") -> "Table":
        sums[:, unknown] = np.nan
        return number_sums(sums)

    found = estimates(np.nan_to_num(parts), figures, side.by, seed=SEED)
    return [replace(one, distances=True) if at == _ECE else one for at, one in enumerate(found)]


_ECE = 6
"""The place of the calibration error."""
