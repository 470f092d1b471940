"""The texts behind a figure of generation."""

from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.tasks.generation.tables import texts_behind, with_texts
from emotui.tasks.generation.whole import Detail

SAID = [
    (7, Detail("a", 0, "joy", values={"r1_m": 0.2, "eas": 0.9})),
    (8, Detail("b", 0, "fear", values={"r1_m": 0.6, "eas": 0.1})),
    (9, Detail("c", 0, "joy", silent=True)),
]


def test_behind_a_metric_stand_the_texts_that_have_it_the_worst_first() -> None:
    assert texts_behind(SAID, "r1_m", "a model") == (8, 7)
    assert texts_behind(SAID, "eas", "a model") == (8, 7)
    assert texts_behind(SAID, "silent", "a model") == (9,)
    assert texts_behind(SAID, "human_f1", "a model") == (7, 8, 9)
    assert texts_behind(SAID, "m/agreement", "joy") == (7, 9)


def test_figures_of_no_run_and_undefined_ones_have_no_texts() -> None:
    row = Row("a model", "run", "r", (Cell(0.5, run="r"), Cell(why="none", run="r"), Cell(0.5)))
    columns = (Column("eas", "EAS"), Column("ers", "ERS"), Column("p", "p"))
    (told,) = with_texts(ResultsTable("generation", "T", columns, (row,)), {"r": SAID}).rows
    assert [cell.samples for cell in told.cells] == [(8, 7), (), ()]
