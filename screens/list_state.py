"""What the list is set to, as it is remembered from one session to the next."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from emotui.store.query import MARKS, SORTS, Dataset, ListQuery, Run

NO_RUN = ""
"""A run chosen to be none: gold alone. (None: whichever run is the newest.)"""


_ALL: dict[str, Any] = {"only": (), "only_why": "", "only_mark": ""}
"""No sample is left out for a figure's sake."""


@dataclass(frozen=True, slots=True)
class ListState:
    """Filter, order and position of the list, the run over it, and the overlay. `sample` is a sample's number.

    `beside`: further runs that are compared with the one over the list. `only`: where there are any, no other samples
    than those behind a figure, which `only_why` names, and the letter of their errors; not remembered.
    """

    dataset: str | None = None
    run: str | None = None
    text: str = ""
    emotions: tuple[str, ...] = ()
    valences: tuple[str, ...] = ()
    marks: str = ""
    f1_min: float | None = None
    f1_max: float | None = None
    sort: str = "file"
    descending: bool = False
    sample: int | None = None
    overlay: str = "both"
    beside: tuple[str, ...] = ()
    only: tuple[int, ...] = ()
    only_why: str = ""
    only_mark: str = ""

    def query(self, dataset: int, run: str | None) -> ListQuery:
        """The question to the source. Without a run there is nothing to filter or sort by of what a run would give."""
        return ListQuery(
            dataset=dataset,
            run=run,
            text=self.text,
            emotions=self.emotions,
            valences=self.valences,
            marks=self.marks if run else "",
            f1_min=self.f1_min if run else None,
            f1_max=self.f1_max if run else None,
            sort=self.sort if run or self.sort not in ("f1", "sim") else "file",
            descending=self.descending,
        )

    @property
    def filtered(self) -> bool:
        """Does the list leave samples out?"""
        return bool(self.text or self.emotions or self.valences or self.marks or self.bounded or self.only)

    @property
    def bounded(self) -> bool:
        """Is there a range of F1?"""
        return self.f1_min is not None or self.f1_max is not None

    def unfiltered(self) -> "ListState":
        """The same list with every sample in it."""
        return replace(self, text="", emotions=(), valences=(), marks="", f1_min=None, f1_max=None, **_ALL)

    def words(self) -> list[str]:
        """What the list leaves out and how it is ordered, in words for its heading."""
        said = [self.only_why] if self.only else []
        said += [f"“{self.text}”"] if self.text else []
        said += [*self.emotions, *self.valences]
        if self.marks:
            said.append("marks:" + self.marks)
        if self.bounded:
            low = "" if self.f1_min is None else f"{self.f1_min:g}"
            high = "" if self.f1_max is None else f"{self.f1_max:g}"
            said.append(f"F1 {low}…{high}")
        return said

    def chosen_run(self, runs: Sequence[Run]) -> Run | None:
        """The run that is shown, of those that there are, newest first."""
        if self.run == NO_RUN:
            return None
        named = [run for run in runs if run.run == self.run]
        return next(iter([*named, *runs]), None)

    def runs_beside(self, runs: Sequence[Run]) -> list[Run]:
        """The runs that are compared with the one over the list, in the order in which they were chosen."""
        over = self.chosen_run(runs)
        there = {run.run: run for run in runs if over is None or run.run != over.run}
        return [there[run] for run in self.beside if run in there]

    def chosen_dataset(self, datasets: Sequence[Dataset]) -> Dataset | None:
        """The dataset that is shown."""
        named = [dataset for dataset in datasets if dataset.name == self.dataset]
        return next(iter([*named, *datasets]), None)


def to_setting(state: ListState) -> dict[str, object]:
    """As plain values that a store can keep."""
    kept = asdict(replace(state, **_ALL))
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


def _bound(value: object) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else None  # type: ignore[operator,arg-type]


def from_setting(value: object) -> ListState:
    """What was remembered; whatever in it does not make sense any more is left at its default."""
    if not isinstance(value, dict):
        return ListState()
    fresh = ListState()
    kept: dict[str, object] = {}
    for field in fields(ListState):
        got, default = value.get(field.name), getattr(fresh, field.name)
        if field.name in _ALL:
            kept[field.name] = default
        elif field.name in ("emotions", "valences", "beside"):
            kept[field.name] = tuple(one for one in got if isinstance(one, str)) if isinstance(got, list) else ()
        elif field.name in ("f1_min", "f1_max"):
            kept[field.name] = _bound(got)
        elif field.name == "sample":
            kept[field.name] = got if isinstance(got, int) and not isinstance(got, bool) else None
        elif field.name == "descending":
            kept[field.name] = got is True
        else:
            kept[field.name] = got if isinstance(got, str) else default
    state = replace(fresh, **kept)  # type: ignore[arg-type]
    marks = "".join(mark for mark in MARKS if mark in state.marks)
    return replace(state, marks=marks, sort=state.sort if state.sort in SORTS else "file")
