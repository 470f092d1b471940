"""The tables of Results for numbers: a row a run and name, and planes of each run."""

from collections.abc import Mapping, Sequence
from math import hypot
from statistics import fmean
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.beside import Drawn, Resampled, beside_repeats, numbers, with_beside
from emotui.metrics.label_sums import Figures
from emotui.metrics.sums import of_numbers_sums
from emotui.metrics.values import FIGURES, value_names, values_over_repeats, values_report
from emotui.tables import PLOTTED, Cell, Column, Plot, ResultsTable, Row, interval_notes, number_that, sure_of
from emotui.tasks.parts import ScoredRun

# What is kept of the score of one text with numbers, and by which rules it was scored.

CONVENTION = (
    "values 2: mean absolute difference over the names that both gold and the answer give; D where one is off by more "
    "than a quarter of its scale"
)


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The gold numbers of one text (None: it is unlabelled), and those given."""

    id: str
    repeat: int
    gold: Mapping[str, float] | None
    predicted: Mapping[str, float]


# Numbers drawn over a plane, as counts and as points: gold against given, and valence against arousal.

STEPS = 9
"""Into how many equal steps each side of a plane is cut."""

PAIRS = 30
"""Of more texts not every gold point is joined to the one given."""

BESIDE = {"pearson": "r", "spearman": "rho", "ccc": "CCC", "rmse": "RMSE", "mae": "MAE"}

VALENCE, AROUSAL = "valence", "arousal"

Numbered = Sequence[tuple[int, Detail]]
"""Answers to labelled texts, each with the number of its sample."""

SCATTER = (
    "Texts by their gold number (row, the highest at the top) and the given one (column); both sides have one scale, "
    "from the lowest to the highest number of either, so what agrees lies on the line from bottom left to top right."
)
CIRCUMPLEX = (
    "Texts by valence (column) and arousal (row, the highest at the top), after Russell 1980; gold and given planes "
    "have one scale, from the lowest to the highest number of either."
)


class _Axis:
    """A range cut into equal steps; the highest number belongs to the last."""

    def __init__(self, values: Sequence[float]) -> None:
        self._low, high = min(values), max(values)
        self.ends = self._low, high
        self._step = (high - self._low) / STEPS or 1 / STEPS
        self.names = [f"{self._low + (place + 0.5) * self._step:.3g}" for place in range(STEPS)]

    def steps(self, values: Sequence[float]) -> NDArray[np.int64]:
        """(n,): in which step each number lies."""
        places = np.floor((np.asarray(values, dtype=np.float64) - self._low) / self._step)
        return np.clip(places, 0, STEPS - 1).astype(np.int64)


def planes(
    scored: ScoredRun, model: str, known: Numbered, by_name: Mapping[str, Mapping[str, Any]]
) -> tuple[ResultsTable, ...]:
    """Gold against given for each name; of valence and arousal their planes too, of gold and of given numbers.

    Args:
        by_name: the figures of each name, which stand beside its points.
    """
    found = [plane for name in by_name if (plane := _scatter(scored, model, known, name, by_name[name])) is not None]
    return (*found, *_circumplex(scored, model, known, {name.casefold(): name for name in by_name}))


def _scatter(
    scored: ScoredRun, model: str, known: Numbered, name: str, figures: Mapping[str, Any]
) -> ResultsTable | None:
    points = [
        (number, one.predicted[name], one.gold[name])
        for number, one in known
        if one.gold is not None and name in one.gold and name in one.predicted
    ]
    if not points:
        return None
    axis = _Axis([value for _, *both in points for value in both])
    key, title = f"scatter-{name}-{scored.run.run}", f"{model} {name}: gold against given"
    plot = Plot(
        across=f"gold {name}",
        up="given",
        x=axis.ends,
        y=axis.ends,
        points=_some([(gold, given) for _, given, gold in points]),
        diagonal=True,
        figures=tuple((title, figures[key]) for key, title in BESIDE.items()),
        n=len(points),
    )
    return _plane(scored, key, title, points, axis, axis, "given", SCATTER, plot)


def _some(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """An even choice of at most `PLOTTED` points."""
    return tuple(points[:: -(-len(points) // PLOTTED)]) if points else ()


def _circumplex(scored: ScoredRun, model: str, known: Numbered, names: Mapping[str, str]) -> tuple[ResultsTable, ...]:
    if not {VALENCE, AROUSAL} <= names.keys():
        return ()
    across, up = names[VALENCE], names[AROUSAL]
    sides = {
        "gold": [(number, one.gold or {}) for number, one in known],
        "given": [(number, one.predicted) for number, one in known],
    }
    points = {
        side: [(number, said[across], said[up]) for number, said in told if across in said and up in said]
        for side, told in sides.items()
    }
    both = [point for side in points.values() for point in side]
    if not both:
        return ()
    x, y = _Axis([point[1] for point in both]), _Axis([point[2] for point in both])
    plot = _paired(known, across, up, x, y)
    return tuple(
        _plane(
            scored,
            f"circumplex-{side}-{scored.run.run}",
            f"{model}: {side} valence and arousal",
            there,
            x,
            y,
            across,
            CIRCUMPLEX,
            plot if side == "given" else None,
        )
        for side, there in points.items()
        if there
    )


def _paired(known: Numbered, across: str, up: str, x: _Axis, y: _Axis) -> Plot:
    """Each text's gold point with the one given; of more than `PAIRS` those that lie farthest apart on the scales."""
    pairs = [
        (one.gold[across], one.gold[up], one.predicted[across], one.predicted[up])
        for _, one in known
        if one.gold is not None and {across, up} <= one.gold.keys() and {across, up} <= one.predicted.keys()
    ]
    width, height = (end - start or 1 for start, end in (x.ends, y.ends))
    pairs.sort(key=lambda one: -hypot((one[2] - one[0]) / width, (one[3] - one[1]) / height))
    middles = (
        [
            (f"{side} {name}", fmean(one[at] for one in pairs))
            for at, side, name in (
                (0, "gold", VALENCE),
                (2, "given", VALENCE),
                (1, "gold", AROUSAL),
                (3, "given", AROUSAL),
            )
        ]
        if pairs
        else []
    )
    return Plot(
        across=across,
        up=up,
        x=x.ends,
        y=y.ends,
        points=_some([(one[2], one[3]) for one in pairs[PAIRS:]]),
        pairs=tuple(pairs[:PAIRS]),
        figures=tuple(middles),
        n=len(pairs),
    )


def _plane(
    scored: ScoredRun,
    key: str,
    title: str,
    points: Sequence[tuple[int, float, float]],
    across: _Axis,
    up: _Axis,
    heading: str,
    note: str,
    plot: Plot | None,
) -> ResultsTable:
    """Counts of (sample, across, up); repeats count once each."""
    numbers, xs, ys = zip(*points, strict=True)
    place = up.steps(ys) * STEPS + across.steps(xs)
    ends = np.cumsum(np.bincount(place, minlength=STEPS**2))
    there = np.split(np.array(numbers)[np.argsort(place, kind="stable")], ends)
    rows = []
    for row in reversed(range(STEPS)):
        cells = [there[row * STEPS + column] for column in range(STEPS)]
        rows.append(
            Row(
                up.names[row],
                "gold",
                scored.run.run,
                tuple(Cell(len(one), samples=tuple(np.unique(one).tolist()), run=scored.run.run) for one in cells),
            )
        )
    columns = tuple(Column(f"step-{place}", name, heading, "count") for place, name in enumerate(across.names))
    return ResultsTable(key, title, columns, tuple(rows), (note,), heat=True, plane=True, plot=plot)


_COLUMNS = (
    Column("pearson", "Pearson", short="r"),
    Column("spearman", "Spearman", short="rho"),
    Column("ccc", "CCC"),
    Column("rmse", "RMSE"),
    Column("mae", "MAE"),
    Column("n", "n", unit="count"),
)
NOTE = (
    "CCC: Lin's concordance (1989), which also counts a shift or another spread against the answers. RMSE and MAE are "
    "on the scale of the data. n: texts for which both gold and the answer give the number."
)


def run_report(details: Sequence[Detail]) -> dict[str, Any]:
    """The figures of answers to labelled texts, over repeats where there are several."""
    repeats = sorted({one.repeat for one in details})
    return values_over_repeats(
        [
            values_report([one.gold or {} for one in here], [one.predicted for one in here])
            for here in ([one for one in details if one.repeat == repeat] for repeat in repeats)
        ]
    )


def run_intervals(details: Sequence[Detail], shared: Mapping[str, str | None]) -> dict[str, Any]:
    """As `emotui.metrics.beside.beside_repeats`, of each figure of each name, over the texts of which both give it."""
    return beside_repeats(details, shared, _resampled)


def _resampled(details: Sequence[Detail], by: Drawn) -> Resampled:
    found: Resampled = {}
    for name in value_names([one.gold or {} for one in details]):
        rows = [at for at, one in enumerate(details) if name in (one.gold or {}) and name in one.predicted]
        x = [(details[at].gold or {})[name] for at in rows]
        each = numbers(x, [details[at].predicted[name] for at in rows], by.rows(rows))
        found |= {f"by_name.{name}.{key}": one for key, one in each.items()}
    return found


def run_sums(details: Sequence[Detail]) -> Figures:
    """By `by_name.NAME.FIGURE` those of its figures that are made of sums, over the texts of which both give it."""
    found: Figures = {}
    for name in value_names([one.gold or {} for one in details]):
        there = np.array([name in (one.gold or {}) and name in one.predicted for one in details])
        x = [(one.gold or {}).get(name, 0.0) for one in details]
        y = [one.predicted.get(name, 0.0) for one in details]
        found |= {f"by_name.{name}.{key}": make for key, make in of_numbers_sums(x, y, there).items()}
    return found


def value_tables(runs: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
    """One table over all runs with an answer to a labelled text, and planes of each; none without such a run."""
    decoder = msgspec.json.Decoder(Detail)
    rows: list[Row] = []
    reports: list[Mapping[str, Any]] = []
    drawn: list[ResultsTable] = []
    for scored in runs:
        details = [(number, decoder.decode(detail)) for number, detail in scored.scores]
        known = [(number, one) for number, one in details if one.gold]
        if not known:
            continue
        way = scored.run.config.get("way")
        model = f"{scored.run.model} {way}" if way else scored.run.model
        report = run_report([one for _, one in known])
        shared = scored.shared((number, one.id) for number, one in known)
        report = with_beside(report, run_intervals([one for _, one in known], shared))
        reports.append(report)
        rows += _rows(scored, model, known, report, len(details) - len(known))
        drawn += planes(scored, model, known, report["by_name"])
    notes = (NOTE, *interval_notes(reports))
    return (ResultsTable("values", "Numbers", _COLUMNS, tuple(rows), notes), *drawn) if rows else ()


def _rows(scored: ScoredRun, model: str, known: Numbered, report: Mapping[str, Any], unlabelled: int) -> list[Row]:
    run, remark = scored.run.run, _remark(scored, unlabelled)
    rows = []
    for name, figures in report["by_name"].items():
        both = {number for number, one in known if one.gold and name in one.gold and name in one.predicted}
        samples = tuple(sorted(both))
        cells = [_cell(report, name, key, figures, samples, run) for key in FIGURES]
        cells.append(Cell(figures["n"], None, CONVENTION, None, samples, run))
        rows.append(Row(f"{model} {name}", "run", run, tuple(cells), remark))
    return rows


def _cell(
    report: Mapping[str, Any], name: str, key: str, figures: Mapping[str, Any], samples: tuple[int, ...], run: str
) -> Cell:
    why = report["notes"].get(f"by_name.{name}.{key}", "undefined") if figures[key] is None else None
    spread = report.get("sd", {}).get(name, {}).get(key)
    return Cell(figures[key], spread, CONVENTION, why, samples, run, *sure_of(report, f"by_name.{name}.{key}"))


def _remark(scored: ScoredRun, unlabelled: int) -> str:
    run = scored.run
    parts = [f"{run.done} of {run.n} answered"] if run.done < run.n else []
    if unlabelled:
        told = number_that(unlabelled, "answer", "is about an unlabelled text", "are about unlabelled texts")
        parts.append(f"{told} and left out")
    if trained := run.config.get("trained_on"):
        parts.append(str(trained))
    return "; ".join(parts)
