"""The tables of people's spread: sources against annotators' shares and their majority, and against each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.metrics.beside import SEED, Drawn
from emotui.metrics.people_spread import (
    FLOOR,
    calibration_error,
    cross_entropy,
    jensen_shannon,
    majority,
    reliability,
    squared_distance,
)
from emotui.metrics.permutation import f1, f1_of_sums
from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import group_numbers, resampled_sums, resamples_for, spread_interval
from emotui.store.query import Run
from emotui.tables import Cell, Column, Plot, ResultsTable, Row
from emotui.workbench.datasets.samples import COMPOSED
from emotui.workbench.results.spread import LEAST, Spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emotui.workbench.results.spread import Table

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
    "[low, high]: 95% percentile bootstrap over texts (over what texts share), {resamples:,} resamples, seed 0; of "
    "annotators their mean is taken first."
)
_COLUMNS = (
    Column("cross_entropy", "Cross-entropy", "people's shares", "cosine", short="CE"),
    Column("jensen_shannon", "Jensen-Shannon", "people's shares", short="JSD"),
    Column("brier_shares", "Brier", "people's shares"),
    Column("ece_shares", "ECE", "people's shares"),
    Column("macro_f1_majority", "Macro-F1", "majority", short="Macro-F1"),
    Column("micro_f1_majority", "Micro-F1", "majority", short="Micro-F1"),
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
    numbers = group_numbers([None if groups is None else groups.get(number) for number in spread.numbers])
    by = Drawn(numbers, int(numbers.max(initial=-1)) + 1)
    rows = []
    for run in there:
        said, given = spread.said[run.run], spread.given[run.run]
        cells = _cells(_Side(spread.numbers, by, said, given, spread.shares, run.run))
        rows.append(Row(_name(run), "run", run.run, cells, _told(spread, run)))
    among = _among(spread, by)
    if among is not None:
        told = f"{len(spread.people)} annotators", among, COMPOSED if composed else ""
        rows.append(Row("Annotators, each against the others", "people", *told))
    notes = (SHARES, CALIBRATED, MAJORITY, OTHERS, INTERVALS.format(resamples=resamples_for(by.n)))
    tables = [ResultsTable("spread", "Sources against the spread of people", _COLUMNS, tuple(rows), notes)]
    if there:
        tables.append(_by_annotator(spread, there, by))
    tables += [_reliability(spread, run, by) for run in there if run.run in spread.sure]
    return tables


@dataclass(frozen=True, slots=True)
class _Side:
    """A source and the people whom it is laid against, text by text. `by`: what is drawn for intervals."""

    numbers: Sequence[int]
    by: Drawn
    said: "Table"
    given: "Table"
    shares: "Table"
    run: str | None = None

    def known(self) -> "_Side | None":
        """The texts that the source says something about; None where there is none."""
        import numpy as np

        there = ~np.isnan(self.said[:, 0])
        if not there.any():
            return None
        numbers = [number for number, here in zip(self.numbers, there.tolist(), strict=True) if here]
        by = Drawn(self.by.numbers[there], self.by.n)
        return _Side(numbers, by, self.said[there], self.given[there], self.shares[there], self.run)


def _figures(side: _Side) -> list[float | None]:
    """The figures of the columns, over all texts of a side."""
    q, p, given = side.shares, side.said, side.given >= 0.5
    voted = majority(q)
    return [
        float(cross_entropy(q, p).mean()),
        float(jensen_shannon(q, p).mean()),
        float(squared_distance(q, p).mean()),
        calibration_error(q, p),
        f1(voted, given, "macro"),
        f1(voted, given, "micro"),
        float(squared_distance(voted, p).mean()),
        calibration_error(voted, p),
    ]


def _resampled(side: _Side) -> "Table":
    """(resamples, columns): the figures over resamples of what is drawn."""
    import numpy as np

    q, p, given = side.shares, side.said, (side.given >= 0.5).astype(np.float64)
    voted = majority(q)
    k = q.shape[1]
    means = [cross_entropy(q, p), jensen_shannon(q, p), squared_distance(q, p), squared_distance(voted, p)]
    parts = [np.ones((len(q), 1)), *(one.mean(axis=1, keepdims=True) for one in means)]
    parts += [_off_by_bin(q, p), _off_by_bin(voted, p), voted * given, voted + given]
    sums = resampled_sums(np.concatenate(parts, axis=1), side.by.numbers, SEED, side.by.resamples, side.by.n)
    edges = np.cumsum([1, 1, 1, 1, 1, BINS, BINS, k])
    n, entropy, divergence, brier, of_voted, off, off_voted, hits, both = np.split(sums, edges, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        entropy, divergence, brier, of_voted = (each[:, 0] / n[:, 0] for each in (entropy, divergence, brier, of_voted))
        ece, ece_voted = (np.abs(each).sum(axis=1) / (n[:, 0] * k) for each in (off, off_voted))
    macro, micro = f1_of_sums(hits, both, "macro"), f1_of_sums(hits, both, "micro")
    return np.stack([entropy, divergence, brier, ece, macro, micro, of_voted, ece_voted], axis=1)


def _off_by_bin(shares: "Table", probabilities: "Table") -> "Table":
    """(texts, bins): how far the probabilities of a text are off in each bin, added up."""
    import numpy as np

    places = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    flat = (places + np.arange(len(places))[:, None] * BINS).ravel()
    sums = np.bincount(flat, weights=(probabilities - shares).ravel(), minlength=len(places) * BINS)
    table: Table = sums.reshape(len(places), BINS).astype(np.float64)
    return table


def _cells(side: _Side) -> tuple[Cell, ...]:
    """A cell a column, over the texts that the source says something about."""
    known, run = side.known(), side.run
    if known is None:
        return tuple(Cell(why="no text that both say something about", run=run) for _ in _COLUMNS)
    samples = tuple(known.numbers)
    ends = _ends(_resampled(known)) if known.by.n > 1 else [(None, None)] * len(_COLUMNS)
    return tuple(
        Cell(value, samples=samples, run=run, low=low, high=high)
        for value, (low, high) in zip(_figures(known), ends, strict=True)
    )


def _ends(resampled: "Table") -> list[tuple[float | None, float | None]]:
    """The interval of each column, (None, None) where there is none."""
    return [spread_interval(resampled[:, at]) or (None, None) for at in range(resampled.shape[1])]


def _among(spread: Spread, by: Drawn) -> tuple[Cell, ...] | None:
    """Each annotator against the others of a text, the means over annotators."""
    import numpy as np

    found, drawn = [], []
    for one in spread.people.values():
        others = (spread.sums[one.texts] - one.gives) / (spread.counts[one.texts] - 1)[:, None]
        numbers = [spread.numbers[at] for at in one.texts.tolist()]
        side = _Side(numbers, Drawn(by.numbers[one.texts], by.n), one.gives, one.gives, others)
        found.append([float(value or 0) for value in _figures(side)])
        if by.n > 1 and len(spread.people) <= _MOST:
            drawn.append(_resampled(side))
    if not found:
        return None
    table = np.array(found)
    spreads = table.std(axis=0, ddof=1).tolist() if len(found) > 1 else [None] * len(_COLUMNS)
    ends = _ends(_mean_of(drawn)) if drawn else [(None, None)] * len(_COLUMNS)
    return tuple(
        Cell(value, sd, low=low, high=high)
        for value, sd, (low, high) in zip(table.mean(axis=0).tolist(), spreads, ends, strict=True)
    )


def _mean_of(drawn: "Sequence[Table]") -> "Table":
    """The mean over annotators in each resample, of those that have a text there."""
    import numpy as np

    table = np.stack(drawn)
    known = np.isfinite(table)
    with np.errstate(invalid="ignore"):
        mean: Table = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean


def _by_annotator(spread: Spread, runs: Sequence[Run], by: Drawn) -> ResultsTable:
    """Each annotator as if they were gold: the sources' F1, pooled over labels, over that annotator's texts."""
    import numpy as np

    columns = [Column("n", "Texts", unit="count"), *(Column(f"f1/{run.run}", _name(run)) for run in runs)]
    most = sorted(spread.people, key=lambda name: (-len(spread.people[name].texts), name))
    rows = []
    for name in most[:_MOST]:
        one = spread.people[name]
        cells = [Cell(len(one.texts))]
        for run in runs:
            given = spread.given[run.run][one.texts]
            known = ~np.isnan(given[:, 0])
            samples = tuple(spread.numbers[at] for at in one.texts[known].tolist())
            gold, said = one.gives[known], given[known] >= 0.5
            value = f1(gold, said, "micro") if known.any() else None
            ends = None
            if value is not None and by.n > 1:
                own, resamples = by.numbers[one.texts[known]], by.resamples
                counted = np.concatenate([gold * said, gold + said], axis=1)
                hits, both = np.split(resampled_sums(counted, own, SEED, resamples, by.n), 2, axis=1)
                ends = spread_interval(f1_of_sums(hits, both, "micro"))
            low, high = ends or (None, None)
            why = None if known.any() else "no text that both say something about"
            cells.append(Cell(value, why=why, samples=samples, run=run.run, low=low, high=high))
        rows.append(Row(name, "people", "annotator", tuple(cells)))
    told = INTERVALS.format(resamples=resamples_for(by.n))
    notes = ["Micro F1 of the labels that a source gives, with those of one annotator as gold.", told]
    if len(most) > _MOST:
        notes.append(f"The {_MOST} annotators with the most texts, of {len(most)}.")
    return ResultsTable("spread-annotators", "Sources by annotator", tuple(columns), tuple(rows), tuple(notes))


def _reliability(spread: Spread, run: Run, by: Drawn) -> ResultsTable:
    """Probability against the share of people, by bins, with intervals; as points beside the diagonal."""
    import numpy as np

    said = spread.said[run.run]
    known = ~np.isnan(said[:, 0])
    q, p = spread.shares[known], said[known]
    bins = reliability(q, p) if known.any() else []
    ends = _ends_of_bins(q, p, Drawn(by.numbers[known], by.n)) if bins and by.n > 1 else [(None, None)] * len(bins)
    columns = (
        Column("probability", "Probability"),
        Column("share", "Share of annotators"),
        Column("n", "Questions", unit="count"),
    )
    rows = tuple(
        Row(f"bin {at}", "label", run.run, (Cell(one.probability), Cell(one.share, low=low, high=high), Cell(one.n)))
        for at, (one, (low, high)) in enumerate(zip(bins, ends, strict=True), start=1)
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
    notes = CALIBRATED, INTERVALS.format(resamples=resamples_for(by.n))
    return ResultsTable(f"reliability-{run.run}", title, columns, rows, notes, plot=plot)


def _ends_of_bins(shares: "Table", probabilities: "Table", by: Drawn) -> list[tuple[float | None, float | None]]:
    """Of the share of people in each bin that holds a question: texts are drawn, with all their labels."""
    import numpy as np

    places = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    inside = (places[:, :, None] == np.arange(BINS)).astype(np.float64)
    own, n = (inside * shares[:, :, None]).sum(axis=1), inside.sum(axis=1)
    sums, sizes = np.split(resampled_sums(np.concatenate([own, n], axis=1), by.numbers, SEED, by.resamples, by.n), 2, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _ends((sums / sizes)[:, n.sum(axis=0) > 0])


def _name(run: Run) -> str:
    way = run.config.get("way")
    return f"{run.model} {way}" if way else run.model


def _told(spread: Spread, run: Run) -> str:
    return "" if run.run in spread.sure else "gives labels without probabilities, which count as 1 and 0"
