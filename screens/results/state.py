"""What the Results place looks at and what it has got: which view, which table of it, and what is still to be asked."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emotui.screens.widgets.number_format import count
from emotui.workbench.results.forests import Forest, Point, figures_of, forest_of

if TYPE_CHECKING:
    from emotui.tables import Bars, ResultsTable, Transitions
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


FOREST = "forest"
VIEWS = (FOREST, "tables", "bars", "transitions")
SCATTER = "scatter"
AGREEMENT = "agreement"
BY = ("emotion", "valence")
_PARTS = ("task-1", "task-2")
_FIGURES = {"f1": "F1", "sim": "Sim"}
_OF_SENTENCES = {"precision": "Prec", "recall": "Rec"}
"""Means over samples; passages have none by sentence."""

_LONGER = ("people", "run")
"""Rows with which something stands that takes longer: annotators' Sim, and baselines under runs."""


class Looked:
    """Plain state, without a widget. What was found stays at hand, if stale, until something fresher comes.

    `people`: the runs that are people's. `figure`: by which figure sources stand on one axis, where one was chosen.
    """

    def __init__(self) -> None:
        self.dataset: int | None = None
        self.of_spans = True
        self.runs: tuple[str, ...] = ()
        self.people: frozenset[str] = frozenset()
        self.published = False
        self.view = VIEWS[0]
        self.figure = ""
        self.at = dict.fromkeys((*VIEWS, SCATTER, AGREEMENT), 0)
        self._found: dict[Wanted, Found] = {}
        self._fresh: set[Wanted] = set()
        self._shown: dict[tuple[Wanted, bool], tuple[ResultsTable, ...]] = {}

    @property
    def views(self) -> tuple[str, ...]:
        """Those that there are: bars and transitions are of spans, points of numbers; agreement is of all."""
        own = VIEWS if self.of_spans else (*VIEWS[:2], SCATTER) if self.plots_there else VIEWS[:2]
        return *own, AGREEMENT

    @property
    def plots_there(self) -> "list[tuple[int, ResultsTable]]":
        """The tables that can be drawn as points, each with its place among all."""
        return [(at, table) for at, table in enumerate(self.tables or ()) if table.plot is not None]

    @property
    def publishes(self) -> bool:
        """Whether a paper's own rows stand beside, or might."""
        return self.of_spans or self.published or any(table.left_out for table in self.tables or ())

    @property
    def plotted(self) -> "ResultsTable | None":
        """The one of them that is looked at."""
        there = self.plots_there
        return there[self.at[SCATTER] % len(there)][1] if there else None

    def outdate(self) -> None:
        """Nothing that was found is fresh any more."""
        self._fresh.clear()

    def take(self, found: Found) -> None:
        """Keep what came; the same table is looked at, wherever it now stands."""
        before = None if self.drawn is None else self.drawn.key
        self._found[found.wanted] = found
        self._fresh.add(found.wanted)
        self._shown.clear()
        self._stay_at(before)

    def publish(self, published: bool) -> None:
        """Show the papers' own rows, or no longer."""
        before = None if self.drawn is None else self.drawn.key
        self.published = published
        self._stay_at(before)

    def _stay_at(self, key: str | None) -> None:
        keys = [table.key for table in self.sources or ()]
        if key in keys:
            self.at[FOREST] = keys.index(key)

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
        if self.view == FOREST and self.tables is None and self._means not in self._fresh:
            return self._means
        if self.view in (FOREST, "tables", SCATTER) or self.tables is None:
            whole = self.of_spans and any(row.kind in _LONGER for table in self.tables or () for row in table.rows)
            return Wanted(self.dataset, "tables", whole=whole, runs=self.runs)
        if self.view == "transitions":
            return Wanted(self.dataset, "transitions", by=BY[self.at["transitions"] % len(BY)])
        if not self.bars_there:
            return None
        part, by, figure = self.bars_there[self.at["bars"] % len(self.bars_there)]
        return Wanted(self.dataset, "bars", part, by, figure, runs=self.runs)

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
            self._shown[key] = tuple(table for table in shown if table.rows)
        return self._shown[key]

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
        return tuple(table for table in tables if figures_of(table))

    @property
    def without_intervals(self) -> bool:
        """Whether means are at hand and the tables are not."""
        return self.tables is None and self.sources is not None

    @property
    def drawn(self) -> "ResultsTable | None":
        """The table whose sources are looked at."""
        there = self.sources
        return there[self.at[FOREST] % len(there)] if there else None

    @property
    def forest(self) -> Forest | None:
        """Its sources by the figure that was chosen, or else its first."""
        table = self.drawn
        if table is None:
            return None
        known = figures_of(table)
        return forest_of(table, self.figure if self.figure in known else known[0], self.people)

    @property
    def other_forests(self) -> list[Forest]:
        """The same sources by the other figures of their table, in their order."""
        table, forest = self.drawn, self.forest
        if table is None or forest is None:
            return []
        return [forest_of(table, one, self.people) for one in figures_of(table) if one != forest.figure]

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
        self.at["tables"] = tables.index(drawn)
        return None if point is None else (point.label, drawn.columns[point.column].key)

    @property
    def agreement(self) -> "tuple[ResultsTable, ...] | None":
        """The tables of agreement."""
        found = None if self.dataset is None else self._found.get(Wanted(self.dataset, AGREEMENT, runs=self.runs))
        return found.value if found is not None and isinstance(found.value, tuple) else None

    @property
    def at_hand(self) -> "tuple[ResultsTable, ...] | None":
        """The tables that the view is made of; None where they have not come."""
        if self.view == FOREST and self.without_intervals:
            return self.sources
        return self.agreement if self.view == AGREEMENT else self.tables

    @property
    def table(self) -> "ResultsTable | None":
        """The table that is looked at."""
        view = AGREEMENT if self.view == AGREEMENT else "tables"
        return self.at_hand[self.at[view] % len(self.at_hand)] if self.at_hand else None

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
        if self.view == FOREST:
            of = max(len(self.sources or ()), 1)
            return ("" if self.drawn is None else self.drawn.title), at % of + 1, of
        if self.view in ("tables", AGREEMENT):
            of = max(len(tables), 1)
            return (tables[at % of].title if tables else self.view.capitalize()), at % of + 1, of
        if self.view == "transitions":
            return f"From one sentence to the next, by {BY[at % len(BY)]}", at % len(BY) + 1, len(BY)
        if self.view == SCATTER:
            of = max(len(self.plots_there), 1)
            return (self.plotted.title if self.plotted else "Points"), at % of + 1, of
        there = self.bars_there
        if not there:
            return "Bars", 1, 1
        part, by, figure = there[at % len(there)]
        title = next(table.title for table in tables if table.key == part)
        return f"{title}: {self._metrics(part)[figure]} by {by}", at % len(there) + 1, len(there)

    def turn_to_figures(self) -> str | None:
        """From bars to the table that holds F1 of the same labels; says of what: emotion or valence."""
        there = self.bars_there
        if self.view != "bars" or not there:
            return None
        part, by, _ = there[self.at["bars"] % len(there)]
        keys = [table.key for table in self.tables or ()]
        self.view, self.at["tables"] = "tables", keys.index(f"labels-{part}")
        return by

    def turn_to_plane(self) -> None:
        """From points to the table that counts the same ones."""
        there = self.plots_there
        if there:
            self.at["tables"] = there[self.at[SCATTER] % len(there)][0]
        self.view = "tables"

    def turn(self, step: int) -> None:
        """The next thing of the view (1), or the one before (-1)."""
        _, at, of = self.named
        self.at[self.view] = (at - 1 + step) % of
