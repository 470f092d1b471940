"""Spot check: what the live model marks, or what is selected, taken out of the text."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emotui.records import SpanSample
from emotui.screens.widgets.page import Page
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.screens.driving import help_text, opened, press, screen_text, settle
from tests.screens.spot.driving import editor, spot, workspace_asking, write

if TYPE_CHECKING:
    from textual.pilot import Pilot

TEXT = "Since she left I weep every night and nobody in this house asks me"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """No samples; a live model that goes by one word, and marks it and the last word."""
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    with workspace_asking("word:weep", tmp_path, []) as made:
        made.model("word:weep").load()
        yield made


def said(pilot: "Pilot[None]") -> str:
    return spot(pilot).query_one("#why-page", Page).text


async def test_w_takes_each_marked_span_away_and_says_which_the_answer_needs(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8")
        await write(pilot, TEXT)
        await press(pilot, "escape", "w")
        await settle(pilot)
        first, _, second = said(pilot).partition("\n me\n")
        assert first.startswith(" weep\n")
        words = " ".join(first.split())
        assert "sadness .90, without it falls to .20 (change -.70). Without 13 random stretches as long: " in words
        assert "as low without 13 of these 13." in second
        await press(pilot, "w", "w")
        assert "closes" not in screen_text(pilot)


async def test_what_is_selected_is_taken_in_place_of_what_is_marked_and_w_is_a_letter_in_the_text(
    source: Workspace,
) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8")
        await write(pilot, TEXT + " w")
        assert editor(pilot).text == TEXT + " w"
        assert "w layers" not in screen_text(pilot)
        await press(pilot, "shift+left", "escape", "w")
        await settle(pilot)
        assert "\n sadness .90, without it stays .90" in said(pilot)


async def test_where_nothing_is_marked_it_says_how_words_are_taken(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8")
        await write(pilot, "?")
        await press(pilot, "escape", "w")
        await settle(pilot)
        assert "The model marks nothing here; select words in it" in said(pilot)


async def test_of_a_model_that_marks_nothing_each_word_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    with workspace_asking("word:weep,label", tmp_path, []) as made:
        made.model("word:weep,label").load()
        async with opened(made) as pilot:
            await press(pilot, "8")
            await write(pilot, "Now I weep alone")
            await press(pilot, "escape", "w")
            await settle(pilot)
            lines = said(pilot).splitlines()
            assert lines[0].startswith(" sadness .90 and its change without each part")
            words = re.findall(r"(\w+)\s+(-?\.\d\d)", " ".join(lines[1:]))
            assert dict(words) == {"Now": ".00", "I": ".00", "weep": "-.70", "alone": ".00"}


async def test_w_again_reads_what_is_typed_by_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_kind(monkeypatch, "layered", "tests.workbench.why.layered_backend:load")
    samples = [
        SpanSample(id=str(at), text=f"rain {word} {at}", spans=(), emotion=emotion)
        for at in range(60)
        for word, emotion in [("blip", "joy") if at % 2 else ("blop", "sadness")]
    ]
    with workspace_asking("layered:blip", tmp_path, samples) as made:
        made.model("layered:blip").load()
        async with opened(made) as pilot:
            await press(pilot, "8", "i", "ctrl+a", "delete")
            await write(pilot, "blip of rain")
            await press(pilot, "escape", "w", "w")
            await settle(pilot)
            assert "joy by layer; number: layer 2" in said(pilot)
            assert "probes of 60 texts of sample" in said(pilot)
            await press(pilot, "J")
            assert "sadness by layer; number: layer 2" in said(pilot)
            await press(pilot, "w")
            assert "by layer; number" not in screen_text(pilot)


async def test_esc_leaves_the_text_and_then_closes_the_pane(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8")
        await write(pilot, TEXT)
        await press(pilot, "escape", "w", "i", "escape")
        await settle(pilot)
        assert spot(pilot).why.is_open
        assert "Esc back" in screen_text(pilot)
        await press(pilot, "escape")
        assert not spot(pilot).why.is_open


async def test_without_a_dataset_layers_say_how_one_is_chosen(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8")
        await write(pilot, TEXT)
        await press(pilot, "escape", "w", "w")
        await settle(pilot)
        assert "choose a dataset (d) first" in said(pilot)


@pytest.fixture
def pushable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Sixty texts of two labels, and a live model that can be pushed along one at its third layer."""
    install_kind(monkeypatch, "layered", "tests.workbench.why.layered_backend:load")
    samples = [
        SpanSample(id=str(at), text=f"rain {word} {at}", spans=(), emotion=emotion)
        for at in range(60)
        for word, emotion in [("blip", "joy") if at % 2 else ("blop", "sadness")]
    ]
    with workspace_asking("layered:blip", tmp_path, samples) as made:
        made.model("layered:blip").load()
        yield made


def pushed(pilot: "Pilot[None]") -> str:
    return spot(pilot).query_one("#push-page", Page).text


async def test_z_pushes_the_model_and_arrows_move_the_slider(pushable: Workspace) -> None:
    async with opened(pushable) as pilot:
        await press(pilot, "8", "i", "ctrl+a", "delete")
        await write(pilot, "a door in the rain")
        await press(pilot, "escape")
        assert "z push" in screen_text(pilot)
        before = pushable.store.settings.beginning("")
        await press(pilot, "z")
        await settle(pilot)
        assert "PUSHED: no answer of the model's own" in pushed(pilot)
        assert "at layer" not in pushed(pilot)
        await press(pilot, "J", "greater_than_sign", "right", "right")
        await settle(pilot)
        label = "joy" if "towards joy" in pushed(pilot) else "sadness"
        assert f"towards {label}  layer 2 of 3" in pushed(pilot)
        assert "+2.0" in pushed(pilot)
        row = next(line for line in pushed(pilot).splitlines() if line.startswith(f"▸ {label}"))
        assert float(row.split()[-4].replace("−", "-")) > 0.2
        await press(pilot, "z")
        await settle(pilot)
        assert not spot(pilot).push.is_open
        assert pushable.store.settings.beginning("") == before


async def test_it_is_off_with_esc_with_another_model_and_where_why_is_asked(pushable: Workspace) -> None:
    async with opened(pushable) as pilot:
        await press(pilot, "8", "escape", "z")
        await settle(pilot)
        assert spot(pilot).push.is_open
        await press(pilot, "escape")
        assert not spot(pilot).push.is_open
        await press(pilot, "z", "w")
        assert (spot(pilot).push.is_open, spot(pilot).why.is_open) == (False, True)
        await press(pilot, "z")
        assert (spot(pilot).push.is_open, spot(pilot).why.is_open) == (True, False)
        spot(pilot).use_model("breaking:")
        await settle(pilot)
        assert not spot(pilot).push.is_open


async def test_a_model_that_is_let_go_of_is_not_pushed_any_more(pushable: Workspace) -> None:
    async with opened(pushable) as pilot:
        await press(pilot, "8", "escape", "z")
        await settle(pilot)
        pushable.model("layered:blip").close()
        await press(pilot, "right")
        await settle(pilot)
        assert not spot(pilot).push.is_open


async def test_a_model_of_a_kind_that_cannot_be_pushed_is_not_offered_to_be(source: Workspace) -> None:
    source.set_setting("live model", "embedded")
    async with opened(source) as pilot:
        await press(pilot, "8")
        await write(pilot, TEXT)
        await press(pilot, "escape")
        assert "z push" not in screen_text(pilot)
        await press(pilot, "z")
        assert not spot(pilot).push.is_open
        assert "embedded cannot be pushed; kinds of model that can: hf:" in screen_text(pilot)
        await press(pilot, "question_mark", *"into the text")
        assert "Into the text" in help_text(pilot)
        assert "submits" not in help_text(pilot), "Enter is a new line here"


async def test_a_model_that_cannot_be_pushed_says_so_in_a_line(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8")
        await write(pilot, TEXT)
        await press(pilot, "escape", "z")
        await settle(pilot)
        assert "choose a dataset (d) first" in pushed(pilot)
