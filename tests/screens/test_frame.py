"""The frame: its footer, its sizes, and what it says where there is nothing to show."""

import threading
from pathlib import Path

import pytest

from emotui.errors import StoreError
from emotui.screens.browse.place import Browse
from emotui.screens.samples.table import SampleList
from emotui.screens.widgets import footer
from emotui.screens.widgets.line import Line
from emotui.workbench.files.view import FileView
from emotui.workbench.source import BrowseSource
from emotui.workbench.workspace import Workspace
from tests.screens import scenes_workspace
from tests.screens.browse_workspace import SAMPLE_DATA, sample_records, workspace
from tests.screens.driving import click, frame, listed, opened, press, screen_text, settle, shown_id, strike
from tests.waiting import awaited


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_a_click_on_the_footer_does_what_it_says(source: Workspace) -> None:
    async with opened(source) as pilot:
        line = next(i for i, text in enumerate(screen_text(pilot).split("\n")) if "j k move" in text)
        column = screen_text(pilot).split("\n")[line].index("overlay")
        await click(pilot, offset=(column, line))
        await settle(pilot)
        assert frame(pilot).query_one(Browse).overlay == "gold"


async def test_the_footer_offers_only_what_can_be_done(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", run=False), (200, 45)) as pilot:
        keys = frame(pilot).query_one("KeyBar", Line).text
        assert "overlay" in keys
        assert "next error" not in keys
        assert "clear filter" not in keys
        await press(pilot, "slash", "t", "h", "e", "enter")
        assert "clear filter" in frame(pilot).query_one("KeyBar", Line).text


async def test_what_is_said_in_place_of_the_keys_goes_by_itself_but_for_a_question(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(footer, "_SAID", 0.05)
    async with opened(source) as pilot:
        bar = frame(pilot).query_one(footer.KeyBar)
        bar.say("this is the last sample")
        assert bar.text == "this is the last sample"
        await awaited(lambda: "j k move" in bar.text)
        bar.say("again ends it", warns=True)
        await pilot.pause(0.2)
        assert bar.text == "again ends it"
        await strike(pilot, "j")
        assert "j k move" in bar.text


async def test_at_80_columns_the_list_folds_away_behind_a_key(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        rows = frame(pilot).query_one(SampleList)
        assert rows.region.width == 0
        await press(pilot, "j")
        assert shown_id(pilot) == sample_records()[1].id
        await press(pilot, "l")
        assert rows.region.width > 70
        await press(pilot, "down", "enter")
        assert rows.region.width == 0
        assert shown_id(pilot) == sample_records()[2].id


async def test_a_terminal_too_small_says_so_and_comes_back(source: Workspace) -> None:
    async with opened(source, (59, 24)) as pilot:
        assert "emotui needs 60x16" in screen_text(pilot)
        await pilot.resize_terminal(60, 16)
        await settle(pilot)
        assert "span 1 of" in screen_text(pilot)
        await pilot.resize_terminal(80, 15)
        await settle(pilot)
        assert "this is 80x15" in screen_text(pilot)


async def test_an_empty_workspace_says_how_to_fill_it(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", samples=[])) as pilot:
        assert "No samples yet" in screen_text(pilot)
        assert "emotui import spans FILE" in screen_text(pilot)


async def test_an_empty_list_says_that_samples_are_on_their_way(tmp_path: Path) -> None:
    over = threading.Event()
    async with opened(workspace(tmp_path / "w.duckdb", samples=[])) as pilot:
        for brings, title in ((True, "Samples are on their way"), (False, "No samples yet")):
            over.clear()
            frame(pilot).session.begin("some texts", lambda on_progress: over.wait(30), over.set, brings=brings)
            frame(pilot).session.look_again()
            await settle(pilot)
            assert title in screen_text(pilot)
            assert "some texts: the top line says how far" in screen_text(pilot)
            assert ("No samples yet" in screen_text(pilot)) is not brings
            over.set()
            await settle(pilot, work=True)
        assert "No samples yet" in screen_text(pilot)


async def test_a_source_that_cannot_be_opened_is_said_in_the_frame() -> None:
    def fail() -> BrowseSource:
        raise StoreError("w.duckdb is held by process 12: close it there [red]first[/]")

    for size in ((160, 45), (80, 24)):
        async with opened(fail, size) as pilot:
            assert "w.duckdb is held by process 12: close it there [red]first[/]" in screen_text(pilot)
            await press(pilot, "q")


async def test_files_are_browsed_without_a_store(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(b"\n".join((SAMPLE_DATA / "spans_sentences.jsonl").read_bytes().splitlines()[:5]))
    source = FileView(str(gold), warn=lambda line: None)
    async with opened(source) as pilot:
        assert len(listed(pilot)) == 5
        assert "gold.jsonl" in screen_text(pilot)
        assert "run a model" not in screen_text(pilot)


async def test_the_run_one_looks_at_stays_while_another_program_starts_one(source: Workspace) -> None:
    async with opened(source) as pilot:
        before = screen_text(pilot)
        assert "rule" in before
        source.store.runs.start("new", "new", "spans", "theirs", 1, {}, 3)
        frame(pilot).session.follow()
        await settle(pilot)
        assert len(frame(pilot).session.overview.runs) == 2
        assert screen_text(pilot) == before


async def test_a_place_pressed_at_once_after_another_shows_what_it_shows_when_one_waits(tmp_path: Path) -> None:
    source = scenes_workspace.workspace(tmp_path / "w.duckdb")
    pairs = (("7", "6"), ("6", "7"), ("1", "2"), ("2", "1"), ("3", "2"), ("6", "3"), ("4", "7"))
    async with opened(source, size=(120, 35)) as pilot:
        for place in "1234567":
            await press(pilot, place)
            await settle(pilot, work=True)
        waited = {}
        for pair in pairs:
            await press(pilot, *pair)
            await settle(pilot, work=True)
            waited[pair] = screen_text(pilot)
        for pair in pairs:
            await strike(pilot, *pair)
            await settle(pilot, work=True)
            assert screen_text(pilot) == waited[pair], pair
