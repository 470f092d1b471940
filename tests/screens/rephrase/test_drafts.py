"""Rephrase: what is typed and not submitted is there again."""

from pathlib import Path

import pytest

from emotui.errors import StoreError
from emotui.screens.app import EmotuiApp
from tests.screens.driving import notified, opened, press, screen_text, settle
from tests.screens.rephrase.driving import arrive, submit
from tests.screens.rephrase_workspace import TEXTS, Scripted, scripted
from tests.waiting import awaited


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_what_is_typed_waits_for_when_one_comes_back(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await press(pilot, *" more", "escape", "j")
        assert here.editor.text == TEXTS[1][2]
        await press(pilot, "k")
        assert here.editor.text == TEXTS[0][2] + " more"


async def test_what_is_typed_is_there_at_every_visit_of_its_text_and_not_only_at_the_next(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await press(pilot, *" more", "escape", *"jkjkjk")
        assert here.editor.text == TEXTS[0][2] + " more"


async def test_what_is_typed_is_there_in_the_next_session_and_belongs_to_who_typed_it(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await press(pilot, *" more", "ctrl+q")
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot)
        assert here.editor.text == TEXTS[0][2] + " more"
    other = EmotuiApp(lambda: Scripted(source.store), poll=None, annotator="ben")
    async with other.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        here = await arrive(pilot)
        assert here.editor.text == TEXTS[0][2]


async def test_what_is_typed_is_in_the_store_before_one_leaves(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", *" more")
        assert here.round is not None
        service = source.rephrasing()
        await awaited(lambda: bool(service.drafts(here.round)))  # type: ignore[arg-type]
        (draft,) = service.drafts(here.round).values()
        assert here.editor.text.startswith(draft.text)
        assert len(draft.text) > len(TEXTS[0][2])


async def test_an_attempt_or_taking_everything_back_ends_a_draft(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, "I was sad and lonely.")
        await press(pilot, "x", "backspace", "ctrl+q")
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot)
        assert here.editor.text == "I was sad and lonely."
        assert here.round is not None
        assert source.rephrasing().drafts(here.round) == {}


async def test_a_skip_that_is_taken_back_brings_what_was_typed_with_it(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", *" more", "ctrl+s")
        assert here.editor.text == TEXTS[1][2]
        await press(pilot, "ctrl+z")
        assert here.chain is not None
        assert here.chain.id == "rs-1"
        assert here.editor.text == TEXTS[0][2] + " more"


async def test_a_store_that_cannot_keep_it_is_told_of_once_and_writing_goes_on(
    source: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*asked: object) -> None:
        raise StoreError("the disk is full")

    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        monkeypatch.setattr(source.rephrasing(), "keep_drafts", full)
        for key in "ab":
            await press(pilot, key)
            assert here._attempts is not None
            here._attempts.drafts.save()
            await settle(pilot)
        assert notified(pilot) == ["What is typed is kept only until you leave: the disk is full"]
        assert here.editor.text == TEXTS[0][2] + "ab"


async def test_a_suggestion_is_marked_as_one_in_the_next_session_too(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        assert here._attempts is not None
        here._attempts._take_suggestion("I set the table for two.")
        await press(pilot, *" sad", "ctrl+q")
    async with opened(Scripted(source.store)) as pilot:
        here = await arrive(pilot, "i")
        assert here.editor.text == "I set the table for two. sad"
        assert "suggested by a model" in screen_text(pilot)
        await press(pilot, "enter")
        assert here.chain is not None
        (attempt,) = here.chain.attempts
        assert attempt.suggested
