"""What the Results place looks at and what it has got: which view, which table of it, and what is still to be asked."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from emotui.screens.results.cells import bare
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.tables import FEW, Cell
from emotui.workbench.results.forests import Forest, Point, figures_of, forest_of

if TYPE_CHECKING:
    from emotui.tables import Bars, ResultsTable, Row, Transitions
    from emotui.workbench.compare.pairs import Axis
    from emotui.workbench.results.service import Results

# What the Results place asks for, and how far the counting is.

MEANS = "means"

_STEPS = {"answers": "answers read", "baselines": "samples scored for a baseline"}


class Counting:
    """Asked by the service again and again whether to stop, and told how far it is."""

    def __init__(self) -> None:
        self._far = ("answers", 0, 0)
        self._over = threading.Event()

    def __call__(self) -> bool:
        """Whether it is to stop."""
        return self._over.is_set()

    def stop(self) -> None:
        """Let it stop soon."""
        self._over.set()

    def tell(self, step: str, so_far: int, n: int) -> None:
        self._far = (step, so_far, n)

    @property
    def words(self) -> str:
        """How far it is."""
        step, so_far, n = self._far
        what = _STEPS.get(step, "annotated samples scored")
        return f"{count(so_far)} of {count(n)} {what}" if n else f"no {what} yet"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One of the things that can be asked of results. `what`: means, tables, bars, transitions or agreement.

    `runs`: just these; empty: the newest of each model and setting.
    `whole`: whether what takes longer is in the tables too: the Sim of annotators, for which the embedded model is
    loaded, and the baselines.
    """

    dataset: int
    what: str
    part: str = ""
    by: str = ""
    figure: str = ""
    whole: bool = False
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What is wanted, and what stops the counting."""

    wanted: Wanted
    counting: Counting = field(compare=False)


@dataclass(frozen=True, slots=True)
class Found:
    """What came back. `value` None: it was stopped. `datasets`: the name of the dataset of each run in the tables."""

    wanted: Wanted
    value: "tuple[ResultsTable, ...] | Bars | Transitions | None"
    datasets: dict[str, str] = field(default_factory=dict)


def ask(results: "Results", question: Question) -> Found:
    """Count, or take what is counted already.

    Raises:
        EmotuiError: it cannot be counted.
    """
    from emotui.workbench.progress import Cancelled

    wanted, counting = question.wanted, question.counting
    dataset, runs = wanted.dataset, wanted.runs or None
    try:
        if wanted.what == MEANS:
            return Found(wanted, results.means(dataset, runs))
        if wanted.what == "bars":
            named = {"part": wanted.part, "by": wanted.by, "figure": wanted.figure}
            return Found(wanted, results.bars(dataset, runs, **named, cancelled=counting))
        if wanted.what == "agreement":
            return Found(wanted, results.agreement(dataset, wanted.runs, cancelled=counting))
        if wanted.what == "transitions":
            return Found(wanted, results.transitions(dataset, wanted.by, cancelled=counting))
        tables = results.tables(
            dataset,
            runs,
            sim=wanted.whole,
            baselines=None if wanted.whole else False,
            published=None,
            cancelled=counting,
            on_step=counting.tell,
        )
        return Found(wanted, tables, _datasets(results, tables))
    except Cancelled:
        return Found(wanted, None)


def _datasets(results: "Results", tables: "tuple[ResultsTable, ...]") -> dict[str, str]:
    """Experiments are counted beside the dataset, and their runs are over datasets of their own."""
    runs = {cell.run for table in tables for row in table.rows for cell in row.cells if cell.run}
    with results.store.together():
        return {run: name for run in runs if (name := results.dataset_of(run)) is not None}


ALL, PAIR, GROUPS, RULES = "all", "two", "by group", "rules"
TABLES, TRANSITIONS, AGREEMENT = "table", "transitions", "agreement"
VIEWS = (ALL, PAIR, GROUPS, RULES, TABLES, TRANSITIONS, AGREEMENT)
BY = ("emotion", "valence")
_PARTS = ("task-1", "task-2")
_FIGURES = {"f1": "F1", "sim": "Sim"}
_OF_SENTENCES = {"precision": "P", "recall": "R"}
"""Means over samples; passages have none by sentence."""

_LONGER = ("people", "run")
"""Rows with which something stands that takes longer: annotators' Sim, and baselines under runs."""


def _aside(name: str, value: object, texts: str) -> str:
    return f"{name} {bare(value) if isinstance(value, int | float) else UNDEFINED} ({texts})"


def _longer(tables: object) -> bool:
    """Does anything stand in these tables with which something comes later?"""
    return isinstance(tables, tuple) and any(row.kind in _LONGER for table in tables for row in table.rows)


HELD = "…"
"""In place of a figure that would still change."""

STILL_COUNTED = f"{HELD} is still being counted: figures of annotators depend on the embedded model."


def held_back(table: "ResultsTable") -> "ResultsTable":
    """The table without the figures of annotators together: which of them matches gold best is settled by their Sim
    too. What one of them answered here is scored already.
    """

    def changes(row: "Row") -> bool:
        return row.kind == "people" and not row.of_runs

    if not any(map(changes, table.rows)):
        return table
    cell = Cell(HELD, note=STILL_COUNTED)
    rows = tuple(
        replace(row, cells=tuple(cell if one.asked else one for one in row.cells)) if changes(row) else row
        for row in table.rows
    )
    return replace(table, rows=rows, ranges=(), notes=(STILL_COUNTED, *table.notes))


class Looked:
    """Plain state, without a widget. What was found stays at hand, if stale, until something fresher comes.

    `run`: the one over the list. `people`: the runs that are people's; `few`: those over fewer than ten texts, where
    others are over more, by what is said of them. `figure`: by which figure sources stand on one axis, where one was
    chosen. `against`: all sources against one, by one metric; None: nobody knows yet, and without a row there is no
    such thing. `most`: of how many sources the dataset has a figure, by whichever: some have not all of them.
    `pictured`: tables are drawn as points or shades, where they can be. `in_full`: all is told
    of how figures were counted, and not a line.
    """

    def __init__(self) -> None:
        self.dataset: int | None = None
        self.of_spans = True
        self.runs: tuple[str, ...] = ()
        self.run: str | None = None
        self.people: frozenset[str] = frozenset()
        self.few: dict[str, str] = {}
        self.published = False
        self.pictured = True
        self.in_full = False
        self.view = VIEWS[0]
        self.figure = ""
        self.against: Axis | None = None
        self.most = 0
        self.at = dict.fromkeys(VIEWS, 0)
        self._found: dict[Wanted, Found] = {}
        self._fresh: set[Wanted] = set()
        self._shown: dict[tuple[Wanted, bool], tuple[ResultsTable, ...]] = {}
        self._sources: tuple[tuple[ResultsTable, ...], tuple[ResultsTable, ...]] = ((), ())

    @property
    def views(self) -> tuple[str, ...]:
        """Those that there are: transitions are of spans."""
        return VIEWS if self.of_spans else tuple(view for view in VIEWS if view != TRANSITIONS)

    @property
    def on_axis(self) -> bool:
        """Are all sources looked at by one metric, against one of them?"""
        return self.view == ALL and self._at_axis

    @property
    def _at_axis(self) -> bool:
        """Is it the axis that is looked at in the view of all sources, whichever view is open?"""
        return self._has_axis and self.at[ALL] % (1 + len(self.sources or ())) == self._axis_at

    @property
    def _has_axis(self) -> bool:
        """Is there an axis, or does nobody know yet?"""
        return self.against is None or self.most > 0 or bool(self.against.rows)

    @property
    def lonely(self) -> bool:
        """Does a single source stand on the axis? The tables say more of it: they have baselines."""
        return self.against is not None and self.most == 1

    def hold(self, axis: "Axis | None", further: "Sequence[Axis]" = (), *, first: bool = False) -> None:
        """Look at all sources as they stand on this axis, or, None, forget them.

        Args:
            further: the same sources by other metrics.
            first: it is by the metric that each of them has.
        """
        self.most = 0 if axis is None or first else self.most
        self.against = axis
        for one in () if axis is None else (axis, *further):
            self.most = max(self.most, sum(not row.published for row in one.rows))

    @property
    def _axis_at(self) -> int:
        """At which place of the view the axis stands: before the tables, or behind them."""
        return len(self.sources or ()) if self.lonely else 0

    @property
    def in_parts(self) -> bool:
        """Are the parts of the dataset looked at, and no bars?"""
        return self.view == GROUPS and self.at[GROUPS] % (1 + len(self.bars_there)) == 0

    @property
    def of_sources(self) -> bool:
        """Is what is looked at a comparison, and not counted into tables?"""
        return self.view in (PAIR, RULES) or self.on_axis or self.in_parts

    @property
    def publishes(self) -> bool:
        """Whether a paper's own rows stand beside, or might."""
        return self.on_axis or self.of_spans or self.published or any(table.left_out for table in self.tables or ())

    @property
    def plotted(self) -> "ResultsTable | None":
        """The table that is looked at, where it is drawn as points."""
        table = self.table if self.view == TABLES and self.pictured else None
        return table if table is not None and table.plot is not None else None

    @property
    def has_method(self) -> bool:
        """Is there more to say of how it was counted than a line?"""
        return (
            self.view == ALL or (self.of_sources and self.view in (GROUPS, RULES)) or self.view in (TABLES, AGREEMENT)
        )

    def begin(self, dataset: int | None) -> None:
        """Look at this dataset; another one than before is looked at from its first figure on."""
        if dataset != self.dataset:
            self.at[ALL] = 0
        self.dataset = dataset

    def outdate(self) -> None:
        """Nothing that was found is fresh any more."""
        self._fresh.clear()

    def take(self, found: Found) -> None:
        """Keep what came; the same tables are looked at, wherever they now stand."""
        before = self._keys
        self._found[found.wanted] = found
        self._fresh.add(found.wanted)
        self._shown.clear()
        self._stay_at(*before)

    def publish(self, published: bool) -> None:
        """Show the papers' own rows, or no longer."""
        before = self._keys
        self.published = published
        self._stay_at(*before)

    @property
    def _keys(self) -> tuple[str | None, str | None]:
        """Of the table whose sources are looked at, and of the one in the view of tables."""
        tables = self.tables
        return (
            None if self.drawn is None else self.drawn.key,
            tables[self.at[TABLES] % len(tables)].key if tables else None,
        )

    def _stay_at(self, source: str | None, table: str | None) -> None:
        for view, key, tables, first in ((ALL, source, self.sources, self._first), (TABLES, table, self.tables, 0)):
            keys = [one.key for one in tables or ()]
            if key in keys:
                self.at[view] = keys.index(key) + first

    def fresh(self, wanted: Wanted) -> bool:
        """Is it at hand as it is now?"""
        return wanted in self._fresh

    def wanted(self) -> Wanted | None:
        """What the view needs; None where there is no such thing. Tables come first: they tell which parts there are.

        Before the tables, the means are asked for, which take no time. Tables of spans are asked for twice: at first
        without what takes longer.
        """
        if self.dataset is None:
            return None
        if self.view == AGREEMENT:
            return Wanted(self.dataset, AGREEMENT, runs=self.runs)
        if self.view in (PAIR, RULES):
            return None
        if self.view == ALL and self.tables is None and self._means not in self._fresh:
            return self._means
        if self.view in (ALL, TABLES) or self.tables is None:
            found = self.tables_found
            whole = self.of_spans and found is not None and _longer(found.value)
            return Wanted(self.dataset, "tables", whole=whole, runs=self.runs)
        if self.view == TRANSITIONS:
            return Wanted(self.dataset, TRANSITIONS, by=BY[self.at[TRANSITIONS] % len(BY)])
        bars = self._bars
        if bars is None:
            return None
        part, by, figure = bars
        return Wanted(self.dataset, "bars", part, by, figure, runs=self.runs)

    @property
    def _bars(self) -> tuple[str, str, str] | None:
        """Part, by and figure of the bars that are looked at."""
        there = self.bars_there
        at = self.at[GROUPS] % (1 + len(there))
        return there[at - 1] if self.view == GROUPS and at else None

    @property
    def _means(self) -> Wanted:
        assert self.dataset is not None
        return Wanted(self.dataset, MEANS, runs=self.runs)

    @property
    def tables_found(self) -> Found | None:
        """The best that there is of the tables: until those that are wanted come, the others stay."""
        if self.dataset is None:
            return None
        for whole in (True, False):
            found = self._found.get(Wanted(self.dataset, "tables", whole=whole, runs=self.runs))
            if found is not None:
                return found
        return None

    @property
    def tables(self) -> "tuple[ResultsTable, ...] | None":
        """All tables, with the published rows or without them."""
        found = self.tables_found
        if found is None or not isinstance(found.value, tuple):
            return None
        key = found.wanted, self.published
        if key not in self._shown:
            shown = (table.shown(published=self.published) for table in found.value)
            if self.provisional:
                shown = (held_back(table) for table in shown)
            self._shown[key] = tuple(table for table in shown if table.rows)
        return self._shown[key]

    @property
    def in_kinds(self) -> "tuple[ResultsTable, ...]":
        """The tables of either kind of texts, of one sentence and of several, where the dataset has both."""
        kinds = tuple(table for table in self.tables or () if table.key in _PARTS)
        return kinds if len(kinds) > 1 else ()

    @property
    def provisional(self) -> bool:
        """Are the tables at hand those without what takes longer, which changes figures of people?"""
        found = self.tables_found
        return found is not None and self.of_spans and not found.wanted.whole and _longer(found.value)

    @property
    def sources(self) -> "tuple[ResultsTable, ...] | None":
        """The tables whose sources stand on an axis, or their means while those are still counted."""
        if self.dataset is None:
            return None
        tables = self.tables
        if tables is None:
            found = self._found.get(self._means)
            tables = found.value if found is not None and isinstance(found.value, tuple) else None
            if not tables:
                return None
        if self._sources[0] is not tables:
            self._sources = tables, tuple(table for table in tables if figures_of(table))
        return self._sources[1]

    @property
    def without_intervals(self) -> bool:
        """Whether means are at hand and the tables are not."""
        return self.tables is None and self.sources is not None

    @property
    def drawn(self) -> "ResultsTable | None":
        """The table whose sources are looked at."""
        there = self.sources
        if not there or self._at_axis:
            return None
        return there[self.at[ALL] % (self._has_axis + len(there)) - self._first]

    @property
    def _first(self) -> int:
        """At which place of the view its tables begin: behind the axis, where that stands before them."""
        return 0 if self.lonely or not self._has_axis else 1

    @property
    def forest(self) -> Forest | None:
        """Its sources by the figure that was chosen, or else its first."""
        table = self.drawn
        if table is None:
            return None
        return self._forest_of(table, self._figure_of(table))

    def _figure_of(self, table: "ResultsTable") -> str:
        known = figures_of(table)
        return self.figure if self.figure in known else known[0]

    def _forest_of(self, table: "ResultsTable", figure: str) -> Forest:
        """The sources of a table by a figure, without those that stand aside."""
        rows = (
            replace(
                row, cells=tuple(Cell() if self._of_few(row) or self.aside(cell.run) else cell for cell in row.cells)
            )
            for row in table.rows
        )
        return forest_of(replace(table, rows=tuple(rows)) if self.few else table, figure, self.people)

    @property
    def asides(self) -> list[str]:
        """The sources that stand aside: their name, figure and how many texts they are over."""
        if self.on_axis:
            held = self.against
            rows = [row for row in held.rows if self.aside(row.key) and row.key != held.first] if held else []
            return [_aside(row.name, row.mean, self.few[row.key]) for row in rows]
        table = self.drawn
        if table is None:
            return []
        points = forest_of(table, self._figure_of(table)).points
        return [
            _aside(one.label, one.cell.value, self.few[one.cell.run or ""])
            for one in points
            if self.aside(one.cell.run)
        ]

    def aside(self, run: str | None) -> bool:
        """Does a source say too little to stand on an axis with others? One that was chosen does not."""
        return run in self.few and run not in self.runs

    def _of_few(self, row: "Row") -> bool:
        """Is it a baseline of nothing but sources that stand aside?"""
        return 0 < row.n < FEW and all(map(self.aside, self.few))

    @property
    def other_forests(self) -> list[Forest]:
        """The same sources by the other figures of their table, in their order."""
        table, forest = self.drawn, self.forest
        if table is None or forest is None:
            return []
        return [self._forest_of(table, one) for one in figures_of(table) if one != forest.figure]

    @property
    def figure_at(self) -> int:
        """The place of the figure among those of its table."""
        table, forest = self.drawn, self.forest
        return 0 if table is None or forest is None else figures_of(table).index(forest.figure)

    def turn_figure(self, step: int) -> None:
        """The sources by the next figure of their table, or by the one before (-1)."""
        table, forest = self.drawn, self.forest
        if table is not None and forest is not None:
            known = figures_of(table)
            self.figure = known[(known.index(forest.figure) + step) % len(known)]

    def turn_to_table(self, point: Point | None) -> tuple[str, str] | None:
        """From a source to the figure of it in its table; says in which row and column, by their label and key."""
        drawn, tables = self.drawn, self.tables or ()
        if drawn is None or drawn not in tables:
            return None
        self.at[TABLES] = tables.index(drawn)
        return None if point is None else (point.label, drawn.columns[point.column].key)

    @property
    def agreement(self) -> "tuple[ResultsTable, ...] | None":
        """The tables of agreement."""
        found = None if self.dataset is None else self._found.get(Wanted(self.dataset, AGREEMENT, runs=self.runs))
        return found.value if found is not None and isinstance(found.value, tuple) else None

    @property
    def gold_agrees(self) -> bool:
        """Is gold among those whose agreement is counted?"""
        return any(row.label.startswith("gold and ") for table in self.agreement or () for row in table.rows) or any(
            table.title.startswith("Agreement of gold") for table in self.agreement or ()
        )

    @property
    def at_hand(self) -> "tuple[ResultsTable, ...] | None":
        """The tables that the view is made of; None where they have not come."""
        if self.view == ALL and self.without_intervals:
            return self.sources
        return self.agreement if self.view == AGREEMENT else self.tables

    @property
    def table(self) -> "ResultsTable | None":
        """The table that is looked at; sources stand in the order that they have on the axis."""
        view = AGREEMENT if self.view == AGREEMENT else TABLES
        table = self.at_hand[self.at[view] % len(self.at_hand)] if self.at_hand else None
        return table if table is None or self.view == AGREEMENT else self._as_on_axis(table)

    def _as_on_axis(self, table: "ResultsTable") -> "ResultsTable":
        """Rows of a kind by the figure by which sources stand there, the best first; without it last.

        What is another reading of a run stands under it, wherever that comes.
        """
        if not figures_of(table):
            return table
        points = self._forest_of(table, self._figure_of(table)).points
        places = {point.row: at for at, point in reversed(tuple(enumerate(points)))}
        kinds = list(dict.fromkeys(row.kind for row in table.rows))
        order = sorted(
            _with_what_follows(table.rows),
            key=lambda held: (kinds.index(table.rows[held[0]].kind), places.get(held[0], len(points))),
        )
        return replace(table, rows=tuple(table.rows[at] for held in order for at in held))

    @property
    def undefined(self) -> str:
        """Why nothing agrees with anything here, where that is all that the view of agreement could say."""
        tables = (self.agreement or ()) if self.view == AGREEMENT else ()
        cells = [cell for table in tables for row in table.rows for cell in row.cells]
        return (cells[0].why or "") if cells and all(cell.value is None for cell in cells) else ""

    @property
    def raters_agree(self) -> str:
        """The title of the table that says how far raters agree; empty: there is none."""
        return next((one.title for one in self.tables or () if "agreement" in [col.key for col in one.columns]), "")

    @property
    def bars_there(self) -> list[tuple[str, str, str]]:
        """Part, by and figure of all bars that there are."""
        keys = {table.key for table in self.tables or ()}
        return [(part, by, figure) for part in _PARTS if part in keys for figure in self._metrics(part) for by in BY]

    def _metrics(self, part: str) -> dict[str, str]:
        """The metrics that have values by label: name to title. Passages have F1 and Sim alone by sentence."""
        further = [table for table in self.tables or () if table.key == "metrics-task-1" and part == "task-1"]
        own = _FIGURES | (_OF_SENTENCES if part == "task-1" else {})
        return own | {column.key: column.title for table in further for column in table.columns[1:]}

    @property
    def shown(self) -> "tuple[ResultsTable, ...] | Bars | Transitions | None":
        """Bars or transitions that are looked at, where they are at hand."""
        wanted = self.wanted()
        found = None if wanted is None else self._found.get(wanted)
        return None if found is None else found.value

    @property
    def named(self) -> tuple[str, int, int]:
        """What is looked at, the how manieth it is of its view, and of how many."""
        at, tables = self.at[self.view], self.tables or ()
        if self.view == AGREEMENT:
            tables = self.agreement or ()
        if self.view == ALL:
            of = max(self._has_axis + len(self.sources or ()), 1)
            return ("" if self.drawn is None else self.drawn.title), at % of + 1, of
        if self.view in (TABLES, AGREEMENT):
            of = max(len(tables), 1)
            return (tables[at % of].title if tables else self.view.capitalize()), at % of + 1, of
        if self.view == TRANSITIONS:
            return f"From one sentence to the next, by {BY[at % len(BY)]}", at % len(BY) + 1, len(BY)
        bars, of = self._bars, 1 + len(self.bars_there)
        if self.view != GROUPS or bars is None:
            return "", at % of + 1 if self.view == GROUPS else 1, of if self.view == GROUPS else 1
        part, by, figure = bars
        title = next(table.title for table in tables if table.key == part)
        return f"{title}: {self._metrics(part)[figure]} by {by}", at % of + 1, of

    @property
    def thing(self) -> str:
        """What there are several of in a view, and n and p go through: texts, tables, or what is drawn."""
        if self.view == PAIR:
            return "text"
        return "table" if self.view in (TABLES, AGREEMENT, TRANSITIONS) else "chart"

    def turn_to_figures(self) -> str | None:
        """From bars to the table that holds F1 of the same labels; says of what: emotion or valence."""
        bars = self._bars
        if bars is None:
            return None
        part, by, _ = bars
        keys = [table.key for table in self.tables or ()]
        self.view, self.at[TABLES] = TABLES, keys.index(f"labels-{part}")
        return by

    def turn(self, step: int) -> None:
        """The next thing of the view (1), or the one before (-1)."""
        _, at, of = self.named
        self.at[self.view] = (at - 1 + step) % of


def _with_what_follows(rows: "Sequence[Row]") -> list[list[int]]:
    """The places of rows, each with those behind it that are of the same run, such as under other thresholds."""
    found: list[list[int]] = []
    for at, row in enumerate(rows):
        before = rows[at - 1] if at else None
        same = before is not None and before.kind == row.kind and row.of_runs and before.source == row.source
        if same:
            found[-1].append(at)
        else:
            found.append([at])
    return found
