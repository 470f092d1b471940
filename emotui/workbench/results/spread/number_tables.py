"""The tables of people's spread where texts have numbers: each name of a number has its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from emotui.metrics.beside import SEED
from emotui.metrics.people_numbers import (
    MOST_LEVELS,
)
from emotui.metrics.people_spread import FLOOR
from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import interval_of, intervals_of, mean_replicates, ratio_replicates, resamples_for
from emotui.metrics.values import value_names
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import Cell, Column, Plot, ResultsTable, Row
from emotui.workbench.datasets.samples import COMPOSED
from emotui.workbench.progress import IsCancelled
from emotui.workbench.results.spread.opinions import (
    INTERVALS,
    MOST,
    NOTHING,
    figure_cell,
    mean_cells,
    most_texts,
    name_of,
)
from emotui.workbench.results.spread.questions import LEAST

if TYPE_CHECKING:
    import numpy as np

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    Figures = np.ndarray[tuple[int], np.dtype[np.float64]]
    Places = np.ndarray[tuple[int], np.dtype[np.int64]]

from emotui.workbench.results.spread.numbers import (
    NumberSide,
    NumberSpread,
    bins_of,
    number_parts,
    number_resampled,
    number_side,
    number_spread,
    number_sums,
    read_numbers,
)

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
    told = f"{len(spread.people)} annotators", _among(spread), COMPOSED if composed else ""
    rows.append(Row("Annotators, each against the others", "people", *told))
    notes = (ANSWERS, MEANS, OTHERS, INTERVALS.format(resamples=resamples_for(spread.by.n)))
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


def _among(spread: NumberSpread) -> tuple[Cell, ...]:
    """Each annotator against the others of a text, the means over annotators."""
    import numpy as np

    found, drawn = [], []
    for at in range(len(spread.people)):
        others = np.delete(spread.answers, at, axis=1)
        side = number_side(spread, others, spread.answers[:, at : at + 1])
        if side.numbers:
            parts = number_parts(side)
            found.append(number_sums(parts.sum(axis=0)[None])[0])
            if side.by.n > 1 and len(spread.people) <= MOST:
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
