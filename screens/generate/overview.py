"""All writers of a dataset: their figures, each metric against human F1, and one figure by target emotion."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size

from emotui.screens.generate.tables import (
    TESTABLE,
    agreeing_pairs,
    between,
    briefly,
    by_emotion,
    called,
    families,
    folded,
    has_intervals,
    heat_lines,
    is_testable,
    model_lines,
    number,
    of_one_label,
    on_texts_in_words,
    pair_share,
    told_of,
    trust_lines,
)
from emotui.screens.keymaps import keyed
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count, so_many
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.row_list import PickedRows

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.workbench.generation.bench import GenerationBench
    from emotui.workbench.generation.figures import Figures
    from emotui.workbench.generation.versions import Versions

# What Generate asks the workbench for, each in a thread.

TEXT, MODELS, TRUST = "text", "writers", "trust"
VIEWS = (TEXT, MODELS, TRUST)
FIGURES, EMOTIONS = "figures", "by emotion"
PARTS = (FIGURES, EMOTIONS)
"""Of the view of writers."""


class Selected(msgspec.Struct, frozen=True):
    """A text of a dataset; `standing`: how far its sources are."""

    dataset: int
    sample: int
    standing: object = None


class OnTexts(msgspec.Struct, frozen=True):
    """A metric of a dataset."""

    dataset: int
    metric: str


def read_versions(bench: "Callable[[], GenerationBench]", asked: Selected) -> "Versions":
    """Everything about the text."""
    return bench().versions(asked.dataset, asked.sample)


def count_on_texts(bench: "Callable[[], GenerationBench]", asked: OnTexts) -> Mapping[str, Any]:
    """How the metric goes with people text by text."""
    return bench().on_texts(asked.dataset, asked.metric)


# A metric against human F1, a letter a model, with the 95% interval of either as a cross.

_AXIS = 6
_MARGIN = 0.06
_STEPS = 1, 2, 2.5, 5, 10, 20, 25, 50, 100
"""Between what is written at an axis, times a power of ten."""
_LINES = ("─", "│"), ("╌", "┊")
"""Of intervals, by turns: those of two neighbours are told apart where they cross."""
_ALONG = tuple(along for along, _ in _LINES)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Point(msgspec.Struct, frozen=True):
    """A model: `x` the metric, `y` human F1, each with the ends of its interval where it has one.

    `published`: as the paper prints it, of other texts.
    """

    name: str
    x: float
    y: float
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    published: bool = False


def lettered(points: Sequence[Point]) -> list[tuple[str, Point]]:
    """Each with a capital where it is a model of one's own, with a small letter where it is one of the paper's."""
    own, printed = iter(_LETTERS * (len(points) + 1)), iter(_LETTERS.lower() * (len(points) + 1))
    return [(next(printed if one.published else own), one) for one in points]


def plotted(points: Sequence[Point], across: str, cells: int, height: int, *, told: bool = False) -> list[list[Part]]:
    """The points in so many cells and lines, with both axes; `across`: what stands under the horizontal one.

    Args:
        told: which letter is which model stands over the plot.
    """
    columns, rows = max(cells - _AXIS - 1, 10), max(height - 4, 3)
    if not points:
        return [[Part("No writer has both a Human F1 and this metric.", "dim")]]
    left, right = _ends([(one.x, one.x_ends) for one in points])
    low, high = _ends([(one.y, one.y_ends) for one in points])
    low, high = max(low, 0.0), min(high, 1.0)

    def column(x: float) -> int:
        return min(max(round((x - left) / (right - left) * (columns - 1)), 0), columns - 1)

    def row(y: float) -> int:
        return min(max(round((high - y) / (high - low) * (rows - 1)), 0), rows - 1)

    canvas = [[(" ", "plain")] * columns for _ in range(rows)]
    wide = {
        letter: (row(one.y), column(one.x_ends[0]), column(one.x_ends[1]))
        for letter, one in lettered(points)
        if one.x_ends
    }
    tall = {
        letter: (column(one.x), row(one.y_ends[1]), row(one.y_ends[0]))
        for letter, one in lettered(points)
        if one.y_ends
    }
    hidden = {*_covering(wide), *_covering(tall)}
    for at_letter, (letter, one) in enumerate(lettered(points)):
        kind = "dim" if one.published else "said"
        along, up = _LINES[at_letter % len(_LINES)]
        if letter in wide and letter not in hidden:
            _, first, last = wide[letter]
            for at in range(first, last + 1):
                canvas[row(one.y)][at] = ("├" if at == first else "┤" if at == last else along, kind)
        if letter in tall and letter not in hidden:
            _, top, bottom = tall[letter]
            for at in range(top, bottom + 1):
                crosses = canvas[at][column(one.x)][0] in _ALONG
                sign = "┬" if at == top else "┴" if at == bottom else "┼" if crosses else up
                canvas[at][column(one.x)] = (sign, kind)
    for letter, one in reversed(lettered(points)):
        canvas[row(one.y)][column(one.x)] = (letter, "dim" if one.published else "strong")
    names = [f"   {letter} {briefly(one.name)}" for letter, one in lettered(points)] if told else []
    across += f"; {' '.join(sorted(hidden))}: intervals too near" if hidden else ""
    lines = [[Part(fit("Human F1" + "".join(names), cells - 1).rstrip(), "dim")]]
    ticks = {row(value): value for value in _round_values(low, high)}
    for at, cells_of_row in enumerate(canvas):
        tick = f"{at_axis(ticks[at]):>{_AXIS - 1}} ┤" if at in ticks else " " * _AXIS + "│"
        lines.append([Part(tick, "dim"), *(Part(sign, kind) for sign, kind in cells_of_row)])
    below = {column(value): at_axis(value) for value in _round_values(left, right)}
    axis = "".join("┴" if at in below else "─" for at in range(columns))
    values = [" "] * (columns + _AXIS)
    for at, written in below.items():
        start = min(max(at - len(written) // 2, 0), columns - len(written))
        values[start : start + len(written)] = written
    lines.append([Part(" " * _AXIS + "└" + axis, "dim")])
    lines.append([Part(f"{'metric':{_AXIS + 1}}" + "".join(values).rstrip(), "dim")])
    lines.append([Part(" " * (_AXIS + 1) + fit(across, columns).strip().center(columns).rstrip(), "dim")])
    return lines


def at_axis(value: float) -> str:
    """A round value: as many places as it takes, `.8` as `.80`."""
    if abs(value) >= 10:
        return f"{value:g}"
    written = f"{value:.2f}" if round(value, 2) == value else f"{value:.6f}".rstrip("0")
    return written.replace("0.", ".", 1) if abs(value) < 1 else written


def _covering(stretches: Mapping[str, tuple[int, int, int]]) -> set[str]:
    """The letters of stretches (the line they lie on, first and last cell) of which no two could be told apart."""
    return {
        one
        for one, (line, first, last) in stretches.items()
        for other, (other_line, other_first, other_last) in stretches.items()
        if one != other and line == other_line and first <= other_last and other_first <= last
    }


def _round_values(low: float, high: float) -> list[float]:
    """Two to five values of an axis, in steps that one reads at once."""
    power = 10.0 ** math.floor(math.log10(max(high - low, 1e-6)) - 1)
    step = next(one * power for one in _STEPS if (high - low) / (one * power) <= 4)
    first = math.ceil(low / step - 1e-9)
    return [round(at * step, 9) for at in range(first, math.floor(high / step + 1e-9) + 1)]


def legend(points: Sequence[Point], cells: int) -> list[list[Part]]:
    """Which letter is which model, with both of its figures."""
    lines: list[list[Part]] = []
    for letter, one in lettered(points):
        name = shown(one.name) + (" †" if one.published else "")
        figures = f"  {number(one.x):>6}  F1 {number(one.y)}"
        kind = "dim" if one.published else "strong"
        lines.append(
            [Part(f"{letter} ", kind), Part(fit(name, max(cells - len(figures) - 2, 8))), Part(figures, "dim")]
        )
    return lines


def _ends(values: Sequence[tuple[float, tuple[float, float] | None]]) -> tuple[float, float]:
    """The least and the greatest that is drawn, with a little room."""
    known = [value for one, ends in values for value in (one, *(ends or ()))]
    low, high = min(known), max(known)
    room = (high - low) * _MARGIN or max(abs(high), 1.0) * _MARGIN
    return low - room, high + room


_BESIDE = 100
"""Cells from which the legend stands beside the plot; in fewer the letters are told over it."""

_REMARKS = 8
_AROUND = 11
"""Lines around figures and figures by emotion where both are shown: headings, blank lines, the note."""

_TIES = {"none": "no label", "target": "the target", "first": "the first label"}
"""What a text counts as that several labels are the most frequent of."""


class Overview(Vertical):
    """All figures of the models, one by emotion, or trust; a note under it says what the figure under the cursor is."""

    DEFAULT_CSS = """
    Overview #generate-models, Overview #generate-heat { height: 1fr; min-height: 4; }
    Overview.-both #generate-models { height: auto; }
    Overview.-both #generate-heat { margin-top: 1; }
    Overview #generate-trust { height: 2fr; min-height: 4; }
    Overview #generate-plots { height: 3fr; min-height: 6; }
    Overview #generate-legend { width: 44; height: 1fr; display: none; }
    Overview #generate-plots.-wide #generate-legend { display: block; }
    Overview #generate-note { height: 4; color: $text-muted; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = FIGURES
        self.figures: Figures | None = None
        self.heat = ""
        self.papers = False
        self._dataset = 0
        self._by_text: LatestRequest[OnTexts, Mapping[str, Any]] | None = None
        self._on_texts: dict[OnTexts, Mapping[str, Any]] = {}

    def compose(self) -> ComposeResult:
        models: PickedRows[Metric] = PickedRows(self._model_lines, id="generate-models")
        yield models
        with Horizontal(id="generate-plots"):
            yield Page(id="generate-plot")
            yield Page(id="generate-legend")
        metrics: PickedRows[Metric] = PickedRows(self._trust_lines, id="generate-trust")
        yield metrics
        yield Page(id="generate-heat")
        yield Page(id="generate-note")

    def ask_from(self, bench: "Callable[[], GenerationBench]") -> None:
        """Ask this for what is counted text by text."""
        self._by_text = LatestRequest("texts", self, lambda asked: count_on_texts(bench, asked), self._show_on_texts)

    @property
    def busy(self) -> bool:
        return any_busy(self)

    @property
    def rows(self) -> "PickedRows[Metric]":
        """The metrics of the view that is open."""
        return self.query_one("#generate-trust" if self.view == TRUST else "#generate-models", PickedRows)

    @property
    def heat_metric(self) -> "Metric | None":
        """The figure that stands by emotion."""
        drawable = [] if self.figures is None else by_emotion(self.figures)
        return next((one for one in drawable if one.name == self.heat), next(iter(drawable), None))

    def focus_first(self) -> None:
        """Put the keys into the view."""
        (self.query_one("#generate-heat", Page) if self.view == EMOTIONS else self.rows).focus()

    def show_figures(self, dataset: int, figures: "Figures") -> None:
        """Show other figures."""
        self._dataset, self.figures = dataset, figures
        self._on_texts.clear()
        self.query_one("#generate-models", PickedRows).show_rows(figures.metrics)
        against = sorted(
            (one for one in figures.metrics if one.name in figures.trust),
            key=lambda one: (
                0.0 if is_testable(figures) else pair_share(figures, one),
                _closeness(figures.trust[one.name]["oriented_pearson"]),
            ),
            reverse=True,
        )
        self.query_one("#generate-trust", PickedRows).show_rows(against)

    def turn_to(self, view: str) -> None:
        """Show this view; where there is room, the figure under the cursor by emotion under all of them."""
        self.view = view
        figures = self.figures
        lines = 0 if figures is None else len(figures.metrics) + len(figures.emotions)
        both = view == FIGURES and bool(lines) and self.size.height >= lines + _AROUND
        self.set_class(both, "-both")
        for name, of in (("models", FIGURES), ("plots", TRUST), ("trust", TRUST), ("heat", EMOTIONS)):
            self.query_one(f"#generate-{name}").display = view == of
        self.query_one("#generate-heat").display = both or view == EMOTIONS
        self.draw()

    def draw(self) -> None:
        """Draw the view anew."""
        figures = self.figures
        if figures is None:
            return
        if self.view == EMOTIONS or self.has_class("-both"):
            self._draw_heat(figures)
        elif self.view == TRUST:
            self._draw_plot(figures)
        self.rows.draw()
        self._draw_note(figures)

    def _draw_heat(self, figures: "Figures") -> None:
        """A figure by emotion: the one that is chosen, or under all figures the one under the cursor."""
        page, signs = self.query_one("#generate-heat", Page), self.app.no_color
        metric = self.heat_metric if self.view == EMOTIONS else self.rows.picked
        if metric is None:
            page.show([[Part(keyed("No writer has a figure yet: {model} runs a model that writes."), "dim")]])
        elif self.view == EMOTIONS:
            page.show_for(lambda room: heat_lines(figures, metric, room.width, signs=signs))
        elif metric in by_emotion(figures):
            head = [Part(f"{called(metric)} by emotion", "strong")]
            page.show_for(lambda room: [head, *heat_lines(figures, metric, room.width, signs=signs)])
        else:
            page.show([[Part(f"{called(metric)} is not told by emotion", "dim")]])

    def _draw_plot(self, figures: "Figures") -> None:
        metric = self.rows.picked
        self.query_one("#generate-plots").set_class(self.size.width >= _BESIDE, "-wide")
        page, names = self.query_one("#generate-plot", Page), self.query_one("#generate-legend", Page)
        if metric is None:
            page.show([[Part("Correlations need raters' labels of two writers at least.", "dim")]])
            names.show([])
            return
        points = points_of(figures, metric, papers=self.papers)
        end = f" ({'higher' if metric.higher_is_better else 'lower'} is better)" if metric.directed else ""
        across = f"{called(metric)}{end}"
        told = self.size.width < _BESIDE
        page.show_for(lambda room: plotted(points, across, room.width, room.height, told=told))
        names.show_for(lambda room: legend(points, room.width))

    def _draw_note(self, figures: "Figures") -> None:
        metric = self.heat_metric if self.view == EMOTIONS else self.rows.picked
        said = [] if metric is None else [told_of(metric)]
        if metric is not None and self.view != TRUST and (little := of_one_label(figures, metric)):
            said.append(little)
        if metric is not None and self.view == FIGURES:
            said.append(self._sizes(figures, metric))
        elif metric is not None and self.view == TRUST:
            said.append(on_texts_in_words(metric, self._ask_on_texts(metric)))
        elif self.view == EMOTIONS:
            said.append(keyed("{metric} takes another figure; the stronger the ground, the better."))
        if figures.illustration and self.view != TRUST:
            said.append("Texts, writers or raters are invented: an illustration.")
        if self.view == TRUST:
            said += self._of_trust(figures)
        else:
            said.append(f"A text of which two labels are the most frequent counts as {_TIES[figures.ties]}.")
            said.append("In brackets are 95% intervals, by BCa bootstrap over texts.")
        page = self.query_one("#generate-note", Page)

        def lines(room: Size) -> Lines:
            drawn = folded(said, max(room.width - 1, 20))
            page.styles.height = min(len(drawn), _REMARKS)
            return drawn

        page.show_for(lines)

    def _of_trust(self, figures: "Figures") -> list[str]:
        """How writers are set against people, and what signs stand for."""
        if is_testable(figures):
            said = [f"r by Fisher's z, p over all orders of the writers{_corrected(figures)}."]
        else:
            said = [f"Fewer than {TESTABLE} writers allow no test: counted are pairs in people's order."]
            if any(agreeing_pairs(figures, metric)[2] for metric in self.rows.rows):
                said.append("= is a pair with one value twice, which has no order and is left out.")
        return [*said, *(["† are the paper's models, over its own texts."] if self.papers else [])]

    def _sizes(self, figures: "Figures", metric: "Metric") -> str:
        """Over how many texts a figure is, and its intervals where the table has no room for them."""
        there = [(one, value) for one in figures.models if (value := one.values.get(metric.name)) is not None]
        if has_intervals(figures, self.rows.scrollable_content_region.width):
            sizes = {value.n for _, value in there}
            if len(sizes) == 1:
                return f"{so_many(sizes.pop(), 'text')} a writer."
            return "texts: " + "   ".join(f"{briefly(one.writer.name)} {count(value.n)}" for one, value in there)
        sure = (
            f"{briefly(one.writer.name)} {between(value.low, value.high)} n {count(value.n)}" for one, value in there
        )
        return "95%: " + "   ".join(" ".join(each.split()) for each in sure)

    def _ask_on_texts(self, metric: "Metric") -> Mapping[str, Any] | None:
        if self._by_text is None:
            return None
        asked = OnTexts(self._dataset, metric.name)
        if asked not in self._on_texts:
            self._by_text.ask(asked)
        return self._on_texts.get(asked)

    def _show_on_texts(self, asked: OnTexts, found: Mapping[str, Any]) -> None:
        self._on_texts[asked] = found
        if self.figures is not None:
            self._draw_note(self.figures)

    def _model_lines(self, rows: "Sequence[Metric]", cursor: int, cells: int) -> list[list[Part]]:
        return model_lines(self.figures, rows, cursor, cells)

    def _trust_lines(self, rows: "Sequence[Metric]", cursor: int, cells: int) -> list[list[Part]]:
        return trust_lines(self.figures, rows, cursor, cells)

    @on(PickedRows.Picked)
    def _picked(self, event: PickedRows.Picked) -> None:
        event.stop()
        if self.figures is not None:
            if self.view == TRUST:
                self._draw_plot(self.figures)
            elif self.has_class("-both"):
                self._draw_heat(self.figures)
            self._draw_note(self.figures)


def _corrected(figures: "Figures") -> str:
    """Over which metrics p is corrected: each family by the metrics in it, the longest by their number."""
    told = families(figures)
    if not told:
        return ""
    if len(told) == 1:
        return f", Holm over {len(told[0])} metrics"
    paper, others = told
    return f", Holm over the paper's {len(paper)} and, apart, over {', '.join(others)}"


def points_of(figures: "Figures", metric: "Metric", *, papers: bool) -> list[Point]:
    """A point a model that has both figures; with `papers` those of Table 11 too."""
    from emotui.workbench.generation.figures import CORRELATION, HUMAN, HUMAN_F1, published_tables

    points = []
    for model in figures.models:
        x, y = model.values.get(metric.name), model.values.get(HUMAN_F1)
        if x is not None and y is not None and x.value is not None and y.value is not None:
            x_ends = None if x.low is None or x.high is None else (x.low, x.high)
            y_ends = None if y.low is None or y.high is None else (y.low, y.high)
            points.append(Point(model.writer.name, x.value, y.value, x_ends, y_ends))
    if papers:
        points += [
            Point(name, row[metric.name], row[HUMAN], published=True)
            for name, row in published_tables().tables["11"].items()
            if name != CORRELATION and metric.name in row
        ]
    return points


def _closeness(r: float | None) -> float:
    """What metrics are put in order by: two that go with people equally keep their order, whatever the last digits of
    their embeddings are on this processor."""
    return -2.0 if r is None else round(r, 6)
