"""What the tables, bars and heatmaps of results hold: plain values, for screens, commands and reports alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

import msgspec

from emotui.metrics.metric import Metric

Value = float | int | str | bool | None

FINE = "fine-share"
INTERVAL = "[low, high]: 95% interval, none where resamples say too little; of repeats their mean is taken first."
"""What stands under a table with intervals, before the convention of these."""

LESS_IS_BETTER = frozenset(
    {
        *("rmse", "mae", "hamming_loss", "brier", "ece", "cross_entropy", "jensen_shannon"),
        *("brier_shares", "ece_shares", "brier_majority", "ece_majority"),
        *("hallucination_rate", "fixation_rate", "fixation_rate_by_sentence"),
        *("neutral_sentence_fpr", "neutral_span_share", "invalid_share"),
        *("eps_emotionless", "eps_neutral", "r1_m", "r2_m", "r3_m", "ppl"),
    }
)
"""The keys of figures over all samples, which no metric of a sample declares, of which less is better."""

NOT_ASKED = "—"
"""What stands where a setting was not asked, as in the papers."""


def reads_zero(value: float, decimals: int = 2) -> bool:
    """Whether a figure with so many decimals reads 0: its bar is empty then, whatever the others' length is."""
    return float(f"{value:.{decimals}f}") == 0


def number_of(n: int, thing: str) -> str:
    """How many there are, in words: `1 text`, `2 texts`; `thing` has its plural in s."""
    return f"{n} {thing}{'s' * (n != 1)}"


def number_that(n: int, thing: str, one: str, more: str) -> str:
    """How many there are with what they do: `1 text is`, `2 texts are`."""
    return f"{number_of(n, thing)} {one if n == 1 else more}"


LEAST_LETTERS = 3
"""Of a name that is cut, so that it is still known."""


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Each name by its first letters: three, or as many as it takes until no other of these names begins so.

    `sad`, `ang`, `ant` for sadness, anger, anticipation; a name with which another one begins stays whole.
    """
    folded = [name.casefold() for name in names]

    def cut(name: str) -> str:
        others = [one for one in folded if one != name.casefold()]
        for letters in range(LEAST_LETTERS, len(name)):
            begun = name[:letters].casefold()
            if not any(other.startswith(begun) for other in others):
                return name[:letters].rstrip()
        return name

    return tuple(map(cut, names))


class Cell(msgspec.Struct, frozen=True):
    """One figure. `value` None: it is undefined, and `why` says so, or the setting was not asked (`why` None too).

    `sd`: sample standard deviation (n-1) over repeats, or over annotators; None over fewer than two. `convention`: what
    the figure was computed under. `samples`: the numbers of the samples behind it (of a rate: those that were hit), for
    a jump; `run`: the run in which to look at them. `low`, `high`: the 95% interval, where there is one; `note`: why
    there is none, or what has to be known of it.
    """

    value: Value = None
    sd: float | None = None
    convention: str = ""
    why: str | None = None
    samples: tuple[int, ...] = ()
    run: str | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def asked(self) -> bool:
        """Whether anything stands here, be it that the figure is undefined."""
        return self.value is not None or self.why is not None


class Column(msgspec.Struct, frozen=True):
    """`group` is the heading over several columns (a setting). `unit`: share, cosine, count, difference or words;
    fine-share is a share to four decimals, which a paper prints as a percentage with two; number has three digits,
    wherever its point stands (a p, a size).

    `short`: the title where columns are many, empty where it is short itself. `lower`: less of it is better, as its
    metric declares; of what no metric declares, `LESS_IS_BETTER` tells.
    """

    key: str
    title: str
    group: str = ""
    unit: str = "share"
    short: str = ""
    lower: bool = False

    @property
    def lower_is_better(self) -> bool:
        """Whether the least of its figures is the best."""
        return self.lower or not LESS_IS_BETTER.isdisjoint(self.key.split("/"))


def metric_column(metric: Metric) -> Column:
    """The column of a metric's means over samples, with the direction that it declares."""
    return Column(metric.name, metric.title, lower=not metric.higher_is_better)


class Row(msgspec.Struct, frozen=True):
    """A model, annotators, or a published figure's model. `kind`: run, baseline, people (annotators together, or one of
    them whose answers are kept as a run) or published.

    `source`: the paper and table of a published row; of others the run ids, or how many annotators. `remark`: what a
    reader has to know of this row (unfinished, fitted on these samples). `cells` stand in the order of the columns.
    `gold`: of which version of gold its figures are, in words, where they are not all of today's. `n`: of a baseline
    over how many samples it is; 0: of no baseline.
    """

    label: str
    kind: str
    source: str
    cells: tuple[Cell, ...]
    remark: str = ""
    gold: str = ""
    n: int = 0

    @property
    def published(self) -> bool:
        return self.kind == "published"

    @property
    def of_runs(self) -> bool:
        """Is it of what is kept as one run or several, be they a person's?"""
        return not {cell.run for cell in self.cells}.isdisjoint(self.source.split(", "))


class Plot(msgspec.Struct, frozen=True):
    """Points in a plane, as numbers: `x` and `y` are its ranges, `across` and `up` what its sides are called.

    `points`: (across, up). `pairs`: of one text the gold point and the given one behind it; of many texts those that
    lie farthest apart. `diagonal`: equal numbers lie on a line. `figures`: what stands beside, by name. `n`: how many
    points there are, of which at most `PLOTTED` are kept. `of`: what a point is. `names`: of the points, empty where
    one is not named. `powers`: what lies across is the decimal logarithm of what is shown.
    """

    across: str
    up: str
    x: tuple[float, float]
    y: tuple[float, float]
    points: tuple[tuple[float, float], ...] = ()
    pairs: tuple[tuple[float, float, float, float], ...] = ()
    diagonal: bool = False
    figures: tuple[tuple[str, Value], ...] = ()
    n: int = 0
    of: str = "text"
    names: tuple[str, ...] = ()
    powers: bool = False


PLOTTED = 5000


class ResultsTable(msgspec.Struct, frozen=True):
    """`key` names it for good (`task-1`, `errors-task-2`, `experiment-0`); `notes`: conventions, as footnotes.

    `published_notes`: what has to be known of the published rows. `heat`: counts that are drawn as shades of their
    share of the row, unless somebody wants to read them; in a `plane` as their share of the greatest. `plot`: the same
    as points; `published_plot`: with the published ones. `left_out`: there are published rows, or notes, that are not
    shown.
    `settings`: whether the groups of columns or their titles are settings of a row's source, so that what bears the
    other name is one figure under each. `ranges`: by the key of a column the least and the greatest of people.
    `hints`: what a person can do with it on the screen, or by which command; no report has them. `cautions`: by the
    title of a figure what has to be known where it stands without the notes, as in a drawing.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    heat: bool = False
    published_notes: tuple[str, ...] = ()
    plane: bool = False
    plot: Plot | None = None
    published_plot: Plot | None = None
    left_out: bool = False
    settings: Literal["", "groups", "titles"] = ""
    ranges: tuple[tuple[str, float, float], ...] = ()
    hints: tuple[str, ...] = ()
    cautions: tuple[tuple[str, str], ...] = ()

    def shown(self, *, published: bool) -> "ResultsTable":
        """The table with its published rows and what has to be known of them, or without both."""
        if published:
            notes, plot = (*self.notes, *self.published_notes), self.published_plot or self.plot
            return msgspec.structs.replace(self, notes=notes, published_notes=(), plot=plot, published_plot=None)
        rows = tuple(row for row in self.rows if not row.published)
        left_out = len(rows) < len(self.rows) or bool(self.published_notes)
        return msgspec.structs.replace(self, rows=rows, published_notes=(), published_plot=None, left_out=left_out)


class Bars(msgspec.Struct, frozen=True):
    """A figure by emotion or valence. `series`: a run each, and the annotators; cells in the order of `labels`."""

    title: str
    figure: str
    labels: tuple[str, ...]
    series: tuple["Series", ...]


class Series(msgspec.Struct, frozen=True):
    """One row of bars; `kind` as of `Row`."""

    label: str
    kind: str
    cells: tuple[Cell, ...]


class Transitions(msgspec.Struct, frozen=True):
    """From one sentence to the next: `counts[i][j]` pairs go from `labels[i]` to `labels[j]`.

    `shares`: of all pairs. `row_shares`: of those that begin with `labels[i]`; None where none does. `samples[i][j]`:
    the numbers of the samples with such a pair. `unlabelled`: pairs left out because a sentence has no label. `of`:
    what the passages are called.
    """

    by: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float | None, ...], ...]
    row_shares: tuple[tuple[float | None, ...], ...]
    samples: tuple[tuple[tuple[int, ...], ...], ...]
    pairs: int = 0
    unlabelled: int = 0
    of: str = ""


def sure_of(document: Mapping[str, Any], figure: str) -> tuple[float | None, float | None, str]:
    """The end of a cell: `low`, `high` and `note` of a figure, from `ci95` and `notes` of the document it is of."""
    low, high = (document.get("ci95") or {}).get(figure) or (None, None)
    notes = document.get("notes") or {}
    return low, high, notes.get(f"ci95.{figure}") or (notes.get("ci95", "") if low is not None else "")


def interval_notes(documents: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Under which convention the intervals of these figures are, a line for each there is."""
    told = (document.get("conventions", {}).get("ci95") for document in documents)
    return tuple(f"{INTERVAL} {one}." for one in dict.fromkeys(told) if one)


def shown_cell(cell: Cell, unit: str) -> str:
    """A cell as people read it, as the papers print theirs, and with its interval: `0.620 ± .004 [.571, .664]`.

    `—`: not asked. `n/a`: undefined (`Cell.why` says what it lacks).
    """
    value = cell.value
    if value is None:
        return "n/a" if cell.why else NOT_ASKED
    if isinstance(value, str | bool):
        return str(value)
    ends: Callable[[float], str]
    if unit == "number":
        text, ends = digits(value), digits
    elif unit == "count":
        text, ends = _tenths(value), _tenths
    else:
        n = 4 if unit == FINE else 3
        value = round(value, n) + 0.0  # none is shown as -0.000
        text, ends = f"{value:+.3f}" if unit == "difference" else f"{value:.{n}f}", partial(_bare, n=n)
    spread = "" if cell.sd is None else ends(cell.sd)
    interval = "" if cell.low is None or cell.high is None else f" [{ends(cell.low)}, {ends(cell.high)}]"
    return f"{text} ± {spread}{interval}" if spread else f"{text}{interval}"


def _tenths(value: float) -> str:
    """To a tenth, without a zero behind the point: `12`, `12.3`."""
    return f"{round(value, 1):.15g}"


def digits(value: float) -> str:
    """A number with three digits, or all that stand before its point: `2.7e-06`, `0.125`, `1750`."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _bare(value: float, n: int) -> str:
    """So many decimals without a zero before the point: `.571`, `-.020`, `1.000`."""
    written = f"{value:.{n}f}"
    return written.replace("0.", ".", 1) if written.lstrip("-").startswith("0.") else written


# Which sources stand in a table beside others: who has only begun does not.

FEW = 10
"""Texts from which on a source is held against others that say as much."""

_Key = TypeVar("_Key")


def with_enough(texts: Mapping[_Key, int]) -> list[_Key]:
    """Those with at least `FEW` texts where two have as many, else all: who has just begun says little of how far the
    others agree.

    Args:
        texts: about how many each says something.
    """
    enough = [key for key, n in texts.items() if n >= FEW]
    return enough if len(enough) > 1 else list(texts)
