"""Texts with several labels on the screen: in Browse with what is right, missed and too much, and in Results."""

from pathlib import Path

import pytest

from emotui.records import LabelsGold
from emotui.screens.app import EmotuiApp
from emotui.screens.browse.said import SaidPane, lines, sign
from emotui.screens.results.grid import Grid
from emotui.screens.results.place import Results
from emotui.screens.widgets.line import Line
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Page
from emotui.tasks.parts import SaidLine
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.album import Album, at_rest
from tests.screens.driving import frame, listed, opened, press, screen_text, settle
from tests.screens.labels_workspace import workspace

PICTURES = {"runs": ("7", "V", "V"), "by label": ("n",), "confusion": ("n",), "text": ("1", "n", "n")}


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "labels.duckdb")


async def test_right_missed_and_extra_labels_stand_first_each_with_its_letter(source: Workspace) -> None:
    async with opened(source) as pilot:
        said = frame(pilot).query_one("#said-lines", Page)
        assert said.text.splitlines()[0].startswith("= joy")
        await press(pilot, "n")  # the first text with an error
        shown = said.text.splitlines()
        assert shown[0].startswith("= joy")
        assert shown[1].startswith("M fear")
        assert "gold" in shown[1]
        assert "│" in shown[1]
        assert shown[1].endswith(".25")
        assert all(line.startswith("·") for line in shown[2:])
        await press(pilot, "n")
        assert [line[:2] for line in said.text.splitlines()] == ["M ", "X ", "· ", "· "]
        heading = frame(pilot).query_one("#said-below", Line).text
        assert "0 right" in heading
        assert "1 missed" in heading
        assert "1 extra" in heading


async def test_a_long_text_has_all_the_lines_that_those_under_it_leave_free(tmp_path: Path) -> None:
    source = Workspace.open(tmp_path / "w.duckdb")
    source.set_setting(FIRST_START, "done")
    text = "\n".join(f"Line {n} of a long letter." for n in range(28))
    add_samples(source.store, "labels", "long", [LabelsGold(id="letter", text=text, labels=("joy",))], "made up")
    async with opened(source, (120, 45)) as pilot:
        assert "Line 0 of" in screen_text(pilot)
        assert "Line 27 of" in screen_text(pilot)
        assert "1 gold" in screen_text(pilot)
        await pilot.resize_terminal(120, 24)
        await settle(pilot)
        assert "Line 27 of" not in screen_text(pilot)
        assert "1 gold" in screen_text(pilot)


async def test_the_list_is_filtered_by_label_and_raw_output_is_a_key_away(source: Workspace) -> None:
    async with opened(source) as pilot:
        assert len(listed(pilot)) == 7
        await press(pilot, "f", "right", "space", "enter")  # anger, fear, joy, neutral
        assert listed(pilot) == ["dev-t0-1", "dev-t0-4"]
        await press(pilot, "O")
        assert frame(pilot).query_one("#said-raw").display
        assert "raw output" in frame(pilot).query_one("#said-below", Line).text
        await press(pilot, "O")
        assert frame(pilot).query_one("#said-lines", Page).display


async def test_an_unlabelled_text_says_that_there_is_nothing_to_compare_with(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "G")
        assert "unlabelled" in frame(pilot).query_one("#said-below", Line).text


async def test_without_a_run_gold_labels_stand_alone_and_the_key_that_asks_is_named(tmp_path: Path) -> None:
    source = Workspace.open(tmp_path / "bare.duckdb")
    source.set_setting(FIRST_START, "done")
    add_samples(source.store, "labels", "bare", [LabelsGold(id="1", text="I am glad.", labels=("joy",))], "made up")
    async with opened(source) as pilot:
        assert "R asks a model" in frame(pilot).query_one("#said-below", Line).text
        assert frame(pilot).query_one("#said-lines", Page).text.startswith("= joy")
        await press(pilot, "7")
        assert frame(pilot).query_one("#results-notice", Notice).display


async def test_results_show_figures_by_label_and_enter_lists_the_texts_behind_one(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "7", "V", "V")
        grid = frame(pilot).query_one(Grid)
        assert grid.table is not None
        assert [row.label for row in grid.table.rows] == ["embedded classify", "… thresholds of other"]
        await press(pilot, "n")
        assert [row.label for row in grid.table.rows][:2] == ["joy", "fear"]
        recall = [column.key for column in grid.table.columns].index("recall")
        await press(pilot, "down", *["right"] * recall)
        await press(pilot, "enter")
        assert listed(pilot) == ["dev-t0-1"]
        assert frame(pilot).query_one(SaidPane).display


async def test_the_confusion_is_shades_or_counts_and_has_no_bars(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "7", "V", "V", "n", "n")
        grid = frame(pilot).query_one(Grid)
        assert grid.table is not None
        assert grid.table.heat
        before = grid.text
        await press(pilot, "number_sign")
        assert grid.text != before
        await press(pilot, "v")
        assert frame(pilot).query_one(Results).looked.view == "agreement"
        await press(pilot, *["v"] * 5)
        assert frame(pilot).query_one(Results).looked.view == "table"


def test_a_threshold_is_a_tick_in_the_bar_and_long_names_are_cut() -> None:
    things = [SaidLine("a label with a very long name", "yes", "no", "M", 0.3, 0.5), SaidLine("b", "no", "no", "", 0.1)]
    drawn = ["".join(part.text for part in line) for line in lines(things, 60)]
    assert all(len(line) <= 60 for line in drawn)
    bar = drawn[0][drawn[0].index("■") : drawn[0].rindex(" ")]
    assert pytest.approx(bar.count("■") / len(bar), abs=0.5 / len(bar) + 0.01) == 0.3
    assert bar.index("│") == len(bar) // 2


@pytest.mark.parametrize(
    ("thing", "letter"),
    [
        (SaidLine("a", "yes", "yes"), "="),
        (SaidLine("a", "yes", "no", "M"), "M"),
        (SaidLine("a", "no", "yes", "X"), "X"),
        (SaidLine("a", "no", "no"), "·"),
        (SaidLine("a", "", "yes"), "·"),
        (SaidLine("a", "yes", ""), "="),
        (SaidLine("mask 1", "glad", "glad"), "="),
        (SaidLine("mask 1", "glad", "sad", "M"), "M"),
    ],
)
def test_every_line_has_a_letter(thing: SaidLine, letter: str) -> None:
    assert sign(thing) == letter


async def test_pictures(album: Album, source: Workspace) -> None:
    source.set_setting("theme", "dark")
    async with at_rest(EmotuiApp(lambda: source, poll=None)) as pilot:
        await album.walk(pilot, PICTURES)
