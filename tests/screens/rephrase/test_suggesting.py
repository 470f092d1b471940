"""Rephrase: rephrasings that a model writes."""

from pathlib import Path

import pytest
from textual.widgets import Input

from emotui.screens.dialogs.choices import NameDialog
from emotui.screens.rephrase.attempts import SuggestionDialog
from emotui.workbench.rephrase.views import Suggestion
from tests.screens.driving import opened, press, screen_text, settle
from tests.screens.rephrase.driving import arrive, page
from tests.screens.rephrase_workspace import TEXTS, Scripted, scripted


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_three_suggestions_with_their_verdicts_and_the_one_taken_is_marked_for_ever(
    source: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        Suggestion("I set the table for two.", "anticipation", 0.1, 0.7, ()),
        Suggestion("I was lonely.", "sadness", 0.5, 0.6, ("lonely",)),
        Suggestion("The house is quiet.", "anticipation", 0.2, None, ()),
    ]
    asked: list[tuple[int, str]] = []

    def suggest(round_: object, number: int, spec: str, *, on_progress: object, cancelled: object) -> object:
        asked.append((number, spec))
        return found

    monkeypatch.setattr(source.rephrasing(), "suggest", suggest, raising=False)
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", "ctrl+g")
        assert isinstance(pilot.app.screen, NameDialog)
        pilot.app.screen.query_one(Input).value = "openai:writer@http://localhost:1"
        await press(pilot, "enter")
        await settle(pilot, work=True)
        assert isinstance(pilot.app.screen, SuggestionDialog)
        said = screen_text(pilot)
        assert "✓ anticipation   sadness .10" in said
        assert "cues left: lonely" in said
        await press(pilot, "enter")
        assert here.editor.text == "I set the table for two."
        assert "suggested by a model" in screen_text(pilot)
        await press(pilot, *" sad", "enter")
        assert here.chain is not None
        (attempt,) = here.chain.attempts
        assert attempt.suggested
        assert " S " in page(pilot, "#rephrase-below")
        await press(pilot, "ctrl+g")
        await settle(pilot, work=True)
        assert [spec for _, spec in asked] == ["openai:writer@http://localhost:1"] * 2


async def test_undoing_the_suggestion_takes_its_mark_away(source: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        assert here._attempts is not None
        here._attempts._take_suggestion("I set the table for two.")
        await settle(pilot)
        assert here.seen.suggested
        await press(pilot, "ctrl+z")
        assert here.editor.text == TEXTS[0][2]
        assert not here.seen.suggested
