"""Evidence taken away beside the F1 of those whose evidence it is, asked of a model that goes by one word."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emotui.records import Mark, SpanSample
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import Cell, ResultsTable
from emotui.workbench.compare.evidence import Evidence, beside_f1, evidence_of
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.progress import RunOptions
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

WORD = "word:weep"
PLACES = ("kitchen", "garden", "street", "office", "train", "school")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    opened = Workspace.open(tmp_path / "w.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def dataset(workspace: Workspace) -> Dataset:
    """Six texts whose gold is the word that the model goes by; `far` marks the last word, `near` the right one."""
    samples = []
    for at, place in enumerate(PLACES):
        text = f"Every night I weep in the {place}"
        weep, last = Mark(14, 18, "sadness"), Mark(26, len(text), "sadness")
        samples.append(SpanSample(id=str(at), text=text, spans=(weep,), annotators={"far": (last,), "near": (weep,)}))
    number = add_samples(workspace.store, "spans", "mine", samples, "test").dataset
    found = workspace.store.datasets.get(number)
    assert found is not None
    return found


def _take_away(workspace: Workspace, dataset: Dataset, spans: str, **more: Any) -> str:
    run = workspace.run_model(
        WORD, dataset.dataset, RunOptions(options={"spans": spans, "draws": 2, **more}), task="evidence"
    )
    return run.run


def _cells(table: ResultsTable, label: str) -> dict[str, Cell]:
    (row,) = (row for row in table.rows if row.label == label)
    return {column.key: cell for column, cell in zip(table.columns, row.cells, strict=True)}


def test_a_sources_f1_stands_beside_what_its_evidence_carries_and_beside_golds(
    workspace: Workspace, dataset: Dataset
) -> None:
    marked = workspace.run_model(WORD, dataset.dataset, task="spans").run
    for source in ("gold", "far", "near", marked):
        _take_away(workspace, dataset, source)
    table = beside_f1(workspace.store, dataset)
    assert table is not None
    assert [row.label for row in table.rows][-1] == "gold"
    far, near, gold = (_cells(table, name) for name in ("far", "near", "gold"))
    assert (far["f1"].value, near["f1"].value, gold["f1"].asked) == (0.0, 1.0, False)
    # .9 with the word, .2 without it; the last word moves nothing.
    assert near["comprehensiveness"].value == pytest.approx(0.7)
    assert far["comprehensiveness"].value == pytest.approx(0.0)
    assert near["above_gold"].value == pytest.approx(0.0)
    wanted = far["above_random"].value - gold["above_random"].value  # type: ignore[operator]
    assert far["above_gold"].value == pytest.approx(wanted)
    assert far["rank_spans"].why == "one side does not vary"
    # The model marks both words: one aligned with gold's, whose loss is felt, and one that is neither.
    own = _cells(table, WORD)
    assert own["f1"].value == pytest.approx(0.5)  # one of two spans
    assert (own["n_spans"].value, own["n_texts"].value) == (12, 6)
    assert isinstance(own["rank_spans"].value, float)
    assert own["rank_spans"].value > 0.8
    assert own["rank_spans"].samples == tuple(workspace.store.samples.file_order(dataset.dataset))
    assert any(
        "Is the span of word:weep with the best F1 the one that matters to word:weep? Rather" in note
        for note in table.notes
    )


def test_the_rank_correlation_is_that_of_the_ranks_worked_by_hand(workspace: Workspace) -> None:
    # One text, three spans: F1 1, .5 and 0 against drops of which the second is the greatest.
    from emotui.workbench.compare.evidence import _ranks

    found = _ranks("spans", [(1, 1.0, 0.3), (1, 0.5, 0.6), (1, 0.0, 0.1)], lambda number: None, "r")
    # Ranks 3 2 1 and 2 3 1: 1 - 6 (1 + 1 + 0) / (3 * 8) = .5
    assert found["rank_spans"].value == pytest.approx(0.5)
    assert found["rank_spans"].note == "no interval: it is over one group alone"
    assert found["n_spans"].value == 3


def test_results_have_the_table_for_the_runs_that_are_named_and_both_sources_of_evidence(
    workspace: Workspace, dataset: Dataset, emotui: Emotui
) -> None:
    marked = workspace.run_model(WORD, dataset.dataset, task="spans").run
    gold, far, own = (_take_away(workspace, dataset, source) for source in ("gold", "far", marked))
    tables = {table.key: table for table in workspace.results().tables(dataset.dataset, sim=False)}
    assert {row.label for row in tables["evidence-f1"].rows} == {WORD, "far", "gold"}
    assert {row.source for row in tables["evidence"].rows} == {gold, far, own}  # settings of one model, each its own
    named = {table.key: table for table in workspace.results().tables(dataset.dataset, [marked], sim=False)}
    assert [row.label for row in named["evidence-f1"].rows] == [WORD, "gold"]
    workspace.close()
    document = emotui(
        "results", "--dataset", "mine", "--no-sim", "--table", "evidence-f1", "--db", workspace.store.path
    )
    assert "F1, and what the evidence carries" in document.out
    compared = emotui("compare", "--runs", marked, "far", "--db", workspace.store.path, "--json").document
    assert set(compared["evidence"]) == {f"{name} by {WORD}" for name in (WORD, "far", "gold")}
    assert compared["evidence"][f"far by {WORD}"]["comprehensiveness"] == pytest.approx(0.0)


def test_evidence_of_spans_that_have_changed_since_is_left_out_and_named(
    workspace: Workspace, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = _take_away(workspace, dataset, "far")
    _take_away(workspace, dataset, "near")

    def now(store: Store, dataset: Dataset, source: str) -> Evidence:
        return {} if source == "person:far" else evidence_of(store, dataset, source)

    monkeypatch.setattr("emotui.workbench.compare.evidence.evidence_of", now)
    table = beside_f1(workspace.store, dataset)
    assert table is not None
    assert [row.label for row in table.rows] == ["near"]
    assert any(f"have changed since run {run}" in note for note in table.notes)


def test_a_dataset_without_such_runs_has_no_such_table(workspace: Workspace, dataset: Dataset) -> None:
    assert beside_f1(workspace.store, dataset) is None
    _take_away(workspace, dataset, "gold")
    assert beside_f1(workspace.store, dataset) is None
