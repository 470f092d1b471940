"""Figures of tables."""

import re
import xml.etree.ElementTree as ET

import pytest

from emotui.errors import BadInput
from emotui.tables import Cell, Column, Plot, ResultsTable, Row
from emotui.workbench.reports import figures
from emotui.workbench.reports.values import Section

NASTY = "a_b $\\frac{1}$ <b>&amp; 模\x1b[31m\n"

FOREST = ResultsTable(
    "task-1",
    NASTY,
    (Column("setting", "Setting", unit="words"), Column("f1", NASTY, NASTY), Column("n", "n", unit="count")),
    (
        Row(NASTY, "run", "r1", (Cell(NASTY), Cell(0.5, low=0.4, high=0.6), Cell(3))),
        Row("Qwen", "published", "Table 3", (Cell(), Cell(0.7), Cell())),
    ),
)
HEAT = ResultsTable(
    "confusion",
    "what for what",
    (Column("joy", "joy", unit="count"), Column(NASTY, NASTY, unit="count")),
    (Row("joy", "gold", "r1", (Cell(3), Cell(0))), Row(NASTY, "gold", "r1", (Cell(1), Cell(2)))),
    heat=True,
)
POINTS = ResultsTable("plane", "plane", (), (), plot=Plot("x", "y", (0, 1), (0, 1), ((0.1, 0.2),), diagonal=True, n=1))


@pytest.mark.parametrize("table", [FOREST, HEAT, POINTS], ids=lambda table: table.key)
def test_a_figure_is_one_picture_and_the_same_each_time(table: ResultsTable) -> None:
    svg = figures.drawn(table, ".svg")
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(rb'href="(?!#)', svg)
    assert svg == figures.drawn(table, ".svg")
    assert figures.drawn(table, ".png").startswith(b"\x89PNG")


def test_a_figure_has_every_column_with_intervals_in_rows_of_six() -> None:
    columns = tuple(Column(f"c{at}", f"figure {at}") for at in range(8))
    cells = tuple(Cell(0.5, low=0.4, high=0.6) for _ in columns)
    svg = figures.drawn(ResultsTable("t", "t", columns, (Row("a", "run", "r", cells),)), ".svg")
    assert [at for at in range(8) if f"<!-- figure {at} -->".encode() in svg] == list(range(8))


def test_what_has_nothing_to_draw_is_one_sentence() -> None:
    words = ResultsTable("words", "words", (Column("a", "a", unit="words"),), (Row("x", "run", "r", (Cell("y"),)),))
    assert figures.first_drawn([Section("s", (words, FOREST))]).key == "task-1"
    with pytest.raises(BadInput, match="none of these tables has points, counts or intervals to draw"):
        figures.first_drawn([Section("s", (words,))])


def test_without_the_extra_a_figure_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"pip install 'matplotlib>="):
        figures.check_at_hand()
