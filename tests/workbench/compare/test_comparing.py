"""Sources of a dataset against each other: the values of every kind of source, pairs, and many on one axis."""

from pathlib import Path

import msgspec
import pytest

from emotui.errors import BadInput
from emotui.metrics.paired import paired_report
from emotui.records import LabelsGold, Mark, SpanSample
from emotui.tasks.registry import task_named
from emotui.workbench.compare.pairs import Comparing, _printed
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.sources import make_gold
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.workbench.results_store import ERRING, EXACT, add_run, workspace


def test_two_sources_are_compared_sample_by_sample_the_greatest_difference_first(tmp_path: Path) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "right", "retrieve", EXACT)
    add_run(opened, dataset, "r2", "wrong", "retrieve", ERRING)
    comparing = Comparing(opened.store)
    pair = comparing.pair(dataset.dataset, "r1", "wrong")
    assert (pair.first.name, pair.second.key, pair.metric.name) == ("right", "r2", "f1")
    rows = {
        name: opened.store.list_rows.page(list(opened.store.samples.file_order(dataset.dataset)), name)
        for name in ("r1", "r2")
    }
    scores = {name: {row.id: row.values["f1"] or 0.0 for row in found} for name, found in rows.items()}
    assert {row.id: row.difference for row in pair.rows} == pytest.approx(
        {key: scores["r1"][key] - scores["r2"][key] for key in scores["r1"]}
    )
    assert [row.difference for row in pair.rows] == sorted((row.difference for row in pair.rows), reverse=True)
    by_hand = paired_report(scores["r1"], scores["r2"])
    same = ("n", "mean_difference", "ci95", "won", "lost", "tied", "smallest_difference")
    assert {name: pair.report[name] for name in same} == {name: by_hand[name] for name in same}
    assert sum(pair.bins) == pair.report["n"] == dataset.n
    (of_p1,) = [row.sample for row in pair.rows if row.id == "p1"]
    marks = comparing.marks(dataset.dataset, of_p1, "r1", "r2")
    assert (marks.gold, marks.first) == ((Mark(16, 23),), (Mark(16, 23),))
    assert marks.second == (Mark(16, 23), Mark(0, 7))
    opened.close()


def test_a_difference_has_one_interval_on_the_screen_and_by_the_command(tmp_path: Path, emotui: Emotui) -> None:
    # Ids that stand in another order in the file than they sort: the draws would be of other texts.
    opened = Workspace.open(tmp_path / "w.duckdb")
    text = "so glad today"
    samples = [SpanSample(id=f"s{at * 7 % 40}", text=text, spans=(Mark(0, 7),)) for at in range(40)]
    dataset = add_samples(opened.store, "spans", "mixed up", samples, "written for a test")
    ends = {f"s{at}": [[["so glad"], ["so"], ["today"]][at % 3]] for at in range(40)}
    add_run(opened, dataset, "r1", "m", "retrieve", ends)
    add_run(opened, dataset, "r2", "m", "highlight", {key: [["glad"]] for key in ends})
    report = Comparing(opened.store).pair(dataset.dataset, "r1", "r2").report
    printed = emotui("compare", "--runs", "r1", "r2", "--db", opened.store.path, "--json").document
    assert report["ci95"] == pytest.approx(printed["ci95"], abs=0)
    assert report["conventions"]["ci95"] == printed["conventions"]["ci95"]
    opened.close()


def test_whose_answers_gold_is_the_majority_of_is_told_wherever_they_are_scored(tmp_path: Path, emotui: Emotui) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    votes = {"ann": ("joy",), "bob": ("joy", "fear"), "cy": ("fear", "anger")}
    samples = [LabelsGold(id=str(at), text="t", labels=("joy", "fear"), annotators=votes) for at in range(4)]
    voted = add_samples(opened.store, "labels", "voted", samples, "x").dataset
    other = [LabelsGold(id=str(at), text="t", labels=("anger",), annotators=votes) for at in range(4)]
    judged = add_samples(opened.store, "labels", "judged", other, "x").dataset
    comparing = opened.comparing()
    for dataset, name, words in (
        (voted, "voted", "one of gold's three: gold is their majority vote, with this one counted"),
        (judged, "judged", "in the gold records: gold may rest on the same answers"),
    ):
        assert {row.of_gold for row in comparing.axis(dataset).rows} == {words}
        told = f"ann is {words}; bob is {words}"
        assert comparing.pair(dataset, "ann", "bob").report["notes"]["gold"] == told
        asked = ("compare", "--runs", "ann", "bob", "--dataset", name, "--db", opened.store.path, "--json")
        assert emotui(*asked).document["notes"]["gold"] == told
    opened.close()


def test_people_inside_the_gold_records_and_former_gold_are_sources_too(tmp_path: Path, emotui: Emotui) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    store = opened.store
    add_run(opened, dataset, "r1", "right", "retrieve", EXACT)
    comparing = Comparing(store)
    assert [one.key for one in comparing.sources(dataset.dataset)] == ["r1", "person:ann", "person:bob"]
    with_people = comparing.pair(dataset.dataset, "r1", "person:bob")
    assert 0 < len(with_people.rows) <= dataset.n
    axis = comparing.axis(dataset.dataset, first="r1")
    people = [row.mean for row in axis.rows if row.kind == "person"]
    assert axis.people == (min(people), max(people))
    assert [row.mean for row in axis.rows] == sorted((row.mean for row in axis.rows), reverse=True)
    assert [row.p for row in axis.rows if row.key == axis.first] == [None]
    assert not any(row.published for row in axis.rows)
    assert any(row.published for row in comparing.axis(dataset.dataset, papers=True).rows)
    make_gold(store, dataset.name, "bob", keep_missing=True)
    former = comparing.pair(dataset.dataset, "gold:1", "person:bob")
    assert former.first.name == "gold 1"
    assert former.report["mean_b"] == 1.0
    printed = emotui("compare", "--runs", "gold:1", "person:bob", "--inner", "--db", store.path, "--json").document
    assert printed["runs"] == ["gold:1", "person:bob"]
    assert printed["mean_difference"] == former.report["mean_difference"]
    with pytest.raises(BadInput, match="has no source 'nobody' to compare; it has: right, ann, bob"):
        comparing.pair(dataset.dataset, "r1", "nobody")
    opened.close()


def test_samples_of_one_post_are_drawn_together_and_two_runs_of_one_model_are_told_apart(tmp_path: Path) -> None:
    opened, _ = workspace(tmp_path / "w.duckdb")
    samples = [SpanSample(id=str(at), text="so glad today", spans=(), meta={"post_id": at // 2}) for at in range(6)]
    dataset = add_samples(opened.store, "spans", "posts", samples, "written for a test")
    add_run(opened, dataset, "r1", "m", "retrieve", {str(at): [["so glad"] if at % 3 else []] for at in range(6)})
    add_run(opened, dataset, "r2", "m", "highlight", {str(at): [[]] for at in range(6)})
    pair = Comparing(opened.store).pair(dataset.dataset, "r2", "r1")
    assert (pair.shared, pair.report["groups"], pair.report["won"]) == ("post_id", 3, 4)
    assert pair.first.name == pair.second.name
    assert pair.first.told != pair.second.told
    assert "highlight" in pair.first.told
    opened.close()


@pytest.mark.parametrize(
    ("task", "metric", "row"),
    [
        ("spans", "f1", ("Qwen 3 1.7B", "retrieve task-1", 0.62)),
        ("scenes", "lexical_accuracy", ("Gemma-2-9b-it", "alone", 0.8337)),
        ("masked", "acc_l", None),
        ("labels", "f1", None),
        ("values", "mae", None),
    ],
)
def test_only_figures_of_the_same_task_stand_as_printed(
    task: str, metric: str, row: tuple[str, str, float] | None
) -> None:
    by = next(one for one in task_named(task).metrics if one.name == metric)
    printed = [(one.name, one.told, one.mean) for one in _printed(task, by)]
    assert bool(printed) == (task in ("spans", "scenes", "masked"))
    if row is not None:
        assert (*row[:2], pytest.approx(row[2])) in printed


def test_what_a_person_inside_gold_says_of_a_text_stands_beside_a_run_where_they_differ_first(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    sample = LabelsGold(id="1", text="t", labels=("joy", "fear"), annotators={"ann": ("joy", "trust"), "bob": ("joy",)})
    dataset = add_samples(opened.store, "labels", "few", [sample], "x").dataset
    number = opened.store.samples.file_order(dataset).start
    found = opened.comparing().marks(dataset, number, "person:ann", "person:bob")
    assert found.lines == (
        ("trust", "no", "yes", "no"),
        ("fear", "yes", "no", "no"),
        ("joy", "yes", "yes", "yes"),
    )


def test_former_gold_that_says_the_same_of_the_question_is_no_source(tmp_path: Path) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    task, store = task_named("spans"), opened.store
    records = [msgspec.json.decode(record, type=SpanSample) for _, record in store.samples.of_dataset(dataset.dataset)]
    labelled = [task.row(msgspec.structs.replace(one, emotion="joy")) for one in records]
    second = store.gold.replace(dataset, labelled, "labels", "b")
    assert not [one for one in Comparing(store).sources(second.dataset) if one.kind == "gold"]
    fewer = [task.row(msgspec.structs.replace(one, emotion="joy", spans=())) for one in records]
    third = store.gold.replace(second, fewer, "fewer", "c")
    assert [one.key for one in Comparing(store).sources(third.dataset) if one.kind == "gold"] == ["gold:1", "gold:2"]
    opened.close()
