"""Results: two sources sample by sample, all on one axis, and the way from either to the samples."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.app import App, ComposeResult

from emotui.metrics.metric import Metric
from emotui.screens.keymaps import keyed
from emotui.screens.results.asking import Wanted, ask, usual_order
from emotui.screens.results.cells import bar, bare, between, counted, decimals_of, p_value, sides, signed
from emotui.screens.results.grid import Grid
from emotui.screens.results.place import DIFFERENCES, Results
from emotui.screens.results.state import ALL, GROUPS, PAIR, RULES
from emotui.screens.results.two import DifferenceRows, told_difference
from emotui.screens.results.view import MethodDialog
from emotui.screens.widgets.line import Line
from emotui.workbench.compare.pairs import Axis, Comparing, Difference, Pair
from emotui.workbench.compare.sources import Compared
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.results.span_tables import OVER
from emotui.workbench.workspace import Workspace
from tests.commands.looking.two_questions import two_questions
from tests.conftest import Emotui
from tests.screens.browse_workspace import add_run, make_workspace, sample_records
from tests.screens.driving import frame, listed, opened, press, screen_text, settle
from tests.screens.results_workspace import records, several_runs
from tests.screens.scenes_workspace import scenarios


def test_figures_are_written_with_their_signs_and_without_a_leading_zero() -> None:
    assert [signed(value) for value in (0.123, -0.5, 0.0, -0.001)] == ["+.12", "-.50", ".00", ".00"]
    assert between((0.5, 0.613)) == "[.50, .61]"
    assert between((-0.0042, 1.0), plus=True, n=3) == "[-.004, +1.000]"
    assert [p_value(p) for p in (None, 0.0004, 0.0421)] == ["p –", "p < .001", "p .042"]


def test_bars_grow_from_the_middle_and_what_reads_zero_has_none() -> None:
    assert bar(0.5, -1.0, 1.0, 4, 4) == "     │ ■■"
    assert bar(-1.0, -1.0, 1.0, 4, 4) == "■■■■ │ "
    assert bar(0.006, -1.0, 1.0, 4, 4) == "     │ ■"
    assert bar(0.004, -1.0, 1.0, 4, 4) == "     │ "  # written .00
    assert bar(0.004, 0.0, 0.004, 4, 4) == "     │ "
    assert bar(0.0, -1.0, 1.0, 4, 4) == "     │ "
    # Where one side wins little it has little room, and both sides are on one scale.
    assert sides(-0.1, 0.9, 80) == (8, 72)
    assert bar(-0.1, -0.1, 0.9, 8, 72) == "■■■■■■■■ │ "
    assert bar(0.9, -0.1, 0.9, 8, 72).count("■") == 72
    assert sides(0.0, 1.0, 80) == (8, 72)
    assert sides(-1.0, 1.0, 80) == (40, 40)
    assert sides(0.0, 0.0, 8) == (4, 4)


def test_the_difference_of_a_text_says_who_is_better_and_has_the_colour_of_errors_where_the_first_is_worse() -> None:
    def told(difference: float, *, higher: bool = True, directed: bool = True) -> tuple[str, bool]:
        metric = Metric("m", (0, 1), higher, "", directed=directed)
        one = Compared("a", "a", "run", n=1)
        row = Difference(1, "t1", 0.5, 0.5 - difference)
        return told_difference(row, Pair(one, one, metric, (row,), {}, (), 0.0, 0))

    assert told(0.39) == ("● − ◇ +.39  ● better", False)
    assert told(-0.39) == ("● − ◇ -.39  ◇ better", True)
    assert told(0.39, higher=False) == ("● − ◇ +.39  ◇ better", True)
    assert told(-0.39, directed=False) == ("● − ◇ -.39  ◇ more", False)
    assert told(0.001) == ("● − ◇ .00", False)


def test_samples_are_counted_by_the_end_of_the_figure_that_is_better() -> None:
    report = {"won": 19, "lost": 51, "tied": 2}

    def told(*, higher: bool, directed: bool = True) -> str:
        return counted(Metric("m", (0, None), higher, "", directed=directed), report)

    assert told(higher=True) == "better ● 19  ◇ 51  equal 2"
    assert told(higher=False) == "better ● 51  ◇ 19  equal 2"
    assert told(higher=False, directed=False) == "more ● 19  ◇ 51  equal 2"


def test_a_column_has_as_many_decimals_as_its_differences_need() -> None:
    def of(*lines: tuple[float, float]) -> int:
        return decimals_of((a, b, a - b) for a, b in lines)

    assert of((8.1, 8.95), (11.6, 12.1)) == 2
    assert of((0.764, 0.766)) == 3  # .76 - .77 is not .00
    assert of((10.0, 11.0), (3.0, 4.0)) == 0
    assert of((120.25, 130.5)) == 1
    assert decimals_of([(None, 0.5, None)]) == 2
    assert [bare(-0.001, 2), between((-0.0004, 0.28))] == [".00", "[.00, .28]"]


async def test_the_bars_and_words_of_two_agree_where_less_is_better() -> None:
    one, other = Compared("a", "a", "run", n=2), Compared("b", "b", "run", n=2)
    rows = (Difference(1, "t1", 11.6, 8.1), Difference(2, "t2", 10.02, 10.95))
    report = {"won": 1, "lost": 1, "tied": 0}
    pair = Pair(one, other, Metric("l1", (0, None), False, "", "L1"), rows, report, (), 3.5, 0)

    class OnePair(App[None]):
        def compose(self) -> ComposeResult:
            yield DifferenceRows()

    async with OnePair().run_test(size=(90, 12)) as pilot:
        drawn = pilot.app.query_one(DifferenceRows)
        drawn.show_pair(pair, None)
        head, first, second = drawn.text.split("\n")
    assert head.index("● better") < head.index("│") < head.index("◇ better")
    assert first.split()[2:5] == ["11.60", "8.10", "+3.50"]
    assert second.split()[1:4] == ["10.02", "10.95", "-.93"]
    assert first.index("8.10") + 1 == second.index("10.95") + 2, "points stand under each other"


async def test_the_head_over_the_bars_is_whole_where_one_side_has_no_more_room_than_its_words() -> None:
    one, other = Compared("a", "a", "run", n=2), Compared("b", "b", "run", n=2)
    rows = (Difference(1, "t1", 0.6, 0.59), Difference(2, "t2", 0.1, 0.9))
    pair = Pair(one, other, Metric("f1", (0, 1), True, "", "F1"), rows, {"won": 1, "lost": 1, "tied": 0}, (), 0.8, 0)

    class OnePair(App[None]):
        def compose(self) -> ComposeResult:
            yield DifferenceRows()

    async with OnePair().run_test(size=(76, 12)) as pilot:
        pilot.app.query_one(DifferenceRows).show_pair(pair, None)
        await pilot.pause()
        assert "│ ● better" in screen_text(pilot)


async def test_where_all_samples_differ_enter_lists_them_all_without_a_filter(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "9")
        place = frame(pilot).query_one(Results)
        every = frame(pilot).session.overview.dataset
        assert place.pair is not None
        assert every is not None
        apart = tuple(replace(row, first=row.second + 0.1) for row in place.pair.rows)
        assert len(apart) == every.n
        found = place.found
        assert found is not None
        place._take(place.wanted, replace(found, pair=replace(place.pair, rows=apart)))  # type: ignore[arg-type]
        await settle(pilot)
        await press(pilot, "enter")
        assert frame(pilot).session.state.only == ()
        assert len(listed(pilot)) == every.n
        assert f"differ in each of the {every.n} samples" in " ".join(screen_text(pilot).split())


async def test_two_sources_are_walked_by_their_differences_and_all_stand_on_one_axis(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "9")
        place, rows = frame(pilot).query_one(Results), frame(pilot).query_one(DifferenceRows)
        assert place.pair is not None
        assert pilot.app.focused is rows
        first, second = place.pair.first, place.pair.second
        assert first.key != second.key
        text = screen_text(pilot)
        assert f"{first.name} {first.told}"[-30:] in text
        assert "● better " in text
        rows.put_on(place.pair.rows[0].sample)
        await press(pilot, "n")
        picked = rows.picked
        assert picked is not None
        assert picked.changed
        assert frame(pilot).pane.sample == picked.sample
        assert picked.id in frame(pilot).query_one("#compare-sample", Line).text
        await press(pilot, "B", "down", "enter")
        assert place.pair.second.key != second.key
        changed = [row.sample for row in place.pair.rows if row.changed]
        await press(pilot, "V")
        assert place.found is not None
        assert place.found.axis is not None
        axis = place.found.axis
        assert "†" not in screen_text(pilot)
        assert "mean over both tasks' texts" in screen_text(pilot), "a table has another figure, of one task"
        await press(pilot, "B", "j", "enter")
        assert place.found.axis is not None
        assert place.found.axis.first != axis.first
        await press(pilot, "B", "k", "enter")
        assert place.found.axis.first == axis.first
        holm = [row.p for row in axis.rows]
        await press(pilot, "E")
        assert "Benjamini-Hochberg over" in screen_text(pilot)
        assert place.found.axis is not None
        less = [row.p for row in place.found.axis.rows]
        assert all(one is None or other is None or one <= other for one, other in zip(less, holm, strict=True))
        await press(pilot, "E")
        assert "Holm over" in screen_text(pilot)
        await press(pilot, "P")
        assert "of other texts, so not on this axis" in screen_text(pilot)
        await press(pilot, "P")
        forest = place.view.forest
        await press(pilot, "g")
        while place.view.standing is None or place.view.standing.kind != "person":
            await press(pilot, "down")
        person = place.view.standing
        parts = source.slicing().wins(source.datasets()[0].dataset, person.key, axis.first, axis.metric.name)
        if parts:
            best = parts[0]
            told = f"{best.facet} {best.value} {signed(best.difference or 0)} ({best.n})"
            assert "where it wins most (means, untested)" in screen_text(pilot)
            assert told in screen_text(pilot)
        assert f"better {person.won}   worse {person.lost}   equal {person.tied}" in screen_text(pilot)
        assert f"{signed(person.off or 0, 3)}  {p_value(person.p)}" in forest.text
        await press(pilot, "enter")
        assert place.pair is not None
        assert (place.pair.first.key, place.pair.second.key) == (axis.first, person.key)
        report = place.pair.report
        assert (person.won, person.lost, person.tied) == (report["lost"], report["won"], report["tied"])
        assert person.off == pytest.approx(-report["mean_difference"])
        changed = [row.sample for row in place.pair.rows if row.changed]
        rows.put_on(changed[-1])
        await press(pilot, "enter")
        assert len(listed(pilot)) == len(changed)
        assert frame(pilot).pane.sample == changed[-1] != changed[0]


def test_where_nothing_is_chosen_models_are_compared_before_people_and_one_annotated_text_last() -> None:
    one_text = Compared("ann", "ann", "person", n=1, run="ann")
    people = Compared("person:A1", "A1", "person", n=211)
    former = Compared("gold:1", "gold 1", "gold", n=211)
    models = [Compared(key, key, "model", n=211, run=key) for key in ("newest", "older")]
    assert usual_order([one_text, *models, people, former]) == ["newest", "older", "person:A1", "gold:1", "ann"]


async def test_where_nobody_was_chosen_a_run_meets_the_best_annotator_and_a_person_the_best_run(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    dataset = source.datasets()[0].dataset
    means = {row.key: row.mean or 0.0 for row in source.comparing().axis(dataset, sure=False).rows}
    people = [key for key in means if key.startswith("person:")]
    best = max(people, key=lambda key: means[key])
    run = max((key for key in means if key not in people), key=lambda key: means[key])
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "9")
        await settle(pilot)
        place = frame(pilot).query_one(Results)
        assert place.pair is not None
        assert place.pair.second.key == best
        assert f"the best of {len(people)} annotators by F1" in screen_text(pilot)
        await press(pilot, "v")
        await settle(pilot)
        parts = place.found.parts if place.found is not None else None
        assert parts is not None
        assert parts.second is not None
        assert parts.second.key == best
        assert f"the best of {len(people)} annotators by F1" in screen_text(pilot)
        await press(pilot, "V", "B", "end", "enter")
        await settle(pilot)
        assert "the best of" not in screen_text(pilot), "who was chosen is no surprise"
    asked = Wanted(dataset, PAIR, first=people[0])
    found = ask(source.comparing(), source.slicing, asked)
    assert found.pair is not None
    assert (found.pair.second.key, found.picked_as.split(" by ")[0]) == (run, "the best of 3 runs")


@pytest.mark.parametrize(("state", "waits"), [("running", True), ("stopped", False)])
async def test_two_annotators_do_not_stand_in_for_the_run_whose_first_answers_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, waits: bool
) -> None:
    source = make_workspace(tmp_path / "w.duckdb", records(annotated=True), run=False)
    runs = source.runs
    monkeypatch.setattr(source, "runs", lambda of: [msgspec.structs.replace(one, state=state) for one in runs(of)])
    dataset = source.datasets()[0]
    add_run(source.store, dataset, records(annotated=True), name="first-1", model="first", done=2)
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "9")
        await settle(pilot)
        place = frame(pilot).query_one(Results)
        assert ("first is compared once it has answered 10 texts" in screen_text(pilot)) is waits
        assert ("the top line says how far" in screen_text(pilot)) is waits
        assert (place.pair is None) is waits
    for view in (GROUPS, RULES):
        found = ask(source.comparing(), source.slicing, Wanted(dataset.dataset, view, awaits="first"))
        assert (found.parts, found.rules) == (None, None)
        assert found.why
    chosen = Wanted(dataset.dataset, PAIR, first="person:A1", second="person:A2", awaits="first")
    assert ask(source.comparing(), source.slicing, chosen).pair is not None, "whom one chose is compared"


async def test_who_stands_first_is_not_chosen_by_going_on_to_two_with_another(tmp_path: Path) -> None:
    async with opened(several_runs(tmp_path / "w.duckdb", annotated=True), (120, 40)) as pilot:
        await press(pilot, "7", "g")
        place = frame(pilot).query_one(Results)
        while place.view.standing is None or place.view.standing.kind != "person":
            await press(pilot, "down")
        person = place.view.standing
        await press(pilot, "enter")
        assert place.pair is not None
        assert place.wanted is not None
        assert (place.wanted.first, place.wanted.second) == ("", person.key)
        assert place.pair.second.key == person.key


async def test_a_source_of_fewer_than_ten_texts_stands_aside_until_it_is_ticked(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb")
    add_run(source.store, source.datasets()[0], records(annotated=False), name="few-1", model="few", done=2)
    source.store.runs.set_state("few-1", "done")
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "7")
        looked, forest = frame(pilot).query_one(Results).looked, frame(pilot).query_one(Results).view.forest
        for drawn in (None, "task-2"):
            while (None if looked.drawn is None else looked.drawn.key) != drawn:
                await press(pilot, "n")
            assert not any(line.strip("▸ ").startswith("few") for line in forest.text.split("\n"))
            assert "aside  1 source of under 10 texts: few " in forest.text
            assert "(2 texts)" in forest.text
            await settle(pilot)
            assert looked.forest is None or "Baseline" in str(looked.forest.points), drawn
            assert "n 2" not in forest.text, "the baseline of what stands aside stands aside with it"
        await press(pilot, *["V"] * 3)
        while (table := frame(pilot).query_one(Grid).table) is None or table.key != "task-2":
            await press(pilot, "n")
        assert "few" in [row.label for row in table.rows]
        await press(pilot, "r", "g")
        here = frame(pilot).session.run_shown
        assert here is not None
        await press(pilot, *(["j"] if here.run == "few-1" else []), "space", "enter")
        runs = frame(pilot).query_one(Results).looked.runs
        assert "few-1" in runs
        await press(pilot, *["v"] * 3)
        assert "aside" not in forest.text
        assert any(line.strip("▸ ").startswith("few") for line in forest.text.split("\n"))


async def test_a_metric_and_a_pair_hold_in_every_view(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "7", "right", "right")
        place = frame(pilot).query_one(Results)
        metric = place.found.axis.metric if place.found is not None and place.found.axis is not None else None
        assert metric is not None
        assert metric.name == "precision"
        await press(pilot, "end", "v")
        assert place.pair is not None
        assert place.pair.metric == metric
        second = place.pair.second
        assert second.kind == "person"
        assert frame(pilot).pane.display
        await press(pilot, "v")
        parts = place.found.parts if place.found is not None else None
        assert parts is not None
        assert (parts.metric, parts.second) == (metric, second)
        assert not frame(pilot).pane.display


async def test_means_of_all_sources_come_before_their_intervals_and_tests(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb")
    dataset, comparing = source.datasets()[0].dataset, source.comparing()
    quick, whole = comparing.axis(dataset, sure=False), comparing.axis(dataset)
    assert [(row.key, row.mean, row.off) for row in quick.rows] == [(row.key, row.mean, row.off) for row in whole.rows]
    assert all(row.low is None and row.p is None for row in quick.rows)
    asked = [ask(comparing, source.slicing, Wanted(dataset, ALL, quick=one)) for one in (True, False)]
    assert [found.sure for found in asked] == [False, True]


async def test_the_views_stay_on_one_line_at_eighty_columns_whatever_is_looked_at(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "7")
        looked = frame(pilot).query_one(Results).looked
        for view in looked.views:
            assert looked.view == view
            for _ in range(4):
                title, strip = screen_text(pilot).splitlines()[1], " ".join(looked.views).split()
                assert title.replace(f"[{view}]", f" {view} ").split()[-len(strip) :] == strip
                await press(pilot, "n")
            await press(pilot, "v")


async def test_what_is_looked_at_is_named_whole_at_eighty_columns_and_so_is_its_dataset(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    add_samples(source.store, "spans", "other", sample_records()[:2], "elsewhere")
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "7", "n")
        looked = frame(pilot).query_one(Results).looked
        name = frame(pilot).query_one("#results-name", Line)
        assert looked.named[0]
        dataset = frame(pilot).session.overview.dataset
        assert dataset is not None
        assert screen_text(pilot).splitlines()[2].strip() == looked.named[0]
        assert name.display
        assert screen_text(pilot).splitlines()[1].startswith(f" {dataset.name} "), "the list stands first in every view"
        await press(pilot, "v")
        assert screen_text(pilot).splitlines()[1].startswith(f" {dataset.name}  F1  ● − ◇ v ")
        assert not name.display


async def test_what_has_room_under_the_axis_are_the_same_sources_by_their_other_figures(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    async with opened(source, (120, 24)) as pilot:
        await press(pilot, "7")
        place = frame(pilot).query_one(Results)
        assert place.found is not None
        few = len(place.found.further)
        await pilot.resize_terminal(120, 45)
        await settle(pilot)
        found = place.found
        assert found is not None
        assert found.axis is not None
        assert found.metrics[0].help.split(" (")[0] in " ".join(screen_text(pilot).split())
        assert [one.metric.name for one in found.further] == ["sim", "precision", "recall"][: len(found.further)]
        assert len(found.further) > few
        for one in found.further:
            dataset, first = place.looked.dataset or 0, found.axis.first  # no p stands there
            assert one == source.comparing().axis(dataset, one.metric.name, first, tests=False)
        assert "  Sim similarity" in screen_text(pilot)
        while place.view.standing is None or place.view.standing.key != found.axis.first:
            await press(pilot, "down")
        await press(pilot, "enter")
        assert "the others stand against this one" in screen_text(pilot)


async def test_a_source_alone_stands_beside_baselines_before_it_stands_on_an_axis(tmp_path: Path) -> None:
    of_none = records(annotated=False)
    source = make_workspace(tmp_path / "w.duckdb", of_none)
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "7")
        looked = frame(pilot).query_one(Results).looked
        assert looked.lonely
        assert (looked.on_axis, looked.named[1]) == (False, 1)
        assert looked.drawn is not None
        await press(pilot, "p")
        assert looked.on_axis
        assert looked.named[1] == looked.named[2] == 1 + len(looked.sources or ())
        add_run(source.store, source.datasets()[0], of_none, name="other-1", model="other", shift=2)
        frame(pilot).session.look_again()
        await settle(pilot)
        assert not looked.lonely


async def test_the_axis_of_all_sources_stays_where_it_is_by_a_figure_that_one_of_them_alone_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    whole = Comparing.axis

    def of_few(self: Comparing, dataset: int, metric: str | None = None, **asked: Any) -> Axis:
        """Of Sim one source is known, of recall none: it has not been counted yet."""
        found = whole(self, dataset, metric, **asked)
        return replace(found, rows=found.rows[: {"sim": 1, "recall": 0}.get(found.metric.name, len(found.rows))])

    monkeypatch.setattr(Comparing, "axis", of_few)
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "7", "right")
        await settle(pilot)
        place = frame(pilot).query_one(Results)
        looked = place.looked
        assert looked.against is not None
        assert (looked.against.metric.name, len(looked.against.rows)) == ("sim", 1)
        assert (looked.on_axis, looked.lonely, looked.named[1]) == (True, False, 1)
        await press(pilot, "right", "right")
        await settle(pilot)
        assert (looked.on_axis, looked.named[1]) == (True, 1)
        assert "no source has R yet" in screen_text(pilot)
        await press(pilot, "right")
        await settle(pilot)
        assert (looked.against.metric.name, looked.on_axis) == ("f1", True)


async def test_what_p_and_r_are_over_stands_beside_f1_and_f2_opens_how_figures_were_counted(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "7")
        await settle(pilot)
        assert OVER in screen_text(pilot)
        assert keyed("{method} tells all:") in screen_text(pilot)
        known = frame(pilot).query_one(Results).view.known
        assert len(known) > 1
        await press(pilot, "f2")
        sheet = pilot.app.screen
        assert isinstance(sheet, MethodDialog)
        words = " ".join(screen_text(pilot).replace("│", " ").split())
        assert all(" ".join(one.split()) in words for one in known)
        drawn = frame(pilot).query_one(Results).looked.drawn
        assert all(one in sheet.said for one in (DIFFERENCES if drawn is None else drawn.notes))
        await press(pilot, "f2")
        assert pilot.app.screen is frame(pilot)
        await press(pilot, "V", "V", "V")
        await settle(pilot)
        assert frame(pilot).query_one(Results).looked.view == "table"
        assert OVER.split("; ")[0] in screen_text(pilot)
        assert OVER.split("; ")[1] in screen_text(pilot)


async def test_a_list_of_one_task_keeps_no_dataset_of_another_from_results(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    add_samples(source.store, "scenes", "scenarios", scenarios(3), "elsewhere")
    spans = source.datasets()[0].name
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "4", "7")
        session = frame(pilot).session
        assert session.list_task == "scenes"
        assert screen_text(pilot).splitlines()[1].startswith(" scenarios ")
        await press(pilot, "d")
        assert spans in screen_text(pilot)
        await press(pilot, "k", "enter")
        assert (session.list_task, session.overview.dataset) == ("spans", source.datasets()[0])
        assert screen_text(pilot).splitlines()[1].startswith(f" {spans} ")
        assert not frame(pilot).query_one(Results).busy
        await press(pilot, "4", "d")
        assert "no other of this task" in screen_text(pilot)


async def test_what_is_compared_answers_the_question_of_the_run_over_the_list(emotui: Emotui, tmp_path: Path) -> None:
    db = two_questions(emotui, tmp_path)
    async with opened(lambda: Workspace.open(db), (140, 40)) as pilot:
        for keys, first in ((("enter",), "near"), (("j", "enter"), "numbers")):
            await press(pilot, "1", "r", *keys, "9")
            pair = frame(pilot).query_one(Results).pair
            assert pair is not None
            assert (pair.first.name, pair.second.name) in (("near", "numbers"), ("numbers", "near"))
            assert pair.first.name == first
            assert pair.metric.name == "mae"
            assert "values MAE" in screen_text(pilot)
        # What gold says nothing of cannot be compared: what the dataset's file came for is.
        await press(pilot, "1", "r", "j", "enter", "9")
        assert "values MAE" not in screen_text(pilot)
