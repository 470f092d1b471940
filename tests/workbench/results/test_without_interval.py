"""Where a figure has no interval, its table says why."""

from emotui.tables import INTERVAL, Cell, Column, Row
from emotui.workbench.results.run_tables import without_interval


def test_a_figure_without_an_interval_has_its_reason_under_the_table() -> None:
    columns = (Column("accuracy", "Accuracy"), Column("macro_f1", "Macro-F1"))
    why = "no interval: 76% of resamples lie below it, so that they say little of how far off it is"
    row = Row("m", "run", "m", (Cell(0.8, low=0.7, high=0.9, note="rather too narrow"), Cell(0.9, note=why)))
    assert without_interval(columns, [row]) == (f"Macro-F1: {why}",)
    assert without_interval(columns, [row, row]) == (f"Macro-F1 of m: {why}",) * 2
    assert "no resample differs" not in INTERVAL, "that is one reason of several"
