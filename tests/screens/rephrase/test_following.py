"""Rephrase: what follows each key: bars, cue words, carrying words, difference, warnings."""

from pathlib import Path

import pytest

from emotui.screens.rephrase.writing import Bars, bar_lines
from emotui.screens.widgets.line import Line
from emotui.screens.widgets.page import Page
from tests.screens.driving import opened, press, screen_text, settle, strike
from tests.screens.rephrase.driving import IMPLICIT, arrive, kinds, page, submit, write
from tests.screens.rephrase_workspace import TEXTS, Scripted, scripted
from tests.waiting import awaited


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_bars_follow_what_is_typed_with_gold_top_and_the_originals_confidence_marked(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        assert here.round is not None
        await write(pilot, "I was glad and happy, and happy again.")
        lines = page(pilot, "#rephrase-bars").splitlines()
        assert lines[0].strip().startswith("sadness")
        assert "was .53" in lines[0]
        (top,) = [line for line in lines if "joy" in line]
        assert here.seen.live is not None
        assert here.seen.live.label == "joy"
        assert f"{here.seen.live.probs['joy']:.2f}"[1:] in top
        assert len(lines) == len(here.seen.live.probs)


def test_the_likeliest_label_is_bold() -> None:
    rows = bar_lines({"joy": 0.6, "sadness": 0.3, "fear": 0.1}, "sadness", None, 60, 9)
    assert [sorted({part.text.split()[0] for part in row if part.kind == "strong"}) for row in rows] == [
        [],
        [".60", "joy"],
        [],
    ]


async def test_cue_words_are_underlined_and_named_with_their_emotions_as_one_types(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        await write(pilot, "I was not lonely. A terrified cat.")
        assert here.seen.now is not None
        words = [cue.word for cue in here.seen.now.cues]
        assert "lonely" in words
        (spans,) = here.editor._rows["editor--cue"].values()
        assert [here.editor.text[start:end] for start, end in spans] == words
        line = here.editor.get_line(0)
        assert set(words) <= {line.plain[span.start : span.end] for span in line.spans if span.style}
        meaning = page(pilot, "#rephrase-meaning")
        assert "explicit" in meaning
        assert "negation yes" in meaning
        lonely = next(cue for cue in here.seen.now.cues if cue.word == "lonely")
        assert f"lonely {', '.join(lonely.emotions)}" in meaning
        await write(pilot, IMPLICIT)
        assert "no cue word left" in page(pilot, "#rephrase-meaning")
        assert "implicit" in page(pilot, "#rephrase-meaning")


async def test_when_typing_rests_the_words_that_carry_the_verdict_are_named(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot)
        assert here.following is not None
        here.following.rest = 0.01
        await press(pilot, "i", *" x")
        await awaited(lambda: here.seen.words is not None and here.seen.words.text == here.editor.text)
        await settle(pilot)
        assert "word by word" in page(pilot, "#rephrase-below")
        assert "leans on" not in page(pilot, "#rephrase-meaning"), "the same stands word by word"
        await pilot.resize_terminal(160, 24)
        await settle(pilot)
        assert "word by word" not in page(pilot, "#rephrase-below")
        leaning = next(line for line in page(pilot, "#rephrase-meaning").splitlines() if "leans on" in line)
        assert f"leans on, for {here.chain.label} (log-odds lost without it)" in leaning
        assert leaning.split(") ")[1].split()[0] in ("sad", "lonely")
        await press(pilot, "ctrl+t")
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


async def test_the_editor_takes_keys_while_the_model_is_silent_and_only_the_newest_text_is_asked(
    source: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is, typing does not rest between two of these keys.
    monkeypatch.setattr("emotui.screens.rephrase.live.REST", 600.0)
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        model = source.embedded
        model.held.clear()
        asked = len(model.asked)
        before = here.editor.text
        for key in "abcdefgh":
            await strike(pilot, key)
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
        await strike(pilot, "x", "escape", "j")
        await awaited(lambda: here.chain is None or here.chain.id == "rs-2")
        model.held.set()
        await settle(pilot)
        assert here.chain is not None
        assert here.chain.id == "rs-2"
        assert here.seen.live is None or here.seen.live.number == here.chain.number


async def test_what_is_shown_is_greyed_while_it_is_behind_the_text(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", "x")
        source.embedded.held.clear()
        await strike(pilot, "y")
        bars = here.query_one(Bars)
        await awaited(lambda: {part.kind for line in bars._lines for part in line} == {"dim"})
        await awaited(lambda: "…" in here.query_one("#rephrase-live", Line).text)
        assert {part.kind for line in here.query_one("#rephrase-tug", Page)._lines for part in line} == {"dim"}
        source.embedded.held.set()
        await settle(pilot)
        assert {part.kind for line in bars._lines for part in line} != {"dim"}


async def test_an_empty_text_has_no_prediction(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i", "x")
        assert here.seen.live is not None
        assert "behind" in page(pilot, "#rephrase-tug")
        await write(pilot, "  ")
        asked = len(source.embedded.asked)
        assert here.seen.live is None
        assert "an empty text has no prediction" in page(pilot, "#rephrase-tug")
        assert "sadness" not in page(pilot, "#rephrase-bars")
        assert not page(pilot, "#rephrase-meaning").strip()
        await write(pilot, "I was happy")
        assert len(source.embedded.asked) > asked
        assert "joy wins" in page(pilot, "#rephrase-tug")


async def test_a_classifier_that_fails_says_so_where_the_bars_are_and_one_goes_on_writing(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "i")
        source.embedded.broken = "The process of embedded was killed by SIGKILL (out of memory?)"
        await press(pilot, "x")
        assert "was killed by SIGKILL" in page(pilot, "#rephrase-bars").replace("\n", " ")
        assert here.editor.text.endswith("x")
        source.embedded.broken = ""
        await press(pilot, "y")
        assert "was .53" in page(pilot, "#rephrase-bars")


async def test_warnings_are_shown_and_refuse_nothing(source: Scripted) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await submit(pilot, "I was so sad and so lonely in this house that I left.")
        await write(pilot, "I was so sad and so lonely in this house that I left!")
        assert "! the same as attempt 1" in page(pilot, "#rephrase-meaning")
        await press(pilot, "enter")
        assert kinds(source) == ["rephrasing", "rephrasing"]
