"""Agreement as the workbench looks at it: the tables of a dataset, with the runs that were chosen beside the people."""

from collections.abc import Hashable, Sequence

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.agreement.panel import kinds_beside
from emotui.workbench.agreement.standing_in import stand_in_tables, stand_in_test
from emotui.workbench.agreement.study import study
from emotui.workbench.agreement.tables import agreement_tables, traced, traced_tables
from emotui.workbench.annotate.events import KIND
from emotui.workbench.annotate.others import source_answers
from emotui.workbench.annotate.planning.protocols import Aspect, Verified, percent_agreement
from emotui.workbench.datasets.label_maps import label_map
from emotui.workbench.datasets.sources import GOLD, sources
from emotui.workbench.texts import runs_of

# A model's labels verified by people, as a table: percent agreement (SEER, section 5.2 and Table 2).

_ASPECTS: tuple[Aspect, ...] = ("labels", "emotion", "valence")

_COLUMNS = (
    Column("annotators", "same verdict", short="verdict"),
    Column("model", "all agree with it", short="with it"),
    Column("same", "same label", short="same"),
    Column("n", "over", unit="count"),
    Column("kept", "texts to keep", short="kept", unit="count"),
)


def verified_tables(store: Store, dataset: Dataset, model: str, people: Sequence[str]) -> tuple[ResultsTable, ...]:
    """How often people agree with a source's labels and with one another, each two of them and all together.

    None where they and the source label nothing in common.
    """
    said = source_answers(store, dataset, (model, *people))
    groups = [list(people)]
    if len(people) > 2:
        groups += [[a, b] for at, a in enumerate(people) for b in people[at + 1 :]]
    rows = []
    for aspect in _ASPECTS:
        for group in groups:
            found = percent_agreement(said[model], [said[name] for name in group], aspect)
            if found.n:
                rows.append(_row(f"{aspect}: {', '.join(group)}", found))
    if not rows:
        return ()
    note = "percent has chance in it; people who give another label than the model disagree with it (SEER, Table 2)"
    title = f"Labels of {model} verified by people"
    return (ResultsTable(f"agreement-verified-{model}", title, _COLUMNS, tuple(rows), (note,)),)


def _row(label: str, found: Verified) -> Row:
    cells = (
        Cell(found.annotators, convention="people pass the same verdict on the model's label", samples=found.divided),
        Cell(found.model, convention="all of them agree with the model", samples=found.refused),
        Cell(found.same, convention="people give the same label, whatever the model's", samples=found.unlike),
        Cell(found.n, convention="labels that the model and all of these people give"),
        Cell(len(found.kept), convention="texts all of whose labels everybody agrees with", samples=found.kept),
    )
    return Row(label, "people", "", cells)


def standing(store: Store, dataset: Dataset, runs: Sequence[str]) -> Hashable:
    """What changes when the tables would."""
    known = tuple(run.run for run in runs_of(store, dataset))
    mapped = tuple(sorted(label_map(store, dataset).items()))
    last = store.annotations.last(kind=KIND, within=store.samples.file_order(dataset.dataset))
    revisions = tuple(sorted(store.runs.revisions(known).items()))
    return dataset.gold, dataset.n, dataset.name, mapped, tuple(runs), last, revisions


def looked_at(
    store: Store, dataset: Dataset, runs: Sequence[str] = (), *, cancelled: IsCancelled | None = None
) -> tuple[ResultsTable, ...]:
    """The tables of all people; of chosen runs, these beside the people, and whether each may stand in for one; then
    what people say of whole texts beside, labels and numbers.

    Where there is nothing to compare, one table says why.

    Raises:
        Cancelled: by `cancelled`.
    """
    people = list(dict.fromkeys(one.name for one in sources(store, dataset.name) if one.is_person))
    names = [*(people or [GOLD]), *runs] if runs else None
    try:
        tables = list(agreement_tables(study(store, dataset.name, names, cancelled=cancelled)))
        if len(people) > 1:
            for run in runs:
                tables += stand_in_tables(stand_in_test(store, dataset.name, run, people))
                tables += _verified(store, dataset, run, people)
        for kind in kinds_beside(store, dataset):
            tables += agreement_tables(study(store, dataset.name, kind=kind, cancelled=cancelled), beside=True)
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
