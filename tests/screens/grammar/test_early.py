"""Keys that are pressed before a place that was just opened has read its first text."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from emotui.records import ValuesGold
from emotui.screens import keys
from emotui.screens.annotate.place import Annotate
from emotui.screens.masked.place import Masked
from emotui.screens.rephrase import requests
from emotui.screens.rephrase.place import Rephrase
from emotui.screens.scenes.place import Scenes
from emotui.screens.spot.place import Spot
from tests.screens import scenes_workspace
from tests.screens.annotate.test_labels import workspace as annotated
from tests.screens.browse_workspace import workspace as browsed
from tests.screens.driving import drawn, event_of, frame, opened, press, screen_text, settle
from tests.screens.masked.workspace import masked_workspace
from tests.screens.rephrase_workspace import TEXTS, scripted
from tests.waiting import awaited


def at_once(pilot: "Pilot[None]", *pressed: str) -> None:
    """What a terminal sends in one go."""
    for key in pressed:
        pilot.app.post_message(event_of(key))


async def test_what_is_typed_behind_the_key_of_the_field_goes_into_it_in_rephrase(tmp_path: Path) -> None:
    async with opened(scripted(tmp_path)) as pilot:
        at_once(pilot, "3", "i", "space", *"q1fk?", "left", "u")
        await settle(pilot, work=True)
        here = frame(pilot).query_one(Rephrase)
        assert here.display
        assert here.editor.has_focus
        assert here.editor.text == f"{TEXTS[0][2]} q1fku?"
        assert here.seen.drafts == ()
        await press(pilot, "escape", "1")
        at_once(pilot, "3", "j", "n", "1", "3", "i", *"q1")
        await settle(pilot)
        assert here.display
        assert here.editor.text == f"{TEXTS[2][2]}q1", "as one by one: n is answered before the place is left"


async def test_what_is_typed_behind_the_key_of_the_field_goes_into_it_in_spot_check(tmp_path: Path) -> None:
    source = browsed(tmp_path / "w.duckdb")
    source.set_setting("live model", "embedded")
    async with opened(source) as pilot:
        at_once(pilot, "8", "i", *"f3 I", "backspace", "q")
        await settle(pilot)
        here = frame(pilot).query_one(Spot)
        assert here.display
        assert here.editor.text == "f3 q"


async def test_a_guess_that_is_typed_before_its_text_is_there_is_of_that_text(tmp_path: Path) -> None:
    async with opened(masked_workspace(tmp_path), (120, 40)) as pilot:
        at_once(pilot, "5", "i", *"f1", "space", "q")
        await settle(pilot)
        here = frame(pilot).query_one(Masked)
        assert here.display
        assert here.typing
        assert here.guess_line.value == "f1 q"


async def test_arrows_and_letters_of_scenes_wait_for_what_is_decoded(tmp_path: Path) -> None:
    async with opened(scenes_workspace.workspace(tmp_path / "w.duckdb")) as pilot:
        at_once(pilot, "4", "c", "v")
        await settle(pilot)
        here = frame(pilot).query_one(Scenes)
        assert here.clamps == {0: 1}
        assert here.view == "sweep"


async def test_labels_and_numbers_wait_for_the_first_text_to_annotate(tmp_path: Path) -> None:
    source = annotated(tmp_path, "values", *(ValuesGold(id=i, text="My tea is cold.") for i in "abc"))
    async with opened(source, (100, 24)) as pilot:
        at_once(pilot, "2", "V", "3", "4", "5", "space", "V", "7")
        await settle(pilot)
        bench = frame(pilot).query_one(Annotate).bench_of
        said = [bench.said(number).values for number in bench.order]
        assert said[0] == {"valence": 3, "arousal": 4, "dominance": 5}
        assert said[1] == {"valence": 7}
        assert frame(pilot).places.number == 2, "no digit has opened a place"


async def test_a_sample_that_comes_twice_takes_the_keys_from_nobody(tmp_path: Path) -> None:
    source = browsed(tmp_path / "w.duckdb")
    source.set_setting("live model", "embedded")
    async with opened(source) as pilot:
        await press(pilot, "8", "i")
        here = frame(pilot).query_one(Spot)
        assert here._offered is not None
        here._offer(here._offered.number, here._offered)
        await press(pilot, *"f3")
        assert here.editor.text == "f3"


async def test_a_move_the_key_of_the_field_and_words_in_one_burst_go_where_they_would_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emotui.screens.keys.PATIENCE", 60.0)  # how long keys wait is tested elsewhere
    async with opened(scripted(tmp_path)) as pilot:
        await press(pilot, "3")
        here = frame(pilot).query_one(Rephrase)
        at_once(pilot, "j", "i", "space", *"q1fk?")
        await settle(pilot, work=True)
        assert here.display
        assert here.editor.text == f"{TEXTS[1][2]} q1fk?"
        at_once(pilot, "escape", "1", "3", "i", *"!x", "escape", "k")
        await settle(pilot, work=True)
        assert here.display
        assert not here.editor.has_focus
        assert frame(pilot).pane.rows.cursor == 0
        at_once(pilot, "j", "j", "k", "w", "w")
        await settle(pilot, work=True)
        assert frame(pilot).pane.rows.cursor == 1


async def test_keys_wait_while_a_text_that_is_known_stands_behind_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emotui.screens.keys.PATIENCE", 60.0)
    goes_on = threading.Event()
    stand = requests.stand

    def slow(*asked: Any) -> requests.Stood:
        goes_on.wait(60)
        return stand(*asked)

    async with opened(scripted(tmp_path)) as pilot:
        await press(pilot, "3")
        await settle(pilot, work=True)
        await press(pilot, "j", "1")
        here, early = frame(pilot).query_one(Rephrase), frame(pilot).early
        monkeypatch.setattr(requests, "stand", slow)
        at_once(pilot, "3", "i", *"!x", "escape", "k")
        await awaited(lambda: here.display and here.reads and not frame(pilot).session.reads)
        await drawn(pilot)
        assert not here.writing.display, "what was known of the text is not seen yet"
        assert len(early._keys) == 5
        goes_on.set()
        await settle(pilot, work=True)
        assert not here.editor.has_focus
        assert here.seen.drafts == ()
        assert frame(pilot).pane.rows.cursor == 0
        await press(pilot, "j")
        assert here.editor.text == f"{TEXTS[1][2]}!x"


async def test_esc_gives_up_keys_that_wait_for_what_never_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(scripted(tmp_path)) as pilot:
        monkeypatch.setattr(Rephrase, "reads", property(lambda place: True))
        monkeypatch.setattr(keys, "PATIENCE", 0.05)
        early = frame(pilot).early
        at_once(pilot, "3", "i", "x")
        await awaited(lambda: frame(pilot).places.number == 3 and bool(early._keys))
        await asyncio.sleep(0.1)
        at_once(pilot, "escape")
        await awaited(lambda: not early.busy)
        await drawn(pilot)
        assert "2 keys given up" in screen_text(pilot)
        at_once(pilot, "1")
        await awaited(lambda: frame(pilot).places.number == 1)
        assert frame(pilot).query_one(Rephrase).editor.text in ("", TEXTS[0][2])


async def test_keys_behind_esc_in_a_field_are_dealt_with_in_order_in_spot_check(tmp_path: Path) -> None:
    source = browsed(tmp_path / "w.duckdb")
    source.set_setting("live model", "embedded")
    async with opened(source) as pilot:
        await press(pilot, "8")
        here = frame(pilot).query_one(Spot)
        at_once(pilot, "i", *"ab", "escape", "v", "i", *"cd", "escape", "1")
        await settle(pilot)
        assert here.editor.text == "abcd"
        assert frame(pilot).places.number == 1
        assert here.view.every


async def test_words_behind_the_key_of_a_sheet_or_a_search_go_into_it(tmp_path: Path) -> None:
    async with opened(browsed(tmp_path / "w.duckdb")) as pilot:
        at_once(pilot, "slash", *"bus q", "enter")
        await settle(pilot)
        assert frame(pilot).session.state.text == "bus q"
