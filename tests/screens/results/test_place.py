"""Results: the tables, bars and transitions of the store, and the way from a figure to the samples behind it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from emotui.backends.host import Cancelled
from emotui.errors import StoreError
from emotui.records import Mark, SpanSample
from emotui.screens.browse.place import Browse
from emotui.screens.results import cells as results_bars
from emotui.screens.results.forest import ForestRows
from emotui.screens.results.grid import Grid, side_by_side, without_unasked
from emotui.screens.results.place import Results
from emotui.screens.results.plot import ResultsPlot
from emotui.screens.widgets.line import Line
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.files.view import FileView
from emotui.workbench.results.service import Results as Service
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import SAMPLE_DATA, add_run, embed, workspace
from tests.screens.driving import click, frame, listed, notified, opened, press, screen_text, settle, strike, until
from tests.screens.results_workspace import QWEN, several_runs
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def quick_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotators get their Sim without a model being loaded."""
    monkeypatch.setattr("emotui.workbench.results.service.Embedder", lambda model, cancelled: embed)


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return several_runs(tmp_path / "w.duckdb")


def place(pilot: Any) -> Results:
    return frame(pilot).query_one(Results)


def grid(pilot: Any) -> Grid:
    return frame(pilot).query_one(Grid)


def cell(pilot: Any) -> tuple[Row, Column, Cell]:
    found = grid(pilot).cell
    assert found is not None
    return found


def about(pilot: Any) -> str:
    """The lines under the grid."""
    return frame(pilot).query_one("#results-cell", Line).text + "\n" + frame(pilot).query_one("#results-about").text


async def tables(pilot: Any, *keys: str) -> None:
    """Open Results with its tables, then press keys."""
    await press(pilot, "7", "V", "V", "V", *keys)


def rows(pilot: Any) -> dict[str, str]:
    """The sources of the forest, a line each, by how they begin."""
    first = frame(pilot).query_one(ForestRows).text.split("\n\n")[0]
    lines = [line.strip("▸ ") for line in first.split("\n")]
    return {line[:34]: line for line in lines if set(line) & set("●◆×†") and not line.startswith("†")}


async def test_tab_goes_from_row_to_row_and_past_the_last_to_the_next_pane(source: Workspace) -> None:
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "7", "home")
        forest = frame(pilot).query_one(ForestRows)
        visited = [forest.cursor]
        while pilot.app.focused is forest:
            await press(pilot, "tab")
            visited.append(forest.cursor)
        assert visited == [*range(len(forest.rows)), len(forest.rows) - 1]
        await press(pilot, "shift+tab", "shift+tab")
        assert (forest.cursor, pilot.app.focused) == (len(forest.rows) - 2, forest)
        await tables(pilot, "home", "tab")
        assert (grid(pilot).row, pilot.app.focused) == (1, grid(pilot))


async def go_to(pilot: Any, key: str, label: str, column: str) -> None:
    """Put the cursor on a cell of a table by pressing keys."""
    assert place(pilot).looked.view == "table"
    table = grid(pilot).table
    while table is None or table.key != key:
        await press(pilot, "n")
        table = grid(pilot).table
    rows = [number for number, row in enumerate(table.rows) if row.label == label]
    columns = [number for number, one in enumerate(table.columns) if one.key == column]
    grid(pilot).focus()
    await press(pilot, *["up"] * grid(pilot).row, *["down"] * rows[0])
    await press(pilot, *["left"] * grid(pilot).column, *["right"] * columns[0])
    assert cell(pilot)[0].label == label
    assert cell(pilot)[1].key == column


def same(drawn: ResultsTable | None, table: ResultsTable) -> bool:
    """Whether a table is drawn with all that was asked, in whatever order its sources stand."""
    expected = side_by_side(without_unasked(table))
    assert drawn is not None
    return drawn.columns == expected.columns and sorted(map(repr, drawn.rows)) == sorted(map(repr, expected.rows))


async def test_a_table_opens_on_its_own_figures_with_headings_that_are_whole_and_arrows_move_its_cursor(
    source: Workspace,
) -> None:
    (alone, *_), (table, *_) = source.results().tables(1), source.results().tables(1, published=True)
    async with opened(source, (80, 24)) as pilot:
        await tables(pilot)
        assert same(grid(pilot).table, alone)
        assert "†" not in screen_text(pilot)
        assert not frame(pilot).pane.display
        await press(pilot, "P")
        assert same(grid(pilot).table, table)
        assert cell(pilot)[0].kind == "run"
        assert cell(pilot)[2].samples
        await go_to(pilot, "task-1", "rule", "own/f1")
        drawn = grid(pilot).text.split("\n")
        at = next(at for at, line in enumerate(drawn) if line.startswith("rule"))
        own = next(row for row in table.rows if row.label == "rule")
        f1 = own.cells[[column.key for column in table.columns].index("own/f1")]
        assert isinstance(f1.value, float)
        assert f1.low is not None
        assert f"{f1.value:.3f}".replace("0.", ".") in drawn[at]
        assert f"[{f1.low:.2f}, {f1.high:.2f}]".replace("0.", ".") in drawn[at + 1]
        await press(pilot, *["left"] * len(table.columns))
        printed = next(at for at, line in enumerate(grid(pilot).text.split("\n")) if line.startswith("Qwen 3 32B †"))
        assert ".673" in grid(pilot).text.split("\n")[printed]
        assert "±.006" in grid(pilot).text.split("\n")[printed + 1]
        assert not any("†" in line for line in drawn if line.startswith((QWEN, "rule")))
        assert pilot.app.focused is grid(pilot)
        for number, column in enumerate(side_by_side(without_unasked(table)).columns):
            await press(pilot, *["right"] * (number > 0))
            assert cell(pilot)[1] == column
            assert column.group.split()[0] in about(pilot)
            heads = grid(pilot).text.split("\n")[: grid(pilot).heads]
            assert column.title in heads[-1]
            assert "…" not in "".join(heads)
            assert all(word in " ".join(heads) for word in column.group.split())
            assert ("◂" in heads[-1]) == (0 not in grid(pilot)._column_places)
        await press(pilot, *["pagedown"] * 4)
        shown = grid(pilot).table
        assert shown is not None
        assert cell(pilot)[0].label == shown.rows[-1].label
        assert grid(pilot).scroll_offset.y > 0
        # The headings stay when the rows scroll.
        assert next(line for line in heads if line.strip()).split()[0] in screen_text(pilot).split("\n")[3]
        await press(pilot, "P")
        assert same(grid(pilot).table, alone)


async def test_sources_stand_on_one_axis_own_ones_first_and_published_ones_beside_it_once_they_are_asked_for(
    source: Workspace,
) -> None:
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "7", "n")
        drawn = rows(pilot)
        assert [line.split()[0] for line in drawn] == ["rule", QWEN, QWEN, "Baseline:"]
        assert all("●" in line and "├" in line for name, line in drawn.items() if "Baseline" not in name)
        assert "×" in list(drawn.values())[-1]
        assert "†" not in screen_text(pilot)
        assert frame(pilot).focused is place(pilot).view.forest
        ticks = screen_text(pilot).splitlines()[3]
        await press(pilot, "P")
        published = [line for line in rows(pilot).values() if "†" in line]
        assert len(published) > 10
        assert not any(set(line) & set("●○├┊") for line in published), "other texts: their figures alone"
        assert screen_text(pilot).splitlines()[3] == ticks, "they stretch no axis"
        assert "of other texts, so not on this axis" in screen_text(pilot)
        await press(pilot, "P", "j", "right")
        picked = place(pilot).view.forest.picked
        assert picked is not None
        assert (picked.label, place(pilot).looked.figure) == (QWEN, "P")
        await pilot.app.run_action("tell('view', 'table')", frame(pilot))
        await settle(pilot)
        assert cell(pilot)[0].label == QWEN
        assert cell(pilot)[1].title == "P"
        assert cell(pilot)[2] == picked.cell
        assert "Over the texts of Task 1 alone; all has Task 1 and Task 2 together." in screen_text(pilot)
        await press(pilot, "v", "v", "v", "n", "slash")
        assert "errors" in frame(pilot).query_one("#results-title", Line).text
        assert place(pilot).entry.title == "Results"
        await press(pilot, "p", "enter")
        assert isinstance(frame(pilot).place, Browse)
        assert len(listed(pilot)) == len(picked.cell.samples)
        assert frame(pilot).pane.display


async def test_enter_goes_to_just_the_samples_behind_a_figure_and_x_comes_back(source: Workspace) -> None:
    async with opened(source) as pilot:
        everything = listed(pilot)
        await tables(pilot)
        await go_to(pilot, "errors-task-1", "rule", "hallucination_rate")
        behind = cell(pilot)[2].samples
        assert 0 < len(behind) < 18
        await press(pilot, "enter")
        assert frame(pilot).place.entry.title == "Browse"
        assert frame(pilot).session.run_shown is not None
        assert frame(pilot).session.run_shown.run == "rule-1"
        marks = {row.id: row.marks for row in source.page(list(behind), "rule-1")}
        assert listed(pilot) == list(marks)
        assert all("H" in one for one in marks.values())
        assert f"{len(behind)} of 30" in screen_text(pilot)
        await press(pilot, "x")
        assert listed(pilot) == everything


async def test_behind_a_rate_each_sample_shows_the_answer_that_has_the_error(source: Workspace) -> None:
    async with opened(source) as pilot:
        await tables(pilot)
        await go_to(pilot, "errors-task-1", QWEN, "hallucination_rate")
        behind = cell(pilot)[2].samples
        await press(pilot, "enter")
        browse = frame(pilot).query_one(Browse)
        turned = set()
        for _ in behind:
            evidence = browse.evidence
            assert evidence is not None
            detail = evidence.repeats[browse.repeat].detail
            assert detail is not None
            assert "H" in detail.marks
            turned.add(browse.repeat)
            await press(pilot, "j")
        assert turned == {0, 1, 2}


async def test_what_lies_behind_a_figure_is_not_remembered(tmp_path: Path, source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "7", "n", "enter")
        assert len(listed(pilot)) == 18
        await press(pilot, "q")
    async with opened(Workspace.open(tmp_path / "w.duckdb")) as pilot:
        assert len(listed(pilot)) == 30


async def test_a_figure_of_an_experiment_leads_to_the_dataset_of_that_experiment(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", experiment=True)
    async with opened(source) as pilot:
        await tables(pilot)
        await go_to(pilot, "experiment-0", QWEN, "em")
        await press(pilot, "enter")
        dataset = frame(pilot).session.overview.dataset
        assert dataset is not None
        assert dataset.name == "experiment-0"
        assert frame(pilot).session.run_shown is not None
        assert frame(pilot).session.run_shown.run == "exp-1"
        assert len(listed(pilot)) == 100


async def test_ticked_runs_are_counted_alone_until_they_are_unticked(source: Workspace) -> None:
    async with opened(source) as pilot:
        await tables(pilot)
        first = grid(pilot).table
        assert first is not None
        runs = [run.run for run in frame(pilot).session.overview.runs]
        assert runs == ["cot-1", "base-1", "rule-1"]
        await press(pilot, "r", "j", "space", "enter")
        table = grid(pilot).table
        assert same(table, source.results().tables(1, ["cot-1", "base-1"])[0])
        assert [row.label for row in table.rows if row.kind == "run"] == [QWEN]
        assert "just 2 runs" in screen_text(pilot)
        await press(pilot, "V", "V", "n")
        assert "rule" not in frame(pilot).query_one("#results-legend").text
        await press(pilot, "r", "j", "space", "k", "enter", "v", "v")
        assert grid(pilot).table == first


async def test_an_undefined_figure_is_a_dash_and_says_why_when_selected(tmp_path: Path) -> None:
    samples = [SpanSample(id="a", text="I wept all night.", spans=(Mark(0, 6),), emotion="sad")]
    source = workspace(tmp_path / "w.duckdb", samples=samples, run=False)
    add_run(source.store, source.datasets()[0], samples, shift=4)
    async with opened(source) as pilot:
        await tables(pilot)
        await go_to(pilot, "errors-task-1", "rule", "hallucination_rate")
        assert cell(pilot)[2].value is None
        assert "– undefined: no predicted spans" in about(pilot)
        assert "Enter" not in about(pilot)
        await press(pilot, "enter")
        assert frame(pilot).place.entry.title == "Results"


async def test_v_goes_through_what_there_is_to_see_and_n_through_each_and_transitions_lead_to_their_passages(
    source: Workspace,
) -> None:
    found = source.results().transitions(1, "emotion")
    async with opened(source) as pilot:
        await tables(pilot)
        titles = []
        for _ in place(pilot).looked.tables or ():
            titles.append(frame(pilot).query_one("#results-title", Line).text)
            await press(pilot, "n")
        assert len(set(titles)) == len(titles) > 6
        await press(pilot, "p")
        assert frame(pilot).query_one("#results-title", Line).text == titles[-1]
        await press(pilot, "v", "v")
        assert "Agreement of gold, " in frame(pilot).query_one("#results-title", Line).text
        seen = [place(pilot).looked.view]
        while seen[-1] != "by group":
            await press(pilot, "v")
            seen.append(place(pilot).looked.view)
        assert seen == ["agreement", "all", "two", "by group"]
        assert place(pilot).looked.at["all"] == 0, "the chart of all sources is the one that one left"
        await press(pilot, "n")
        assert frame(pilot).query_one(ResultsPlot).display
        assert "Task 1: one sentence: F1 by emotion   chart 2 of 13" in screen_text(pilot)
        await press(pilot, "n")
        assert "Task 1: one sentence: F1 by valence   chart 3 of 13" in screen_text(pilot)
        await press(pilot, "v", "v", "v")
        assert screen_text(pilot).count("From one sentence to the next, by emotion") == 1
        assert "of the pairs that begin with" in about(pilot)
        assert {part.kind for line in grid(pilot)._lines for part in line} & {"heat-1", "heat-2"}
        assert [part.kind for line in grid(pilot)._lines for part in line if "picked" in part.kind] == ["picked-heat"]
        assert "= the same goes on" in grid(pilot).text
        most = max(share or 0.0 for shares in found.row_shares for share in shares)
        parts = [part for line in grid(pilot)._lines for part in line if part.kind == "heat-4"]
        assert len(parts) == sum((share or 0.0) >= 0.875 * most for shares in found.row_shares for share in shares)
        await press(pilot, "number_sign")
        assert set(grid(pilot).text) & set("░▒▓")
        await press(pilot, "number_sign")
        told = grid(pilot).text.replace("▸", " ").replace("=", " ").split("\n")
        lines = {line.split()[1]: line.split()[2:] for line in told if line.startswith("from ")}
        assert lines == {name: [str(n) for n in row] for name, row in zip(found.labels, found.counts, strict=True)}
        here = found.labels.index("neutral")
        assert cell(pilot)[0].label == "from neutral"
        await press(pilot, "enter")
        behind = [row.id for row in source.page(list(found.samples[here][here]), None)]
        assert listed(pilot) == behind


async def test_a_figure_of_agreement_opens_the_texts_behind_it_the_worst_first(source: Workspace) -> None:
    tables = source.results().agreement(1)
    async with opened(source) as pilot:
        await press(pilot, "7", "V")
        shown = cell(pilot)
        assert shown == (tables[0].rows[0], tables[0].columns[0], tables[0].rows[0].cells[0])
        assert "Agreement of gold" in tables[0].title
        assert "gold and sources" in screen_text(pilot)
        await press(pilot, "enter")
        assert listed(pilot) == [row.id for row in source.page(list(shown[2].samples), None)]
        assert frame(pilot).pane.sample == shown[2].samples[0]


async def test_bars_have_a_glyph_a_run_in_the_colours_of_the_theme_and_lead_to_their_figures_and_samples(
    source: Workspace,
) -> None:
    bars = source.results().bars(1, part="task-1")
    async with opened(source) as pilot:
        await press(pilot, "7", "v", "v", "n")
        drawn = screen_text(pilot)
        for number, series in enumerate(bars.series):
            glyph = results_bars.GLYPHS[number]
            assert f"{glyph * 2} {series.label}" in drawn
            assert drawn.count(glyph) > 20
        for label in bars.labels:
            assert label in drawn
        for theme in ("light", "high-contrast", "colour-blind-safe", "dark"):
            pilot.app.theme = theme
            await settle(pilot)
            strips = pilot.app.screen._compositor.render_strips()
            colours = {
                str(segment.style.color.name)
                for strip in strips
                for segment in strip
                if segment.style is not None and segment.style.color is not None and "▒" in segment.text
            }
            assert colours == {pilot.app.theme_variables["gold"].lower()}
        await press(pilot, "n")
        assert "F1 by valence" in screen_text(pilot)
        await press(pilot, "enter")
        table = grid(pilot).table
        assert table is not None
        assert table.key == "labels-task-1"
        assert cell(pilot)[1].group == "Valence"
        numbers = cell(pilot)[2].samples
        await press(pilot, "enter")
        assert isinstance(frame(pilot).place, Browse)
        assert len(listed(pilot)) == len(numbers) > 0


async def test_without_colour_nothing_of_a_plot_has_any(source: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(source) as pilot:
        await press(pilot, "7", "v", "v", "n")
        segments = [
            segment
            for strip in pilot.app.screen._compositor.render_strips()
            for segment in pilot.app._filters[-1].apply(list(strip), pilot.app.screen.styles.background)
        ]
        assert {s.style.color.name for s in segments if s.style is not None and s.style.color} == {"default"}
        assert {glyph for glyph in results_bars.GLYPHS if any(glyph in s.text for s in segments)} >= set("█▒░")


def test_the_first_paint_imports_no_arrays_and_no_plotting_library() -> None:
    late = "'plotext' in m or m in ('scipy', 'numpy', 'duckdb', 'textual.widgets._text_area')"
    code = f"import emotui.screens.app, sys; print([m for m in sys.modules if {late}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_annotators_come_at_once_and_their_sim_and_baselines_after_it(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb", annotated=True)
    async with opened(source) as pilot:
        await tables(pilot)
        table = grid(pilot).table
        assert table is not None
        people = [row for row in table.rows if row.kind == "people"]
        assert len(people) == 2
        assert all(row.cells[-1].value is not None for row in people)
        kinds = {
            found.whole: {row.kind for table in answer.value for row in table.rows}
            for found, answer in place(pilot).looked._found.items()
            if found.what == "tables"
        }
        assert "baseline" not in kinds[False]
        assert "baseline" in kinds[True]


async def test_a_title_that_stands_whole_under_the_dataset_does_not_stand_beside_the_views_too(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "two.duckdb", experiment=True)
    async with opened(source, (120, 30)) as pilot:
        await press(pilot, "7", "V", "V")
        assert place(pilot).looked.view == "transitions"
        name = frame(pilot).query_one("#results-name", Line)
        assert name.display
        assert "From one sentence to the next, by emotion" in name.text
        assert "From one" not in frame(pilot).query_one("#results-title", Line).text


async def test_a_correction_waits_for_tests_that_are_still_being_counted(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "7")
        for counts, told in ((True, "the tests are still being counted"), (False, "")):
            monkeypatch.setattr(Results, "_counts", counts)
            assert place(pilot).lacking("correction") == told
        monkeypatch.setattr(Results, "_counts", True)
        assert place(pilot).lacking("values") == ""


async def test_dots_come_before_their_intervals_and_ctrl_x_stops_the_counting_of_those(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Service.tables

    def endless(self: Service, dataset: Any, runs: Any = None, *, cancelled: Any, on_step: Any, **asked: Any) -> Any:
        on_step("answers", 2000, 7000)
        wait_until(cancelled)
        raise Cancelled

    monkeypatch.setattr(Service, "tables", endless)
    async with opened(source, (120, 35)) as pilot:
        await strike(pilot, "7")
        await until(pilot, "1 of 3")
        await strike(pilot, "n")
        await until(pilot, "intervals are being counted", QWEN)
        means = rows(pilot)
        assert all(line.count("●") == 1 and "├" not in line for line in means.values())
        await strike(pilot, "j")
        await strike(pilot, "V", "V", "V")
        await until(pilot, "^X stops it", "2,000 of 7,000 answers read")
        await strike(pilot, "v", "v", "v")
        await until(pilot, "intervals are being counted")
        await press(pilot, "ctrl+x")
        assert not place(pilot).busy
        assert "The counting was stopped: v counts again" in screen_text(pilot)
        monkeypatch.setattr(Service, "tables", counted)
        await press(pilot, "v")
        assert place(pilot).looked.view == "all"
        own = rows(pilot)
        for name, line in means.items():
            assert own[name].endswith("]")
            assert own[name].split(" [")[0].split()[-1] == line.split()[-1]


async def test_what_cannot_be_counted_is_said_in_words(source: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Service, *args: Any, **named: Any) -> Any:
        raise StoreError("the store is held [red]elsewhere[/]")

    monkeypatch.setattr(Service, "tables", fail)
    async with opened(source) as pilot:
        await press(pilot, "7", "V", "V", "V")
        assert "The results cannot be counted" in screen_text(pilot)
        assert "the store is held [red]elsewhere[/]" in screen_text(pilot)


async def test_a_run_that_goes_on_is_counted_when_it_is_done(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb")
    async with opened(source) as pilot:
        await tables(pilot)
        before = grid(pilot).table
        add_run(source.store, source.datasets()[0], _records(source), name="late-1", model="late", done=20)
        frame(pilot).session.follow()
        await settle(pilot)
        asked = place(pilot)._desk._number  # type: ignore[union-attr]
        frame(pilot).session._marker = None
        frame(pilot).session.follow()
        await settle(pilot)
        assert place(pilot)._desk._number == asked  # type: ignore[union-attr]
        source.store.runs.set_state("late-1", "done")
        frame(pilot).session.follow()
        await settle(pilot)
        assert grid(pilot).table != before
        assert "late" in [row.label for row in grid(pilot).table.rows]  # type: ignore[union-attr]


def _records(source: Workspace) -> list[SpanSample]:
    return [source.evidence(number, None).sample for number, _ in source.store.samples.of_dataset(1)]


async def test_e_writes_the_report_of_the_runs(source: Workspace, tmp_path: Path) -> None:
    async with opened(source) as pilot:
        await press(pilot, "7", "P", "e")
        pilot.app.screen.query_one("#path", Input).value = str(tmp_path / "out.md")
        await press(pilot, "enter")
        await settle(pilot, work=True)
        text = (tmp_path / "out.md").read_text(encoding="utf-8")
        assert "Task 1" in text
        assert "Qwen 3 32B" in text
        assert any("out.md is written" in said for said in notified(pilot))


async def test_a_report_is_stopped_and_nothing_is_written(
    source: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(self: Service, dataset: Any, runs: Any = None, *, cancelled: Any, on_step: Any, **asked: Any) -> Any:
        on_step("answers", 1200, 4000)
        wait_until(cancelled)
        raise Cancelled

    async with opened(source) as pilot:
        await press(pilot, "7", "e")
        pilot.app.screen.query_one("#path", Input).value = str(tmp_path / "out.md")
        monkeypatch.setattr(Service, "tables", endless)
        await press(pilot, "enter")
        await until(pilot, "report: answers")
        assert "1,200/4,000  ^X stops" in screen_text(pilot)
        await press(pilot, "ctrl+x")
        await settle(pilot, work=True)
        assert any("out.md is not written" in said for said in notified(pilot))
        assert list(tmp_path.glob("*out.md*")) == []


async def test_a_workspace_without_samples_and_files_without_a_workspace_say_so(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", samples=[])) as pilot:
        await press(pilot, "7")
        assert "no samples of spans yet" in screen_text(pilot)
        await press(pilot, "v", "n", "enter", "e", "number_sign")
        assert frame(pilot).place.entry.title == "Results"
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(b"\n".join((SAMPLE_DATA / "spans_sentences.jsonl").read_bytes().splitlines()[:5]))
    async with opened(FileView(str(gold), warn=lambda line: None)) as pilot:
        await press(pilot, "7")
        assert "Results are of runs in a workspace" in screen_text(pilot)
        await press(pilot, "v", "n", "enter", "q")


async def test_a_click_puts_the_cursor_on_a_cell(source: Workspace) -> None:
    async with opened(source) as pilot:
        await tables(pilot)
        line = next(at for at, text in enumerate(grid(pilot).text.split("\n")) if text.startswith(QWEN))
        start, _ = grid(pilot)._column_places[4]
        await click(pilot, Grid, offset=(start + 2, line))
        await settle(pilot)
        row, column, _cell = cell(pilot)
        assert (row.label, column.key) == (QWEN, "retrieve-cot/f1")


async def test_hostile_labels_are_drawn_literally(tmp_path: Path) -> None:
    row = Row("[red]m[/]\x1b[31m", "run", "r", (Cell(0.5), Cell("[b]x[/b]")))
    table = ResultsTable("t", "T", (Column("a", "[i]a[/i]"), Column("b", "b", unit="words")), (row,), ("[u]note[/u]",))
    async with opened(several_runs(tmp_path / "w.duckdb")) as pilot:
        await tables(pilot)
        grid(pilot).show_table(table)
        await settle(pilot)
        drawn = screen_text(pilot)
        for said in ("[red]m[/]␛[31m", "[i]a[/i]", "[b]x[/b]", "[u]note[/u]"):
            assert said in drawn
