"""The list: searched, filtered, sorted, clicked, and the same again after a restart."""

from pathlib import Path

import pytest

from emotui.screens.browse.place import Browse
from emotui.screens.samples.table import SampleList
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import list_query, sample_records, workspace
from tests.screens.driving import frame, listed, opened, press, screen_text, settle, shown_id
from tests.screens.rephrase_workspace import scripted


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_search_follows_each_letter_and_letters_are_text_while_one_types(source: Workspace) -> None:
    samples = sample_records()
    async with opened(source) as pilot:
        await press(pilot, "slash", "q", "u", "i")
        assert listed(pilot) == [sample.id for sample in samples if "qui" in sample.text.lower()]
        await press(pilot, "enter")
        assert pilot.app.focused is frame(pilot).query_one(SampleList)
        assert "“qui”" in screen_text(pilot)
        await press(pilot, "x")
        assert len(listed(pilot)) == len(samples)


async def test_escape_takes_back_what_was_typed_into_the_search(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "slash", "z", "z", "z")
        assert listed(pilot) == []
        assert "No sample fits" in screen_text(pilot)
        await press(pilot, "escape")
        assert len(listed(pilot)) == len(sample_records())


async def test_filter_keeps_the_samples_with_an_emotion_and_says_so(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "f")
        names = source.emotions(1)
        await press(pilot, *["right"] * names.index("sad"), "space", "enter")
        expected = [s.id for s in sample_records() if "sad" in {s.emotion, *(one.emotion for one in s.sentences)}]
        assert listed(pilot) == expected
        assert f"{len(expected)} of {len(sample_records())}  sad" in screen_text(pilot)


async def test_filter_by_f1_refuses_what_is_no_figure(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "f", "tab", "tab", "tab", "2", "enter")
        assert "figures from 0 to 1" in screen_text(pilot)
        await press(pilot, "backspace", "0", ".", "9", "enter")
        rows = source.page(list(source.order(list_query(source))), "rule-1")
        assert listed(pilot) == [row.id for row in rows if (row.values.get("f1") or 0) >= 0.9]


async def test_enter_keeps_the_order_and_space_turns_it_round_with_the_same_sample_selected(source: Workspace) -> None:
    async with opened(source) as pilot:
        here = shown_id(pilot)
        await press(pilot, "s", "j", "enter")
        assert listed(pilot) == sorted(sample.id for sample in sample_records())
        assert shown_id(pilot) == here
        await press(pilot, "s", "enter")
        assert listed(pilot) == sorted(sample.id for sample in sample_records())
        await press(pilot, "s", "space", "enter")
        assert listed(pilot) == sorted((sample.id for sample in sample_records()), reverse=True)
        assert shown_id(pilot) == here


async def test_the_figure_in_the_list_is_a_choice_that_is_remembered(source: Workspace) -> None:
    async with opened(source) as pilot:
        assert " F1 marks" in screen_text(pilot)
        await press(pilot, "percent_sign", "j", "j", "enter")
        assert "Prec marks" in screen_text(pilot)
        await press(pilot, "q")
    async with opened(source) as pilot:
        assert "Prec marks" in screen_text(pilot)


async def test_filter_order_position_overlay_and_colours_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "workspace.duckdb"
    async with opened(workspace(path)) as pilot:
        await press(pilot, "s", "j", "enter", "j", "j", "j", "o")
        await press(pilot, "slash", "t", "h", "e", "enter")
        frame(pilot).tool.use_theme("light")
        await settle(pilot)
        before = (shown_id(pilot), listed(pilot))
        await press(pilot, "q")
    async with opened(Workspace.open(path)) as pilot:
        assert (shown_id(pilot), listed(pilot)) == before
        assert frame(pilot).session.state.sort == "id"
        assert frame(pilot).query_one(Browse).overlay == "gold"
        assert pilot.app.theme == "light"


async def test_a_click_selects_a_sample_and_the_wheel_scrolls_without_selecting(source: Workspace) -> None:
    async with opened(source, (160, 20)) as pilot:
        rows = frame(pilot).query_one(SampleList)
        await pilot.click(SampleList, offset=(5, 4))
        await settle(pilot)
        assert rows.cursor == 4
        assert shown_id(pilot) == sample_records()[4].id
        rows.scroll_down(animate=False)
        rows.scroll_down(animate=False)
        await settle(pilot)
        assert rows.scroll_offset.y > 0
        assert rows.cursor == 4


async def test_where_an_answer_is_right_or_wrong_the_list_says_so_and_speaks_of_no_f1(tmp_path: Path) -> None:
    source = scripted(tmp_path)
    source.run_model("embedded", source.store.dataset("rephrase").dataset)  # type: ignore[union-attr]
    async with opened(source) as pilot:
        await press(pilot, "3")
        shown = screen_text(pilot)
        assert "  id     right marks  text" in shown
        assert "rs-1     yes        " in shown
        assert "rs-5      no    M   " in shown
        assert "wrong ▂        █ right" in shown
        await press(pilot, "s")
        assert "wrong ones first" in screen_text(pilot)
        await press(pilot, "escape", "f")
        assert "right from" in screen_text(pilot)
        assert "F1" not in screen_text(pilot)
