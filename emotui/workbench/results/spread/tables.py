"""The tables of people's spread: sources against annotators' shares and their majority, and against each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from emotui.metrics.permutation import f1_of_sums
from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import (
    Interval,
    Replicates,
    drawn_by,
    estimates,
    group_numbers,
    interval_of,
    intervals_of,
    ratio_replicates,
    resamples_for,
)
from emotui.store.query import Run
from emotui.tables import Cell, Column, Plot, ResultsTable, Row, number_of, with_enough
from emotui.workbench.datasets.samples import COMPOSED
from emotui.workbench.results.spread.opinions import (
    ASIDE,
    INTERVALS,
    MOST,
    NOTHING,
    figure_cell,
    mean_cells,
    most_texts,
    name_of,
)
from emotui.workbench.results.spread.questions import LEAST, Spread

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.results.spread.questions import Annotator, Figures, Places

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]

# The figures of a source, or of an annotator, against the shares of people: over texts, and over resamples of them.

_DISTANCES = (3, 7)
"""The places of the calibration errors."""


@dataclass(frozen=True, slots=True)
class Side:
    """A source and the people whom it is laid against: questions, a row each, of texts by their place in `numbers`.

    `by`: what is drawn for intervals.
    """

    numbers: Sequence[int]
    by: Drawn
    text: "Places"
    of: "Places"
    classes: int
    said: "Figures"
    given: "Figures"
    shares: "Figures"


def of_run(spread: Spread, run: str, by: Drawn) -> Side:
    """The texts that a run says something about."""
    import numpy as np

    rows = np.flatnonzero(~np.isnan(spread.said[run]))
    said, given, shares = spread.said[run][rows], spread.given[run][rows], spread.shares[rows]
    return side_of(spread, rows, by, said, given, shares)


def side_of(spread: Spread, rows: "Places", by: Drawn, said: "Figures", given: "Figures", shares: "Figures") -> Side:
    """These rows of a spread, which hold all questions of each of their texts."""
    import numpy as np

    texts, text = np.unique(spread.text[rows], return_inverse=True)
    numbers = [spread.numbers[at] for at in texts.tolist()]
    return Side(numbers, by.rows(texts), text, spread.of[rows], len(spread.classes), said, given, shares)


def parts_of(side: Side) -> "Table":
    """(texts, parts): of each text what the figures are made of once it is added up over texts."""
    import numpy as np

    n, k, text, q, p = len(side.numbers), side.classes, side.text, side.shares, side.said
    given, voted = (side.given >= 0.5).astype(np.float64), majority(side.shares)
    sizes = np.bincount(text, minlength=n)

    def mean(values: "Figures") -> "Table":
        return (np.bincount(text, values, minlength=n) / sizes)[:, None]

    def by_class(values: "Figures") -> "Table":
        table: Table = np.bincount(text * k + side.of, values, minlength=n * k).reshape(n, k).astype(np.float64)
        return table

    distances = (cross_entropy(q, p), jensen_shannon(q, p), squared_distance(q, p), squared_distance(voted, p))
    columns = [np.ones((n, 1)), sizes[:, None], *map(mean, distances), by_bin(text, n, p, p - q)]
    columns += [by_bin(text, n, p, p - voted), by_class(voted * given), by_class(voted + given)]
    return np.concatenate(columns, axis=1).astype(np.float64)


def of_sums(sums: "Table", classes: int) -> "Table":
    """(n, columns): the figures of parts that are added up over texts. Args: sums: of all texts first."""
    import numpy as np

    edges = np.cumsum([1, 1, 1, 1, 1, 1, BINS, BINS, classes])
    n, questions, entropy, divergence, brier, of_voted, off, off_voted, hits, both = np.split(sums, edges, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        entropy, divergence, brier, of_voted = (each[:, 0] / n[:, 0] for each in (entropy, divergence, brier, of_voted))
        ece, ece_voted = (np.abs(each).sum(axis=1) / questions[:, 0] for each in (off, off_voted))
    macro, micro = f1_of_sums(hits, both, "macro", both[0] > 0), f1_of_sums(hits, both, "micro")
    return np.stack([entropy, divergence, brier, ece, macro, micro, of_voted, ece_voted], axis=1)


def by_bin(text: "Places", n: int, probabilities: "Figures", values: "Figures") -> "Table":
    """(texts, bins): values added up by the text and by the bin of the probability."""
    import numpy as np

    places = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    sums = np.bincount(text * BINS + places, values, minlength=n * BINS)
    table: Table = sums.reshape(n, BINS).astype(np.float64)
    return table


def resampled(side: Side, parts: "Table") -> "list[Replicates]":
    """Each figure over resamples of what is drawn."""
    found = estimates(parts, lambda sums: of_sums(sums, side.classes), side.by, seed=SEED)
    return [replace(one, distances=True) if at in _DISTANCES else one for at, one in enumerate(found)]


SHARES = (
    f"Of texts with at least {LEAST} annotators. Cross-entropy in nats, with probabilities moved to"
    f" [{FLOOR:g}, {1 - FLOOR:g}]; Jensen-Shannon divergence, base 2; Brier: squared distance to the share. Means over"
    " the questions of a text, then over texts (Uma et al. 2021)."
)
CALIBRATED = (
    f"ECE: distance of probability and share over {BINS} bins (Guo et al. 2017; Baan et al. 2022). A resample's"
    " error is larger than the sample's: where the difference exceeds its spread, there is no interval."
)
MAJORITY = (
    "Majority: what more than half of a text's annotators say yes to, as if it were gold (a tie is no), against what a"
    " source gives."
)
OTHERS = "Annotators: each against the share of the others of a text, as if they were a source; means over annotators."
_MAJORITY = "majority"
_SHARES = "people's shares"
_SOFT = (
    Column("cross_entropy", "Cross-entropy", _SHARES, "cosine", short="CE"),
    Column("jensen_shannon", "Jensen-Shannon", _SHARES, short="JSD"),
    Column("brier_shares", "Brier", _SHARES),
    Column("ece_shares", "ECE", _SHARES),
)
_HARD = (
    Column("macro_f1_majority", "Macro-F1", _MAJORITY, short="Macro-F1"),
    Column("micro_f1_majority", "Micro-F1", _MAJORITY, short="Micro-F1"),
    Column("brier_majority", "Brier", _MAJORITY),
    Column("ece_majority", "ECE", _MAJORITY),
)
_MACRO = 4
"""The place of macro F1, which is left out where there is one class alone: micro F1 is the same."""


def spread_tables(
    spread: Spread, runs: Sequence[Run], groups: Mapping[int, int] | None = None, *, composed: bool = False
) -> list[ResultsTable]:
    """Sources by people's shares and their majority; by each annotator; and a reliability diagram a source.

    Args:
        groups: by the number of a text that of what it shares with others.
        composed: the annotators are no people, but were written with the samples.
    """
    there = [run for run in runs if run.run in spread.said]
    numbers = group_numbers([None if groups is None else groups.get(number) for number in spread.numbers])
    by = drawn_by(numbers)
    columns = (*_SOFT, *_HARD)
    kept = [at for at in range(len(columns)) if len(spread.classes) > 1 or at != _MACRO]
    rows = []
    for run in there:
        side = of_run(spread, run.run, by)
        cells = _cells(side, run.run)
        rows.append(
            Row(name_of(run), "run", run.run, tuple(cells[at] for at in kept), _told(spread, run, len(side.numbers)))
        )
    among = _among(spread, by)
    if among is not None:
        told = f"{len(_counted(spread))} annotators", tuple(among[at] for at in kept), COMPOSED if composed else ""
        rows.append(Row("Annotators, each against the others", "people", *told))
    beside = len(spread.people) - len(_counted(spread))
    asides = (f"{ASIDE}: {beside}.",) if beside else ()
    notes = (
        *asides,
        spread.asked.note,
        SHARES,
        CALIBRATED,
        MAJORITY,
        OTHERS,
        INTERVALS.format(resamples=resamples_for(by.n)),
    )
    key, title = f"spread{spread.asked.key}", spread.asked.title
    tables = [ResultsTable(key, title, tuple(columns[at] for at in kept), tuple(rows), notes)]
    if there:
        tables.append(_by_annotator(spread, there, by))
    tables += [_reliability(spread, run, by) for run in there if run.run in spread.sure | spread.voted]
    return tables


def _cells(side: Side, run: str) -> tuple[Cell, ...]:
    """A cell a column."""
    if not side.numbers:
        return tuple(Cell(why=NOTHING, run=run) for _ in (*_SOFT, *_HARD))
    parts, samples = parts_of(side), tuple(side.numbers)
    values = of_sums(parts.sum(axis=0)[None], side.classes)[0].tolist()
    sure = intervals_of(resampled(side, parts))
    return tuple(figure_cell(value, one, samples, run) for value, one in zip(values, sure, strict=True))


def _counted(spread: Spread) -> list[str]:
    """The annotators that are held against the others."""
    return with_enough({name: len(one.texts) for name, one in spread.people.items()})


def _among(spread: Spread, by: Drawn) -> tuple[Cell, ...] | None:
    """Each annotator against the others of a text, the means over annotators."""
    found, drawn = [], []
    for one in map(spread.people.__getitem__, _counted(spread)):
        counts = spread.counts[spread.text[one.rows]] - 1
        others = (spread.sums[one.rows] - one.gives) / counts
        side = side_of(spread, one.rows, by, one.gives, one.gives, others)
        parts = parts_of(side)
        found.append(of_sums(parts.sum(axis=0)[None], side.classes)[0])
        if by.n > 1 and len(_counted(spread)) <= MOST:
            drawn.append(resampled(side, parts))
    return mean_cells(found, drawn) if found else None


def _by_annotator(spread: Spread, runs: Sequence[Run], by: Drawn) -> ResultsTable:
    """Each annotator as if they were gold: the sources' F1, pooled over questions, over that annotator's texts."""
    columns = [Column("n", "Texts", unit="count"), *(Column(f"f1/{run.run}", name_of(run)) for run in runs)]
    most = most_texts({name: len(one.texts) for name, one in spread.people.items()})
    rows = []
    for name in most[:MOST]:
        one = spread.people[name]
        cells = [Cell(len(one.texts)), *(_as_gold(spread, one, run.run, by) for run in runs)]
        rows.append(Row(name, "people", "annotator", tuple(cells)))
    told = INTERVALS.format(resamples=resamples_for(by.n))
    notes = ["Micro F1 of what a source gives, with what one annotator gives as gold.", spread.asked.note, told]
    if len(most) > MOST:
        notes.append(f"The {MOST} annotators with the most texts, of {len(most)}.")
    title = f"{spread.asked.title.replace('the spread of people', 'each annotator')}"
    key = f"spread-annotators{spread.asked.key}"
    return ResultsTable(key, title, tuple(columns), tuple(rows), tuple(notes))


def _as_gold(spread: Spread, one: "Annotator", run: str, by: Drawn) -> Cell:
    """The F1 of a run over the texts that it and an annotator say something about."""
    import numpy as np

    there = ~np.isnan(spread.said[run][one.rows])
    rows, gold = one.rows[there], one.gives[there]
    if not len(rows):
        return Cell(why=NOTHING, run=run)
    side = side_of(spread, rows, by, spread.said[run][rows], spread.given[run][rows], gold)
    said, n = (side.given >= 0.5).astype(np.float64), len(side.numbers)
    counts = np.stack([np.bincount(side.text, each, minlength=n) for each in (gold * said, gold + said)], axis=1)
    hits, both = counts.sum(axis=0)
    value = float(f1_of_sums(np.array([hits]), np.array([both]), "micro"))
    (made,) = estimates(
        counts, lambda sums: f1_of_sums(sums[:, :1], sums[:, 1:], "micro"), side.by, seed=SEED, bounds=(0.0, 1.0)
    )
    return figure_cell(value, interval_of(made), tuple(side.numbers), run)


def _reliability(spread: Spread, run: Run, by: Drawn) -> ResultsTable:
    """Probability against the share of people, by bins, with intervals; as points beside the diagonal."""
    side = of_run(spread, run.run, by)
    q, p = side.shares, side.said
    bins = reliability(q, p) if len(q) else []
    sure = _sure_of_bins(side) if bins else []
    columns = (
        Column("probability", "Probability"),
        Column("share", "Share of annotators"),
        Column("n", "Questions", unit="count"),
    )
    rows = tuple(
        Row(f"bin {at}", "label", run.run, (Cell(one.probability), figure_cell(one.share, ends), Cell(one.n)))
        for at, (one, ends) in enumerate(zip(bins, sure, strict=True), start=1)
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
    title = f"{name_of(run)}: reliability against people{spread.asked.title.partition(',')[1]}"
    title += spread.asked.title.partition(",")[2]
    notes = spread.asked.note, CALIBRATED, INTERVALS.format(resamples=resamples_for(by.n))
    return ResultsTable(f"reliability{spread.asked.key}-{run.run}", title, columns, rows, notes, plot=plot)


def _sure_of_bins(side: Side) -> list[Interval]:
    """Of the share of people in each bin that holds a question: texts are drawn, with all their questions."""
    import numpy as np

    texts = len(side.numbers)
    own = by_bin(side.text, texts, side.said, side.shares)
    n = by_bin(side.text, texts, side.said, np.ones(len(side.text)))
    there = np.flatnonzero(n.sum(axis=0) > 0).tolist()
    return intervals_of(ratio_replicates([(own[:, at], n[:, at]) for at in there], side.by, seed=SEED))


def _told(spread: Spread, run: Run, texts: int) -> str:
    over = f"over {number_of(texts, 'text')}"
    if run.run in spread.sure:
        return over
    why = "the share of its repeats stands for its probability" if run.run in spread.voted else spread.asked.unsure
    return f"{over}; {why}" if why else over
