"""The tables of people's spread: sources against annotators' shares and their majority, and against each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.metrics.people_spread import (
    FLOOR,
    calibration_error,
    cross_entropy,
    jensen_shannon,
    majority,
    reliability,
    squared_distance,
)
from emotui.metrics.permutation import f1
from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import BESIDE, group_numbers, percentile_interval, resampled_means
from emotui.store.query import Run
from emotui.tables import Cell, Column, Plot, ResultsTable, Row
from emotui.workbench.datasets.samples import COMPOSED
from emotui.workbench.results.spread import LEAST, Spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emotui.workbench.results.spread import Table

_SEED = 0
_MOST = 60
"""Annotators with a row of their own."""

SHARES = (
    f"Of texts with at least {LEAST} annotators: the share of them that gives a label, against the source's"
    " probability (1 or 0 where it has none), label by label. Cross-entropy in nats, with probabilities moved to"
    f" [{FLOOR:g}, {1 - FLOOR:g}]; Jensen-Shannon divergence, base 2; Brier: squared distance to the share. Means over"
    " labels, then over texts (Uma et al. 2021)."
)
CALIBRATED = f"ECE: distance of probability and share over {BINS} bins (Guo et al. 2017; Baan et al. 2022)."
MAJORITY = (
    "Majority: what more than half of a text's annotators give, as if it were gold (a tie gives no label), against the"
    " labels that a source gives."
)
OTHERS = "Annotators: each against the share of the others of a text, as if they were a source; means over annotators."
INTERVALS = (
    "[low, high]: 95% percentile bootstrap of means over texts (over what texts share), "
    f"{BESIDE:,} resamples, seed {_SEED}."
)
_COLUMNS = (
    Column("cross_entropy", "Cross-entropy", "people's shares", "cosine", short="CE"),
    Column("jensen_shannon", "Jensen-Shannon", "people's shares", short="JSD"),
    Column("brier_shares", "Brier", "people's shares"),
    Column("ece_shares", "ECE", "people's shares"),
    Column("macro_f1_majority", "macro F1", "majority", short="macro"),
    Column("micro_f1_majority", "micro F1", "majority", short="micro"),
    Column("brier_majority", "Brier", "majority"),
    Column("ece_majority", "ECE", "majority"),
)


def spread_tables(
    spread: Spread, runs: Sequence[Run], groups: "Mapping[int, int] | None" = None, *, composed: bool = False
) -> list[ResultsTable]:
    """Sources by people's shares and their majority; by each annotator; and a reliability diagram a source.

    Args:
        groups: by the number of a text that of what it shares with others.
        composed: the annotators are no people, but were written with the samples.
    """
    there = [run for run in runs if run.run in spread.said]
    shared = None if groups is None else [groups.get(number) for number in spread.numbers]
    rows = []
    for run in there:
        said, given = spread.said[run.run], spread.given[run.run]
        cells = _cells(_Side(spread.numbers, shared, said, given, spread.shares, run.run))
        rows.append(Row(_name(run), "run", run.run, cells, _told(spread, run)))
    among = _among(spread)
    if among is not None:
        told = f"{len(spread.people)} annotators", among, COMPOSED if composed else ""
        rows.append(Row("Annotators, each against the others", "people", *told))
    notes = (SHARES, CALIBRATED, MAJORITY, OTHERS, INTERVALS)
    tables = [ResultsTable("spread", "Sources against the spread of people", _COLUMNS, tuple(rows), notes)]
    if there:
        tables.append(_by_annotator(spread, there))
    tables += [_reliability(spread, run) for run in there if run.run in spread.sure]
    return tables


@dataclass(frozen=True, slots=True)
class _Side:
    """A source and the people whom it is laid against, text by text."""

    numbers: Sequence[int]
    shared: Sequence[int | None] | None
    said: "Table"
    given: "Table"
    shares: "Table"
    run: str | None = None


def _cells(side: _Side, *, intervals: bool = True) -> tuple[Cell, ...]:
    """A cell a column, over the texts that the source says something about."""
    import numpy as np

    known = ~np.isnan(side.said[:, 0])
    run = side.run
    if not known.any():
        return tuple(Cell(why="no text that both say something about", run=run) for _ in _COLUMNS)
    q, p = side.shares[known], side.said[known]
    voted, given = majority(q), side.given[known] >= 0.5
    samples = tuple(number for number, here in zip(side.numbers, known.tolist(), strict=True) if here)
    means = [each(q, p).mean(axis=1) for each in (cross_entropy, jensen_shannon, squared_distance)]
    means.append(squared_distance(voted, p).mean(axis=1))
    bounds: list[tuple[float, float] | None] = [None] * len(means)
    if intervals and len(samples) > 1:
        groups = None
        if side.shared is not None:
            groups = group_numbers([one for one, here in zip(side.shared, known, strict=True) if here])
        resampled = resampled_means(np.stack(means, axis=1), groups, seed=_SEED, resamples=BESIDE)
        bounds = [percentile_interval(resampled[:, at]) for at in range(len(means))]

    def mean(at: int) -> Cell:
        bound = bounds[at]
        low, high = bound if bound is not None and bound[0] < bound[1] else (None, None)
        return Cell(float(means[at].mean()), samples=samples, run=run, low=low, high=high)

    def plain(value: float | None) -> Cell:
        return Cell(value, samples=samples, run=run)

    return (
        *(mean(0), mean(1), mean(2), plain(calibration_error(q, p))),
        *(plain(f1(voted, given, "macro")), plain(f1(voted, given, "micro"))),
        *(mean(3), plain(calibration_error(voted, p))),
    )


def _among(spread: Spread) -> tuple[Cell, ...] | None:
    """Each annotator against the others of a text, the means over annotators."""
    import numpy as np

    found = []
    for one in spread.people.values():
        others = (spread.sums[one.texts] - one.gives) / (spread.counts[one.texts] - 1)[:, None]
        numbers = [spread.numbers[at] for at in one.texts.tolist()]
        cells = _cells(_Side(numbers, None, one.gives, one.gives, others), intervals=False)
        found.append([float(cell.value or 0) for cell in cells])
    if not found:
        return None
    table = np.array(found)
    spreads = table.std(axis=0, ddof=1).tolist() if len(found) > 1 else [None] * len(_COLUMNS)
    return tuple(Cell(value, sd) for value, sd in zip(table.mean(axis=0).tolist(), spreads, strict=True))


def _by_annotator(spread: Spread, runs: Sequence[Run]) -> ResultsTable:
    """Each annotator as if they were gold: the sources' F1, pooled over labels, over that annotator's texts."""
    import numpy as np

    columns = [Column("n", "texts", unit="count"), *(Column(f"f1/{run.run}", _name(run)) for run in runs)]
    most = sorted(spread.people, key=lambda name: (-len(spread.people[name].texts), name))
    rows = []
    for name in most[:_MOST]:
        one = spread.people[name]
        cells = [Cell(len(one.texts))]
        for run in runs:
            given = spread.given[run.run][one.texts]
            known = ~np.isnan(given[:, 0])
            samples = tuple(spread.numbers[at] for at in one.texts[known].tolist())
            value = f1(one.gives[known], given[known] >= 0.5, "micro") if known.any() else None
            cells.append(Cell(value, why="no text that both say something about", samples=samples, run=run.run))
        rows.append(Row(name, "people", "annotator", tuple(cells)))
    notes = ["Micro F1 of the labels that a source gives, with those of one annotator as gold."]
    if len(most) > _MOST:
        notes.append(f"The {_MOST} annotators with the most texts, of {len(most)}.")
    return ResultsTable("spread-annotators", "Sources by annotator", tuple(columns), tuple(rows), tuple(notes))


def _reliability(spread: Spread, run: Run) -> ResultsTable:
    """Probability against the share of people, by bins; as points beside the diagonal."""
    import numpy as np

    said = spread.said[run.run]
    known = ~np.isnan(said[:, 0])
    q, p = spread.shares[known], said[known]
    bins = reliability(q, p) if known.any() else []
    columns = (
        Column("probability", "probability"),
        Column("share", "share of annotators"),
        Column("n", "questions", unit="count"),
    )
    rows = tuple(
        Row(f"bin {at}", "label", run.run, (Cell(one.probability), Cell(one.share), Cell(one.n)))
        for at, one in enumerate(bins, start=1)
    )
    plot = Plot(
        "probability",
        "share of annotators",
        (0.0, 1.0),
        (0.0, 1.0),
        tuple((one.probability, one.share) for one in bins),
        diagonal=True,
        figures=(("ECE", calibration_error(q, p)),),
        n=len(bins),
        of="bin",
    )
    title = f"{_name(run)}: reliability against people"
    return ResultsTable(f"reliability-{run.run}", title, columns, rows, (CALIBRATED,), plot=plot)


def _name(run: Run) -> str:
    way = run.config.get("way")
    return f"{run.model} {way}" if way else run.model


def _told(spread: Spread, run: Run) -> str:
    return "" if run.run in spread.sure else "gives labels without probabilities, which count as 1 and 0"
