"""Agreement as the workbench looks at it: the tables of a dataset, with the runs that were chosen beside the people."""

from collections.abc import Hashable, Sequence

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.agreement.stand_in_tables import stand_in_tables
from emotui.workbench.agreement.standing_in import stand_in_test
from emotui.workbench.agreement.study import study
from emotui.workbench.agreement.suggestions import traced, traced_tables
from emotui.workbench.agreement.tables import agreement_tables
from emotui.workbench.agreement.verified import verified_tables
from emotui.workbench.annotate.events import KIND
from emotui.workbench.datasets.label_maps import label_map
from emotui.workbench.datasets.sources import GOLD, PERSON, sources
from emotui.workbench.texts import runs_of


def standing(store: Store, dataset: Dataset, runs: Sequence[str]) -> Hashable:
    """What changes when the tables would."""
    known = tuple(run.run for run in runs_of(store, dataset))
    mapped = tuple(sorted(label_map(store, dataset).items()))
    last = store.last_annotation(kind=KIND, within=store.file_order(dataset.dataset))
    revisions = tuple(sorted(store.run_revisions(known).items()))
    return dataset.gold, dataset.n, dataset.name, mapped, tuple(runs), last, revisions


def looked_at(
    store: Store, dataset: Dataset, runs: Sequence[str] = (), *, cancelled: IsCancelled | None = None
) -> tuple[ResultsTable, ...]:
    """The tables of all people; of chosen runs, these beside the people, and whether each may stand in for one.

    Where there is nothing to compare, one table says why.

    Raises:
        Cancelled: by `cancelled`.
    """
    people = list(dict.fromkeys(one.name for one in sources(store, dataset.name) if one.kind == PERSON))
    names = [*(people or [GOLD]), *runs] if runs else None
    try:
        tables = list(agreement_tables(study(store, dataset.name, names, cancelled=cancelled)))
        if len(people) > 1:
            for run in runs:
                tables += stand_in_tables(stand_in_test(store, dataset.name, run, people))
                tables += _verified(store, dataset, run, people)
        tables += traced_tables(traced(store, dataset))
    except BadInput as error:
        return (_none("agreement", "Agreement", error),)
    return tuple(tables)


def _verified(store: Store, dataset: Dataset, run: str, people: Sequence[str]) -> tuple[ResultsTable, ...]:
    """What people make of a run's labels; where a name may be any of several sources, a table that says so."""
    try:
        return verified_tables(store, dataset, run, people)
    except BadInput as error:
        return (_none(f"agreement-verified-{run}", f"Labels of {run} verified by people", error),)


def _none(key: str, title: str, error: BadInput) -> ResultsTable:
    row = Row("agreement", "people", "", (Cell(None, why="; ".join(error.problems)),))
    return ResultsTable(key, title, (Column("value", "value"),), (row,))
