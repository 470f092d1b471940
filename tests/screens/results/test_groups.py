"""Groups and rules in Results, comparisons within a slice, and slices in Results."""

from pathlib import Path

from msgspec.structs import replace

from emotui.screens.results.parts import name_cut, part_lines, rule_lines
from emotui.screens.results.place import Results
from emotui.workbench.slices.slicing import FoundRule
from tests.screens.driving import frame, opened, press, screen_text, settle
from tests.screens.results_workspace import several_runs


async def test_parts_rules_and_slices_lead_to_their_samples(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    dataset = source.datasets()[0].dataset
    source.slicing().save(dataset, "glad ones", "emotion=happy")
    glad = source.slicing().samples(dataset, "emotion=happy")
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "9", "v")
        await settle(pilot)
        place = frame(pilot).query_one(Results)
        assert place.found is not None
        assert place.found.parts is not None
        assert place.found.parts.second is not None
        errors = replace(place.found.parts, metric=replace(place.found.parts.metric, higher_is_better=False))
        heading = "".join(part.text for part in part_lines(errors, errors.rows, 0, 80)[0])
        assert "B more │ A more" in heading  # of an error the greater source is not the better one
        assert "slice glad ones" in screen_text(pilot)
        await press(pilot, "A")
        await settle(pilot)
        parts = place.found.parts
        assert parts is not None
        assert parts.second is None
        place.compared.parts.pick(next(at for at, row in enumerate(parts.rows) if row.value == "glad ones"))
        assert all(line for line in part_lines(parts, parts.rows, 0, 80))
        await press(pilot, "enter")
        await settle(pilot)
        assert (frame(pilot).session.state.column, frame(pilot).pane.n) == ("slice=glad ones", len(glad))
        await press(pilot, "9", "v", "v")
        await settle(pilot)
        assert place.found is not None
        assert place.found.rules is not None
        assert "v " in screen_text(pilot)
        rules = place.found.rules
        rows = [FoundRule("kind=a", one.rule) for one in rules.rows]
        assert len(rule_lines(rules, rows, 0, 80)) == len(rows) + 1
        assert [name_cut(at, ["short", "x" * 60], [None, None], 80) for at in (0, 1)] == [False, True]
        await press(pilot, "9", "W", "down", "enter")
        await settle(pilot)
        assert place.pair is not None
        assert {row.sample for row in place.pair.rows} <= set(glad)
        assert "in glad ones" in screen_text(pilot)


def test_results_have_a_column_a_slice_with_the_mean_of_its_samples(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb")
    dataset, run = source.datasets()[0], source.runs(source.datasets()[0].dataset)[0]
    results = source.results()
    assert "slices" not in [table.key for table in results.tables(dataset.name, sim=False)]
    source.slicing().save(dataset.dataset, "glad ones", "emotion=happy")
    (table,) = [one for one in results.tables(dataset.name, [run.run], sim=False) if one.key == "slices"]
    keeps = source.slicing().keeps(dataset.dataset, "emotion=happy")
    values = source.store.metric_means(dataset.dataset, run.run, "f1")
    (row,) = table.rows
    assert [column.title for column in table.columns] == ["All", "glad ones"]
    assert [cell.value for cell in row.cells] == [values.mean(), values[keeps].mean()]
    assert list(row.cells[1].samples) == source.slicing().samples(dataset.dataset, "emotion=happy")
