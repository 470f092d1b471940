"""What a person answers here stands among annotators, and asks for no tests and no baseline before it is enough."""

from pathlib import Path

from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import FEW
from emotui.workbench.compare.pairs import Comparing
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.sources import PERSON
from emotui.workbench.results.baselines import Coverage, of_enough
from emotui.workbench.results.forests import figures_of
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.workspace import Workspace

LABELS = ("joy", "fear")


def labelled(path: Path) -> tuple[Workspace, Dataset, list[int]]:
    """Twelve texts, three files that answer all of them, and a person who answered one."""
    opened = Workspace.open(path)
    samples = [LabelsGold(id=str(at), text=f"text {at}", labels=(LABELS[at % 2],)) for at in range(12)]
    dataset = add_samples(opened.store, "labels", "d", samples, "written for a test")
    numbers = [int(one) for one in opened.store.samples.file_order(dataset.dataset)]
    for name, wrong in (("a", 1), ("b", 3), ("c", 5)):
        said = [Said(one, 0, {"labels": [LABELS[(at + (at < wrong)) % 2]]}) for at, one in enumerate(numbers)]
        keep_said(opened.store, dataset, name, FILE, said)
    keep_person(opened.store, dataset, "root", numbers[:1])
    return opened, dataset, numbers


def keep_person(store: Store, dataset: Dataset, name: str, numbers: list[int]) -> None:
    keep_said(store, dataset, name, PERSON, [Said(one, 0, {"labels": ["fear"]}) for one in numbers])


def test_a_source_that_stands_aside_is_none_of_the_tests_that_are_corrected_together(tmp_path: Path) -> None:
    opened, dataset, numbers = labelled(tmp_path / "w.duckdb")
    axis = Comparing(opened.store).axis(dataset.dataset)
    assert {row.name: row.p is not None for row in axis.rows} == {"a": False, "b": True, "c": True, "root": False}
    assert axis.tests == 2
    keep_person(opened.store, dataset, "ann", numbers)
    assert Comparing(opened.store).axis(dataset.dataset).tests == 3
    assert Comparing(opened.store).axis(dataset.dataset, sure=False).tests == 0
    opened.close()


def test_people_stand_among_annotators_behind_all_runs_and_as_sources_without_any(tmp_path: Path) -> None:
    opened, dataset, _ = labelled(tmp_path / "w.duckdb")
    results = opened.results()
    for tables in (results.tables(dataset.dataset), results.means(dataset.dataset)):
        kinds = {row.label: row.kind for row in tables[0].rows}
        assert kinds == {"c": "run", "b": "run", "a": "run", "root": "people"}
        assert list(kinds)[-1] == "root"
    alone = add_samples(opened.store, "labels", "e", [LabelsGold(id="1", text="t", labels=("joy",))], "x")
    keep_person(opened.store, alone, "ann", [int(one) for one in opened.store.samples.file_order(alone.dataset)])
    (table, *_) = results.tables(alone.dataset)
    assert [row.kind for row in table.rows] == ["people"]
    assert figures_of(table)
    opened.close()


def test_who_has_just_begun_needs_no_baseline_where_others_have_one() -> None:
    many, few = Coverage("task-1", tuple(range(FEW)), FEW, ("m",)), Coverage("task-1", (1,), 1, ("root",))
    other = Coverage("task-2", (20,), 1, ("root",))
    assert of_enough([many, few, other]) == [many, other]
    assert of_enough([few]) == [few]
