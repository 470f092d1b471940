"""Sources against the spread of people's labels, from a store."""

import json
import math
from pathlib import Path

import pytest

from emotui.metrics.people_spread import FLOOR
from emotui.store.access import Access
from emotui.tables import Cell, ResultsTable
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui

TEXTS = (
    {"id": "1", "labels": ["joy"], "annotators": {"ann": ["joy"], "bob": ["joy"], "cy": []}},
    {"id": "2", "labels": [], "annotators": {"ann": [], "bob": ["fear"]}},
    {"id": "3", "labels": ["joy"], "annotators": {"ann": ["joy"]}},
)
SAID = ({"id": "1", "labels": {"joy": 0.5, "fear": 0.0}}, {"id": "2", "labels": {"joy": 0.0, "fear": 0.5}})


@pytest.fixture
def tables(emotui: Emotui, tmp_path: Path) -> dict[str, ResultsTable]:
    lines = [one | {"text": f"text {one['id']}"} for one in TEXTS]
    (tmp_path / "g.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(one) + "\n" for one in SAID), encoding="utf-8")
    assert emotui("import", "labels", "g.jsonl", "--name", "d", "--db", "w.duckdb").status == 0
    source = ("--dataset", "d", "--source", "half", "--missing", "skip", "--db", "w.duckdb")
    assert emotui("import", "predictions", "p.jsonl", *source).status == 0
    workspace = Workspace.open(tmp_path / "w.duckdb")
    return {table.key: table for table in workspace.results().tables("d", ["half"], sim=False)}


def row(table: ResultsTable, label: str) -> dict[str, Cell]:
    (found,) = [one for one in table.rows if one.label.startswith(label)]
    return {column.key: cell for column, cell in zip(table.columns, found.cells, strict=True)}


def test_a_source_stands_against_the_shares_of_texts_with_two_annotators(tables: dict[str, ResultsTable]) -> None:
    half = row(tables["spread"], "half")
    # Shares: joy 2/3, fear 0 in the first text, 0 and 1/2 in the second; the third has one annotator only.
    certain = -math.log(1 - FLOOR)
    first = (math.log(2) + certain) / 2
    assert half["cross_entropy"].value == pytest.approx(first)  # a probability of 1/2 is ln 2 from every share
    assert half["brier_shares"].value == pytest.approx(((1 / 6) ** 2) / 4)
    assert half["ece_shares"].value == pytest.approx(((1 / 6 + 0.0) / 2 * 2 + 0) / 4)
    assert len(half["jensen_shannon"].samples) == 2
    # By majority joy is in the first text; what half is sure of is given from its threshold on.
    assert half["brier_majority"].value == pytest.approx((0.25 + 0.25) / 4)


def test_annotators_stand_against_the_others_of_a_text(tables: dict[str, ResultsTable]) -> None:
    people = row(tables["spread"], "Annotators")
    # ann: 1/2 and 0 of joy, fear in text 1 against (1/2, 0), and 0 against fear 1 in text 2, ...
    ann = ((1 - 0.5) ** 2 + 0 + 0 + 1) / 4
    bob = ((1 - 0.5) ** 2 + 0 + 0 + 1) / 4
    cy = (1 + 0) / 2
    assert people["brier_shares"].value == pytest.approx((ann + bob + cy) / 3)


def test_each_annotator_is_gold_once(tables: dict[str, ResultsTable]) -> None:
    by = tables["spread-annotators"]
    assert [line.label for line in by.rows] == ["ann", "bob", "cy"]
    assert [line.cells[0].value for line in by.rows] == [2, 2, 1]
    assert row(by, "cy")["f1/half"].value == 0.0


def test_the_reliability_of_a_source_is_a_plot_beside_the_diagonal(tables: dict[str, ResultsTable]) -> None:
    plot = tables["reliability-half"].plot
    assert plot is not None
    assert plot.diagonal
    assert plot.points == ((0.0, 0.0), (0.5, pytest.approx((2 / 3 + 1 / 2) / 2)))
    assert [line.cells[2].value for line in tables["reliability-half"].rows] == [2, 2]


def test_without_two_annotators_of_a_text_there_is_no_such_table(emotui: Emotui, tmp_path: Path) -> None:
    one = {"id": "1", "text": "t", "labels": ["joy"], "annotators": {"ann": ["joy"]}}
    (tmp_path / "g.jsonl").write_text(json.dumps(one) + "\n", encoding="utf-8")
    emotui("import", "labels", "g.jsonl", "--name", "d", "--db", "w.duckdb")
    assert Workspace.open(tmp_path / "w.duckdb").results().spread("d") == ()


@pytest.mark.parametrize("annotated", [True, False])
def test_people_inside_the_gold_cost_no_turn_on_the_store_for_each_text(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, annotated: bool
) -> None:
    turns: list[Path] = []
    taken = Access._turn

    def counted(access: Access, **more: bool) -> object:
        turns.append(access.path)
        return taken(access, **more)

    for n in (2, 9):
        people = {"annotators": {"ann": [[3, 7]], "bob": []}} if annotated else {}
        texts = [{"id": f"{at}", "text": "so glad", "spans": [[3, 7]]} | people for at in range(n)]
        (tmp_path / f"{n}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in texts))
        assert emotui("import", "spans", f"{n}.jsonl", "--name", "d", "--db", f"{n}.duckdb").status == 0
        workspace = Workspace.open(tmp_path / f"{n}.duckdb")
        with monkeypatch.context() as patched:
            patched.setattr(Access, "_turn", counted)
            assert bool(workspace.results().spread("d")) is annotated
    few, more = (turns.count(tmp_path / f"{n}.duckdb") for n in (2, 9))
    assert few == more > 0
