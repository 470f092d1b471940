"""What Results is drawn from: figures and labels in cells, the window of columns, places of bars."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from emotui.screens.results import cells as results_cells
from emotui.screens.results.compared import in_short
from emotui.screens.results.forest import Against, _Shape, drawn, shared_ending
from emotui.screens.results.grid import Grid, side_by_side, window, without_unasked
from emotui.screens.results.plot import bar_lines
from emotui.screens.results.state import HELD, STILL_COUNTED, Found, Looked, Wanted, _with_what_follows, held_back
from emotui.screens.widgets import drawing
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.drawing import BASELINE, PERSON, legend
from emotui.tables import Bars, Cell, Column, ResultsTable, Row, Series, short_names
from emotui.workbench.results.forests import Forest, Point


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.62, ".620"), (1.0, "1.000"), (0.0, ".000"), (-0.0499, "-.050"), (0.9996, "1.000"), (12.5, "12.500")],
)
def test_a_figure_has_three_decimals_and_no_leading_zero(value: float, said: str) -> None:
    assert results_cells.decimals(value) == said


def test_a_cell_says_mean_and_spread_by_its_unit() -> None:
    assert results_cells.written(Cell(0.5, 0.0125), "share") == (".500", "±.013")
    assert results_cells.written(Cell(0.5 - 0.45), "difference") == ("+.050", "")
    assert results_cells.written(Cell(1200), "count") == ("1,200", "")
    assert results_cells.written(Cell(2.5, 0.7), "count") == ("2.5", "±0.7")
    assert results_cells.written(Cell(), "share") == ("·", "")
    assert results_cells.written(Cell(why="no samples"), "share") == ("–", "")
    assert results_cells.written(Cell("Retrieve\x1b"), "words") == ("Retrieve␛", "")


@given(st.lists(st.integers(1, 20), min_size=1, max_size=12), st.data())
def test_the_window_of_columns_holds_the_cursor_and_fits_where_it_can(sizes: list[int], data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, len(sizes) - 1))
    first = data.draw(st.integers(0, len(sizes) - 1))
    room = data.draw(st.integers(0, 80))
    seen = window(sizes, first, cursor, room)
    assert cursor in seen
    assert seen.stop <= len(sizes)
    assert len(seen) == 1 or sum(sizes[at] for at in seen) <= room
    if sum(sizes) <= room:
        assert list(seen) == list(range(len(sizes)))


@given(st.integers(1, 12), st.integers(1, 6), st.integers(30, 200))
def test_bars_stand_side_by_side_and_never_over_each_other(groups: int, series: int, cells: int) -> None:
    found = results_cells.places(groups, series, cells)
    taken = [cell for group in found.first for start in group for cell in range(start, start + found.bar)]
    assert len(taken) == len(set(taken)) == groups * series * found.bar
    if groups * (series * 2 + 2) <= cells:
        assert max(taken) < cells
        assert found.bar >= 2


@given(st.text(max_size=60), st.integers(5, 40))
def test_a_long_label_keeps_its_beginning_and_its_end_in_the_cells_there_are(label: str, cells: int) -> None:
    label = shown(label)
    found = results_cells.shortened(label, cells)
    assert width(found) <= cells
    assert found == label or found.partition("…")[1]
    gguf = "gguf:/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf"
    assert results_cells.shortened(gguf, 20) == "gguf:/mod…4_K_M.gguf"
    assert results_cells.shortened(gguf, len(gguf)) == gguf


def test_columns_of_groups_that_nobody_was_asked_for_are_left_out() -> None:
    columns = tuple(Column(f"{group}/{name}", name, group) for group in ("a", "b", "") for name in ("f1", "sim"))
    cells = (Cell(), Cell(), Cell(0.5), Cell(), Cell(), Cell())
    table = ResultsTable("t", "T", columns, (Row("m", "run", "m", cells),))
    assert [column.key for column in without_unasked(table).columns] == ["b/f1", "/f1", "/sim"]
    assert [row.cells for row in without_unasked(table).rows] == [(Cell(0.5), Cell(), Cell())]
    asked = ResultsTable("t", "T", columns[:2], (Row("m", "run", "m", cells[:2]),))
    assert without_unasked(asked) == asked


async def test_a_name_takes_what_no_column_needs_before_it_is_cut() -> None:
    row = Row("Annotators, best of each sample", "people", "", (Cell(0.5),))
    table = ResultsTable("t", "T", (Column("f1", "F1"),), (row,))

    class OneGrid(App[None]):
        def compose(self) -> ComposeResult:
            yield Grid()

    for cells, whole in ((80, True), (30, False)):
        async with OneGrid().run_test(size=(cells, 12)) as pilot:
            grid = pilot.app.query_one(Grid)
            grid.show_table(table)
            assert (row.label in grid.text) == whole


async def test_a_table_opens_at_the_first_figure_of_the_run_over_the_list() -> None:
    def row(name: str) -> Row:
        return Row(name, "run", name, (Cell(run=name), Cell(0.5, samples=(1,), run=name)))

    table = ResultsTable("t", "T", (Column("f1", "F1"), Column("p", "P")), (row("m"), row("shown")))

    class OneGrid(App[None]):
        def compose(self) -> ComposeResult:
            yield Grid()

    for run, place in (("shown", (1, 1)), ("elsewhere", (0, 1)), (None, (0, 1))):
        async with OneGrid().run_test(size=(60, 12)) as pilot:
            grid = pilot.app.query_one(Grid)
            grid.show_table(table, run=run)
            assert (grid.row, grid.column) == place
            grid.put(0, 0)
            grid.show_table(table, run=run)
            assert (grid.row, grid.column) == (0, 0)


def test_a_figure_that_is_a_letter_is_told_with_a_word() -> None:
    row, cell = Row("m", "run", "r", ()), Cell(0.5)
    assert results_cells.said(row, Column("precision", "P", "No prompt"), cell) == "No prompt: P precision   .500   m"
    assert results_cells.said(row, Column("f1", "F1"), cell) == "F1   .500   m"


def test_names_are_cut_to_three_letters_or_as_many_as_tell_them_apart() -> None:
    assert short_names(["joy", "sadness", "anger", "anticipation"]) == ("joy", "sad", "ang", "ant")
    assert short_names(["disappointment", "disapproval", "disgust"]) == ("disappo", "disappr", "disg")
    assert short_names(["fear", "fearful", "Fear"]) == ("fear", "fearf", "Fear")


def test_figures_of_annotators_are_held_back_until_their_similarity_is_counted() -> None:
    cells = (Cell(0.941), Cell())
    columns = (Column("p", "P"), Column("sim", "Sim"))
    rows = (Row("model", "run", "r", (Cell(0.5), Cell(0.4))), Row("Annotators, best", "people", "", cells))
    table = ResultsTable("task-1", "Task 1", columns, rows, ("a note",), settings="groups", ranges=(("p", 0.1, 0.9),))
    looked = Looked()
    looked.dataset = 1
    for whole, held in ((False, True), (True, False)):
        looked.take(Found(Wanted(1, "tables", whole=whole), (table,)))
        assert looked.provisional is held
        (drawn,) = looked.tables or ()
        assert drawn.rows[0] == rows[0]
        assert drawn.rows[1].cells == ((Cell(HELD, note=STILL_COUNTED), Cell()) if held else cells)
        assert drawn.notes == ((STILL_COUNTED, "a note") if held else ("a note",))
        assert drawn.ranges == (() if held else table.ranges)
    own = Row("ann", "people", "r2", (Cell(0.7, run="r2"), Cell()))
    assert held_back(msgspec.structs.replace(table, rows=(*rows, own))).rows[-1] == own


def test_whom_sources_stand_against_is_named_also_where_there_is_little_room() -> None:
    points = tuple(
        Point(name, "", "run", Cell(value), at, 0) for at, (name, value) in enumerate((("m", 0.5), ("n", 0.6)))
    )
    forest = Forest("k", "F1", "share", points)
    for heading, cells, told in (
        ("against embedded", 70, "against embedded"),
        ("against a model with a long name", 70, "against a model…"),
        ("against a model with a long name", 120, "against a model with a lo…"),
    ):
        against = Against(heading, ("+.112  p < .001", "–"))
        lines, _ = drawn(
            forest, _Shape.of([forest], cells, against), {"F1": "F1"}, 0, cells, waiting="", against=against
        )
        assert "".join(part.text for part in lines[1]).rstrip().endswith(told)


def test_a_legend_names_the_signs_and_spreads_that_are_drawn_and_no_others() -> None:
    def said(**drawn: Any) -> str:
        return "".join(part.text for part in legend(**drawn))

    assert said() == "├─●─┤ value and 95% interval"
    every = said(signs=(PERSON, BASELINE), intervals=False, deviations=True)
    assert every == "● value   ◆ annotator   × baseline or former gold   ± standard deviation"


@pytest.mark.parametrize("height", [8, 12, 22, 37])
def test_ticks_of_bars_are_evenly_apart_and_a_bar_of_a_ticks_value_ends_on_its_line(height: int) -> None:
    cells = (Cell(0.5), Cell(0.25, low=0.125, high=0.5), Cell(0.6))
    lines = bar_lines(Bars("", "f1", ("a", "b", "c"), (Series("m", "run", cells),)), 60, height)
    assert len(lines) <= height
    drawn = ["".join(part.text for part in line) for line in lines]
    ticks = {line[:4].strip(): at for at, line in enumerate(drawn) if line[4] == "┤"}
    assert list(ticks) == [".75", ".50", ".25"]
    assert ticks[".50"] - ticks[".75"] == ticks[".25"] - ticks[".50"]
    first, second, third = ([line[5:][at * 18 : at * 18 + 18] for line in drawn[:-2]] for at in range(3))
    assert next(at for at, line in enumerate(first) if "█" in line) == ticks[".50"]
    assert next(at for at, line in enumerate(second) if "█" in line) == ticks[".25"]
    assert next(at for at, line in enumerate(second) if "┬" in line) == ticks[".50"]
    assert ".25" in second[ticks[".50"] - 1], "the figure stands over its interval"
    full = sum("█" in line for line in third)
    part = next((at for sign in "▁▂▃▄▅▆▇" for at, line in enumerate(third) if sign in line), None)
    per_tick = ticks[".25"] - ticks[".50"]
    eighths = 0 if part is None else " ▁▂▃▄▅▆▇".index(third[part].strip()[0])
    assert full * 8 + eighths == round(0.6 / 0.25 * per_tick * 8)


def test_an_interval_of_large_figures_is_whole() -> None:
    cells = (Cell(9.269, low=8.45, high=10.05), Cell(114.5, low=98.25, high=132.75))
    points = tuple(Point(name, "", "run", cell, at, 0) for at, (name, cell) in enumerate(zip("ab", cells, strict=True)))
    forest = Forest("axis/r3", "R3L1", "share", points)
    shape = _Shape.of([forest], 100)
    lines, _ = drawn(forest, shape, {"R3L1": "R3L1"}, 0, 100, waiting="")
    text = ["".join(part.text for part in line) for line in lines]
    assert any(line.endswith("[98.25, 132.75]") for line in text)
    assert max(map(width, text)) <= 100
    assert shape.spread == len("[98.25, 132.75]")


def test_figures_to_choose_keep_the_sign_of_less_is_better_and_it_is_explained() -> None:
    forest = Forest("k", "F1", "share", (Point("m", "", "run", Cell(0.5), 0, 0),))
    figures = {"F1": "F1", "R3L1": "R3L1 ↓", "R1L1": "R1L1 ↓"}
    for cells, named in ((40, "[F1] R3L1 ↓  R1L1 ↓"), (22, "[F1] R3L1↓  R1L1↓")):
        lines, _ = drawn(forest, _Shape.of([forest], cells), figures, 0, cells, waiting="")
        text = ["".join(part.text for part in line) for line in lines]
        assert text[0].rstrip().endswith(named)
        assert any("↓ lower is better" in line for line in text[1:])


def test_the_axis_has_its_room_before_intervals_and_tests_come() -> None:
    cells = Cell(0.5), Cell(0.5, low=0.4, high=0.6)
    alone, sure = (Forest("k", "F1", "share", (Point("m", "", "run", cell, 0, 0),)) for cell in cells)
    before = _Shape.of([alone], 100, Against("against m", ("",)), waiting=True)
    after = _Shape.of([sure], 100, Against("against m", ("+.112  p < .001",)))
    assert before == after


def test_what_is_another_reading_of_a_run_stays_under_it() -> None:
    def row(label: str, run: str) -> Row:
        return Row(label, "run", run, (Cell(0.5, run=run),))

    rows = [row("m", "r1"), row("m at .5", "r1"), row("n", "r2"), row("m again", "r1")]
    assert _with_what_follows(rows) == [[0, 1], [2], [3]]


def test_ticks_of_an_axis_have_as_many_decimals_as_tell_them_apart() -> None:
    assert drawing.written((12.5, 13.0, 13.5)) == ["12.5", "13.0", "13.5"]
    assert drawing.written((9.0, 10.0, 11.0)) == ["9", "10", "11"]
    assert drawing.written((0.0, 0.25, 0.5)) == ["0", ".25", ".50"]
    assert drawing.written((0.412, 0.414)) == [".412", ".414"]


def test_what_all_names_of_a_kind_end_with_in_brackets_stands_once_over_them() -> None:
    def forest(*names: str) -> Forest:
        points = tuple(Point(name, "", "run", Cell(0.5), at, 0, False) for at, name in enumerate(names))
        return Forest("key", "F1", "share", points)

    assert shared_ending(forest("ada (illustration)", "cleo (illustration)"), "run") == " (illustration)"
    assert shared_ending(forest("ada (illustration)", "cleo"), "run") == ""
    assert shared_ending(forest("ada (illustration)"), "people") == ""


def test_a_method_in_short_says_how_intervals_and_p_come_about_and_what_makes_them_doubtful() -> None:
    whole = "95% BCa bootstrap: 2,000 resamples; p: Wilcoxon; over 3 tests by Holm (1979); gold may rest on it"
    assert in_short("", whole) == (
        "95% BCa bootstrap: 2,000 resamples; p corrected by Holm; gold may rest on it; F2 tells all"
    )
    assert "by Holm, intervals not; " in in_short("", f"{whole}; intervals are not corrected")


def test_a_published_figure_stands_beside_ones_own_of_its_name() -> None:
    columns = tuple(Column(f"{group}/{name}", name, group) for group in ("paper", "own") for name in ("F1", "P"))
    own = Row("m", "run", "m", (Cell(), Cell(), Cell(0.5), Cell(0.6)))
    printed = Row("p", "published", "SEER", (Cell(0.7), Cell(), Cell(), Cell()))
    table = side_by_side(without_unasked(ResultsTable("t", "T", columns, (own, printed))))
    assert [column.key for column in table.columns] == ["own/F1", "paper/F1", "own/P"]
    assert [cell.value for cell in table.rows[1].cells] == [None, 0.7, None]
    alone = ResultsTable("t", "T", columns[2:], (Row("m", "run", "m", own.cells[2:]),))
    assert side_by_side(alone) == alone


def test_an_axis_has_two_ticks_and_a_sign_for_two_figures_in_one_cell() -> None:
    scale = drawing.scaled(0.48, 0.78, 14)
    assert scale.ticks == (0.5, 0.7)
    assert drawing.headed(scale, drawing.written(scale.ticks)).split() == [".50", ".70"]
    drawn_as = "".join(part.text for part in drawing.joined(0.568, 0.577, scale, strong=False))
    assert drawing.TOGETHER in drawn_as
    assert not set("●◇") & set(drawn_as)


def test_without_runs_all_says_which_work_goes_on() -> None:
    forest = Forest("t", "F1", "share", (Point("A1", "", "people", Cell(0.5), 0, 0, True),), None, False, "")
    for goes_on, said in (("", "runs a model over the samples"), ("import: the top line says how far",) * 2):
        lines, _ = drawn(forest, _Shape.of([forest], 80), {"F1": "F1"}, 0, 80, waiting="", under_way=goes_on)
        told = "".join(part.text for line in lines for part in line)
        assert said in told
        assert ("runs a model" in told) == (not goes_on)
