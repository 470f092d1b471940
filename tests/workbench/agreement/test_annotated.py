"""Agreement of those who annotate here: with themselves, with suggestions, and with a model's labels."""

from pathlib import Path

import pytest

from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.agreement.looking import looked_at, standing, verified_tables
from emotui.workbench.agreement.panel import read_panel
from emotui.workbench.agreement.study import study
from emotui.workbench.agreement.tables import traced, traced_tables
from emotui.workbench.annotate.events import Accept, SetLabels, SuggestionTaken
from emotui.workbench.annotate.planning.assignment import Assignment, Retest, assign
from emotui.workbench.compare.pairs import Comparing
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.sources import PERSON
from emotui.workbench.datasets.whole_records import add_own_samples
from emotui.workbench.runs.elsewhere import Said, keep_said
from emotui.workbench.workspace import Workspace
from tests.workbench.annotate.small_sets import begin, numbers, store_with


def held(store: Store, name: str) -> Dataset:
    found = store.datasets.get(name)
    assert found is not None
    return found


def test_a_retest_is_agreement_with_oneself_worst_first(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "labels")
    dataset, order = held(store, "labels"), numbers(store, "labels")
    retest = Retest(share=1.0, after=1)
    assign(store, dataset, Assignment(annotators=("ann",), overlap=1, batch=5, shuffled=False, retest=retest))
    work = begin(store, "labels")
    first = dict.fromkeys(order, "joy")
    for number in order:
        work.do(number, SetLabels((first[number],)), Accept())
    before = standing(store, dataset, ())
    seen = []
    while (number := work.next_open(order[0])) is not None and len(seen) < 5:
        seen.append(number)
        work.do(number, SetLabels(() if number == order[1] else ("joy",)), Accept())
    work.publish()
    assert standing(store, dataset, ()) != before
    found = study(store, "labels", ["gold", "ann"], resamples=0)
    (itself,) = found.itself
    assert (itself.name, itself.n) == ("ann", len(seen))
    figures = {one.name: one for one in itself.measured}
    assert figures["percent"].figure.value == pytest.approx(1 - 1 / len(seen))
    assert [number for number, _ in figures["percent"].behind] == [order[1]]


def test_suggestions_are_counted_with_what_became_of_them_and_pace_by_halves(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "spans")
    dataset, (one, two, three) = held(store, "spans"), numbers(store, "spans")
    keep_said(store, dataset, "emb", "file", [Said(one, 0, {"spans": [[0, 10], [12, 23]]})], sim=False)
    work = begin(store, "spans")
    for number, seconds in ((one, 8.0), (two, 4.0), (three, 2.0)):
        work.present(number)
        if number == one:
            suggestion = work.suggest(one, "emb").suggestion
            assert suggestion is not None
            work.do(one, SuggestionTaken("emb", suggestion.answer.spans[0].id), seconds=5.0)
        work.do(number, Accept(), seconds=seconds)
    found = traced(store, dataset)
    (pace,) = found.pace
    assert (pace.n, pace.seconds, pace.early, pace.late, list(pace.samples)) == (3, 4.0, 6.0, 2.0, [one, two, three])
    (anchoring,) = found.anchoring
    assert (anchoring.source, anchoring.n, anchoring.followed, anchoring.taken) == ("emb", 1, 0.0, 0.5)
    assert (anchoring.seconds, anchoring.without, anchoring.n_without) == (8.0, 3.0, 2)
    assert (list(anchoring.samples), list(anchoring.others)) == ([], [one])
    pace_table, suggested = traced_tables(found)
    assert pace_table.rows[0].cells[0].samples == (one, two, three)
    assert suggested.rows[0].label == "ann, shown emb"
    work.publish()
    assert {table.key for table in looked_at(store, dataset)} >= {"agreement-pace", "agreement-suggestions"}


def test_labels_of_a_model_are_verified_by_all_people_and_by_each_two(tmp_path: Path) -> None:
    store = store_with(tmp_path / "w.duckdb", "labels")
    dataset, order = held(store, "labels"), numbers(store, "labels")
    said = {"model": "jjf", "ann": "jjj", "ben": "jfj", "cem": "jjf"}
    names = {"j": "joy", "f": "fear"}
    for name, letters in said.items():
        kind = "file" if name == "model" else "person"
        answers = [Said(number, 0, {"labels": [names[one]]}) for number, one in zip(order, letters, strict=True)]
        keep_said(store, dataset, name, kind, answers)
    (table,) = verified_tables(store, dataset, "model", ["ann", "ben", "cem"])
    rows = {row.label: row.cells for row in table.rows}
    assert set(rows) == {f"labels: {who}" for who in ("ann, ben, cem", "ann, ben", "ann, cem", "ben, cem")}
    # ann and ben: both with the model in the first text, divided in the second, both against it in the third.
    values = [cell.value for cell in rows["labels: ann, ben"]]
    assert values == [pytest.approx(2 / 3), pytest.approx(1 / 3), pytest.approx(2 / 3), 3, 1]
    assert [cell.samples for cell in rows["labels: ann, ben"]][:2] == [(order[1],), (order[1], order[2])]
    assert [cell.samples for cell in rows["labels: ann, ben"]][-1] == (order[0],)
    tables = {table.key: table for table in looked_at(store, dataset, ["model"])}
    assert len(tables["agreement-verified-model"].rows) == len(table.rows)
    assert "agreement-pairs" in tables


def test_who_has_just_begun_changes_no_agreement_spread_or_correction_of_the_others(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    turns = [("joy", "joy", "anger"), ("anger", "anger", "anger"), ("joy", "anger", "joy")]
    samples = [
        LabelsGold(id=f"s{at}", text=f"text {at}", labels=[gold], annotators={"ada": [one], "ben": [other]})
        for at, (gold, one, other) in enumerate(turns * 5)
    ]
    dataset = add_samples(opened.store, "labels", "several", samples, "written for a test")
    order = list(opened.store.samples.file_order(dataset.dataset))
    for name, wrong in (("m1", 3), ("m2", 4)):
        said = [Said(number, 0, {"labels": ["anger" if at % wrong else "joy"]}) for at, number in enumerate(order)]
        keep_said(opened.store, dataset, name, "file", said)
    axis = Comparing(opened.store).axis(dataset.dataset, "jaccard", first="m1")
    before = {row.name: row.p for row in axis.rows}
    keep_said(opened.store, dataset, "eve", PERSON, [Said(order[0], 0, {"labels": ["anger"]})])

    panel = read_panel(opened.store, "several")
    assert panel.raters == ["ada", "ben"]
    assert panel.notes["aside"] == "eve: under 10 texts, not counted unless named"
    assert read_panel(opened.store, "several", ["ada", "ben", "eve"]).raters == ["ada", "ben", "eve"]
    after = Comparing(opened.store).axis(dataset.dataset, "jaccard", first="m1").rows
    assert {row.name: row.p for row in after} == before | {"eve": None}
    (table, *_) = opened.results().spread(dataset.dataset)
    (people,) = [row for row in table.rows if row.kind == "people"]
    assert people.source == "2 annotators"
    assert table.notes[0] == "Annotators of under 10 texts are not held against the others: 1."
    opened.close()


@pytest.mark.parametrize("task", ["rephrase", "masked", "spans"])
def test_agreement_is_over_the_samples_of_the_project_whatever_their_records_hold(tmp_path: Path, task: str) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    add_own_samples(opened.store, task)
    (dataset,) = opened.store.datasets.all()
    first, second = list(opened.store.samples.file_order(dataset.dataset))[:2]
    keys = {"rephrase": {"label": "joy"}, "masked": {"labels": ["glad"]}, "spans": {"spans": []}}[task]
    keep_said(opened.store, dataset, "eve", PERSON, [Said(number, 0, keys) for number in (first, second)], sim=False)
    panel = read_panel(opened.store, dataset.name, ["gold", "eve"])
    assert (panel.raters, len(panel.said["eve"])) == (["gold", "eve"], 2)
    opened.close()
