"""Masked: masks filled by gold, runs and oneself, walked by those that are missed, guessed blind."""

from pathlib import Path

from emotui.screens.keymaps import keyed
from emotui.screens.masked.place import Masked
from emotui.screens.masked.text import (
    GOLD,
    HIDDEN,
    OF_M,
    OF_NO_M,
    RUN,
    Filling,
    hidden,
    mask_heading,
    more_than_a_word,
    text_lines,
    told_lines,
    word_lines,
)
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Page
from emotui.workbench.masked.looking import MaskedView, MaskSaid, WordEntry
from emotui.workbench.workspace import Workspace
from tests.screens.driving import frame, opened, press, screen_text
from tests.screens.masked.workspace import FILLS, WRITES, masked_workspace


def test_masks_are_filled_where_they_stand_and_the_chosen_one_has_a_sign() -> None:
    fillings = [Filling("sad", "gold-line"), hidden(2)]
    lines, at = text_lines(["I was ", " then, now ", " it is over"], fillings, 1, 20)
    drawn = ["".join(part.text for part in line) for line in lines]
    assert "".join(drawn) == "I was sad then, now ▸[2 ____] it is over"
    assert all(len(line) <= 21 for line in drawn)
    assert "▸" in drawn[at]
    assert [part.kind for part in lines[0]] == ["plain", "gold-line", "plain"]


def shown(place: Masked) -> str:
    return place.query_one("#masked-text", Page).text


async def test_masks_are_filled_by_one_key_and_missed_ones_walked(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "5")
        place = frame(pilot).query_one(Masked)
        assert place.view is not None
        assert place.view.id == "m-002", "no guess of m-001 can be scored, so one begins behind it"
        await press(pilot, "k")
        assert place.view.id == "m-001", "it can be looked at"
        assert place.fill == HIDDEN, "what was seen could not be guessed any more"
        assert frame(pilot).pane.blind
        await press(pilot, "8", "escape")
        assert frame(pilot).pane.blind, "nor does another place tell beside the same list"
        await press(pilot, "1")
        assert not frame(pilot).pane.blind
        await press(pilot, "5")
        assert frame(pilot).pane.blind
        await press(pilot, "o")
        assert (place.filled, place.fill) == (GOLD, HIDDEN), "of this text alone"
        assert " o  hidden [this text] all  run" in screen_text(pilot)
        assert frame(pilot).pane.blind, "the list keeps its words"
        assert keyed("This text alone is shown; {fill} again shows all, in the list too") in screen_text(pilot)
        await press(pilot, "j")
        assert place.filled == HIDDEN
        await press(pilot, "k", "o", "o")
        assert place.fill == GOLD
        assert " o  hidden  this text [all] run" in screen_text(pilot)
        assert not frame(pilot).pane.blind
        first, gold = place.view.number, place.view.gold[0].word
        assert f"▸{gold} " in shown(place), "gold's word is not unlike itself"
        assert "happy" in screen_text(pilot)
        assert "A model guesses masked emotion words" in screen_text(pilot)
        await press(pilot, "o")
        assert place.fill == RUN
        assert "▸happy " in shown(place), "where gold's word has no emotions, no word is unlike them"
        await press(pilot, "o")
        assert frame(pilot).session.run_shown is not None
        assert frame(pilot).session.run_shown.run == WRITES
        assert "▸angry " in shown(place)
        assert "one example was shown" in screen_text(pilot)
        await press(pilot, "n")
        assert place.view.id == "m-007", "until there every word shares an emotion with gold's, or has no vector"
        await press(pilot, "n")
        assert place.view.id != "m-007"
        await press(pilot, "p")
        assert place.view.id == "m-007"
        await press(pilot, *"kkkkkk")
        assert place.view.number == first
        await press(pilot, "j", "j")
        assert len(place.view.gold) == 2
        await press(pilot, "right")
        assert place.mask == 1
        await press(pilot, "o")
        assert place.fill == HIDDEN
        assert frame(pilot).pane.blind
        assert gold not in screen_text(pilot)
        await press(pilot, "o", "o", "q")
    async with opened(Workspace.open(tmp_path / "masked.duckdb"), (120, 40)) as pilot:
        await press(pilot, "5")
        assert frame(pilot).query_one(Masked).fill == GOLD, "as it was chosen last"


async def test_a_person_guesses_blind_and_then_sees(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "5")
        place = frame(pilot).query_one(Masked)
        await press(pilot, "j")
        assert place.view is not None
        golds = [one.word for one in place.view.gold]
        text = screen_text(pilot)
        assert not any(word in text for word in golds)
        await press(pilot, "i", *"sad", "enter", *"glad", "enter")
        assert place.view.guess is not None
        assert place.view.guess.words == ("sad", "glad")
        assert place.view.guess.blind
        assert f"▸{golds[0]}" in shown(place)
        own = share(sum(one.f1 for one in place.view.guessed) / 2).strip()
        assert f"F1_V  you {own}  run" in screen_text(pilot), "scored as the run's words are"
        assert f"1 text guessed blind, F1_V: you {own}  run" in screen_text(pilot)
        assert next(line for line in screen_text(pilot).splitlines() if "you  sad" in line).split()[2] == ".00"
        await press(pilot, "j")
        assert place.filled == HIDDEN, "the next text is hidden again"
        await press(pilot, "k", "o", "u")
        assert place.view.guess is None
        await press(pilot, "i")
        assert screen_text(pilot).count("Enter keeps it") == 1
        await press(pilot, *"mad")
        assert "mask 1 of 2  Enter keeps it and asks for the next, Esc leaves it as a draft" in screen_text(pilot)
        await press(pilot, "escape")
        assert not place.typing
        assert "your draft: mask 1 “mad”; i goes on with it" in screen_text(pilot)
        kinds = [one.kind for one in source.store.annotations.entries(kind="masked")]
        assert kinds == ["masked-guess", "masked-guess-undo"]
        assert frame(pilot).session.run_shown is not None
        assert frame(pilot).session.run_shown.run in (FILLS, WRITES)


async def test_a_mask_is_a_gap_in_the_list_too(tmp_path: Path) -> None:
    async with opened(masked_workspace(tmp_path), (80, 24)) as pilot:
        await press(pilot, "5", "l", "slash", *"I feel", "enter")
        assert "____" in screen_text(pilot)
        assert "<mask" not in screen_text(pilot)


async def test_the_veiled_list_says_how_guesses_came_out(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    async with opened(source, (160, 40)) as pilot:
        await press(pilot, "5", "k", "i", *"sad", "enter")
        place = frame(pilot).query_one(Masked)
        assert place.view is not None
        gold = place.view.gold[0].word
        assert frame(pilot).pane.blind
        listed = [line.partition("│")[0] for line in screen_text(pilot).splitlines()]
        assert any("you F1_V" in line for line in listed)
        assert any(place.view.id in line and " – " in line for line in listed), "nobody can be scored on it"
        assert any("m-002" in line and "open" not in line for line in listed), "as Annotate leaves it blank"
        assert not any(gold in line for line in listed)
        told = screen_text(pilot)
        assert keyed("{next_mismatch} goes to the next text to guess") in told
        assert keyed("{fill} again shows those of all texts, in the list too") in told
        assert "F1_V  you –  run –" in told
        assert "guessed blind" not in told, "it is in no mean"
        assert told.count("EmoLex has no") == 1, "one reason once"
        assert "n p next " in told.splitlines()[-1]
        await press(pilot, "n")
        assert place.view.id == "m-002"
        assert f"1 of {frame(pilot).pane.n} texts guessed; n goes to the next that is not" in screen_text(pilot)
        await press(pilot, "p")
        assert place.view.id == "m-002", "the one before is guessed"
        await press(pilot, "o", "o")
        listed = [line.partition("│")[0] for line in screen_text(pilot).splitlines()]
        assert any(gold in line for line in listed)
        assert not any("you F1_V" in line for line in listed)


GLUM = WordEntry("glum", "unknown", None)
GLAD = WordEntry("glad", "known", (0, 0, 0, 0, 1, 0, 0, 0, 0, 1))
CALM = WordEntry("calm", "supplement", (0, 0, 0, 0, 0, 0, 0, 1, 0, 1))
MAD = WordEntry("mad", "known", (1, 0, 0, 0, 0, 0, 0, 0, 1, 0))


def drawn(lines: list[list[Part]]) -> list[str]:
    return ["".join(part.text for part in line) for line in lines]


def test_a_row_a_word_says_which_of_golds_emotions_it_carries() -> None:
    said = MaskSaid(CALM, 0.5, False, (("calm", 0.5), ("glad", 0.25)), 2, (CALM, GLAD), (0.5, 1.0))
    you = MaskSaid(GLUM, 0.0, False)
    head, *rows = drawn(word_lines(GLAD, said, you, 76))
    assert head.split() == ["P", "F1_V", "ang", "ant", "dis", "fea", "joy", "sad", "sur", "tru", "neg", "pos"]
    both, alone, golds = "▆▆▆", "▒▒▒", "▁▁▁"
    assert [row.replace("█", "").split() for row in rows] == [
        ["gold", "glad", *"····", both, *"····", both],
        ["run", "calm°", ".50", ".50", *"····", golds, *"··", alone, "·", both],
        ["you", "glum", ".00", *["–––"] * 10],
        ["2", "glad", ".25", "1.00", *"····", both, *"····", both],
    ]
    assert "anticipation" in drawn(word_lines(GLAD, said, you, 130))[0]
    kinds = {part.text: part.kind for part in word_lines(GLAD, said, you, 76)[3]}
    assert kinds["glum"] == "strong", "a guess is no error"


def test_of_a_mask_that_cannot_be_scored_it_is_told_why_and_what_comes_next() -> None:
    said = MaskSaid(CALM, 0.0, False)
    view = MaskedView(1, "m", ("", ""), (GLUM,), said=(said,), guessed=(), leaked=(False,))
    heading = "".join(drawn([mask_heading(view, 0)]))
    assert heading == " mask 1 of 1  not scored: EmoLex has no glum"
    told = "\n".join(drawn(told_lines(view, 0, 120, GOLD)))
    assert "––– not in EmoLex" in told
    assert "glum" not in told, "the reason stands in the heading"
    two = MaskedView(1, "m", ("", "", ""), (GLUM, GLAD), said=(said, said), leaked=(False, False))
    assert keyed("{mask_on} goes on to the next mask") in drawn(told_lines(two, 0, 120, GOLD))


def test_what_words_share_and_lack_is_told_in_words() -> None:
    said = MaskSaid(CALM, 0.5, False, (("calm", 0.5), ("glad", 0.25)), 2, (CALM, GLAD), (0.5, 1.0))
    view = MaskedView(1, "m", ("", ""), (GLAD,), said=(said,), guessed=(MaskSaid(GLUM, 0.0, False),), leaked=(True,))
    assert drawn(told_lines(view, 0, 90, RUN)) == [
        "run  ▆ hit positive  ▒ extra trust  ▁ missed joy  ",
        "you  EmoLex has no glum, it scores 0",
        "leaked: gold's word stands in the text outside the mask too",
        "P: the probability that the run gives the word; gold's is its number 2",
        "≠ not gold's emotions   ––– not in EmoLex   ° EmoLex lacks it: emotui adds it",
    ]
    assert "".join(drawn([mask_heading(view, 0)])) == (
        " mask 1 of 1  of gold's 2 emotions the run shares 1, you share 0"
    ), "what is shared in part is no M of the list"
    none = MaskedView(1, "m", ("", ""), (GLAD,), said=(MaskSaid(MAD, 0.0, False, missed=True),), leaked=(False,))
    assert "".join(drawn([mask_heading(none, 0)])).endswith("the run shares 0  M missed")
    assert OF_M in drawn(told_lines(none, 0, 90, RUN)), "and what that is"
    lacking = MaskedView(1, "m", ("", ""), (GLAD,), said=(MaskSaid(GLUM, 0.0, False),), leaked=(False,))
    assert OF_NO_M in drawn(told_lines(lacking, 0, 120, RUN))


async def test_two_words_are_no_guess_for_one_mask(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "5", "j", "i", *"happy", "space", *"sad", "enter")
        place = frame(pilot).query_one(Masked)
        assert place.typing
        assert place.mask == 0
        assert place.guess_line.value == "happy sad"
        assert "one word a mask" in screen_text(pilot)
    assert more_than_a_word("happy sad", "glad")
    assert not more_than_a_word("worried sick", "burnt out")
