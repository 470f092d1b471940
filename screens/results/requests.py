"""What the Results place asks for, and how far the counting is."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emotui.screens.widgets.number_format import count

if TYPE_CHECKING:
    from emotui.tables import Bars, ResultsTable, Transitions
    from emotui.workbench.results.service import Results

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
            baselines=wanted.whole,
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
