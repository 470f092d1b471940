"""What Results asks of comparisons: two sources, many on one axis, parts and rules, or what two mark in a text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from emotui.screens.results.state import ALL, GROUPS, RULES
from emotui.tables import FEW

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.metrics.significance import Correction
    from emotui.workbench.compare.pairs import Axis, Comparing, Marks, Pair
    from emotui.workbench.compare.sources import Compared
    from emotui.workbench.slices.facets import Bools
    from emotui.workbench.slices.slicing import Findings, Parts, Sliced, Slicing

HOLM: "Correction" = "holm"
DISCOVERIES: "Correction" = "benjamini-hochberg"


_MOST_PARTS = 3
"""Parts that are named where a source wins most."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be shown of a dataset. `first`, `second`: keys of sources, empty for the usual ones.

    `correction`: of a family of tests. `alone`: whether slices and rules are of the first source alone. `within`:
    the name of a saved slice, of which alone the samples are compared; empty: all are. `quick`: of all sources on one
    axis means alone, without intervals and tests. `further`: by so many other metrics too. `shown`: the run over the
    list, and `beside` those ticked, which are compared where nothing was chosen. `task`: which that run answers, where
    that is another one than the dataset came for; None: that one.
    """

    dataset: int
    view: str
    first: str = ""
    second: str = ""
    metric: str = ""
    papers: bool = False
    alone: bool = False
    within: str = ""
    correction: "Correction" = HOLM
    quick: bool = False
    further: int = 0
    shown: str = ""
    beside: tuple[str, ...] = ()
    task: str | None = None
    awaits: str = ""
    figure: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What came back: `figures`: those over all samples together; `why` says why there is nothing to compare; `sure`:
    intervals and tests are there. `further`: the same sources by other metrics. `task`: whose answers are compared,
    where it is not that of the dataset. `picked_as`: why the second source is that one, where nobody chose it.
    `instead`: the figure in whose place another one stands, since single texts have none of its name.
    """

    sources: "tuple[Compared, ...]"
    metrics: "tuple[Metric, ...]"
    pair: "Pair | None" = None
    axis: "Axis | None" = None
    further: "tuple[Axis, ...]" = ()
    figures: "tuple[Metric, ...]" = ()
    parts: "Parts | None" = None
    rules: "Findings | None" = None
    why: str = ""
    sure: bool = True
    task: str | None = None
    picked_as: str = ""
    instead: str = ""


def ask(comparing: "Comparing", slicing: "Callable[[], Slicing]", wanted: Wanted) -> Found:
    """Compare.

    What answers another task than the dataset's is compared where gold scores it.

    Raises:
        EmotuiError: it cannot be compared.
    """
    if wanted.task is not None:
        other = comparing.read_as(wanted.task)
        # All on one axis are their own proof that gold scores them, where no slice leaves some out.
        axis = wanted.view == ALL and not wanted.within
        if axis or other.axis(wanted.dataset, sure=False).rows:
            found = _ask(other, lambda: slicing().read_as(wanted.task), wanted)
            if not axis or (found.axis is not None and found.axis.rows):
                return replace(found, task=wanted.task)
    return _ask(comparing, slicing, wanted)


def _ask(comparing: "Comparing", slicing: "Callable[[], Slicing]", wanted: Wanted) -> Found:
    with comparing.store.together():
        sources, metrics = tuple(comparing.sources(wanted.dataset)), comparing.metrics(wanted.dataset)
    keys = usual_order(sources)
    # The run over the list says too little for an axis where it is over few texts and nobody ticked it.
    few = {one.key for one in sources if one.n < FEW}
    passed = wanted.view == ALL and not wanted.beside and wanted.shown in few and len(few) < len(keys)
    chosen = (wanted.first, "" if passed else wanted.shown, *wanted.beside)
    order = [*(key for key in chosen if key in keys), *keys]
    own = {one.name for one in metrics}
    metric = wanted.metric or next((one.name for one in metrics if one.title == wanted.figure), None)
    instead = "" if metric is not None else wanted.figure
    wanted = replace(wanted, metric=metric or "")
    if wanted.view in (ALL, RULES) and metric not in own:
        metric = None  # these are of what single samples score
        wanted = replace(wanted, metric="")
    if wanted.view == ALL:
        first = order[0] if order else None
        only = _within(slicing, wanted, first)
        by = partial(
            comparing.axis,
            wanted.dataset,
            first=first,
            papers=wanted.papers,
            only=only,
            correction=wanted.correction,
            sure=not wanted.quick,
        )
        axis = by(metric)
        at = metrics.index(axis.metric)
        below = [*metrics[at + 1 :], *metrics[:at]][: wanted.further]
        return Found(
            sources,
            metrics,
            axis=axis,
            further=tuple(one for one in (by(other.name, tests=False) for other in below) if one.rows),
            why="" if axis.rows else f"no source has {axis.metric.title} yet" if at else "no source has a score yet",
            sure=not wanted.quick,
        )
    if wanted.view in (GROUPS, RULES) and keys and (wanted.alone or len(keys) < 2) and not wanted.awaits:
        return _by_part(slicing(), wanted, Found(sources, metrics, instead=instead), order[0], None)
    if len(keys) < 2:
        return Found(sources, metrics, why=f"there {'is one source' if keys else 'are no sources'} with scores")
    if wanted.awaits and not wanted.first:
        # Two annotators would stand here until its first answers come, and it and one of them from then on.
        return Found(sources, metrics, why=f"{wanted.awaits} is compared once it has answered {FEW} texts")
    first = order[0]
    named = [key for key in (wanted.second, *wanted.beside) if key in keys and key != first]
    second, why = (named[0], "") if named else _best_beside(comparing, wanted, first, metric, keys)
    found = Found(sources, metrics, picked_as=why, instead=instead)
    if wanted.view in (GROUPS, RULES):
        return _by_part(slicing(), wanted, found, first, second)
    only = _within(slicing, wanted, first)
    figures = comparing.figures(wanted.dataset, first, second)
    pair = comparing.pair(wanted.dataset, first, second, metric, only=only)
    return replace(found, pair=pair, figures=figures)


def _best_beside(
    comparing: "Comparing", wanted: Wanted, first: str, metric: str | None, keys: Sequence[str]
) -> tuple[str, str]:
    """Whom a source is compared with where nobody was chosen, by its key, and what it is.

    That is the best annotator: how near does a model come to people? Where there is none, or it is one itself, it is
    the best of the other runs. Sources of few texts and former gold are no such measure.
    """
    from emotui.workbench.datasets.sources import GOLD, PERSON, SETTLED

    own = {one.name for one in comparing.metrics(wanted.dataset)}
    axis = comparing.axis(wanted.dataset, metric if metric in own else None, first=first, sure=False)
    kinds = {row.key: row.kind for row in axis.rows}
    rows = [row for row in axis.rows if row.key in keys and row.n >= FEW and row.kind != GOLD]
    people = [row.key for row in rows if row.kind in (PERSON, SETTLED)]
    runs = [row.key for row in rows if row.key not in people]
    sides = [("annotator", people), ("run", runs)]
    for what, held in reversed(sides) if kinds.get(first) in (PERSON, SETTLED) else sides:
        others = [key for key in held if key != first]
        if others:
            one = f"the only {'other ' * (first in held)}{what}"
            several = f"the best of {len(others)} {'other ' * (first in held)}{what}s by {axis.metric.title}"
            return others[0], several if len(others) > 1 else one
    return next(key for key in keys if key != first), ""


@dataclass(frozen=True, slots=True)
class CounterTest:
    """A dataset of a slice's texts, of the task in whose place they are written anew; `left_out`: how many are not in
    it.
    """

    name: str
    task: str
    left_out: int


def counter_test(slicing: "Slicing", dataset: int, where: str, run: str | None) -> CounterTest:
    """Keep a slice's texts to be written anew.

    Raises:
        EmotuiError: none has one gold label, or it cannot be kept.
    """
    from emotui.workbench.rephrase.contrast import keep_counter_test

    kept, left_out = keep_counter_test(slicing, dataset, where, run)
    return CounterTest(kept.name, kept.task, left_out)


def usual_order(sources: "Sequence[Compared]") -> list[str]:
    """Keys of sources, those first that are compared where nothing was chosen: of ten texts or more before the others,
    runs of models and files before people, and former gold last."""
    from emotui.workbench.datasets.sources import GOLD, PERSON, SETTLED

    kinds = {PERSON: 1, SETTLED: 1, GOLD: 2}
    return [one.key for one in sorted(sources, key=lambda one: (one.n < FEW, kinds.get(one.kind, 0)))]


def _within(slicing: "Callable[[], Slicing]", wanted: Wanted, first: str | None) -> "Bools | None":
    """(n,) the samples of the slice that is chosen; None: all."""
    if not wanted.within:
        return None
    from emotui.workbench.slices.conditions import SLICE, Condition, written

    run = first if first == wanted.shown else None
    return slicing().keeps(wanted.dataset, written((Condition(SLICE, "=", (wanted.within,)),)), run)


def _by_part(slicing: "Slicing", wanted: Wanted, found: Found, first: str, second: str | None) -> Found:
    metric = wanted.metric or None
    names = (first,) if second is None else (first, second)
    found = replace(found, figures=slicing.figures(wanted.dataset, *names))
    if wanted.view == GROUPS:
        return replace(found, parts=slicing.parts(wanted.dataset, first, second, metric, correction=wanted.correction))
    return replace(found, rules=slicing.found(wanted.dataset, first, second, metric, correction=wanted.correction))


@dataclass(frozen=True, slots=True)
class Won:
    """Where is one source above another, by a metric? Both by their keys. `task`: as of `Found`."""

    dataset: int
    source: str
    other: str
    metric: str
    task: str | None = None


def where_won(slicing: "Slicing", asked: Won) -> "list[Sliced]":
    """The parts in which it is farthest above the other one.

    Raises:
        EmotuiError: it cannot be told.
    """
    slicing = slicing.read_as(asked.task)
    return slicing.wins(asked.dataset, asked.source, asked.other, asked.metric)[:_MOST_PARTS]


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and two sources by their keys. `task`: as of `Found`."""

    dataset: int
    sample: int
    first: str
    second: str
    task: str | None = None


def read(comparing: "Comparing", text: Text) -> "Marks":
    """What the two say of the text."""
    return comparing.read_as(text.task).marks(text.dataset, text.sample, text.first, text.second)
