"""Results: the paper's tables from the store, bars by emotion and valence, and how emotions follow each other.

From every figure Enter goes to the samples behind it, in Browse.
"""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer

from emotui.screens.keymaps import keyed
from emotui.screens.place import NO_WORKSPACE, Place
from emotui.screens.requests import LatestRequest
from emotui.screens.results.entry import ENTRY
from emotui.screens.results.forest import ForestRows
from emotui.screens.results.grid import Grid
from emotui.screens.results.state import AGREEMENT, FOREST, SCATTER, Counting, Found, Looked, Question, ask
from emotui.screens.results.view import ResultsView
from emotui.screens.session import Session
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.results.service import Results as Service
    from emotui.workbench.source import BrowseSource

SPANS = "spans"
_MARKS = {"hallucinat": "H", "fixat": "F", "neutral": "N", "invalid": "!", "recall": "M", "precision": "X"}
"""How the keys of columns begin that count samples with an error, and the letter of that."""

_ALL = 1_000_000
"""More rows than any table has."""

_PATIENCE = 0.3
"""Seconds before one is told that it is being counted."""


class Results(Place):
    """A grid or a plot above, and under it what the figure under the cursor is."""

    entry = ENTRY
    headings = {"results-forest": "#results-title", "results-grid": "#results-title", "results-about": "#results-cell"}
    alone = True
    marks_errors = False

    class Written(Message):
        """The report is in its file; or, `tables` None, it was stopped before."""

        def __init__(self, path: str, tables: int | None) -> None:
            super().__init__()
            self.path, self.tables = path, tables

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.looked = Looked()
        self._results: Callable[[], Service] | None = None
        self._standing: object = None
        self._desk: LatestRequest[Question, Found] | None = None
        self._counting = Counting()
        self._began = 0.0
        self._clock: Timer | None = None
        self._stopped = False
        self._error: str | None = None

    def compose(self) -> ComposeResult:
        yield ResultsView(self.looked, id="results-view")
        yield Notice("#results-view", id="results-notice")

    @property
    def view(self) -> ResultsView:
        return self.query_one(ResultsView)

    def on_mount(self) -> None:
        self.say("Results", "the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        results = source.results
        if results is None:
            self.say("Results are of runs in a workspace", keyed(NO_WORKSPACE))
            return
        self._results = results
        self._desk = LatestRequest(
            "results", self, lambda question: ask(results(), question), self._counted, self._refuse, older=True
        )

    # What the frame tells.

    @property
    def busy(self) -> bool:
        return self._desk is not None and self._desk.busy

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Count anew where the dataset, how its runs stand, or which of them are chosen has changed.

        Where runs are ticked, results are of those and the one over the list alone.
        """
        overview, beside = self.session.overview, self.session.runs_beside
        # A run that goes on is counted when it is done, and not with every batch.
        runs = tuple((one.run, one.state, one.done * (one.state != "running")) for one in overview.runs)
        chosen = (run.run, *(one.run for one in beside)) if run is not None and beside else ()
        if (overview.dataset, runs) != self._standing or chosen != self.looked.runs:
            self._standing = overview.dataset, runs
            self.looked.dataset = None if overview.dataset is None else overview.dataset.dataset
            self.looked.of_spans = overview.dataset is None or overview.dataset.task == SPANS
            if self.looked.view not in self.looked.views:
                self.looked.view = self.looked.views[0]
            self.looked.runs = chosen
            self.looked.people = frozenset(one.run for one in overview.runs if one.source == "person")
            self._count_anew()

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if failed or (self._desk is not None and self.looked.dataset is None):
            self.say("The paper's tables, with your own runs beside them", why, failed=failed)

    def focus_first(self) -> None:
        self.view.main.focus()

    def on_show(self) -> None:
        """Scores may have changed while another place was open; what has not is at hand at once."""
        if self._standing is not None:
            self._count_anew()
        self.call_after_refresh(self.focus_first)

    # Counting.

    def _count_anew(self) -> None:
        self._counting.stop()
        self.looked.outdate()
        self._stopped, self._error = False, None
        if self._desk is not None and self.display:
            self._look()

    def _look(self) -> None:
        """Show what the view needs, and ask for it where it is not at hand."""
        wanted = self.looked.wanted()
        if self._desk is not None and wanted is not None and not self._stopped and not self.looked.fresh(wanted):
            self._counting.stop()
            self._counting, self._began = Counting(), time.monotonic()
            self._desk.ask(Question(wanted, self._counting))
            if self._clock is None:
                self._clock = self.set_interval(_PATIENCE, self._tick)
        self._draw()

    def _tick(self) -> None:
        if not self.busy and self._clock is not None:
            self._clock.stop()
            self._clock = None
        self._draw_waiting()

    def _counted(self, question: Question, found: Found) -> None:
        if found.value is not None:
            self.looked.take(found)
        if question.counting is self._counting:
            self._error = None
            if found.value is None:
                self._draw()
            else:
                self._look()

    def _refuse(self, question: Question, why: str) -> None:
        if question.counting is self._counting:
            self._error = why
            self._draw()

    # How it looks.

    def _draw_waiting(self) -> None:
        """How far the counting is, where nothing is at hand; else a word in the heading."""
        if self.looked.at_hand is not None:
            self.view.draw_title(counting=self.busy)
        elif self.busy and time.monotonic() - self._began >= _PATIENCE:
            passed = time.monotonic() - self._began
            said = f"{self._counting.words}   {passed:.0f} s"
            self.say("Counting what the runs came to", said, keyed("{halt} stops it"))

    def _draw(self) -> None:
        """Show what is at hand, or why there is nothing."""
        looked = self.looked
        if self._error is not None:
            self.say("The results cannot be counted", self._error, keyed("{run} chooses other runs"), failed=True)
        elif looked.at_hand:
            self.query_one(Notice).hide()
            # A view that was hidden has a width only after the next layout.
            self.call_after_refresh(self._draw_view)
        elif looked.at_hand is not None:
            self.say("There is nothing to count yet", keyed("{model} runs a model over the samples"))
        elif self._stopped:
            self.say("The counting was stopped", keyed("{view} counts again"))
        elif looked.dataset is None and self._desk is not None:
            self.say(
                "Results",
                "there are no samples of spans yet",
                "emotui import spans FILE brings some in; here: " + keyed("{import}"),
            )

    def _draw_view(self) -> None:
        self.view.stopped = self._stopped
        self.view.draw(counting=self.busy)
        self.refresh_bindings()

    def on_resize(self) -> None:
        if self.looked.at_hand:
            self.call_after_refresh(self._draw_view)

    @on(Grid.Moved)
    @on(ForestRows.Moved)
    def _moved(self, event: Message) -> None:
        event.stop()
        self.refresh_bindings()

    # Keys.

    def can(self, action: str) -> bool:
        """Most things need figures; counting can be stopped while it goes on."""
        if not super().can(action):
            return False
        if action == "halt":
            # Of work that the top line tells of, that line says what stops it.
            return self.busy and not self._stopped and self.session.job is None
        if action in ("view", "view_back"):
            return self._desk is not None and self.looked.dataset is not None
        if not self.looked.at_hand:
            return False
        if action == "values":
            table = self.looked.table
            return self.looked.view == "transitions" or (
                self.looked.view in ("tables", AGREEMENT) and table is not None and table.heat
            )
        if action in ("figure", "figure_back"):
            return self.looked.drawn is not None if self.looked.view == FOREST else self.view.grid.display
        if action in ("next", "previous", "page_down", "page_up", "first", "last"):
            return self.looked.view not in ("bars", SCATTER)
        if action == "published":
            return self.looked.publishes
        if action == "samples":
            picked = self.view.cell
            if self.looked.view == "bars":
                return bool(self.looked.bars_there)
            if self.looked.view == SCATTER:
                return True
            return picked is not None and bool(picked[2].samples)
        if action == "export":
            found = self.looked.tables_found
            return self.session.job is None and found is not None and bool(found.datasets)
        return True

    def tell(self, what: str, value: object) -> None:
        if what == "view" and value in self.looked.views:
            self._turn_to(str(value))
        elif what == "figure" and isinstance(value, int):
            self.looked.turn_figure(value - self.looked.figure_at)
            self._draw()

    def _turn_to(self, view: str) -> None:
        """Show a view; from a source the tables open at its figure."""
        looked, point = self.looked, self.view.forest.picked
        here = looked.turn_to_table(point) if view == "tables" and looked.view == FOREST else None
        looked.view, self._stopped = view, False
        if here is not None:
            self.view.grid.begin_at(*here)
        self._look()
        if self.display and view not in ("bars", SCATTER):
            self.call_after_refresh(self.focus_first)

    def do_view(self) -> None:
        """The next view; where the counting was stopped, count again."""
        view, views = self.looked.view, self.looked.views
        self._turn_to(view if self._stopped else views[(views.index(view) + 1) % len(views)])

    def do_view_back(self) -> None:
        view, views = self.looked.view, self.looked.views
        self._turn_to(view if self._stopped else views[views.index(view) - 1])

    def do_next(self) -> None:
        """Another source or figure: letters move the cursor from any pane."""
        self._move(1)

    def do_previous(self) -> None:
        self._move(-1)

    def do_page_down(self) -> None:
        self.view.main.action_page(1)

    def do_page_up(self) -> None:
        self.view.main.action_page(-1)

    def do_first(self) -> None:
        self._move(-_ALL)

    def do_last(self) -> None:
        self._move(_ALL)

    def _move(self, rows: int) -> None:
        if self.looked.view == FOREST:
            self.view.forest.action_move(rows)
        else:
            self.view.grid.action_move(rows, 0)

    def do_figure(self) -> None:
        """The sources by another figure of their table; in a table the next cell of the row."""
        self._turn_figure(1)

    def do_figure_back(self) -> None:
        self._turn_figure(-1)

    def _turn_figure(self, step: int) -> None:
        if self.looked.view == FOREST:
            self.looked.turn_figure(step)
            self._draw()
        else:
            self.view.grid.action_move(0, step)

    def do_next_table(self) -> None:
        self.looked.turn(1)
        self._look()

    def do_previous_table(self) -> None:
        self.looked.turn(-1)
        self._look()

    def do_published(self) -> None:
        """Show the papers' own rows too, or no longer; the view is one that has any."""
        self.looked.publish(not self.looked.published)
        if self.looked.view != FOREST:
            self.looked.view = "tables"
        self._look()

    def do_values(self) -> None:
        self.view.shades = not self.view.shades
        self._draw()

    def do_halt(self) -> None:
        self._stopped = True
        self._counting.stop()
        self._draw()

    def do_samples(self) -> None:
        """Browse the samples behind the figure; from bars or points, go to their figures."""
        if self.looked.view == SCATTER:
            self.looked.turn_to_plane()
            self._look()
            self.call_after_refresh(self.focus_first)
            return
        by = self.looked.turn_to_figures()
        if by is not None:
            self._look()
            self.view.show_column(by)
            return
        picked, found = self.view.cell, self.looked.tables_found
        if picked is None:
            return
        row, column, cell = picked
        dataset = found.datasets.get(cell.run) if found is not None and cell.run else None
        what = f"{column.group}: {column.title}" if column.group else column.title
        mark = next((letter for name, letter in _MARKS.items() if column.key.startswith(name)), "")
        self.post_message(self.Listed(cell.samples, f"{what}, {row.label}", dataset, cell.run, mark))

    def do_export(self) -> None:
        from emotui.screens.dialogs.file import FileDialog

        results, found = self._results, self.looked.tables_found
        if results is None or found is None:
            return
        runs, published = sorted(found.datasets), self.looked.published

        def write(path: str, on_progress: "OnProgress", over: threading.Event) -> None:
            from emotui.workbench.progress import Cancelled
            from emotui.workbench.reports.report import write_report

            service, stopped = results(), over.is_set
            try:
                written = write_report(
                    service.store,
                    service,
                    runs,
                    path,
                    published=published,
                    on_progress=on_progress,
                    cancelled=stopped,
                )
            except Cancelled:
                self.post_message(self.Written(path, None))
                return
            self.post_message(self.Written(path, len(written["tables"])))

        def chosen(path: str) -> None:
            over = threading.Event()
            self.session.begin(f"report to {path}", lambda on_progress: write(path, on_progress, over), over.set)

        what = f"Report of {count(len(runs))} run{'s' * (len(runs) != 1)}"
        FileDialog(what, "results.md", (".md", ".tex", ".html", ".csv", ".svg", ".png")).ask(self.app, chosen)

    @on(Written)
    def _written(self, event: Written) -> None:
        event.stop()
        if event.tables is None:
            self.notify(f"Stopped: {event.path} is not written", markup=False)
        else:
            self.notify(f"{event.path} is written: {event.tables} tables", markup=False)
