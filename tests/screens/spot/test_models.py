"""The models of Spot check: one that dies, refuses or is not there, and two at once."""

from emotui.screens.widgets.tiered_text import TieredText
from emotui.workbench.workspace import Workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, settle, strike, until
from tests.screens.spot import driving as spot_driving
from tests.screens.spot.driving import editor, page, spot, write

machine, source, empty = spot_driving.machine, spot_driving.source, spot_driving.empty


async def test_a_model_that_dies_leaves_its_last_words_and_is_asked_again_on_a_key(empty: Workspace) -> None:
    async with opened(empty, size=(80, 24)) as pilot:
        await press(pilot, "8")
        await write(pilot, "SEGFAULT now")
        text = " ".join(page(pilot).split())
        assert "was killed by SIGSEGV; its last words: about to touch what is not mine" in text
        assert "F5 asks again, m takes another model" in text
        assert "failed" in screen_text(pilot)
        editor(pilot).load_text("happy")
        await settle(pilot)
        assert "SIGSEGV" in page(pilot)
        await press(pilot, "f5")
        await settle(pilot, work=True)
        assert "SIGSEGV" not in page(pilot)
        assert spot(pilot).columns[0].answers["spans"].text == "happy"


async def test_a_model_that_died_answers_again_when_it_is_chosen_again(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        await write(pilot, "SEGFAULT now")
        editor(pilot).load_text("happy")
        await settle(pilot)
        await press(pilot, "escape", "m", "enter")
        await settle(pilot, work=True)
        assert "SIGSEGV" not in page(pilot)
        assert spot(pilot).columns[0].answers["spans"].text == "happy"


async def test_a_text_that_a_model_refuses_says_why_and_the_rest_is_there(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "8")
        await write(pilot, "REFUSE this")
        assert "the text is longer than the context (9999 tokens of 512)" in page(pilot)


async def test_a_model_is_loaded_with_its_progress_in_the_top_line_and_stopped_by_its_key(source: Workspace) -> None:
    source.set_setting("live model", "breaking:slow")
    async with opened(source) as pilot:
        await strike(pilot, "8", "escape")
        await until(pilot, "thinking about it")
        assert "breaking:slow: thinking about it" in screen_text(pilot).splitlines()[0]
        assert "loading" in screen_text(pilot)
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)
        assert "It is not loaded: that was stopped" in page(pilot)
        assert source.model("breaking:slow").pid is None


async def test_a_model_that_cannot_be_loaded_says_why_where_its_answers_would_stand(source: Workspace) -> None:
    source.set_setting("live model", "breaking:cannot")
    async with opened(source) as pilot:
        await press(pilot, "8", "escape")
        await settle(pilot, work=True)
        assert "model.bin is cut short (1 of 2 bytes): download it again" in " ".join(page(pilot).split())
        await press(pilot, "m", *"breaking", "colon", "enter")
        await settle(pilot, work=True)
        assert "cut short" not in page(pilot)
        assert "emotions" in page(pilot)


async def test_a_kind_of_model_that_is_not_there_is_told_in_words(source: Workspace) -> None:
    source.set_setting("live model", "nonsense:x")
    async with opened(source) as pilot:
        await press(pilot, "8", "escape")
        await settle(pilot, work=True)
        assert "nonsense" in page(pilot)
        assert "F5 asks again" in page(pilot)


async def test_two_models_stand_side_by_side_and_under_each_other_where_there_is_no_room(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8", "escape", "B", *"breaking", "colon", *"other", "enter")
        await settle(pilot, work=True)
        assert len({source.model(spec).pid for spec in ("breaking:", "breaking:other")} - {None}) == 2
        (heading,) = [line for line in page(pilot).splitlines() if line.startswith("emotions")]
        assert heading.count("emotions") == 2
        assert "≠" not in page(pilot)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert [line[0] for line in page(pilot).splitlines() if "emotions" in line] == ["●", "◇"]
        await press(pilot, "B")
        assert [column.spec for column in spot(pilot).columns] == ["breaking:"]


async def test_who_marked_what_has_a_row_for_each_model(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8", "escape", "B", *"breaking", "colon", *"other", "enter")
        await settle(pilot, work=True)
        await press(pilot, "a")
        rows = frame(pilot).query_one("#spot-rows", TieredText)
        assert rows.display
        assert [voice.name for voice in rows.score.tiers] == ["● evidence", "● carries", "◇ evidence", "◇ carries"]
        assert rows.score.tiers[0].spans == rows.score.tiers[2].spans != ()
        await press(pilot, "i")
        assert not rows.display
        assert editor(pilot).has_focus


async def test_the_live_model_is_not_its_own_second(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8", "escape", "B", "enter")
        assert len(spot(pilot).columns) == 1
        assert notified(pilot) == ["That is the live model already"]


async def test_another_live_model_takes_the_place_of_the_one_before(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8", "escape", "m", *"breaking", "colon", *"other", "enter")
        await settle(pilot, work=True)
        assert [column.spec for column in spot(pilot).columns] == ["breaking:other"]
        assert "emotions" in page(pilot)
