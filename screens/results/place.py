"""Results: every source on one axis, two against each other, groups, rules, and the paper's tables from the store.

From every figure Enter goes to the samples behind it, in Browse.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from emotui.screens.keymaps import keyed
from emotui.screens.place import NO_WORKSPACE
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.results.asking import Wanted as Compared
from emotui.screens.results.asking import Won
from emotui.screens.results.compared import ComparedView
from emotui.screens.results.counted import PATIENCE, CountedPlace
from emotui.screens.results.entry import ENTRY
from emotui.screens.results.forest import ForestRows
from emotui.screens.results.grid import Grid
from emotui.screens.results.state import (
    AGREEMENT,
    ALL,
    GROUPS,
    PAIR,
    TABLES,
    TRANSITIONS,
    ask,
)
from emotui.screens.results.two import DifferenceRows
from emotui.screens.results.view import MethodDialog, ResultsView
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Line, Part, fitted, tabs, taken
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import so_many
from emotui.screens.widgets.row_list import PickedRows
from emotui.store.query import Run
from emotui.tables import FEW

if TYPE_CHECKING:
    from emotui.workbench.slices.slicing import Sliced
    from emotui.workbench.source import BrowseSource

SPANS = "spans"
_MARKS = {"hallucinat": "H", "fixat": "F", "neutral": "N", "invalid": "!", "recall": "M", "precision": "X"}
"""How the keys of columns begin that count samples with an error, and the letter of that."""

DIFFERENCES = ("Differences of sources are taken before figures are rounded.",)
"""What is known of an axis besides what stands under it."""

_ALL = 1_000_000
"""More rows than any table has."""

_CURSOR = ("next", "previous", "page_down", "page_up", "first", "last")
"""What moves a cursor: in the list, where that stands beside two sources."""

_SHORTEST_TITLE = 10
"""Cells that what is looked at has beside the views: it is cut before they are, and stands whole on a line below."""

_AROUND = 12
"""Lines around the sources of an axis: the heading, figures, ticks, kinds of sources, what the shapes mean, the line of
the picked source and what has to be known of it."""

_MANY = 20_000
"""Texts of a source from which on intervals take long: they are counted by one metric alone."""

_OF_A = ("run", "compare_with")
"""What chooses who is compared."""


class Results(CountedPlace):
    """Under a heading with the views what is looked at; a line says what the figure under the cursor is."""

    entry = ENTRY
    headings = {
        "results-forest": "#results-title",
        "results-grid": "#results-title",
        "results-about": "#results-cell",
        "compare-rows": "#results-title",
        "compare-parts": "#results-title",
        "compare-rules": "#results-title",
        "compare-text": "#compare-sample",
        "compare-said": "#compare-sample",
    }
    marks_errors = False
    DEFAULT_CSS = "Results #results-body { height: 1fr; } Results #results-name { display: none; }"

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.alone = True
        self._held_back = False
        """Are means at hand that are not drawn yet?"""

    def compose(self) -> ComposeResult:
        yield Line(id="results-title", classes="-pane")
        yield Line(id="results-name")
        with Vertical(id="results-body"):
            yield ResultsView(self.looked, id="results-view")
            yield ComparedView(id="results-compared")
        yield Notice("#results-body", id="results-notice")

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
        self.bind_comparing(source)

    # What the frame tells.

    @property
    def busy(self) -> bool:
        return any_busy(self)

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Count anew where the dataset, how its runs stand, or which of them are chosen has changed.

        Where runs are ticked, tables are of those and the one over the list alone.
        """
        overview, beside = self.session.overview, self.session.runs_beside
        self.looked.run = None if run is None else run.run
        # A run that goes on is counted when it is done, and not with every batch.
        runs = tuple((one.run, one.state, one.done * (one.state != "running")) for one in overview.runs)
        chosen = (run.run, *(one.run for one in beside)) if run is not None and beside else ()
        if (overview.dataset, runs) != self._standing or chosen != self.looked.runs:
            self._standing = overview.dataset, runs
            self.looked.begin(None if overview.dataset is None else overview.dataset.dataset)
            self.looked.of_spans = overview.dataset is None or overview.dataset.task == SPANS
            if self.looked.view not in self.looked.views:
                self.looked.view = self.looked.views[0]
            self.looked.runs = chosen
            people = frozenset(one.run for one in overview.runs if one.source == "person")
            self.looked.people = people - overview.settled
            enough = any(one.done >= FEW for one in overview.runs)
            few = [one for one in overview.runs if enough and one.done < FEW]
            self.looked.few = {one.run: f"{one.done} text{'s' * (one.done != 1)}" for one in few}
            self._count_anew()
        self.follow_sources(sample, run)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if failed or (self._desk is not None and self.looked.dataset is None):
            self.say("The paper's tables, with your own runs beside them", why, failed=failed)

    def focus_first(self) -> None:
        self._main.focus()

    @property
    def _counts(self) -> bool:
        """Are figures on their way? A text that is read, or where a source wins, is none."""
        return any(one is not None and one.busy for one in (self._desk, self._pairs))

    @property
    def _compares(self) -> bool:
        """Do two sources, groups or rules stand there, and no axis and no table?"""
        return self.looked.of_sources and not self.looked.on_axis

    @property
    def _main(self) -> "ForestRows | Grid | DifferenceRows | PickedRows[Any]":
        """The pane with a cursor that is to be seen."""
        return self.compared.main if self._compares else self.view.main

    def on_show(self) -> None:
        """Scores may have changed while another place was open; what has not is at hand at once."""
        if self._standing is not None:
            self._count_anew()
            self.compare()
        self.focus_soon()

    def _not_compared(self, wanted: Compared, why: str) -> None:
        if wanted.view == self.looked.view:
            self.say("This cannot be compared", why, keyed("{run} chooses other runs"), failed=True)

    # How it looks.

    def _draw_waiting(self) -> None:
        """How far the counting is, where nothing is at hand; else a word in the heading."""
        looked = self.looked
        if self._held_back:
            self.draw()
        elif (self.found if looked.of_sources else looked.at_hand) is not None:
            self._draw_title()
        elif self.busy and time.monotonic() - self._began >= PATIENCE:
            passed = f"{time.monotonic() - self._began:.0f} s"
            if looked.of_sources:
                self.say("The sources are being compared", passed)
            else:
                said = f"{self._counting.words}   {passed}"
                self.say("Counting what the runs came to", said, keyed("{halt} stops it"))

    def draw(self) -> None:
        """Show what is at hand, or why there is nothing."""
        looked, found = self.looked, self.found
        self._draw_title()
        if looked.of_sources:
            if found is not None and found.why:
                keys = "{model} runs a model, emotui import predictions brings answers in"
                if self.wanted is not None and self.wanted.awaits:
                    keys = "the top line says how far"
                self.say("Nothing to compare yet", found.why, self.session.under_way or keyed(keys))
            elif found is not None:
                self._show_soon()
        elif self._error is not None:
            self.say("The results cannot be counted", self._error, keyed("{run} chooses other runs"), failed=True)
        elif looked.undefined:
            self._say_undefined(looked.undefined)
        elif looked.at_hand:
            self._show_soon()
        elif looked.at_hand is not None:
            keys = keyed("{model} runs a model over the samples")
            self.say("There is nothing to count yet", self.session.under_way or keys)
        elif self._stopped:
            self.say("The counting was stopped", keyed("{view} counts again"))
        if looked.dataset is None and self._desk is not None:
            self.say(
                "Results",
                "there are no samples of spans yet",
                "emotui import spans FILE brings some in; here: " + keyed("{import}"),
            )

    def _say_undefined(self, why: str) -> None:
        """Why there is no agreement, and where there is, or what would make it."""
        raters = self.looked.raters_agree
        fills = (
            f"{{view_back}} goes back to “{raters}”, whose column Agreement is that of the raters"
            if raters
            else "a second person answers in Annotate (2), or {run} ticks a run beside people"
        )
        self.say("No agreement to show", why, keyed(fills))

    def _show_soon(self) -> None:
        """Show the body: means alone once their intervals have not come within `PATIENCE`, so that most charts are
        drawn once.
        """
        looked, found = self.looked, self.found
        alone = looked.without_intervals if found is None else not found.sure
        waits = looked.view == ALL and alone and not self._stopped
        self._held_back = waits and time.monotonic() - self._asked < PATIENCE
        if not self._held_back:
            self._show()

    def _show(self) -> None:
        """Show the body; a view that was hidden has a width only after the next layout."""
        self.query_one(Notice).hide()
        self.compared.display, self.view.display = self._compares, not self._compares
        self.call_after_refresh(self._draw_view)

    def _draw_view(self) -> None:
        looked, found, wanted = self.looked, self.found, self.wanted
        self.view.under_way = self.session.under_way
        self._draw_title()
        if not looked.of_sources:
            self.view.stopped = self._stopped
            if looked.at_hand:
                self.view.draw()
        elif found is not None and found.axis is not None and wanted is not None:
            self.view.draw_axis(found.axis, found.metrics, wanted.correction, found.further, sure=found.sure)
        elif found is not None:
            self.compared.show(found, self._sample)
            self.ask_text()
        panes = (self.view.forest, self.view.grid, self.compared.rows, self.compared.parts, self.compared.rules)
        if self.display and (
            self.screen.focused is None or (self.screen.focused in panes and not self._main.has_focus)
        ):
            self.focus_first()
        self.refresh_bindings()

    def _draw_title(self) -> None:
        """What is looked at, the how manieth it is, of how many runs; and the views."""
        looked = self.looked
        if looked.dataset is None:
            self.query_one("#results-title", Line).show([Part(" Results", "strong")])
            return
        named, at, of = looked.named
        left = (self.compared_heading() if looked.of_sources else [Part(f" {named}", "strong")]) or [Part(" ")]
        place = [Part(f"   {looked.thing} {at} of {of}", "dim")] if of > 1 else []
        if looked.runs and not looked.of_sources and looked.view != TRANSITIONS:
            place.append(Part(f"   just {so_many(len(looked.runs), 'run')}", "mark", "do('run')"))
        views = tabs(keyed("{view}"), looked.views, looked.view, self.size.width)
        if self.size.width - taken(views) - 1 < _SHORTEST_TITLE:
            views = tabs(keyed("{view}"), looked.views, looked.view, 0)
        room = self.size.width - taken(views) - 1
        place = place if room - taken(place) >= _SHORTEST_TITLE else []
        held = self._of_dataset(left, room - taken(place), named)
        if place and not named and self.query_one("#results-name", Line).display:
            # By which figure says more than the how manieth chart it is.
            place, held = [], self._of_dataset(left, room, named)
        left = [*fitted(held, room - taken(place)), *place]
        counting = Part("   counting…", "dim")
        if self._counts and taken([*left, counting, *views]) < self.size.width:
            left.append(counting)
        self.query_one("#results-title", Line).show(left, views)

    def _of_dataset(self, left: "Sequence[Part]", room: int, named: str) -> list[Part]:
        """The title behind the dataset, where there are several; what has no room beside it stands whole under it."""
        overview = self.session.overview
        several = overview.dataset is not None and len(overview.every) > 1
        of = [Part(f" {shown(overview.dataset.name)} ", "dim", "do('dataset')")] if several and overview.dataset else []
        both = [*of, *left]
        # Figures and notes say again what is grey, such as whose difference it is.
        while taken(both) > room and both[-1].kind == "dim" and len(both) > len(of) + 1:
            both.pop()
        line = self.query_one("#results-name", Line)
        line.display = taken(both) > room
        if not line.display:
            return both
        line.show([Part(f" {shown(named)}")] if named else left)
        # What stands whole under it does not stand beside the views too.
        return of or [Part(" Results", "strong")]

    def on_resize(self) -> None:
        if self.looked.at_hand or self.found is not None:
            self.call_after_refresh(self._draw_view)
            self.call_after_refresh(self._ask_for_room)

    def _ask_for_room(self) -> None:
        """Ask for what the axis has room for now and had none for."""
        found = self.found if self.looked.on_axis else None
        if found is not None and found.sure and len(found.further) < self.room_for_figures():
            self.compare()

    def room_for_figures(self) -> int:
        found, height = self._compared.get(ALL), self.size.height
        if found is None or found.axis is None or max((one.n for one in found.sources), default=0) > _MANY:
            return 0
        rows = len(found.axis.rows)
        return max(min((height - rows - _AROUND) // (rows + 2), len(found.metrics) - 1), 0)

    @on(Grid.Moved)
    @on(ForestRows.Moved)
    def _moved(self, event: Message) -> None:
        event.stop()
        self.ask_where_won(self.view.standing)
        self.refresh_bindings()

    def _tell_won(self, asked: Won, parts: "list[Sliced]") -> None:
        self.view.tell_won(asked.source, parts)

    # Keys.

    def doing(self, action: str) -> Callable[[], None] | None:
        """Beside two sources the list has the cursor; both are chosen where they are all that is shown."""
        looked, step = self.looked, {"pane": 1, "pane_back": -1}.get(action)
        if step is not None:
            return partial(self._move, step) if self._main.has_focus and self._further(step) else None
        of_list = looked.view == PAIR and action in (*_CURSOR, "export")
        against = looked.on_axis and action == "compare_with"
        elsewhere = (action in _OF_A and not self._compares and not against) or (
            action == "metric" and not looked.of_sources
        )
        return None if of_list or elsewhere else super().doing(action)

    def can(self, action: str) -> bool:
        """Most things need figures; counting can be stopped while it goes on."""
        if not super().can(action):
            return False
        looked, found = self.looked, self.found
        if action == "halt":
            # Of work that the top line tells of, that line says what stops it.
            return self._desk is not None and self._desk.busy and not self._stopped and self.session.job is None
        if action in ("pane", "pane_back"):
            return True
        if action in ("view", "view_back"):
            return self._desk is not None and looked.dataset is not None
        if action == "export":
            held = looked.tables_found
            return self.session.job is None and held is not None and bool(held.datasets)
        if action in ("next_table", "previous_table"):
            return self.pair is not None if looked.view == PAIR else looked.named[2] > 1
        if looked.of_sources:
            # By a figure that no source has there is nothing to see, but the next figure.
            past = action in ("figure", "figure_back") and looked.most > 0
            return found is not None and (past or not found.why) and self._can_compare(action)
        return bool(looked.at_hand) and self._can_count(action)

    def lacking(self, action: str) -> str:
        """What is on its way and not here yet."""
        if action == "correction" and self._counts and self.looked.of_sources and self.looked.view != PAIR:
            return "the tests are still being counted"
        if action == "samples" and self.looked.on_axis:
            return "the others stand against this one: on a row of theirs it opens both, text by text"
        return super().lacking(action)

    def worded(self, action: str) -> str:
        return self.looked.thing if action == "next_table" else super().worded(action)

    def _can_compare(self, action: str) -> bool:
        looked, source = self.looked, self.view.standing
        if action in ("figure", "figure_back", "published"):
            return looked.on_axis
        if action == "compare_with" and looked.on_axis:
            return self.found is not None and len(self.found.sources) > 1
        if action == "samples" and looked.on_axis:
            return source is not None and source.off is not None
        return action != "values"

    def _can_count(self, action: str) -> bool:
        looked = self.looked
        bars = looked.view == GROUPS
        if action == "values":
            table = looked.table
            drawn = looked.view in (TABLES, AGREEMENT) and table is not None and (table.heat or table.plot is not None)
            return drawn or looked.view == TRANSITIONS
        if action in ("figure", "figure_back"):
            return looked.drawn is not None if looked.view == ALL else self.view.grid.display
        if action in _CURSOR:
            return not bars and looked.plotted is None
        if action == "published":
            return looked.publishes
        if action == "samples":
            picked = self.view.cell
            return bars or looked.plotted is not None or (picked is not None and bool(picked[2].samples))
        return True

    def tell(self, what: str, value: object) -> None:
        if what == "view" and value in self.looked.views:
            self._turn_to(str(value))
        elif what == "figure" and isinstance(value, int):
            found = self.found
            if found is not None and found.axis is not None:
                self._chosen("metric", found.metrics[value].name)
            else:
                self.looked.turn_figure(value - self.looked.figure_at)
                self.draw()

    def _turn_to(self, view: str) -> None:
        """Show a view; from a source the tables open at its figure, and two with that source as B."""
        looked, point, source = self.looked, self.view.forest.picked, self.view.standing
        here = looked.turn_to_table(point) if view == TABLES and looked.view == ALL else None
        axis = looked.against
        if looked.view == ALL and self.wanted is not None:
            # What sources stood by holds in the other views too.
            forest = None if looked.on_axis else looked.forest
            kept = self.wanted.metric if forest is None else ""
            self.wanted = replace(self.wanted, metric=kept, figure="" if forest is None else forest.figure)
        if (
            view == PAIR
            and source is not None
            and source.off is not None
            and self.wanted is not None
            and axis is not None
        ):
            # Whom all stand against is no choice: the run that is being made takes that place once it has answered.
            apart = self.wanted.shown in looked.few
            self.wanted = replace(self.wanted, first=axis.first if apart else self.wanted.first, second=source.key)
        looked.view, self._stopped = view, False
        if here is not None:
            self.view.grid.begin_at(*here)
        if self.alone != (view != PAIR):
            self.alone = view != PAIR
            self.post_message(self.Secluded())
        self.compare()
        self._look()
        self.focus_soon()

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
        self._main.action_page(1)

    def do_page_up(self) -> None:
        self._main.action_page(-1)

    def do_first(self) -> None:
        self._move(-_ALL)

    def do_last(self) -> None:
        self._move(_ALL)

    def _further(self, step: int) -> bool:
        """Is there a row after the cursor's, or before it?"""
        main = self._main
        if isinstance(main, Grid):
            return 0 <= main.row + step < (0 if main.table is None else len(main.table.rows))
        if isinstance(main, DifferenceRows):
            return False
        return 0 <= main.cursor + step < len(main.rows)

    def _move(self, rows: int) -> None:
        main = self._main
        if isinstance(main, PickedRows):
            main.action_pick(rows)
        elif isinstance(main, ForestRows):
            main.action_move(rows)
        elif isinstance(main, Grid):
            main.action_move(rows, 0)

    def do_figure(self) -> None:
        """The sources by another figure; in a table the next cell of the row."""
        self._turn_figure(1)

    def do_figure_back(self) -> None:
        self._turn_figure(-1)

    def _turn_figure(self, step: int) -> None:
        if self.looked.on_axis:
            self.turn_metric(step)
        elif self.looked.view == ALL:
            self.looked.turn_figure(step)
            self.draw()
        else:
            self.view.grid.action_move(0, step)

    def do_next_table(self) -> None:
        self._turn_table(1)

    def do_previous_table(self) -> None:
        self._turn_table(-1)

    def _turn_table(self, step: int) -> None:
        """Another table, plot or heatmap; of two sources another sample in which they differ."""
        if self.looked.view == PAIR:
            self.walk(step)
        else:
            self.looked.turn(step)
            self.compare()
            self._look()

    def do_published(self) -> None:
        """Show the papers' own rows too, or no longer; the view is one that has any."""
        looked = self.looked
        looked.publish(not looked.published)
        self._turn(papers=looked.published)
        if looked.view != ALL:
            looked.view = TABLES
        self._look()

    def can_method(self) -> bool:
        return (
            self.looked.has_method
            and self.looked.plotted is None
            and (self.looked.view != ALL or bool(self.view.known))
        )

    def do_method(self) -> None:
        """Say all of how the figures were counted, or a line; of sources on an axis on a sheet."""
        if self.looked.view == ALL:
            drawn = self.looked.drawn
            told = [*self.view.known, *(DIFFERENCES if drawn is None else drawn.notes)]
            self.app.push_screen(MethodDialog("How these figures were counted", list(dict.fromkeys(told))))
            return
        self.looked.in_full = not self.looked.in_full
        self.compared.in_full = self.looked.in_full
        self.draw()

    def do_values(self) -> None:
        """A table as numbers or as points or shades; transitions begin as numbers."""
        if self.looked.view == TRANSITIONS:
            self.view.shades = not self.view.shades
        else:
            self.looked.pictured = not self.looked.pictured
        self.draw()
        self.focus_soon()

    def do_samples(self) -> None:
        """Browse the samples behind the figure; of all sources compare the picked one; from bars or points go to
        their figures.
        """
        looked, source = self.looked, self.view.standing
        if looked.on_axis:
            if source is not None:
                self._turn_to(PAIR)
            return
        if looked.of_sources:
            self.open_rows()
            return
        if looked.plotted is not None:
            self.do_values()
            return
        by = looked.turn_to_figures()
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
