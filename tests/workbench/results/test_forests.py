"""Tables turned round: every source of one figure, a row each."""

import json
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from emotui.records import Mark, SpanSample
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.results.forests import figures_of, forest_of, lower_of
from emotui.workbench.runs.elsewhere import import_predictions
from emotui.workbench.workspace import Workspace
from tests.screens.results_workspace import several_runs

COLUMNS = (Column("a/f1", "F1", "A"), Column("a/n", "n", "A", "count"), Column("b/f1", "F1", "B"))


def table(*rows: Row, settings: str = "groups") -> ResultsTable:
    return ResultsTable("t", "T", COLUMNS, rows, settings=settings, ranges=(("b/f1", 0.2, 0.6),))  # type: ignore[arg-type]


OWN = Row("m", "run", "r1", (Cell(0.5), Cell(3), Cell(0.7)))
PAPER = Row("p", "published", "Table 1", (Cell(), Cell(), Cell(0.9)))
NOTHING = Row("zeros", "baseline", "9 samples", (Cell(0.1), Cell(), Cell(0.1)))


def test_sources_of_a_figure_stand_own_ones_first_the_greatest_on_top_with_their_settings() -> None:
    forest = forest_of(table(PAPER, OWN, NOTHING), "F1")
    said = [(point.label, point.told, point.kind, point.cell.value) for point in forest.points]
    assert said == [
        ("m", "B", "run", 0.7),
        ("m", "A", "run", 0.5),
        ("zeros", "A", "baseline", 0.1),
        ("p", "B", "published", 0.9),
    ]
    assert forest.shaded == (0.2, 0.6)
    assert [(point.row, point.column) for point in forest.points][:2] == [(1, 2), (1, 0)]


def test_where_less_is_better_the_least_stands_on_top() -> None:
    columns = (Column("by/rmse", "RMSE"), Column("ccc", "CCC"))
    rows = tuple(Row(name, "run", name, (Cell(value), Cell(value))) for name, value in (("far", 2.0), ("near", 0.5)))
    found = ResultsTable("t", "T", columns, rows)
    assert lower_of(found) == {"RMSE"}
    assert [point.label for point in forest_of(found, "RMSE").points] == ["near", "far"]
    assert [point.label for point in forest_of(found, "CCC").points] == ["far", "near"]


def test_without_settings_a_group_belongs_to_the_figure_and_counts_are_not_drawn() -> None:
    assert figures_of(table(OWN)) == ("F1",)
    assert figures_of(table(OWN, settings="titles")) == ("A", "B")
    assert figures_of(table(OWN, settings="")) == ("A: F1", "B: F1")


def test_what_has_no_source_in_its_rows_is_no_forest() -> None:
    assert figures_of(table(Row("a word", "run", "", OWN.cells), settings="")) == ()
    assert figures_of(table(PAPER, settings="")) == ()


def test_the_range_of_people_is_that_of_their_runs_too_and_an_undefined_figure_stands_last() -> None:
    person = Row("Ada", "run", "r2", (Cell(why="none"), Cell(), Cell(0.8)))
    forest = forest_of(table(person, OWN), "F1", {"r2"})
    assert forest.shaded == (0.2, 0.8)
    assert [point.cell.value for point in forest.points] == [0.8, 0.7, 0.5, None]
    assert [point.person for point in forest.points] == [True, False, False, True]


def test_the_means_that_come_first_are_those_of_the_tables(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb")
    counted = {one.key: one for one in source.results().tables(1, sim=False, baselines=False)}
    quick = source.results().means(1)
    assert [one.key for one in quick] == ["task-1", "task-2"]
    for one in quick:
        points = forest_of(counted[one.key], "F1").points
        known = {(point.label, point.told): point.cell.value for point in points}
        said = {(point.label, point.told): point.cell.value for point in forest_of(one, "F1").points}
        assert said == pytest.approx(known)


def test_what_has_to_be_known_of_a_figure_stands_with_its_forest_alone() -> None:
    cautioned = msgspec.structs.replace(table(OWN), cautions=(("F1", "silence counts 1"),), settings="")
    plain = msgspec.structs.replace(cautioned, cautions=(("A: F1", "silence counts 1"),))
    assert forest_of(cautioned, "A: F1").note == ""
    assert [forest_of(plain, figure).note for figure in ("A: F1", "B: F1")] == ["silence counts 1", ""]


def test_f1_that_counts_silence_says_for_how_many_texts_and_what_it_is_over_texts_with_gold(tmp_path: Path) -> None:
    samples = [
        SpanSample(id="half", text="I wept all night", spans=(Mark(2, 16),)),
        SpanSample(id="missed", text="I sang", spans=(Mark(2, 6),)),
        SpanSample(id="silent", text="It rained", spans=()),
        SpanSample(id="too much", text="It snowed", spans=()),
        SpanSample(id="unlabelled", text="It was"),
    ]
    with closing(Workspace.open(tmp_path / "w.duckdb")) as opened:
        dataset = add_samples(opened.store, "spans", "few", samples, "x")
        said = {"half": [[2, 6]], "missed": [], "silent": [], "too much": [[0, 2]], "unlabelled": []}
        path = tmp_path / "p.jsonl"
        path.write_text("\n".join(json.dumps({"id": key, "spans": spans}) for key, spans in said.items()))
        import_predictions(opened.store, dataset, str(path), "rule", sim=False, warn=print)
        found = opened.results().tables(dataset.dataset, sim=False, baselines=False)[0]
    # "wept" against "wept all night": P 1, R 1/3, so F1 1/2; the four texts are 1/2, 0, 1 and 0.
    note = forest_of(found, "F1").note
    assert forest_of(found, "F1").points[0].cell.value == pytest.approx(3 / 8)
    assert note == (
        "F1 counts 1 for 1 of 4 texts, which have neither gold nor predicted spans; "
        "over texts with gold spans it is 0.250."
    )
    assert note in found.notes
    assert forest_of(found, "P").note == ""
