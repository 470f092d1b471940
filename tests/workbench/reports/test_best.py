"""Which figures of a report are in bold, and over how many samples they are."""

import csv
import io
import re
from pathlib import Path

import pytest

from emotui.records import LabelsGold, Mark, SpanSample
from emotui.store.query import Dataset
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.reports.best import Judge
from emotui.workbench.reports.comma_separated import HEADER, comma_separated, sizes
from emotui.workbench.reports.report import judged, sections_of
from emotui.workbench.reports.values import Section, labels_of, slug
from emotui.workbench.workspace import Workspace
from tests.screens.labels_workspace import LABELS
from tests.screens.labels_workspace import add_run as add_labels_run
from tests.workbench.results_store import add_run

N = 12
TEXTS = {f"s{number}": f"Word{number} makes me glad today." for number in range(N)}


def made(path: Path) -> tuple[Workspace, Dataset]:
    """Twelve sentences; gold is "makes me glad" in each."""
    opened = Workspace.open(path)
    samples = [
        SpanSample(id=key, text=text, spans=(Mark(text.index("makes"), text.index(" today")),))
        for key, text in TEXTS.items()
    ]
    return opened, add_samples(opened.store, "spans", "twelve", samples, "written for a test")


def answers(right: int) -> dict[str, list[list[str]]]:
    """The first so many right, the others with nothing."""
    return {key: [["makes me glad"]] if number < right else [[]] for number, key in enumerate(TEXTS)}


@pytest.fixture
def store(tmp_path: Path) -> tuple[Workspace, Dataset]:
    opened, dataset = made(tmp_path / "w.duckdb")
    for name, right in (("best", 12), ("near", 11), ("poor", 2)):
        add_run(opened, dataset, name, f"model {name}", "retrieve", answers(right), with_sim=False)
    return opened, dataset


def f1_of(opened: Workspace, *runs: str, tested: bool = True) -> tuple[ResultsTable, set[int]]:
    """The main table, and the rows whose F1 is in bold."""
    (section,) = sections_of(opened.store, opened.results(), [opened.store.runs.get(run) for run in runs], sim=False)
    (table,) = [one for one in section.tables if one.key == "task-1"]
    place = next(at for at, column in enumerate(table.columns) if column.key == "retrieve/f1")
    best = judged(opened.store, [section])[0, "task-1"]
    assert ("Wilcoxon" in best.note) == tested
    return table, {row for row, column in best.cells if column == place}


def test_the_best_is_in_bold_where_it_is_above_every_other_run(store: tuple[Workspace, Dataset]) -> None:
    table, bold = f1_of(store[0], "near", "poor")
    # Nine samples differ, all in one direction: the exact p is 2 / 2^9.
    assert [table.rows[row].source for row in bold] == ["near"]


def test_the_best_is_not_in_bold_where_the_second_may_be_as_good(store: tuple[Workspace, Dataset]) -> None:
    # One sample differs between the first two: p is 1.
    assert f1_of(store[0], "best", "near", "poor")[1] == set()


def test_nothing_is_in_bold_where_runs_cover_other_samples(store: tuple[Workspace, Dataset]) -> None:
    half = {key: said for key, said in answers(12).items() if key != "s11"}
    add_run(store[0], store[1], "half", "model half", "retrieve", half, with_sim=False)
    assert f1_of(store[0], "half", "poor", tested=False)[1] == set()


def test_a_figure_that_is_no_mean_over_samples_is_not_tested(store: tuple[Workspace, Dataset]) -> None:
    opened, dataset = store
    rows = tuple(Row(run, "run", run, (Cell(value, run=run),)) for run, value in (("near", 0.9), ("poor", 0.1)))
    table = ResultsTable("x", "x", (Column("f1", "F1"),), rows)
    best = Judge(opened.store, dataset).best(table)
    told = "Not tested, and so not in bold: all columns (no paired test here covers them)."
    assert (best.cells, best.note) == (frozenset(), told)


def test_figures_of_a_run_are_over_the_samples_that_it_scored(store: tuple[Workspace, Dataset]) -> None:
    opened, _ = store
    sections = sections_of(opened.store, opened.results(), [opened.store.runs.get("poor")], sim=False)
    assert {key: sizes(opened.store, sections)(key, "poor") for key in ("task-1", "errors-task-1", "asking")} == {
        "task-1": N,
        "errors-task-1": N,
        "asking": N,
    }


def test_comma_separated_values_have_every_figure_unrounded_and_no_formula(store: tuple[Workspace, Dataset]) -> None:
    opened, dataset = store
    run = add_run(opened, dataset, "wild", '=HYPERLINK("x")', "retrieve", answers(1), with_sim=False)
    sections = sections_of(opened.store, opened.results(), [opened.store.runs.get(run)], sim=False)
    text = comma_separated(sections, judged(opened.store, sections), sizes(opened.store, sections))
    lines = list(csv.DictReader(io.StringIO(text)))
    assert tuple(lines[0]) == HEADER
    assert not any(value[:1] in ("=", "+", "@") for line in lines for value in line.values())
    (f1,) = [one for one in lines if one["table"] == "task-1" and one["run"] == run and one["column"] == "F1"]
    assert (float(f1["value"]), f1["n"], f1["row"]) == (1 / 12, "12", '\'=HYPERLINK("x")')
    assert f1["low"] <= f1["value"] <= f1["high"]


def test_labels_are_plain_and_none_is_given_twice() -> None:
    table = ResultsTable("task-1", "t", (), ())
    sections = [Section("Dataset a_b", (table, table)), Section("Dataset a b", (table,)), Section("模", (table,))]
    assert list(labels_of(sections).values()) == [
        "Dataset-a-b-task-1",
        "Dataset-a-b-task-1-2",
        "Dataset-a-b-task-1-3",
        "task-1",
    ]
    assert slug("模") == "x"


@pytest.mark.parametrize(("wrong", "bold"), [(20, True), (1, False)])
def test_f1_of_labels_is_tested_by_exchanging_answers(tmp_path: Path, wrong: int, bold: bool) -> None:
    opened = Workspace.open(tmp_path / "labels.duckdb")
    gold = [LABELS[place % 2] for place in range(20)]
    texts = [LabelsGold(id=f"t{place}", text=f"{place}", labels=(label,)) for place, label in enumerate(gold)]
    dataset = add_samples(opened.store, "labels", "twenty", texts, "made up")
    options = {"labels": list(LABELS), "label_set": "own", "thresholds": dict.fromkeys(LABELS, 0.5)}
    for name, lost in (("right", 0), ("wrong", wrong)):
        said = [
            [0.9 if (LABELS[at] == label) != (place < lost and at < 2) else 0.1 for at in range(len(LABELS))]
            for place, label in enumerate(gold)
        ]
        add_labels_run(opened, dataset.dataset, name, options, said)
    runs = [opened.store.runs.get(run) for run in ("right", "wrong")]
    (section,) = sections_of(opened.store, opened.results(), runs, sim=False)
    (table,) = [one for one in section.tables if one.key == "labels"]
    best = judged(opened.store, [section])[0, "labels"]
    macro = next(at for at, column in enumerate(table.columns) if column.key == "macro_f1")
    assert [table.rows[row].source for row, column in best.cells if column == macro] == ["right"] * bold
    assert "a permutation test for Macro-F1" in best.note
    assert re.search("Not tested, and so not in bold: [^.]*Brier score", best.note)
