"""Typing in Spot check: where the keys go, when the model is asked, and what text cannot do."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from emotui.screens.spot.place import Spot
from emotui.screens.spot.view import LONGEST
from emotui.screens.widgets.page import Page
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, listed, notified, opened, press, screen_text, settle, strike, until
from tests.screens.spot.driving import (
    asked_texts,
    editor,
    keys,
    page,
    spot,
    the_breaking_kind,
    workspace_asking,
    write,
)
from tests.waiting import awaited


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    the_breaking_kind(tmp_path, monkeypatch)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workspace]:
    """No samples; the model is loaded."""
    with workspace_asking("breaking:", tmp_path, []) as made:
        made.model("breaking:").load()
        yield made


async def test_without_samples_the_keys_go_into_the_text_and_come_out_by_escape(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        assert editor(pilot).has_focus
        assert "typing: Esc for keys" in screen_text(pilot)
        assert "T another sample's text" in screen_text(pilot)
        await write(pilot, "quite 1 j k m?")
        assert editor(pilot).text == "quite 1 j k m?"
        assert frame(pilot).place is spot(pilot)
        assert "emotions" in page(pilot)
        await press(pilot, "escape")
        assert not editor(pilot).has_focus
        await press(pilot, "v", "7")
        assert frame(pilot).place is not spot(pilot)
        assert editor(pilot).text == "quite 1 j k m?"
        await press(pilot, "8", "i")
        await write(pilot, "!")
        assert editor(pilot).text == "quite 1 j k m?!"


async def test_the_keys_go_into_the_text_however_long_the_place_takes_to_be_made(
    empty: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(place: Spot) -> None:
        for turn in range(90):
            await asyncio.sleep(0)
            if turn % 30 == 0:
                place.app.screen._on_timer_update()

    monkeypatch.setattr(Spot, "on_mount", slow, raising=False)
    async with opened(empty) as pilot:
        await press(pilot, "8")
        assert editor(pilot).has_focus


async def test_enter_starts_a_line_and_undo_takes_typing_back(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        await write(pilot, "one")
        await press(pilot, "enter")
        await write(pilot, "two")
        assert editor(pilot).text == "one\ntwo"
        await press(pilot, "escape", "u")
        assert editor(pilot).text != "one\ntwo"
        await press(pilot, "ctrl+r")
        assert editor(pilot).text == "one\ntwo"


async def test_a_key_is_echoed_while_the_model_works_and_only_the_newest_text_is_asked(
    empty: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answers = asked_texts(empty, monkeypatch), tmp_path / "answers"
    async with opened(empty) as pilot:
        await press(pilot, "8")
        editor(pilot).load_text(f"WAIT {answers}")
        await awaited(lambda: bool(asked))
        begun = time.process_time()
        await keys(pilot, ".2")
        assert spot(pilot).sides is not None
        assert spot(pilot).sides.busy
        assert editor(pilot).text == f".2WAIT {answers}"
        assert time.process_time() - begun < 1
        editor(pilot).load_text("happy")
        answers.touch()
        await settle(pilot)
        assert asked[0] == f"WAIT {answers}"
        assert asked[-1] == "happy"
        assert len(asked) <= 3
        (answer,) = [spot(pilot).columns[0].answers["spans"]]
        assert answer.text == "happy"


async def test_an_answer_to_another_text_is_grey_until_the_new_one_comes(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        await write(pilot, "happy")
        assert not any("stale" in str(part.kind) for line in spot_lines(pilot) for part in line)
        spot(pilot).rest = 2
        await keys(pilot, "!")
        await awaited(lambda: any(part.kind == "stale" for line in spot_lines(pilot) for part in line))
        await settle(pilot)
        assert not any(part.kind == "stale" for line in spot_lines(pilot) for part in line)


def spot_lines(pilot: "Pilot[None]") -> Any:
    return frame(pilot).query_one("#spot-page", Page)._lines


async def test_what_takes_over_a_second_is_asked_again_only_on_a_key(
    empty: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asked_texts(empty, monkeypatch)
    async with opened(empty) as pilot:
        await press(pilot, "8")
        for text in ("SLEEP 1.1", "SLEEP 1.2"):
            editor(pilot).load_text(text)
            await settle(pilot)
        before = list(asked)
        assert before[-1] == "SLEEP 1.2"
        editor(pilot).load_text("SLEEP 1.3")
        await settle(pilot)
        assert asked == before
        assert "F5 asks again" in page(pilot)
        await press(pilot, "f5")
        assert asked[-1] == "SLEEP 1.3"
        assert "F5 asks again" not in page(pilot)


async def test_what_takes_long_is_stopped_and_the_next_question_is_answered(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        editor(pilot).load_text("SLEEP 50")
        await until(pilot, "^X stops")
        await strike(pilot, "escape", "ctrl+x")
        await settle(pilot)
        assert "stopped: F5 asks again" in screen_text(pilot)
        await press(pilot, "i")
        editor(pilot).load_text("")
        await write(pilot, "happy")
        await settle(pilot, work=True)
        assert spot(pilot).columns[0].answers["spans"].text == "happy"


async def test_a_paste_of_100_kb_costs_a_line_and_not_the_screen(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        await write(pilot, "here")
        begun = time.process_time()
        editor(pilot).paste("word " * 20_000)
        await settle(pilot)
        assert time.process_time() - begun < 2
        assert editor(pilot).text == "here"
        assert any("100,004 characters; 20,000 fit" in told for told in notified(pilot))
        editor(pilot).paste("word " * 3_000)
        await settle(pilot)
        assert len(editor(pilot).text) == 15_004
        assert len(editor(pilot).text) <= LONGEST


async def test_control_characters_and_markup_stay_what_they_are(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        editor(pilot).paste("[red]no\x1b[31m markup\u202e[/red]")
        await settle(pilot)
        assert editor(pilot).text == "[red]no[31m markup[/red]"
        assert "[red]no[31m markup[/red]" in screen_text(pilot)


async def test_what_is_typed_takes_the_place_of_a_samples_text_and_an_arrow_goes_on_in_it(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb")) as pilot:
        await press(pilot, "8", "escape")
        sample = editor(pilot).text
        assert sample
        await press(pilot, "i")
        assert editor(pilot).selected == (0, len(sample))
        assert "typing replaces it" in screen_text(pilot)
        await press(pilot, "escape")
        assert editor(pilot).selected is None
        await press(pilot, "i", "right")
        assert "typing replaces it" not in screen_text(pilot)
        await write(pilot, "!")
        assert editor(pilot).text == f"{sample}!"
        await press(pilot, "ctrl+a", "delete", "escape", "T", "i")
        await write(pilot, "own words")
        assert editor(pilot).text == "own words"


async def test_where_a_sample_is_selected_letters_are_keys_and_no_text(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        await press(pilot, "8")
        sample = listed(pilot)[0]
        first = editor(pilot).text
        assert first
        assert not editor(pilot).has_focus
        assert f"of {sample}" in screen_text(pilot)
        await press(pilot, "m")
        assert editor(pilot).text == first
        assert pilot.app.screen is not frame(pilot), "m lists models"
        await press(pilot, "escape", "i")
        assert "typing replaces it: Esc for keys" in screen_text(pilot)
        await write(pilot, "I am so glad")
        assert frame(pilot).place is spot(pilot)
        assert editor(pilot).text == "I am so glad"
        assert "typing: Esc for keys" in screen_text(pilot)
        assert f"takes {sample}" not in screen_text(pilot), "T would be typed"
        await press(pilot, "escape")
        assert f"T takes {sample}" in screen_text(pilot)
        await press(pilot, "i", "ctrl+u", "escape")
        assert editor(pilot).text == first, "out of an empty text into the selected sample's"
        assert not editor(pilot).has_focus
        await press(pilot, "j")
        assert editor(pilot).text not in ("", first), "the text follows the list"
        await press(pilot, "1", "8")
        assert not editor(pilot).has_focus


async def test_the_views_of_the_answers_have_names_and_a_click_turns_them(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        await press(pilot, "8", "escape")
        assert "v [likeliest] all" in screen_text(pilot)
        await press(pilot, "v")
        assert "v  likeliest [all]" in screen_text(pilot)
        spot(pilot).tell("view", "likeliest")
        await settle(pilot)
        assert "v [likeliest] all" in screen_text(pilot)
