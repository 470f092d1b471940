"""Rephrase: typing, pasting, submitting, skipping, taking back."""

import time
from pathlib import Path

import pytest

from tests.screens.driving import help_text, notified, opened, press, screen_text, settle
from tests.screens.rephrase.driving import IMPLICIT, arrive, kinds, page, submit, write
from tests.screens.rephrase_workspace import TEXTS, Scripted, scripted


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_letters_are_typed_in_the_editor_and_are_keys_outside_of_it(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        before = here.editor.text
        await press(pilot, *"jkqu1", "slash", "question_mark")
        assert here.editor.text == before + "jkqu1/?"
        assert here.chain is not None
        assert here.chain.id == "rs-1"
        await press(pilot, "escape", "j")
        assert here.chain is not None
        assert here.chain.id == "rs-2"


async def test_an_attempt_that_the_classifier_gets_wrong_succeeds_and_the_next_text_comes(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        assert kinds(source) == ["rephrasing"]
        assert here.chain is not None
        assert here.chain.id == "rs-2"
        assert here.editor.text == TEXTS[1][2]
        assert here.editor.has_focus
        session = page(pilot, "#rephrase-session").replace("\n", " ")
        assert "1 succeeded: 1 at the 1st" in session
        assert "rs-1: the model reads anticipation at attempt 1" in session
        assert "what people read: F4" in session
        assert "rs-1: the model reads anticipation at attempt 1" in screen_text(pilot).splitlines()[-1]
        assert "^Z goes back" in screen_text(pilot).splitlines()[-1]
        assert "✓ at 1" in screen_text(pilot)


async def test_the_fourth_attempt_that_fails_closes_the_chain(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        for attempt in range(1, 5):
            assert f"attempt {attempt} of 4" in screen_text(pilot)
            await submit(pilot, f"I was sad and lonely {attempt} times.")
            assert len([kind for kind in kinds(source) if kind == "rephrasing"]) == attempt
            if attempt < 4:
                assert here.chain is not None
                assert here.chain.id == "rs-1"
                assert here.editor.text == f"I was sad and lonely {attempt} times."
                assert f"{attempt} sadness" in page(pilot, "#rephrase-below")
        assert here.chain is not None
        assert here.chain.id == "rs-2"
        assert "1 failed" in page(pilot, "#rephrase-session")
        await press(pilot, "escape", "k")
        assert not here.can("submit")
        assert "failed" in screen_text(pilot)


async def test_what_is_unchanged_is_submitted_only_when_asked_twice(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i", "enter")
        assert kinds(source) == []
        assert "nothing has changed: Enter again submits it" in screen_text(pilot)
        await press(pilot, "x", "backspace")
        assert "nothing has changed" not in screen_text(pilot)
        await press(pilot, "enter", "enter")
        assert kinds(source) == ["rephrasing"]


async def test_an_empty_rephrasing_gives_its_line_and_changes_nothing(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, "  ")
        assert kinds(source) == []
        assert "the rephrasing is empty: write one, or skip the text" in notified(pilot)
        assert here.chain is not None
        assert here.chain.id == "rs-1"


async def test_skip_goes_on_and_undo_reopens_and_redo_puts_back(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", "ctrl+s")
        assert here.chain is not None
        assert here.chain.id == "rs-2"
        assert "1 skipped" in page(pilot, "#rephrase-session")
        await press(pilot, "ctrl+z")
        assert here.chain is not None
        assert (here.chain.id, here.chain.state) == ("rs-1", "open")
        assert "0 skipped" in page(pilot, "#rephrase-session")
        await press(pilot, "ctrl+y")
        assert here.chain is not None
        assert here.chain.id == "rs-2"
        assert "1 skipped" in page(pilot, "#rephrase-session")


async def test_undo_takes_typing_back_first_and_then_the_last_attempt_with_its_text(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, *" z")
        assert here.editor.text == TEXTS[1][2] + " z"
        await press(pilot, "ctrl+z")
        assert here.editor.text == TEXTS[1][2]
        await press(pilot, "ctrl+z")
        assert here.chain is not None
        assert (here.chain.id, here.chain.state, here.chain.attempts) == ("rs-1", "open", ())
        assert here.editor.text == IMPLICIT
        assert kinds(source) == ["rephrasing", "rephrasing-undo"]
        await press(pilot, "escape", "ctrl+r")
        assert kinds(source)[-1] == "rephrasing-redo"
        assert "1 succeeded" in page(pilot, "#rephrase-session")


async def test_markup_in_texts_is_shown_literally_and_can_be_typed(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, *"jjjjj")
        assert here.chain is not None
        assert here.chain.id == "rs-6"
        assert "[bold]letter[/bold]" in page(pilot, "#rephrase-original")
        assert "[bold]letter[/bold]" in screen_text(pilot)
        await press(pilot, "i")
        await write(pilot, "[red]glad[/red] and \x1b[31mhappy")
        assert "[red]glad[/red] and [31mhappy" in screen_text(pilot)
        assert "\x1b" not in here.editor.text


async def test_a_paste_of_100_kb_is_left_out_with_its_line_and_costs_no_time(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        before = here.editor.text
        begun = time.process_time()
        here.editor.paste("sad and lonely words " * 5000)
        assert time.process_time() - begun < 0.1
        await settle(pilot)
        assert here.editor.text == before
        (said,) = notified(pilot)
        assert "105,083 characters" in said
        assert "at most 4,000" in said
        assert "Nothing was put in" in said
        here.editor.paste(" and a short one")
        assert here.editor.text == before + " and a short one"


async def test_out_of_the_text_u_takes_back_what_was_typed_before_it_takes_back_an_attempt(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, *" z", "escape", "u")
        assert here.editor.text == TEXTS[1][2]
        assert kinds(source) == ["rephrasing"]
        await press(pilot, "ctrl+r")
        assert here.editor.text == TEXTS[1][2] + " z"
        await press(pilot, "u", "u")
        assert kinds(source) == ["rephrasing", "rephrasing-undo"]


async def test_one_key_clears_all_of_the_text_and_one_brings_it_back(source: Scripted) -> None:
    async with opened(source, (60, 24)) as pilot:
        here = await arrive(pilot, "i")
        before = here.editor.text
        assert len(before) > 60, "the screen breaks it"
        await press(pilot, "ctrl+u")
        assert here.editor.text == ""
        assert here.editor.has_focus
        await press(pilot, "ctrl+z")
        assert here.editor.text == before
        await press(pilot, "escape", "question_mark", *"clear text")
        assert "^U clear text" in help_text(pilot)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_what_is_to_be_written_is_told_over_the_editor_until_there_is_an_attempt(
    source: Scripted, size: tuple[int, int]
) -> None:
    async with opened(source, size) as pilot:
        here = await arrive(pilot)
        chain = here.chain
        assert chain is not None
        aim = f"people should still read {chain.label}, the model no longer"
        assert aim in screen_text(pilot)
        assert ("words, original" in screen_text(pilot)) is (size[0] > 80), "left out where there is no room for both"
        # Beside the bars, where there is room: what each word adds.
        assert ("word by word" in screen_text(pilot)) is (size[0] > 80)
        await submit(pilot, f"{chain.original} Really.")
        assert aim not in screen_text(pilot)
        assert " ".join(page(pilot, "#rephrase-below").split()[:5]) == "read as gold sim text"
