"""How counted figures are drawn: sources on an axis, a grid or a plot, and what the figure under the cursor is."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.keymaps import keyed
from emotui.screens.results import cells as results_bars
from emotui.screens.results import cells as results_cells
from emotui.screens.results.cells import p_value, signed
from emotui.screens.results.forest import Against, ForestRows, shared_ending, standing
from emotui.screens.results.grid import KINDS, Grid
from emotui.screens.results.state import AGREEMENT, ALL, GROUPS, STILL_COUNTED, TABLES, Looked
from emotui.screens.widgets.cell_width import shown, wrap
from emotui.screens.widgets.line import Line, Part, taken
from emotui.screens.widgets.number_format import count, so_many
from emotui.screens.widgets.page import Page
from emotui.tables import reads_zero
from emotui.workbench.results import span_tables
from emotui.workbench.results.forests import figures_of, lower_of

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.metrics.significance import Correction
    from emotui.tables import Bars, Cell, Column, ResultsTable, Row, Transitions
    from emotui.workbench.compare.pairs import Axis, Standing
    from emotui.workbench.slices.slicing import Sliced

_APART = ("agreement", "agreement-labels", "agreement-pairs")
"""Tables by whose figures Enter goes to what sources say differently."""

_MOST_NAMES = 4
"""Lines of names over a plot, where a third of the place would be fewer."""


_TALL = 18
"""Lines from which on three say what has to be known of a figure, """
_TALLEST = 30
"""and four."""


class ResultsView(Vertical):
    """Draws what `Looked` has at hand."""

    DEFAULT_CSS = """
    ResultsView > #results-forest { height: 1fr; min-height: 4; }
    ResultsView > #results-grid { height: 1fr; min-height: 4; display: none; }
    ResultsView > #results-bars { height: 1fr; display: none; }
    ResultsView > #results-points { height: 1fr; display: none; }
    ResultsView #results-beside { width: 26; margin: 1 0 0 1; }
    ResultsView > #results-about { height: 3; color: $text-muted; }
    """

    def __init__(self, looked: Looked, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._looked = looked
        self.shades = False
        self.under_way = ""
        """Which work goes on, by which runs may come."""
        self.stopped = False
        self._standing: list[Standing] = []
        self._told: list[str] = []
        self.known: list[str] = []
        """All that has to be known of the figure under the cursor."""
        self._won: tuple[str, str] = ("", "")
        """Of a source by its key, where it wins most."""

    def compose(self) -> ComposeResult:
        yield ForestRows(id="results-forest")
        yield Grid(id="results-grid")
        with Vertical(id="results-bars"):
            yield Page(id="results-legend")
        with Horizontal(id="results-points"):
            yield Page(id="results-beside")
        yield Line(id="results-cell", classes="-pane")
        yield Page(id="results-about")

    def on_resize(self) -> None:
        """Where there are few lines, the figures get them."""
        self.query_one("#results-about").styles.height = self._lines_about

    @property
    def _lines_about(self) -> int:
        rows = self.size.height
        return 4 if rows >= _TALLEST else 3 if rows >= _TALL else 1

    @property
    def grid(self) -> Grid:
        """The table or heatmap with its cursor."""
        return self.query_one(Grid)

    @property
    def forest(self) -> ForestRows:
        """The sources on one axis."""
        return self.query_one(ForestRows)

    @property
    def main(self) -> "ForestRows | Grid":
        """The pane with a cursor that is to be seen."""
        return self.forest if self._looked.view == ALL else self.grid

    @property
    def standing(self) -> "Standing | None":
        """The source under the cursor, where all stand against one."""
        at = self.forest.cursor
        return self._standing[at] if self._looked.on_axis and at < len(self._standing) else None

    def draw(self) -> None:
        """Show what is at hand of what the view needs; what was shown stays until that has come."""
        looked = self._looked
        held: Any = looked.shown
        if looked.view == ALL:
            self._draw_forest()
        elif looked.view == TABLES and looked.plotted is not None:
            self._draw_points(looked.plotted)
        elif looked.view in (TABLES, AGREEMENT):
            if looked.table is not None:
                heat = looked.table.heat
                self._show_grid()
                shades = heat and looked.pictured
                self.grid.show_table(
                    looked.table,
                    shades=shades,
                    plain=heat,
                    wide=not shades,
                    run=looked.run,
                    in_full=looked.in_full,
                    people=_WITH_GOLD if looked.view == AGREEMENT and looked.gold_agrees else KINDS["people"],
                )
        elif held is None:
            return
        elif looked.view == GROUPS:
            self._draw_bars(held)
        elif held.pairs:
            self._show_grid()
            shares = None if self.shades else _beginning(held)
            self.grid.show_table(_heatmap(held), shades=self.shades, plain=True, under=shares, grounds=held.row_shares)
        else:
            self._tell_none("No text here has two neighbouring sentences with labels")

    def draw_axis(
        self,
        found: "Axis",
        metrics: "Sequence[Metric]",
        correction: "Correction",
        further: "Sequence[Axis]" = (),
        *,
        sure: bool = True,
    ) -> None:
        """Show all sources by one metric, and how each stands to one of them.

        Args:
            further: the sources by other metrics, below as far as there is room.
            sure: intervals and tests are there.
        """
        looked = self._looked
        forest, self._standing = standing(found, looked.aside)
        first = next((row for row in found.rows if row.key == found.first and not row.published), None)
        said = tuple("–" if row is first else _against(row) if sure else "" for row in self._standing)
        at = None if first is None else self._standing.index(first)
        named = (
            "" if at is None else forest.points[at].label.removesuffix(shared_ending(forest, forest.points[at].kind))
        )
        against = None if first is None else Against(f"against {named}", said)
        by = "Holm" if correction == "holm" else "Benjamini-Hochberg"
        name = "" if first is None else first.name
        test, over = (
            ("permutation", "over all texts together")
            if found.metric.pooled
            else ("Wilcoxon", "mean over both tasks' texts" if looked.in_kinds else "mean over texts")
        )
        tested = [f"p: {test} against {name}, samples of both; {by} over {found.tests}"] if found.tests else []
        what = f"{found.metric.title}: {found.metric.help}; {over}"
        self._told = [shown(what), *([found.convention, *tested] if sure else [])]
        self._only("forest", "about")
        lower = [one.title for one in metrics if not one.higher_is_better]
        titles = tuple(one.title for one in metrics)
        waiting = "" if sure else "The intervals are being counted"
        self.forest.show_forest(
            forest,
            [standing(one, looked.aside)[0] for one in further],
            titles,
            lower,
            waiting=waiting,
            against=against,
            asides=looked.asides,
            over=_over([one.title for one in metrics if one.pooled]),
            under_way=self.under_way,
        )

    def _only(self, *names: str) -> None:
        """Of what may stand between the two headings, show these."""
        for name in ("forest", "grid", "bars", "points", "about"):
            self.query_one(f"#results-{name}").display = name in names

    def _show_grid(self) -> None:
        self._only("grid", "about")

    @property
    def _waiting(self) -> str:
        return (
            keyed("The counting was stopped: {view} counts again")
            if self.stopped
            else "The intervals are being counted"
        )

    def _draw_forest(self) -> None:
        looked, table = self._looked, self._looked.drawn
        forest = looked.forest
        if forest is None or table is None:
            self._tell_none(keyed("No figure of a source here: {view} goes on to the tables"))
            return
        self._only("forest", "about")
        others = [] if looked.without_intervals else looked.other_forests
        self.forest.show_forest(
            forest,
            others,
            figures_of(table),
            lower_of(table),
            waiting=self._waiting if looked.without_intervals else STILL_COUNTED if looked.provisional else "",
            asides=looked.asides,
            over=_over(figures_of(table)),
            under_way=self.under_way,
        )

    def _draw_points(self, table: "ResultsTable") -> None:
        from emotui.screens.results.plot import ScatterPlot, beside

        plot = table.plot
        assert plot is not None
        self._only("points")
        pane = self.query_one("#results-points")
        plots = list(pane.query(ScatterPlot))
        if not plots:
            plots = [ScatterPlot(id="results-scatter")]
            pane.mount(plots[0], before=0)
        plots[0].show(plot)
        self.query_one("#results-beside", Page).show(beside(plot))
        right = [Part(keyed("{samples}"), "key", "do('samples')"), Part(" as counts, and on to the texts ", "dim")]
        self.query_one("#results-cell", Line).show([Part(f" a point a {plot.of}", "dim")], right)

    def _tell_none(self, why: str) -> None:
        self._only("about")
        self.query_one("#results-cell", Line).show([Part(f" {why}", "dim")])
        self.query_one("#results-about", Page).show([])

    def _draw_bars(self, bars: "Bars") -> None:
        from emotui.screens.results.plot import AXIS, ResultsPlot

        self._only("bars")
        pane, cells = self.query_one("#results-bars"), self.size.width
        plots = list(pane.query(ResultsPlot))
        if not plots:
            plots = [ResultsPlot(id="results-plot")]
            pane.mount(plots[0])
        plots[0].draw(bars)
        page = self.query_one("#results-legend", Page)
        lines = results_bars.legend(bars, results_bars.series_shown(bars, cells - AXIS), cells - 2)
        page.styles.height = min(len(lines), max(_MOST_NAMES, self.size.height // 3))
        page.show(lines)
        right = [
            Part(keyed("{samples}"), "key", "do('samples')"),
            Part(" F1 as a table, and on to its samples ", "dim"),
        ]
        self.query_one("#results-cell", Line).show([Part(" neutral left out   │ 95% interval", "dim")], right)

    def show_column(self, by: str) -> None:
        """Show the table that is looked at, with the cursor on its first figure by emotion or valence."""
        table = self._looked.table
        if table is not None:
            self._show_grid()
            self.grid.show_table(table)
            here = [at for at, column in enumerate(table.columns) if column.key.startswith(f"{by}/")]
            self.grid.put(self.grid.row, here[0] if here else 0)
            self.grid.focus()

    @property
    def cell(self) -> "tuple[Row, Column, Cell] | None":
        """The figure under the cursor, with its row and column."""
        if self._looked.on_axis:
            return None
        if self._looked.view != ALL:
            return self.grid.cell
        point, table = self.forest.picked, self._looked.drawn
        if point is None or table is None:
            return None
        return table.rows[point.row], table.columns[point.column], point.cell

    @on(Grid.Moved)
    @on(ForestRows.Moved)
    def _draw_cell(self) -> None:
        """The figure under the cursor: what it is, how to get to its samples, and what has to be known of it."""
        picked, source = self.cell, self.standing
        if source is not None:
            self._tell_source(source)
            return
        if picked is None or self._looked.view == GROUPS or self._looked.plotted is not None:
            return
        row, column, cell = picked
        n = len(cell.samples)
        right = [
            Part(keyed("{samples}"), "key", "do('samples')"),
            Part(f" {so_many(n, 'sample')}{self._of_samples} ", "dim"),
        ]
        left = [Part(f" {results_cells.said(row, column, cell)}", "strong")]
        self._tell(left, right if n else [], [*self._of_one_kind(), *results_cells.about(row, cell)])

    @property
    def _of_samples(self) -> str:
        """Which of the samples that a figure is over Enter goes to, where not all."""
        table = self._looked.table if self._looked.view == AGREEMENT else None
        return " where they differ" if table is not None and table.key in _APART else ""

    def _of_one_kind(self) -> list[str]:
        """Why a figure is not what it is where all texts are taken together."""
        looked = self._looked
        table = looked.drawn if looked.view == ALL else looked.table
        if looked.view not in (ALL, TABLES) or table is None or table.key not in {one.key for one in looked.in_kinds}:
            return []
        kinds = " and ".join(one.title.partition(":")[0] for one in looked.in_kinds)
        return [f"Over the texts of {table.title.partition(':')[0]} alone; {ALL} has {kinds} together."]

    def _tell(self, left: list[Part], right: list[Part], texts: list[str]) -> None:
        """A line of the figure under the cursor, what has to be known of it, and the key that tells the rest."""
        cells, self.known = max(self.size.width - 3, 20), texts
        lines = [[Part(text[a:b])] for text in texts for a, b in wrap(text, cells)]
        rest = [Part(keyed("{method}"), "key", "do('method')"), Part(" how counted ", "dim")]
        if self._looked.view == ALL and len(lines) > self._lines_about:
            beside = [*rest, *([Part(" ")] if right else []), *right]
            if taken([*left, *beside]) < self.size.width:
                right = beside
            else:
                first, *others = texts
                texts = [f"{keyed('{method} tells all:')} {first}", *others]
                lines = [[Part(text[a:b])] for text in texts for a, b in wrap(text, cells)]
        self.query_one("#results-cell", Line).show(left, right)
        self.query_one("#results-about", Page).show(lines, home=True)

    def _tell_source(self, source: "Standing") -> None:
        """The source under the cursor: over how many texts, and in how many of them it is better and worse."""
        left = [Part(f" {shown(f'{source.name} {source.told}'.rstrip())}", "strong")]
        left += [Part(f"   {count(source.n)} text{'s' * (source.n != 1)}")] if source.n else []
        right: list[Part] = []
        if source.off is not None:
            held = self._looked.against
            more, less = ("better", "worse") if held is None or held.metric.directed else ("more", "less")
            told = f"{more} {count(source.won)}   {less} {count(source.lost)}   equal {count(source.tied)}"
            left.append(Part(f"   {told}"))
            right = [Part(keyed("{samples}"), "key", "do('samples')"), Part(" sample by sample ", "dim")]
        won = [self._won[1]] if self._won[0] == source.key and self._won[1] else []
        self._tell(left, right, [*won, *([shown(source.note)] if source.note else []), *self._told])

    def tell_won(self, key: str, parts: "Sequence[Sliced]") -> None:
        """Say in which parts a source is farthest above the one that all stand against."""
        said = "   ".join(
            f"{shown(f'{one.facet} {one.value}')} {signed(one.difference or 0)} ({one.n})"
            for one in parts
            if not reads_zero(one.difference or 0)
        )
        self._won = key, f"where it wins most (means, untested)   {said}" if said else ""
        if self.standing is not None and self.standing.key == key:
            self._tell_source(self.standing)


def _over(titles: "Collection[str]") -> str:
    """What figures of these titles are over, where P and R stand beside F1."""
    return span_tables.OVER if {"P", "R"} <= set(titles) else ""


def _against(row: "Standing") -> str:
    """`+.112  p < .001`, empty of what is not tested."""
    return "" if row.off is None else f"{signed(row.off, 3)}  {p_value(row.p)}"


def _heatmap(found: "Transitions") -> "ResultsTable":
    """The transitions as the grid shades them, each count with its shares."""
    table = span_tables.transition_table(found)
    rows = tuple(
        replace(
            row,
            label=f"from {row.label}",
            cells=tuple(replace(cell, convention=_shares(found, at, to)) for to, cell in enumerate(row.cells)),
        )
        for at, row in enumerate(table.rows)
    )
    return replace(table, rows=rows, hints=(*table.hints, _SHADED))


_WITH_GOLD = "gold and sources"
"""Over how far they agree, where gold is one of those that are compared."""

_SHADED = "stronger ground: a greater share of the row's pairs; = the same goes on"


def _beginning(found: "Transitions") -> tuple[tuple[str, ...], ...]:
    """Under each count its share of the pairs that begin with the row's label."""
    return tuple(tuple("" if share is None else f"{share:.0%}" for share in row) for row in found.row_shares)


def _shares(found: "Transitions", at: int, to: int) -> str:
    share = found.row_shares[at][to]
    begins = "" if share is None else f"{share:.0%} of the pairs that begin with {found.labels[at]}; "
    return f"{begins}{found.shares[at][to] or 0:.1%} of all {so_many(found.pairs, 'pair')} of adjacent sentences"


# How what stands on an axis was counted, in full: under the sources there is room for a few lines of it.


class MethodDialog(Dialog[None]):
    """A paragraph for each thing that is known; F2, q and Esc leave."""

    BINDINGS = [
        Binding("f2,q", "leave", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]
    DEFAULT_CSS = """
    MethodDialog VerticalScroll { height: auto; max-height: 70vh; scrollbar-size-vertical: 1; }
    MethodDialog Static { margin-bottom: 1; }
    """

    def __init__(self, title: str, said: Sequence[str]) -> None:
        super().__init__(title, ("↑ ↓", "scroll"), ("F2", "close"))
        self.said = said

    def body(self) -> Sequence[Widget]:
        return [VerticalScroll(*(Static(Content(one)) for one in self.said))]

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, step: int) -> None:
        """One line down or up."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)
