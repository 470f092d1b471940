"""Texts with numbers: what people and sources give, how far a source is from the spread of people, and its tables.

Each name of a number has a table of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from emotui.metrics.beside import SEED, Drawn
from emotui.metrics.people_numbers import (
    MOST_LEVELS,
    inside,
    level_shares,
    levels_cross_entropy,
    levels_divergence,
    levels_of,
    wasserstein,
)
from emotui.metrics.people_spread import FLOOR
from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import (
    Replicates,
    drawn_by,
    estimates,
    group_numbers,
    interval_of,
    intervals_of,
    mean_replicates,
    ratio_replicates,
    resamples_for,
)
from emotui.metrics.values import value_names
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import Cell, Column, Plot, ResultsTable, Row, with_enough
from emotui.workbench.datasets.samples import COMPOSED
from emotui.workbench.progress import IsCancelled
from emotui.workbench.results.spread.opinions import (
    ASIDE,
    INTERVALS,
    MOST,
    NOTHING,
    figure_cell,
    mean_cells,
    most_texts,
    name_of,
    outcomes,
)
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


_ANSWERS, _MEAN, _MEDIAN = "people's answers", "people's mean", "people's median"
_COLUMNS = (
    Column("wasserstein", "Wasserstein", _ANSWERS, "number", short="W1"),
    Column("cross_entropy", "Cross-entropy", _ANSWERS, "cosine", short="CE"),
    Column("jensen_shannon", "Jensen-Shannon", _ANSWERS, short="JSD"),
    Column("inside", "Within", _ANSWERS),
    Column("mae_mean", "MAE", _MEAN, "number"),
    Column("brier_mean", "Brier", _MEAN),
    Column("ece_mean", "ECE", _MEAN),
    Column("mae_median", "MAE", _MEDIAN, "number"),
)
ANSWERS = (
    f"Of texts with at least {LEAST} annotators. Wasserstein: how far a source's numbers have to be moved in the mean"
    " to be spread as people's (of one number its mean distance to an answer), in points. Cross-entropy (nats, shares"
    f" of at least {FLOOR:g}) and Jensen-Shannon divergence (base 2) are of the shares of people and source on each of"
    f" people's numbers, a source's being put to the nearest, where these are {MOST_LEVELS} at most. Within: from the"
    " least to the greatest answer."
)
MEANS = (
    "MAE: mean distance to people's mean, or median, in points. Brier: its square, and ECE: how far both means are"
    f" apart over {BINS} bins of a source's numbers, on the scale from people's lowest answer (0) to their highest (1)."
)
OTHERS = "Annotators: each against the others of a text, as if they were a source; means over annotators."


def number_tables(
    store: Store,
    dataset: Dataset,
    models: Sequence[Run],
    people: Sequence[Run],
    groups: Mapping[int, int] | None,
    *,
    composed: bool,
    cancelled: IsCancelled,
) -> list[ResultsTable]:
    """Of each number its sources against people's answers, by each annotator, and as points; none without people.

    Args:
        groups: by the number of a text that of what it shares with others.
        composed: the annotators are no people, but were written with the samples.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    said = read_numbers(store, dataset, models, people, cancelled)
    tables: list[ResultsTable] = []
    for at, name in enumerate(value_names(one for each in said.people.values() for one in each.values()), start=1):
        spread = number_spread(said, name, models, groups)
        if spread is not None:
            tables += _tables(spread, at, composed=composed)
    return tables


def _tables(spread: NumberSpread, at: int, *, composed: bool) -> list[ResultsTable]:
    rows = []
    for run in spread.runs:
        side = number_side(spread, spread.answers, spread.said[run.run])
        repeats = spread.said[run.run].shape[1]
        remark = f"its distribution is that of {repeats} repeats" if repeats > 1 else ""
        rows.append(Row(name_of(run), "run", run.run, _cells(side, run.run), remark))
    told = f"{len(_counted(spread))} annotators", _among(spread), COMPOSED if composed else ""
    rows.append(Row("Annotators, each against the others", "people", *told))
    beside = len(spread.people) - len(_counted(spread))
    asides = (f"{ASIDE}: {beside}.",) if beside else ()
    notes = (*asides, ANSWERS, MEANS, OTHERS, INTERVALS.format(resamples=resamples_for(spread.by.n)))
    title = f"Sources against the spread of people: {spread.name}"
    tables = [ResultsTable(f"spread-{at}", title, _COLUMNS, tuple(rows), notes)]
    if spread.runs:
        tables.append(_by_annotator(spread, at))
    return [*tables, *(_against_means(spread, run, at) for run in spread.runs)]


def _cells(side: NumberSide, run: str) -> tuple[Cell, ...]:
    if not side.numbers:
        return tuple(Cell(why=NOTHING, run=run) for _ in _COLUMNS)
    parts = number_parts(side)
    values = number_sums(parts.sum(axis=0)[None])[0].tolist()
    sure = intervals_of(number_resampled(side, parts))
    return tuple(
        figure_cell(value, one, side.numbers, run)
        if value == value  # not NaN
        else Cell(why=f"people give more than {MOST_LEVELS} different numbers, which are no levels", run=run)
        for value, one in zip(values, sure, strict=True)
    )


def _counted(spread: NumberSpread) -> list[int]:
    """The places of the annotators that are held against the others."""
    import numpy as np

    return with_enough({at: int((~np.isnan(spread.answers[:, at])).sum()) for at in range(len(spread.people))})


def _among(spread: NumberSpread) -> tuple[Cell, ...]:
    """Each annotator against the others of a text, the means over annotators."""
    import numpy as np

    found, drawn = [], []
    for at in _counted(spread):
        others = np.delete(spread.answers, at, axis=1)
        side = number_side(spread, others, spread.answers[:, at : at + 1])
        if side.numbers:
            parts = number_parts(side)
            found.append(number_sums(parts.sum(axis=0)[None])[0])
            if side.by.n > 1 and len(_counted(spread)) <= MOST:
                drawn.append(number_resampled(side, parts))
    return mean_cells(found, drawn)


def _by_annotator(spread: NumberSpread, at: int) -> ResultsTable:
    """Each annotator as if they were gold: the sources' mean distance over that annotator's texts."""
    import numpy as np

    columns = [Column("n", "Texts", unit="count")]
    columns += [Column(f"mae/{run.run}", name_of(run), unit="number") for run in spread.runs]
    places = {name: place for place, name in enumerate(spread.people)}
    most = most_texts({name: int((~np.isnan(spread.answers[:, place])).sum()) for name, place in places.items()})
    rows = []
    for name in most[:MOST]:
        own = spread.answers[:, places[name]]
        cells = [Cell(int((~np.isnan(own)).sum()))]
        cells += [_distance(number_side(spread, own[:, None], spread.said[run.run]), run.run) for run in spread.runs]
        rows.append(Row(name, "people", "annotator", tuple(cells)))
    notes = ["MAE: mean distance of a source's number (the mean of its repeats) to that of one annotator, in points."]
    notes.append(INTERVALS.format(resamples=resamples_for(spread.by.n)))
    if len(most) > MOST:
        notes.append(f"The {MOST} annotators with the most texts, of {len(most)}.")
    title = f"Sources against each annotator: {spread.name}"
    return ResultsTable(f"spread-annotators-{at}", title, tuple(columns), tuple(rows), tuple(notes))


def _distance(side: NumberSide, run: str) -> Cell:
    import numpy as np

    if not side.numbers:
        return Cell(why=NOTHING, run=run)
    off = np.abs(np.nanmean(side.said, axis=1) - side.answers[:, 0])
    (made,) = mean_replicates(off[:, None], side.by, seed=SEED)
    return figure_cell(float(off.mean()), interval_of(replace(made, bounds=(0.0, np.inf))), side.numbers, run)


def _against_means(spread: NumberSpread, run: Run, at: int) -> ResultsTable:
    """A source's numbers against people's means, by bins of the scale: the reliability diagram of numbers."""
    import numpy as np

    side = number_side(spread, spread.answers, spread.said[run.run])
    people, source = side.scaled
    places = bins_of(source)
    wide = spread.high - spread.low or 1.0
    there = sorted(set(places.tolist()))
    sizes = np.array([int((places == place).sum()) for place in there])
    means = [
        spread.low + wide * np.array([each[places == place].mean() for place in there]) for each in (source, people)
    ]
    own_mean = spread.low + wide * people
    by_place = [(np.where(places == place, own_mean, 0.0), places == place) for place in there]
    sure = intervals_of(ratio_replicates(by_place, side.by, seed=SEED)) if there else []
    columns = (
        Column("number", "Number", unit="number"),
        Column("mean", "Mean of annotators", unit="number"),
        Column("n", "Texts", unit="count"),
    )
    rows = tuple(
        Row(f"bin {place}", "label", run.run, (Cell(own), figure_cell(mean, one), Cell(n)))
        for place, (own, mean, one, n) in enumerate(
            zip(means[0].tolist(), means[1].tolist(), sure, sizes.tolist(), strict=True), start=1
        )
    )
    ece = float(sum(abs(float((source - people)[places == place].sum())) for place in there)) / max(len(people), 1)
    points = tuple(zip(means[0].tolist(), means[1].tolist(), strict=True))
    reach = (min(spread.low, *means[0].tolist()), max(spread.high, *means[0].tolist())) if there else (0.0, 1.0)
    figures = (("ECE", ece if there else None),)
    plot = Plot(
        spread.name, "mean of annotators", reach, reach, points, diagonal=True, figures=figures, n=len(there), of="bin"
    )
    title = f"{name_of(run)}: reliability against people, {spread.name}"
    notes = (MEANS, INTERVALS.format(resamples=resamples_for(spread.by.n)))
    return ResultsTable(f"reliability-{at}-{run.run}", title, columns, rows, notes, plot=plot)
