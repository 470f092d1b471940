"""Rephrase: what a person types and presses, and what comes of it."""

import asyncio
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from textual.pilot import Pilot
from textual.widgets import Input

from emotui.commands import cli
from emotui.errors import BadInput, ModelError
from emotui.records import Chain
from emotui.screens.app import EmotuiApp
from emotui.screens.page import Page
from emotui.screens.rephrase import Rephrase
from emotui.screens.rephrase_bars import Bars
from emotui.screens.rephrase_figures import Figures
from emotui.screens.rephrase_review import Answers, Review
from emotui.screens.rephrase_sheets import NameSheet, NewRoundSheet, SuggestionSheet
from emotui.store.store import Store
from emotui.workbench.file_view import FileView
from emotui.workbench.rephrasing_views import Suggestion
from emotui.workbench.workspace import Workspace
from tests.browse_workspace import SAMPLE_DATA
from tests.rephrase_workspace import TEXTS, Scripted, workspace
from tests.screen_driving import frame, notified, opened, press, screen_text, settle

IMPLICIT = "My sister moved out last spring and I set the table for two."
"""Without a word that the scripted model knows: it says anticipation."""


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    made = workspace(tmp_path / "workspace.duckdb")
    assert isinstance(made, Scripted)
    return made


def place(pilot: "Pilot[None]") -> Rephrase:
    return frame(pilot).query_one(Rephrase)


def page(pilot: "Pilot[None]", name: str) -> str:
    return place(pilot).query_one(name, Page).text


async def arrive(pilot: "Pilot[None]", *keys: str) -> Rephrase:
    """Open the place and wait for its round."""
    await press(pilot, "3")
    await settle(pilot, work=True)
    await press(pilot, *keys)
    return place(pilot)


async def write(pilot: "Pilot[None]", text: str) -> None:
    """Replace what is in the editor, and wait for the answers."""
    place(pilot).editor.put(text)
    place(pilot).editor.focus()
    await settle(pilot)


async def submit(pilot: "Pilot[None]", text: str) -> None:
    await write(pilot, text)
    await press(pilot, "enter")


def kinds(source: Workspace) -> list[str]:
    return [one.kind for one in source.store.annotations()]


async def test_3_begins_a_round_and_offers_only_texts_that_the_classifier_gets_right(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot)
        assert here.round is not None
        assert (here.round.correct, here.round.incorrect) == (6, 1)
        assert "1 set aside" in page(pilot, "#rephrase-session")
        assert "6 of 6 left" in page(pilot, "#rephrase-session")
        assert screen_text(pilot).count("aside") >= 2
        assert here.chain is not None
        assert here.chain.id == "rs-1"
        title = screen_text(pilot).splitlines()[1]
        assert "gold sadness" in title
        assert "embedded says sadness" in title


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


async def test_what_is_typed_waits_for_when_one_comes_back(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await press(pilot, *" more", "escape", "j")
        assert here.editor.text == TEXTS[1][2]
        await press(pilot, "k")
        assert here.editor.text == TEXTS[0][2] + " more"


async def test_bars_follow_what_is_typed_with_gold_top_and_the_originals_confidence_marked(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        assert here.round is not None
        await write(pilot, "I was glad and happy, and happy again.")
        lines = page(pilot, "#rephrase-bars").splitlines()
        assert lines[0].strip().startswith("sadness")
        assert "gold" in lines[0]
        assert "was .53" in lines[0]
        (top,) = [line for line in lines if "▸" in line]
        assert "joy" in top
        assert here.seen.live is not None
        assert here.seen.live.label == "joy"
        assert f"{here.seen.live.probs['joy']:.2f}"[1:] in top
        assert len(lines) == len(here.seen.live.probs)


async def test_cue_words_are_underlined_and_named_with_their_emotions_as_one_types(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await write(pilot, "I was not lonely. A terrified cat.")
        assert here.seen.now is not None
        words = [cue.word for cue in here.seen.now.cues]
        assert "lonely" in words
        (spans,) = here.editor._spans.values()
        assert [here.editor.text[start:end] for start, end in spans] == words
        line = here.editor.get_line(0)
        assert [line.plain[span.start : span.end] for span in line.spans if span.style] == words
        meaning = page(pilot, "#rephrase-meaning")
        assert "explicit" in meaning
        assert "negated" in meaning
        lonely = next(cue for cue in here.seen.now.cues if cue.word == "lonely")
        assert f"lonely {'·'.join(lonely.emotions)}" in meaning
        await write(pilot, IMPLICIT)
        assert "no cue words left" in page(pilot, "#rephrase-meaning")
        assert "implicit" in page(pilot, "#rephrase-meaning")


async def test_when_typing_rests_the_words_that_carry_the_verdict_are_named(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot)
        assert here.following is not None
        here.following.rest = 0.01
        await press(pilot, "i", *" x")
        for _ in range(200):
            if here.seen.words is not None and here.seen.words.text == here.editor.text:
                break
            await asyncio.sleep(0.01)
        await settle(pilot)
        leaning = next(line for line in page(pilot, "#rephrase-meaning").splitlines() if "leaning" in line)
        assert leaning.split()[2] in ("sad", "lonely")
        await press(pilot, "f2")
        rows = page(pilot, "#rephrase-below").splitlines()
        assert "without it" in rows[0]
        drops = {row.split()[0]: float(row.split()[1]) for row in rows[1:] if "■" in row}
        assert set(drops) == {"sad", "lonely"}
        assert all(drop > 0 for drop in drops.values())


async def test_the_difference_from_the_original_is_shown_word_by_word(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await write(pilot, TEXTS[0][2].replace("sad and lonely", "quiet"))
        below = page(pilot, "#rephrase-below")
        assert "−sad and lonely" in below.replace("\n", " ")
        assert "+quiet" in below


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
        assert "1 succeeded (1 0 0 0)" in session
        assert "rs-1: succeeded at attempt 1, read as anticipation" in session
        assert "✓ 1" in screen_text(pilot)


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
            assert "6 of 6 left" in page(pilot, "#rephrase-session")
            assert here.chain is not None
            assert here.chain.id == "rs-1"
            await submit(pilot, IMPLICIT)
    assert [one.annotator for one in source.store.annotations()] == ["ana", "ben"]


async def test_the_editor_takes_keys_while_the_model_is_silent_and_only_the_newest_text_is_asked(
    source: Scripted,
) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        model = source.embedded
        model.held.clear()
        asked = len(model.asked)
        before = here.editor.text
        for key in "abcdefgh":
            await pilot.press(key)
            assert here.editor.text.endswith(key)
            assert here.editor.text in screen_text(pilot).replace("\n", "") or key in screen_text(pilot)
        assert here.editor.text == before + "abcdefgh"
        model.held.set()
        await settle(pilot)
        about = model.asked[asked:]
        assert about[-1] == here.editor.text
        assert len(about) < len("abcdefgh")
        assert here.seen.live is not None
        assert here.seen.live.text == here.editor.text


async def test_an_answer_about_another_text_is_dropped(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        model = source.embedded
        model.held.clear()
        await pilot.press("x", "escape", "j")
        await asyncio.sleep(0.05)
        model.held.set()
        await settle(pilot)
        assert here.chain is not None
        assert here.chain.id == "rs-2"
        assert here.seen.live is None or here.seen.live.number == here.chain.number


async def test_what_is_shown_is_greyed_while_it_is_behind_the_text(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", "x")
        source.embedded.held.clear()
        await pilot.press("y")
        await asyncio.sleep(0.3)
        await pilot.pause()
        bars = here.query_one(Bars)
        assert {part.kind for line in bars._lines for part in line} == {"dim"}
        assert "…" in screen_text(pilot).splitlines()[1]
        source.embedded.held.set()
        await settle(pilot)
        assert {part.kind for line in bars._lines for part in line} != {"dim"}


async def test_a_classifier_that_fails_says_so_where_the_bars_are_and_one_goes_on_writing(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        source.embedded.broken = "The process of embedded was killed by SIGKILL (out of memory?)"
        await press(pilot, "x")
        assert "was killed by SIGKILL" in page(pilot, "#rephrase-bars").replace("\n", " ")
        assert here.editor.text.endswith("x")
        source.embedded.broken = ""
        await press(pilot, "y")
        assert "gold" in page(pilot, "#rephrase-bars")


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
        begun = time.monotonic()
        here.editor.paste("sad and lonely words " * 5000)
        assert time.monotonic() - begun < 0.1
        await settle(pilot)
        assert here.editor.text == before
        (said,) = notified(pilot)
        assert "105 083 characters" in said
        assert "at most 4 000" in said
        assert "Nothing was put in" in said
        here.editor.paste(" and a short one")
        assert here.editor.text == before + " and a short one"


async def test_warnings_are_shown_and_refuse_nothing(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await submit(pilot, "I was so sad and so lonely in this house that I left.")
        await write(pilot, "I was so sad and so lonely in this house that I left!")
        assert "! the same as attempt 1" in page(pilot, "#rephrase-meaning")
        await press(pilot, "enter")
        assert kinds(source) == ["rephrasing", "rephrasing"]


async def test_another_live_model_begins_a_round_of_its_own_after_a_sheet_says_so(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape")
        frame(pilot).use_model("hf:other")
        await settle(pilot)
        assert isinstance(pilot.app.screen, NewRoundSheet)
        assert "1 of 6 done" in screen_text(pilot)
        await press(pilot, "escape")
        await settle(pilot)
        assert frame(pilot).live == "embedded"
        assert here.round is not None
        assert here.round.model == "embedded"
        frame(pilot).use_model("hf:other")
        await settle(pilot)
        await press(pilot, "enter")
        await settle(pilot, work=True)
        assert here.round is not None
        assert (here.round.model, here.round.number) == ("hf:other", 2)
        assert "6 of 6 left" in page(pilot, "#rephrase-session")


async def test_a_round_that_cannot_begin_says_why_and_enter_tries_again(source: Scripted) -> None:
    real = source.embedded.load

    def refuse(progress: object = None, cancelled: object = None) -> object:
        raise ModelError("hf:nowhere cannot be loaded")

    source.embedded.load = refuse  # type: ignore[method-assign,assignment]
    async with opened(source) as pilot:
        await arrive(pilot)
        assert "hf:nowhere cannot be loaded" in screen_text(pilot)
        assert "Enter tries again" in screen_text(pilot)
        source.embedded.load = real  # type: ignore[method-assign]
        await press(pilot, "enter")
        await settle(pilot, work=True)
        assert place(pilot).chain is not None


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
        assert isinstance(pilot.app.screen, NameSheet)
        pilot.app.screen.query_one(Input).value = "openai:writer@http://localhost:1"
        await press(pilot, "enter")
        await settle(pilot, work=True)
        assert isinstance(pilot.app.screen, SuggestionSheet)
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
        here._take_suggestion("I set the table for two.")
        await settle(pilot)
        assert here.seen.suggested
        await press(pilot, "ctrl+z")
        assert here.editor.text == TEXTS[0][2]
        assert not here.seen.suggested


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
        reviews = [one for one in source.store.annotations() if one.kind == "rephrasing-review"]
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


async def test_statistics_are_drawn_and_what_is_undefined_says_why(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "f3")
        assert "Nothing to count" in screen_text(pilot)
        await press(pilot, "escape", "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape", "f3")
        figures = here.query_one(Figures)
        assert figures.document is not None
        assert figures.document["needed"]["1"] == 1
        drawn = here.query_one("#figures-page", Page).text
        for title in ("rephrasings needed", "words of the gold emotion a text", "KL from the originals", "negation"):
            assert title in drawn
        assert "– R2, R3, R4: there is no text" in drawn
        await press(pilot, "v")
        table = here.query_one("#figures-page", Page).text
        assert "KL reverse" in table
        assert "original" in table.splitlines()[0]
        await press(pilot, "a")
        assert "no reviewer has confirmed a rephrasing" in screen_text(pilot)
        await press(pilot, "a")
        assert figures.whose == "someone"
        assert "KL reverse" in here.query_one("#figures-page", Page).text
        await press(pilot, "escape")
        assert here.mode == "writing"


async def test_chains_are_written_to_a_file_as_records(source: Scripted, tmp_path: Path) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape", "e")
        path = tmp_path / "chains.jsonl"
        pilot.app.screen.query_one(Input).value = str(path)
        await press(pilot, "enter")
        await settle(pilot)
        chains = [msgspec.json.decode(line, type=Chain) for line in path.read_bytes().splitlines()]
        assert [chain.id for chain in chains] == [key for key, _, _ in TEXTS]
        assert [one.text for one in chains[0].attempts] == [IMPLICIT]


async def test_a_read_only_workspace_says_that_no_round_can_begin(source: Scripted, tmp_path: Path) -> None:
    source.close()
    only = Scripted(Store.open(tmp_path / "workspace.duckdb", read_only=True))
    async with opened(only) as pilot:
        here = await arrive(pilot)
        assert "read-only: start again without --read-only" in here.refused
        assert "No round has begun" in screen_text(pilot)


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
