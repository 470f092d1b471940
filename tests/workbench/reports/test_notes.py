"""What stands under a printed table: only what is true of it, each special note by its mark."""

from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.notes import notes_of, printed_remark
from emotui.workbench.reports.values import MOST_COLUMNS, greatest, is_wide_heat, samples, table_values, told_imported

COLUMNS = (Column("f1", "F1"), Column("ece", "ECE"))


def table(*rows: Row, notes: tuple[str, ...] = (), hints: tuple[str, ...] = ()) -> ResultsTable:
    return ResultsTable("t", "A table", COLUMNS, rows, notes, hints=hints)


def run(name: str, *cells: Cell, remark: str = "") -> Row:
    return Row(name, "run", name, cells, remark)


def test_each_note_on_a_row_or_figure_has_its_mark_and_the_same_words_have_the_same() -> None:
    why = Cell(why="not all predictions are probabilities")
    rows = run("a", Cell(0.5), why, remark="3 of 5 scored"), run("b", Cell(0.4), why, remark="3 of 5 scored")
    found = notes_of(table(*rows), Best())
    assert found.rows == {0: "a", 1: "a"}
    assert found.cells == {(0, 1): "b", (1, 1): "b"}
    assert found.marked == (("a", "3 of 5 scored."), ("b", "n/a: not all predictions are probabilities."))


def test_what_has_to_be_known_of_an_interval_has_its_mark_at_the_figure() -> None:
    few = "few samples decide it: intervals of such figures miss more often than told"
    rows = (
        run("a", Cell(0.5, low=0.4, high=0.6), Cell(0.1, low=0.0, high=0.2, note="Student's t over 7 samples: few")),
        run("b", Cell(0.4, note="no interval: none differs"), Cell(0.2, low=0.0, high=0.9, note=few)),
        run(
            "c", Cell(0.4, low=0.3, high=0.5), Cell(0.2, low=0, high=1, note=f"Student's t over 12 samples: few; {few}")
        ),
    )
    found = notes_of(table(*rows), Best())
    assert found.cells == {(0, 1): "a", (1, 0): "b", (1, 1): "c", (2, 1): "a,c"}
    assert found.marked == (
        ("a", "Student's t over 7 to 12 samples: few."),
        ("b", "No interval: none differs."),
        ("c", f"{few.capitalize()}."),
    )
    every = [Cell(0.5, low=0.4, high=0.6, note="Student's t over 7 samples: few")] * 2
    of_all = notes_of(table(run("a", *every)), Best())
    assert (of_all.general, of_all.marked) == (("All intervals: Student's t over 7 samples: few.",), ())


def test_rows_that_lack_the_same_have_one_note_whatever_they_are_called() -> None:
    rows = [run(name, Cell(0.5), Cell(why=f"{name} is never predicted")) for name in ("joy", "fear")]
    assert notes_of(table(*rows), Best()).marked == (("a", "n/a: never predicted."),)


def test_what_only_a_screen_or_a_command_can_do_is_in_no_note() -> None:
    why = Cell(why="the run was scored without it: emotui rescore RUN")
    rows = (run("a", Cell(0.5), why, remark="under gold 1 of 2: rescore"),)
    found = notes_of(table(*rows, hints=("# shows the counts.",)), Best())
    told = " ".join([*found.general, *(note for _, note in found.marked)])
    assert told == "Under gold 1 of 2. n/a: the run was scored without it."


def test_deviations_and_intervals_are_explained_only_where_they_are_printed() -> None:
    notes = (
        "F1: a mean; ± is the standard deviation over repeats.",
        "Annotators: the average (± over annotators).",
        "[low, high]: a bootstrap.",
    )
    bare = table(run("a", Cell(0.5), Cell(0.1)), notes=notes)
    assert notes_of(bare, Best()).general == ("F1: a mean.",)
    people = Row("Annotators", "people", "3 annotators", (Cell(0.5, 0.1), Cell(0.1, low=0.0, high=0.2)))
    found = notes_of(table(run("a", Cell(0.5), Cell(0.1)), people, notes=notes), Best()).general
    assert found == ("F1: a mean.", *notes[1:])
    repeated = notes_of(table(run("a", Cell(0.5, 0.1), Cell(0.1)), notes=notes), Best()).general
    assert repeated == notes[:1]
    assert (
        printed_remark(run("a", Cell(0.5), remark="chosen on 4 of 5 folds; ± over folds")) == "chosen on 4 of 5 folds."
    )


def test_runs_scored_under_other_conventions_are_marked_with_theirs() -> None:
    rows = (
        run("a", Cell(0.5, convention="x 1"), Cell(0.5, convention="x 1")),
        run("b", Cell(0.4, convention="x 2"), Cell()),
    )
    found = notes_of(table(*rows), Best())
    assert (found.rows, found.marked) == ({0: "a", 1: "b"}, (("a", "Scored by x 1."), ("b", "Scored by x 2.")))
    assert notes_of(table(rows[0]), Best()).general == ("Scored by x 1.",)


def test_a_source_without_a_model_is_imported_wherever_it_stands() -> None:
    rows = (run("keyword rule", Cell(0.5), Cell()), Row("keyword rule", "people", "", (Cell(), Cell())))
    found = told_imported(
        ResultsTable("t", "keyword rule: what", (Column("x", "keyword rule"), COLUMNS[0]), rows), {"keyword rule"}
    )
    assert found.title == "keyword rule (imported): what"
    assert [column.title for column in found.columns] == ["keyword rule (imported)", "F1"]
    assert [row.label for row in found.rows] == ["keyword rule (imported)", "keyword rule"]


def test_one_sample_is_singular() -> None:
    assert (samples("1"), samples("1,204")) == ("n = 1 sample.", "n = 1,204 samples.")


def confusion(n: int) -> ResultsTable:
    names = [f"label {at}" for at in range(n)]
    rows = tuple(
        Row(name, "gold", "r", tuple(Cell(8 if at == to else int(to == at + 1) * 2) for to in range(n)))
        for at, name in enumerate(names)
    )
    return ResultsTable(
        "confusion-r", "r: what", tuple(Column(name, name, "given", "count") for name in names), rows, heat=True
    )


def test_a_confusion_of_over_twelve_labels_is_a_figure_whose_squares_are_shares_of_their_row() -> None:
    assert not is_wide_heat(confusion(MOST_COLUMNS))
    wide = confusion(MOST_COLUMNS + 1)
    assert [(pair.row, pair.column, pair.n, pair.share) for pair in greatest(wide)[:1]] == [
        ("label 0", "label 1", 2, "20%")
    ]
    counts = table_values(wide, Best(), lambda key, run: None, dataset="d", label="x")["counts"]
    assert isinstance(counts, dict)
    areas = [round((float(one["side"]) / 0.94) ** 2, 2) for one in counts["squares"]]
    assert areas[:2] == [0.8, 0.2]
    assert len(areas) == 2 * (MOST_COLUMNS + 1) - 1
    assert counts["named"] == ""
