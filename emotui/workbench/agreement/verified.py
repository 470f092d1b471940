"""A model's labels verified by people, as a table: percent agreement (SEER, section 5.2 and Table 2)."""

from collections.abc import Sequence

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.annotate.given import source_answers
from emotui.workbench.annotate.planning.verification import Aspect, Verified, percent_agreement

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
