"""Rephrase: a second pair of eyes on what others wrote."""

from pathlib import Path

import msgspec
import pytest
from textual.widgets import Input

from emotui.screens.rephrase.review import Answers, Review
from tests.screens.driving import frame, opened, press, screen_text
from tests.screens.rephrase.driving import IMPLICIT, arrive, place, submit
from tests.screens.rephrase_workspace import Scripted, scripted


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_a_second_person_judges_without_the_verdict_and_agreement_is_shown(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await submit(pilot, "The kitchen floor shook until midnight.")
        await press(pilot, "escape")
        for who, picks in (("ana", 0), ("ben", 1)):
            await press(pilot, "f4")
            pilot.app.screen.query_one(Input).value = who
            await press(pilot, "enter")
            review = place(pilot).query_one(Review)
            assert len(review.items) == 2
            said = screen_text(pilot)
            assert "Does the rephrasing say the same as the original?" in said
            assert "says sadness" not in said
            assert "anticipation" not in said
            for _ in range(2):
                await press(pilot, "enter")
                assert "Which emotion" in screen_text(pilot)
                await press(pilot, *["down"] * picks, "enter")
            assert "Nothing to review" in screen_text(pilot)
            await press(pilot, "escape")
        reviews = [one for one in source.store.annotations.entries() if one.kind == "rephrasing-review"]
        assert [one.annotator for one in reviews] == ["ana", "ana", "ben", "ben"]
        payloads = [msgspec.json.decode(one.payload) for one in reviews]
        assert all(payload["meaning"] is True for payload in payloads)
        assert len({payload["emotion"] for payload in payloads}) == 2
        await press(pilot, "f4")
        await press(pilot, "enter")
        assert "of 2 reviewers" in screen_text(pilot)


async def test_the_meaning_can_be_judged_again_before_the_emotion_is_picked(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape", "f4")
        pilot.app.screen.query_one(Input).value = "ana"
        await press(pilot, "enter", "enter")
        review = here.query_one(Review)
        assert review.meaning is True
        await press(pilot, "escape")
        assert review.meaning is None
        await press(pilot, "down", "enter")
        assert review.meaning is False
        assert here.query_one(Answers).question.startswith("Which emotion")


async def test_labels_are_judged_by_typing_and_the_list_is_not_there_meanwhile(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape")
        assert frame(pilot).pane.display
        await press(pilot, "f4")
        pilot.app.screen.query_one(Input).value = "ana"
        await press(pilot, "enter")
        assert not frame(pilot).pane.display
        await press(pilot, "n", "enter", "a", "n", "t", "enter")
        (review,) = [one for one in source.store.annotations.entries() if one.kind == "rephrasing-review"]
        payload = msgspec.json.decode(review.payload)
        assert (payload["meaning"], payload["emotion"]) == (False, "anticipation")
        await press(pilot, "escape")
        assert here.mode == "writing"
        assert frame(pilot).pane.display


async def test_the_last_judgement_can_be_taken_back_and_is_asked_for_again(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape", "f4")
        pilot.app.screen.query_one(Input).value = "ana"
        await press(pilot, "enter")
        assert not here.can("undo")
        await press(pilot, "enter", "enter")
        assert "Nothing to review" in screen_text(pilot)
        assert here.can("undo")
        await press(pilot, "u")
        review = here.query_one(Review)
        assert review.item is not None
        assert review.item.rephrasing == IMPLICIT
        assert source.rephrasing().agreement("rephrase")["reviews"] == 0
        assert not here.can("undo")
