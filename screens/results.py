"""Results: the paper's tables from the store, bars by emotion and valence, and how emotions follow each other.

From every figure Enter goes to the samples behind it, in Browse.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer

from emotui.screens import results_bars, results_cells, results_heatmap
from emotui.screens.cells import wrap
from emotui.screens.desk import Answer, Desk
from emotui.screens.figures import count
from emotui.screens.line import Line, Part
from emotui.screens.notice import Notice
from emotui.screens.page import Page
from emotui.screens.place import Place
from emotui.screens.results_asking import COUNTED, Counting, Found, Question, Wanted, ask
from emotui.screens.results_grid import Grid
from emotui.store.query import Dataset, Run

if TYPE_CHECKING:
    from emotui.workbench.results_table import ResultsTable
    from emotui.workbench.source import BrowseSource

VIEWS = ("tables", "bars", "transitions")
_PARTS = {"task-1": "Task 1", "task-2": "Task 2"}
_BY = ("emotion", "valence")
_FIGURES = {"f1": "F1", "sim": "Sim"}
_PATIENCE = 0.3
"""Seconds before one is told that it is being counted."""


class Results(Place):
    """A grid or a plot above, and under it what the figure under the cursor is."""

    title = "Results"
    slim_list = True
    marks_errors = False
    DEFAULT_CSS = """
    Results > #results-grid { height: 1fr; min-height: 4; }
    Results > #results-bars { height: 1fr; display: none; }
    Results #results-legend { height: auto; max-height: 4; }
    Results > #results-about { height: 3; color: $text-muted; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = "tables"
        self.shades = True
        self._at = dict.fromkeys(VIEWS, 0)
        self._source: Any = None
        self._dataset: Dataset | None = None
        self._standing: object = None
        self._found: dict[Wanted, Found] = {}
        self._fresh: set[Wanted] = set()
        self._desk: Desk[Question, Found] | None = None
        self._counting = Counting()
        self._began = 0.0
        self._clock: Timer | None = None
        self._stopped = False

    def compose(self) -> ComposeResult:
        """A heading, what is looked at, and what it means."""
        yield Line(id="results-title", classes="-pane")
        yield Grid(id="results-grid")
        with Vertical(id="results-bars"):
            yield Page(id="results-legend")
        yield Line(id="results-cell", classes="-pane")
        yield Page(id="results-about")
        yield Notice(id="results-notice")

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._say("Results", "the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        """Ask this source from now on."""
        if not hasattr(source, "results"):
            self._say("Results are of runs in a workspace", "files are browsed without it")
            return
        self._source = source
        self._desk = Desk("results", self, lambda question: ask(source, question))

    # What the frame tells.

    @property
    def busy(self) -> bool:
        """Is something being counted?"""
        return self._desk is not None and self._desk.busy

    def show_dataset(self, dataset: Dataset | None, runs: Sequence[Run]) -> None:
        """Count anew where the dataset, or how its runs stand, has changed."""
        # A run that goes on is counted when it is done, and not with every batch.
        standing = dataset, tuple((run.run, run.state, run.done * (run.state != "running")) for run in runs)
        if standing != self._standing:
            self._dataset, self._standing = dataset, standing
            self._count_anew()

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Results are of all samples."""

    def refresh_sample(self, run: Run | None) -> None:
        """Count anew: scores may have changed."""
        self._count_anew()

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        """Say why there is nothing to count."""
        if self._source is None or failed or self._dataset is None:
            self._say("The papers' tables, with your own runs beside them", why, failed=failed)

    def focus_first(self) -> None:
        """Put the keys into the figures."""
        self.query_one(Grid).focus()

    def on_show(self) -> None:
        """Scores may have changed while another place was open; what has not is at hand at once."""
        if self._standing is not None:
            self._count_anew()

    # Counting.

    def _count_anew(self) -> None:
        self._counting.stop()
        self._fresh.clear()
        self._stopped = False
        if self._desk is not None and self.display:
            self._look()

    def _wanted(self) -> Wanted | None:
        """What the view needs; the tables first, since they tell which parts there are."""
        if self._dataset is None:
            return None
        dataset = self._dataset.dataset
        tables = self._tables()
        if self.view == "tables" or tables is None:
            return Wanted(dataset, "tables", sim=tables is not None and self._lacks_sim(tables))
        if self.view == "transitions":
            return Wanted(dataset, "transitions", by=_BY[self._at["transitions"] % len(_BY)])
        there = self._bars_there()
        if not there:
            return None
        part, by, figure = there[self._at["bars"] % len(there)]
        return Wanted(dataset, "bars", part, by, figure)

    def _tables_found(self) -> Found | None:
        """The best that there is of them."""
        if self._dataset is None:
            return None
        with_sim, without = (Wanted(self._dataset.dataset, "tables", sim=sim) for sim in (True, False))
        return self._found.get(with_sim) or self._found.get(without)

    def _tables(self) -> "tuple[ResultsTable, ...] | None":
        found = self._tables_found()
        return found.value if found is not None and isinstance(found.value, tuple) else None

    @staticmethod
    def _lacks_sim(tables: "tuple[ResultsTable, ...]") -> bool:
        return any(row.kind == "people" for table in tables for row in table.rows)

    def _bars_there(self) -> list[tuple[str, str, str]]:
        keys = {table.key for table in self._tables() or ()}
        return [(part, by, figure) for part in _PARTS if part in keys for figure in _FIGURES for by in _BY]

    def _look(self) -> None:
        """Show what the view needs, and ask for it where it is not at hand."""
        wanted = self._wanted()
        self._draw()
        if wanted is None or wanted in self._fresh or self._desk is None or self._stopped:
            return
        self._counting.stop()
        self._counting, self._began = Counting(), time.monotonic()
        self._desk.ask(Question(wanted, self._counting))
        if self._clock is None:
            self._clock = self.set_interval(_PATIENCE, self._tick)

    def _tick(self) -> None:
        if not self.busy:
            if self._clock is not None:
                self._clock.stop()
                self._clock = None
        elif not self._shown():
            read = count(max(self._counting.asked - 1, 0) * COUNTED)
            passed = time.monotonic() - self._began
            self._say("Counting what the runs came to", f"{read} answers read   {passed:.0f} s", "Esc stops it")
        else:
            self._draw_title()

    @on(Answer)
    def _answered(self, answer: Answer) -> None:
        answer.stop()
        newest = answer.desk.take(answer)
        if answer.error is not None:
            if newest:
                self._say("The results cannot be counted", answer.error, failed=True)
            return
        found: Found = answer.value
        if found.value is None:
            if newest and self._stopped:
                self._draw()
            return
        if self._dataset is not None and found.wanted.dataset == self._dataset.dataset:
            self._found[found.wanted] = found
            self._fresh.add(found.wanted)
        if newest:
            self._look()

    # How it looks.

    def _say(self, title: str, *lines: str, failed: bool = False) -> None:
        self.query_one("#results-notice", Notice).say(title, *lines, failed=failed)
        for name in ("#results-title", "#results-grid", "#results-bars", "#results-cell", "#results-about"):
            self.query_one(name).display = False
        self.refresh_bindings()

    def _shown(self) -> bool:
        return not self.query_one("#results-notice", Notice).display

    def _draw(self) -> None:
        """Show what is at hand of what the view needs."""
        tables = self._tables()
        wanted = self._wanted()
        found = None if wanted is None else self._found.get(wanted)
        if tables is None:
            if self._stopped:
                self._say("The counting was stopped", "v counts again")
            elif not self.busy:
                self._say("Results", "the list is being read")
            return
        if self.view == "bars" and not self._bars_there():
            self._show(bars=False)
            self._tell_none("There are no bars of a prompting experiment: n and p go through its tables")
            return
        if self.view != "tables" and found is None:
            self._draw_title()
            return
        self._show(bars=self.view == "bars")
        if self.view == "tables":
            self.query_one(Grid).show_table(tables[self._at["tables"] % len(tables)])
        elif self.view == "transitions":
            assert found is not None
            value: Any = found.value
            if value.pairs:
                self.query_one(Grid).show_table(results_heatmap.as_table(value), shades=self.shades, plain=True)
            else:
                self._tell_none("No text here has two sentences with labels next to each other")
        else:
            assert found is not None
            self._draw_bars(found)
        self._draw_title()
        self._draw_cell()

    def _tell_none(self, why: str) -> None:
        self._draw_title()
        self.query_one("#results-grid").display = self.query_one("#results-bars").display = False
        self.query_one("#results-cell", Line).show([Part(f" {why}", "dim")])
        self.query_one("#results-about", Page).show([])
        self.refresh_bindings()

    def _show(self, *, bars: bool) -> None:
        self.query_one("#results-notice", Notice).hide()
        for name in ("#results-title", "#results-cell"):
            self.query_one(name).display = True
        self.query_one("#results-grid").display = not bars
        self.query_one("#results-about").display = not bars
        self.query_one("#results-bars").display = bars

    def _draw_bars(self, found: Found) -> None:
        from emotui.screens.results_plot import ResultsPlot

        value: Any = found.value
        pane = self.query_one("#results-bars")
        plots = list(pane.query(ResultsPlot))
        if not plots:
            plots = [ResultsPlot(id="results-plot")]
            pane.mount(plots[0])
        plots[0].show(value)
        self.call_after_refresh(self._draw_legend, value)

    def _draw_legend(self, bars: Any) -> None:
        page = self.query_one("#results-legend", Page)
        from emotui.screens.results_plot import AXIS

        series = results_bars.series_shown(bars, self.size.width - AXIS)
        lines = results_bars.legend(bars, series, self.size.width - 2)
        page.styles.height = min(len(lines), 4)
        page.show(lines)

    def _draw_title(self) -> None:
        named, at, of = self._named()
        left = [Part(f" {named}", "strong"), Part(f"   {at} of {of}" if of > 1 else "", "dim")]
        if self.busy:
            left.append(Part("   counting…", "dim"))
        tabs = [Part(f" {name} ", "here" if name == self.view else "dim", f"tell('view', '{name}')") for name in VIEWS]
        self.query_one("#results-title", Line).show(left, [*tabs, Part(" ")])

    def _named(self) -> tuple[str, int, int]:
        """What is looked at, the how manieth it is, and of how many."""
        tables, at = self._tables() or (), self._at[self.view]
        if self.view == "tables" and tables:
            return tables[at % len(tables)].title, at % len(tables) + 1, len(tables)
        if self.view == "transitions":
            return f"From one sentence to the next, by {_BY[at % 2]}", at % 2 + 1, 2
        there = self._bars_there()
        if not there:
            return "Bars", 1, 1
        part, by, figure = there[at % len(there)]
        return f"{_PARTS[part]}: {_FIGURES[figure]} by {by}", at % len(there) + 1, len(there)

    def on_resize(self) -> None:
        """Share the width out anew."""
        if self._tables() is not None:
            self.call_after_refresh(self._draw)

    @on(Grid.Moved)
    def _moved(self, event: Grid.Moved) -> None:
        event.stop()
        self._draw_cell()

    def _draw_cell(self) -> None:
        line, page = self.query_one("#results-cell", Line), self.query_one("#results-about", Page)
        picked = self.query_one(Grid).cell
        if self.view == "bars":
            line.show([Part(" without neutral sentences; the tables by emotion and valence have the samples", "dim")])
        elif picked is not None:
            row, column, cell = picked
            n = len(cell.samples)
            right = [Part("Enter", "key", "do('samples')"), Part(f" {count(n)} sample{'s' * (n != 1)} ", "dim")]
            line.show([Part(f" {results_cells.said(row, column, cell)}", "strong")], right if n else [])
            cells = max(self.size.width - 3, 20)
            lines = [text[a:b] for text in results_cells.about(row, cell) for a, b in wrap(text, cells)]
            page.show([[Part(text)] for text in lines], home=True)
        self.refresh_bindings()

    # Keys.

    def can(self, action: str) -> bool:
        """Most things need figures; counting can be stopped while it goes on."""
        if not super().can(action):
            return False
        if action == "halt":
            return self.busy
        if action in ("view", "view_back"):
            return self._tables() is not None or self._stopped
        if self._tables() is None:
            return False
        if action == "values":
            return self.view == "transitions"
        if action == "samples":
            picked = self.query_one(Grid).cell
            return self.view != "bars" and picked is not None and bool(picked[2].samples)
        return True

    def tell(self, what: str, value: object) -> None:
        """A view's name was clicked."""
        if what == "view" and value in VIEWS:
            self._turn_to(str(value))

    def _turn_to(self, view: str) -> None:
        self.view, self._stopped = view, False
        self._look()
        if self.display and view != "bars":
            self.query_one(Grid).focus()

    def do_view(self) -> None:
        """The next view; where the counting was stopped, count again."""
        self._turn_to(self.view if self._stopped else VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    def do_view_back(self) -> None:
        """The view before."""
        self._turn_to(self.view if self._stopped else VIEWS[VIEWS.index(self.view) - 1])

    def do_next_table(self) -> None:
        """The next table, plot or heatmap of the view."""
        self._step(1)

    def do_previous_table(self) -> None:
        """The one before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        _, at, of = self._named()
        self._at[self.view] = (at - 1 + step) % of
        self._look()

    def do_values(self) -> None:
        """Counts in the heatmap, or shades."""
        self.shades = not self.shades
        self._draw()

    def do_halt(self) -> None:
        """Stop counting; what is counted stays."""
        self._stopped = True
        self._counting.stop()
        self._draw()

    def do_samples(self) -> None:
        """Browse the samples behind the figure."""
        picked = self.query_one(Grid).cell
        if picked is None:
            return
        row, column, cell = picked
        tables = self._tables_found()
        dataset = tables.datasets.get(cell.run) if tables is not None and cell.run else None
        what = f"{column.group}: {column.title}" if column.group else column.title
        self.post_message(self.Listed(cell.samples, f"{what}, {row.label}", dataset, cell.run))
