"""Groups and rules in Results, comparisons within a slice, and slices in Results."""

from pathlib import Path

from textual.app import App, ComposeResult

from emotui.metrics.metric import Metric
from emotui.metrics.slice_rules import Rule
from emotui.screens.rephrase import lines as rephrase_lines
from emotui.screens.rephrase.place import Rephrase
from emotui.screens.results import cells as parts_drawing
from emotui.screens.results.parts import against_rest, in_order, name_cut, part_lines, rule_lines
from emotui.screens.results.place import Results
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.row_list import PickedRows
from emotui.workbench.compare.sources import Compared
from emotui.workbench.slices.slicing import Findings, FoundRule, Parts, Sliced
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
        both = place.found.parts
        head, *rows = ["".join(part.text for part in line) for line in part_lines(both, both.rows, 0, 118)]
        for row, drawn in zip(both.rows, rows, strict=True):
            assert row.difference is not None
            assert parts_drawing.signed(row.difference, 3) in drawn
            assert f" {row.n} " in drawn
            if row.n < 10:
                continue
            first, other = (drawn.index(one if one in drawn else "◈") for one in "●◇")
            assert (first - other) * row.difference >= 0, "the greater figure stands at the right"
            assert abs(row.difference) < 0.1 or set(drawn[min(first, other) + 1 : max(first, other)]) == {"━"}
            assert parts_drawing.between((row.low, row.high), plus=True, n=3) in drawn if row.low is not None else True
        assert head.split()[-5:] == ["●", "◇", "gap", "95%", "p"]
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
        assert not rows
        two = [FoundRule("kind=a", Rule((k,), 0.2, 12, 0.6, 0.5, 0.0, 0.2, 0.01, 0.02)) for k in range(2)]
        assert len(rule_lines(rules, two, 0, 80)) == 3
        top = next(line for line in screen_text(pilot).splitlines()[2:] if line.strip())
        assert top.split() == f"No rule holds of enough of these {rules.n} samples in either half.".split()
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
    values = source.store.listing.metric_means(dataset.dataset, run.run, "f1")
    (row,) = table.rows
    assert [column.title for column in table.columns] == ["All", "glad ones"]
    assert [cell.value for cell in row.cells] == [values.mean(), values[keeps].mean()]
    assert list(row.cells[1].samples) == source.slicing().samples(dataset.dataset, "emotion=happy")


def test_parts_of_few_texts_stand_aside_and_stretch_no_axis() -> None:
    metric = Metric("f1", (0, 1), True, "F1", "F1")
    one, other = (Compared(name, name, "run", n=100) for name in "ab")
    rows = tuple(
        Sliced("kind", name, n, mean, None, None, mean + 0.1, -0.1)
        for name, n, mean in (("most", 90, 0.5), ("rest", 12, 0.6), ("few", 3, 0.05))
    )
    lines = part_lines(Parts(one, other, metric, "", rows, rows[0]), rows, 0, 80)
    drawn = ["".join(part.text for part in line) for line in lines]
    assert drawn[0].split()[2:-4] == [".50", ".60", ".70"]
    assert not set("←→") & set("".join(drawn[1:]))
    assert "under 10 texts" in drawn[3]
    assert not set("●◇━") & set(drawn[3])
    assert ".05" in drawn[3], "its figure is told all the same"
    assert [row.value for row in in_order((rows[2], *rows[:2]))] == ["most", "rest", "few"]
    assert in_order((rows[2], rows[2])) == [rows[2], rows[2]]
    lonely = part_lines(Parts(one, other, metric, "", rows[2:], rows[2]), rows[2:], 0, 80)
    assert "●" in "".join(part.text for part in lonely[1]), "where all are of few texts they have the axis"
    alone = tuple(
        Sliced("kind", name, n, mean, mean - wide, mean + wide)
        for name, n, mean, wide in (("most", 90, 0.5, 0.05), ("rest", 12, 0.6, 0.05), ("few", 3, 0.55, 0.4))
    )
    lines = part_lines(Parts(one, None, metric, "", alone, alone[0]), alone, 0, 80)
    assert "under 10 texts" in "".join(part.text for part in lines[3])
    assert not set("←→") & {sign for line in lines for part in line for sign in part.text}


def test_parts_of_two_facets_that_are_the_same_texts_stand_there_once() -> None:
    metric = Metric("f1", (0, 1), True, "F1", "F1")
    one, other = (Compared(name, name, "run", n=100) for name in "ab")
    rows = tuple(
        Sliced(facet, value, n, 0.5, None, None, mean, 0.5 - mean)
        for facet, value, n, mean in (
            ("emotion", "neutral", 20, 0.6),
            ("emotion", "sad", 20, 0.6),
            ("valence", "neutral", 20, 0.6),
            ("cues", "neutral", 20, 0.7),
        )
    )
    kept = in_order(rows)
    assert [row.conditions for row in kept] == ["emotion=neutral", "emotion=sad", "cues=neutral"]
    drawn = part_lines(Parts(one, other, metric, "", rows, rows[0]), kept, 0, 100)
    assert drawn[1][0].text.startswith("▸ emotion/valence neutral    20")
    assert drawn[2][0].text.split() == ["emotion", "sad", "20"]
    assert against_rest(rows[2], rows).startswith("emotion/valence neutral: ")


def test_n_and_difference_of_a_rule_are_named_in_full_where_there_is_room() -> None:
    metric = Metric("f1", (0, 1), True, "F1", "F1")
    one = Compared("a", "a", "run", n=100)
    rows = [FoundRule("length=middle & negation=yes", Rule((0,), 0.2, 12, 0.6, 0.5, 0.0, 0.2, 0.01, 0.02))]
    found = Findings(one, None, metric, "", tuple(rows), 4, 30, "holm")
    narrow, wide = (rule_lines(found, rows, 0, cells) for cells in (80, 116))
    assert rows[0].conditions in narrow[1][0].text, "names have the room that words over bars do not take"
    assert narrow[0][0].text.split()[:3] == ["where", "n", "diff."]
    assert narrow[0][1].text.endswith("above")
    assert "[.00, +.20]" in narrow[1][0].text
    assert all(sum(len(part.text) for part in line) <= 80 for line in narrow)
    longer = FoundRule("emotion=surprise & valence=negative", rows[0].rule)
    below = rule_lines(found, [longer], 0, 80, airy=True)
    assert below[1][0].text.startswith("▸ emotion=surprise &  ")
    assert below[2][0].text == "    valence=negative"
    assert wide[0][0].text.split()[:7] == ["where", "n", "(test", "half)", "here", "−", "rest"]
    assert len(wide[0][0].text) == len(wide[1][0].text + wide[1][1].text + wide[1][2].text)


async def test_a_group_is_written_anew_in_rephrase_by_a_key(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    dataset = source.datasets()[0].dataset
    glad = source.slicing().samples(dataset, "emotion=happy")
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "9")
        await settle(pilot)
        place = frame(pilot).query_one(Results)
        assert not place.can("counter_test"), "two sources are no group"
        await press(pilot, "v")
        await settle(pilot)
        parts = place.compared.parts
        parts.pick(next(at for at, row in enumerate(parts.rows) if row.conditions == "emotion=happy"))
        await press(pilot, "i")
        await settle(pilot, work=True)
        anew = frame(pilot).query_one(Rephrase)
        assert frame(pilot).place is anew
        assert anew.round is not None
        assert anew.round.counters
        # Also what the model gets wrong is to be written; passages of several emotions have no label to be wrong about.
        assert 0 < len(anew.open) == anew.round.dataset.n < len(glad)
        assert not anew.can("figures")
        assert "joy" in screen_text(pilot)
        assert anew.seen.progress is not None
        lines = rephrase_lines.session(anew.seen.progress, "", 80)
        assert "0 of 0 errors gone" in "".join(part.text for line in lines for part in line)


async def test_rows_that_scroll_leave_a_cell_for_the_bar_and_none_is_cut() -> None:
    one, metric = Compared("a", "a", "run", n=100), Metric("f1", (0, 1), True, "F1", "F1")
    rows = tuple(Sliced("emotion", f"e{at}", 20, 0.5, 0.1, 0.9, None, None, adjusted=1.0) for at in range(40))
    parts = Parts(one, None, metric, "", rows, rows[0])

    class Many(App[None]):
        def compose(self) -> ComposeResult:
            yield PickedRows(lambda shown, cursor, cells: part_lines(parts, shown, cursor, cells))

    async with Many().run_test(size=(100, 12)) as pilot:
        drawn: PickedRows[Sliced] = pilot.app.query_one(PickedRows)
        drawn.show_rows(rows)
        await pilot.pause()
        assert drawn.show_vertical_scrollbar
        assert all(width(line) <= drawn.scrollable_content_region.width for line in drawn.text.split("\n"))
        assert drawn.text.split("\n")[1].endswith("1.000")
