"""Figures that stand under each other are over the same samples and the same gold, or say that they are not."""

from pathlib import Path

import pytest

from emotui.tables import Cell, ResultsTable
from emotui.workbench.datasets.sources import make_gold
from emotui.workbench.results.service import Results
from tests.workbench.results_store import EXACT, add_run, workspace

PART = {"s1": EXACT["s1"]}
"""Answers about one of the two sentences."""


@pytest.fixture
def results(tmp_path: Path) -> Results:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "whole", "m", "retrieve", EXACT)
    add_run(opened, dataset, "part", "m", "highlight", PART, n=3)
    return opened.results()


def _table(results: Results, runs: list[str] | None = None) -> ResultsTable:
    return next(table for table in results.tables("three", runs, sim=False) if table.key == "task-1")


def _f1(table: ResultsTable, label: str, way: str) -> Cell:
    at = [column.key for column in table.columns].index(f"{way}/f1")
    return next(row.cells[at] for row in table.rows if row.label == label)


def test_a_baseline_is_over_the_samples_that_its_runs_cover(results: Results) -> None:
    # The whole text of s1: 4 of its 6 tokens are gold, P 4/6 and R 1; of s2 2 of 3.
    table = _table(results)
    assert [row.label for row in table.rows if row.kind == "baseline"] == [
        "Baseline: everything, n 2",
        "Baseline: everything, n 1",
    ]
    assert _f1(table, "Baseline: everything, n 2", "retrieve").value == pytest.approx(0.8)
    assert _f1(table, "Baseline: everything, n 2", "highlight") == Cell()
    alone = _table(results, ["part"])
    assert _f1(alone, "Baseline: everything", "highlight").value == pytest.approx(
        _f1(table, "Baseline: everything, n 1", "highlight").value
    )
    assert [row.source for row in alone.rows if row.kind == "baseline"] == ["1 sample"]
    assert _f1(alone, "Baseline: everything", "retrieve") == Cell()


def test_runs_that_cover_the_same_have_one_baseline(results: Results, tmp_path: Path) -> None:
    assert [row.kind for row in _table(results, ["whole"]).rows].count("baseline") == 1


def test_a_row_under_an_older_gold_says_so_and_so_does_the_baseline(results: Results) -> None:
    assert all(not row.gold for row in _table(results).rows)
    make_gold(results.store, "three", "bob", keep_missing=True)
    table = _table(results, ["whole"])
    assert {row.kind: row.gold for row in table.rows} == {
        "run": "under gold 1 of 2: rescore",
        "baseline": "under gold 2, unlike runs above",
        "people": "",
    }
    assert all(row.gold in row.remark for row in table.rows)
