"""Rephrase: how a round begins, which texts it offers, and whose it is."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from emotui.commands import cli
from emotui.errors import BadInput, ModelError
from emotui.records import ClassGold
from emotui.screens.app import EmotuiApp
from emotui.screens.rephrase.attempts import NewRoundDialog
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.files.view import FileView
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import SAMPLE_DATA
from tests.screens.driving import frame, opened, press, screen_text, settle, strike
from tests.screens.rephrase.driving import IMPLICIT, arrive, page, place, submit, write
from tests.screens.rephrase_workspace import TEXTS, Scripted, scripted, workspace
from tests.waiting import awaited


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_3_begins_a_round_and_offers_only_texts_that_the_classifier_gets_right(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot)
        assert here.round is not None
        assert (here.round.correct, here.round.incorrect) == (6, 1)
        assert "1 more left out" in page(pilot, "#rephrase-session")
        assert "0 of 6 texts done" in page(pilot, "#rephrase-session")
        assert "✗ misread" in screen_text(pilot), "two words that make no phrase"
        assert here.chain is not None
        assert here.chain.id == "rs-1"
        title = screen_text(pilot).splitlines()[1]
        assert "gold sadness" in title
        assert "embedded says sadness" in title


async def test_text_and_editor_are_there_before_the_round_is_and_what_is_typed_stays(source: Scripted) -> None:
    async with opened(source) as pilot:
        source.embedded.held.clear()
        await strike(pilot, "3")
        here = place(pilot)
        await awaited(lambda: here.seen.waiting is not None)
        await strike(pilot, "i", "Q", "x")
        assert here.round is None
        assert here.editor.text == f"{TEXTS[0][2]}Qx"
        assert TEXTS[0][2] in page(pilot, "#rephrase-original").replace("\n", " ")
        await strike(pilot, "escape", "j")
        await awaited(lambda: here.seen.waiting is not None and here.seen.waiting.id == "rs-2")
        assert here.editor.text == TEXTS[1][2]
        await strike(pilot, "k")
        await awaited(lambda: here.seen.waiting is not None and here.seen.waiting.id == "rs-1")
        source.embedded.held.set()
        await settle(pilot, work=True)
        assert here.chain is not None
        assert here.editor.text == f"{TEXTS[0][2]}Qx"
        assert here.seen.live is not None
        assert here.seen.live.text == here.editor.text


@pytest.mark.parametrize("changed", ["", "z"], ids=["kept", "changed"])
async def test_enter_before_the_round_is_keeps_the_text_and_submits_it_then(source: Scripted, changed: str) -> None:
    async with opened(source, (80, 24)) as pilot:
        source.embedded.held.clear()
        await strike(pilot, "3")
        here = place(pilot)
        await awaited(lambda: here.seen.waiting is not None)
        await strike(pilot, "i")
        assert "Enter submits once it is loaded" in screen_text(pilot)
        await strike(pilot, "enter")
        assert "nothing has changed yet" in screen_text(pilot)
        here.editor.put(IMPLICIT)
        await strike(pilot, "enter")
        assert "kept; submits when it is loaded" in screen_text(pilot)
        if changed:
            await strike(pilot, changed)
            assert "Enter submits once it is loaded" in screen_text(pilot), "what is changed is not what was submitted"
        source.embedded.held.set()
        await settle(pilot, work=True)
        submitted = [json.loads(one.payload)["text"] for one in source.store.annotations.entries()]
        assert submitted == ([] if changed else [IMPLICIT])


async def test_a_set_aside_text_can_be_looked_at_but_not_rephrased(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "j", "j", "j", "j")
        assert here.chain is not None
        assert here.chain.id == "rs-5"
        assert here.chain.original in page(pilot, "#rephrase-original").replace("\n", "")
        assert "the classifier is wrong already" in screen_text(pilot)
        assert not here.can("submit")
        assert not here.can("skip")
        await press(pilot, "i", *"abc")
        assert here.editor.text == here.chain.original


async def test_one_goes_on_where_one_stopped(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i", "ctrl+s")
        await submit(pilot, "I was happy once.")
        await press(pilot, "escape", "k", "ctrl+q")
    again = Scripted(source.store)
    async with opened(again) as pilot:
        here = await arrive(pilot)
        assert here.chain is not None
        assert here.chain.id == "rs-2"
        assert "attempt 2 of 4" in screen_text(pilot)
        assert here.editor.text == "I was happy once."
        assert "1 skipped" in page(pilot, "#rephrase-session")


async def test_each_annotator_has_a_round_of_their_own_and_is_named(source: Scripted) -> None:
    for name in ("ana", "ben"):
        app = EmotuiApp(lambda: source, poll=None, annotator=name)
        async with app.run_test(size=(160, 45)) as pilot:
            await settle(pilot)
            here = await arrive(pilot, "i")
            assert f"by {name}" in screen_text(pilot)
            assert "0 of 6 texts done" in page(pilot, "#rephrase-session")
            assert here.chain is not None
            assert here.chain.id == "rs-1"
            await submit(pilot, IMPLICIT)
    assert [one.annotator for one in source.store.annotations.entries()] == ["ana", "ben"]


async def test_another_live_model_begins_a_round_of_its_own_after_a_sheet_says_so(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape")
        frame(pilot).session.use_model("hf:other")
        await settle(pilot)
        assert isinstance(pilot.app.screen, NewRoundDialog)
        assert "1 of 6 done" in screen_text(pilot)
        await press(pilot, "escape")
        await settle(pilot)
        assert frame(pilot).session.live == "embedded"
        assert here.round is not None
        assert here.round.model == "embedded"
        frame(pilot).session.use_model("hf:other")
        await settle(pilot)
        await press(pilot, "enter")
        await settle(pilot, work=True)
        assert here.round is not None
        assert (here.round.model, here.round.number) == ("hf:other", 2)
        assert "0 of 6 texts done" in page(pilot, "#rephrase-session")


async def test_a_round_that_cannot_begin_says_why_and_i_tries_again(source: Scripted) -> None:
    real = source.embedded.load

    def refuse(progress: object = None, cancelled: object = None) -> object:
        raise ModelError("hf:nowhere cannot be loaded")

    source.embedded.load = refuse  # type: ignore[method-assign,assignment]
    async with opened(source) as pilot:
        await arrive(pilot)
        assert "hf:nowhere cannot be loaded" in screen_text(pilot)
        assert "i tries again" in screen_text(pilot)
        source.embedded.load = real  # type: ignore[method-assign]
        await press(pilot, "i")
        await settle(pilot, work=True)
        assert place(pilot).chain is not None


async def test_a_read_only_workspace_says_that_no_round_can_begin(source: Scripted, tmp_path: Path) -> None:
    source.close()
    only = Scripted(Store.open(tmp_path / "workspace.duckdb", read_only=True))
    async with opened(only) as pilot:
        here = await arrive(pilot)
        assert "read-only: start again without --read-only" in here.refused
        assert "No round has begun" in screen_text(pilot)


async def test_labels_that_the_classifier_does_not_know_have_a_line_each_as_far_as_there_is_room(
    tmp_path: Path,
) -> None:
    hungry = workspace(tmp_path / "hungry.duckdb", texts=False)
    samples = [ClassGold(id=f"h-{n}", label="hunger", text=f"I am hungry {n}") for n in range(5)]
    add_samples(hungry.store, "rephrase", "rephrase", samples, "sample data")
    async with opened(hungry) as pilot:
        here = await arrive(pilot)
        assert len(here.refused.splitlines()) == 5
        lines = [line.rpartition("│")[2].strip() for line in screen_text(pilot).splitlines()]
        told = [line for line in lines if "does not know the label 'hunger'" in line]
        assert [line.split(":")[0] for line in told] == ["h-0", "h-1", "h-2"]
        assert "and 2 more" in lines


async def test_files_are_browsed_without_it(tmp_path: Path) -> None:
    view = FileView(str(SAMPLE_DATA / "spans_sentences.jsonl"), (), skip_bad=False, warn=lambda line: None)
    async with opened(view) as pilot:
        await press(pilot, "3")
        assert "Files are browsed without it" in screen_text(pilot)


async def test_without_texts_it_says_how_to_bring_some_in(tmp_path: Path) -> None:
    empty = workspace(tmp_path / "empty.duckdb", texts=False)
    async with opened(empty) as pilot:
        await press(pilot, "3")
        assert "emotui import" in screen_text(pilot)


async def test_the_real_embedded_model_follows_typing_and_judges_attempts(tmp_path: Path) -> None:
    real = workspace(tmp_path / "workspace.duckdb", kind=Workspace)
    try:
        async with opened(real) as pilot:
            here = await arrive(pilot, "i")
            assert here.round is not None
            assert here.round.correct + here.round.incorrect == len(TEXTS)
            first = here.chain
            assert first is not None
            assert first.predicted == first.label
            await write(pilot, "I am so happy today, what a joy!")
            assert here.seen.live is not None
            assert here.seen.live.label == "joy"
            assert here.seen.live.similarity is not None
            await press(pilot, "enter")
            assert here.chain is not None
            after = real.rephrasing().chain(here.round, first.number)
            assert after.state == ("open" if first.label == "joy" else "succeeded")
            assert after.attempts[0].predicted == "joy"
    finally:
        real.close()


def test_the_annotator_is_named_on_the_command_line_and_a_blank_name_is_refused() -> None:
    shown = CliRunner().invoke(cli, ["--help"])
    assert "--annotator NAME" in shown.output
    with pytest.raises(BadInput, match="--annotator: the name is blank"):
        CliRunner().invoke(cli, ["--annotator", "  "], catch_exceptions=False)
