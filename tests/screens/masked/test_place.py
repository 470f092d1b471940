"""Masked: masks filled by gold, runs and oneself, walked by those that are missed, guessed blind."""

from pathlib import Path

from emotui.screens.keymaps import keyed
from emotui.screens.masked.place import Masked, likeliest_lines
from emotui.screens.masked.text import GOLD, HIDDEN, RUN, Filling, hidden, text_lines
from emotui.screens.widgets.page import Page
from emotui.workbench.masked.looking import MaskSaid, WordEntry
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
        assert place.fill == GOLD
        first, gold = place.view.number, place.view.gold[0].word
        assert f"▸{gold}≠" in shown(place)
        assert "happy" in screen_text(pilot)
        legend = keyed("{fill} gap, gold's word, the run's; table: emotions in EmoLex; M: none shared")
        assert legend in screen_text(pilot)
        await press(pilot, "o")
        assert place.fill == RUN
        assert "▸happy≠" in shown(place)
        await press(pilot, "o")
        assert frame(pilot).session.run_shown is not None
        assert frame(pilot).session.run_shown.run == WRITES
        assert "▸angry≠" in shown(place)
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


async def test_a_person_guesses_blind_and_then_sees(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "5")
        place = frame(pilot).query_one(Masked)
        await press(pilot, "o", "o", "o", "j", "j")
        assert place.view is not None
        golds = [one.word for one in place.view.gold]
        text = screen_text(pilot)
        assert not any(word in text for word in golds)
        await press(pilot, "i", *"sad", "enter", *"glad", "enter")
        assert place.view.guess is not None
        assert place.view.guess.words == ("sad", "glad")
        assert place.view.guess.blind
        assert f"▸{golds[0]}" in shown(place)
        assert "you sad" in screen_text(pilot)
        await press(pilot, "j")
        assert place.filled == HIDDEN, "the next text is hidden again"
        await press(pilot, "k", "o", "u")
        assert place.view.guess is None
        await press(pilot, "i", *"mad")
        assert "mask 1 of 2  Enter keeps it and asks for the next, Esc leaves it as a draft" in screen_text(pilot)
        await press(pilot, "escape")
        assert not place.typing
        assert "your draft: mask 1 “mad”; i goes on with it" in screen_text(pilot)
        kinds = [one.kind for one in source.store.annotations.entries(kind="masked")]
        assert kinds == ["masked-guess", "masked-guess-undo"]
        assert frame(pilot).session.run_shown is not None
        assert frame(pilot).session.run_shown.run in (FILLS, WRITES)


def test_the_likeliest_words_stand_with_the_emotions_that_each_carries() -> None:
    gold, joy = WordEntry("glum", "", None), WordEntry("glad", "", (0, 0, 0, 0, 1, 0, 0, 0, 0, 1))
    said = MaskSaid(joy, 0.0, False, (("glad", 0.5),), None, (joy,))
    head, *rows = ("".join(part.text for part in line) for line in likeliest_lines(gold, said, 70))
    assert head.split() == ["ang", "ant", "dis", "fea", "joy", "sad", "sur", "tru", "neg", "pos"]
    assert [row.split() for row in rows] == [["gold", "glum", *"–" * 10], ["1", "glad", *"····■····■"]]
    assert "anticipation" in likeliest_lines(gold, said, 110)[0][2].text
    assert likeliest_lines(gold, MaskSaid(joy, 0.0, False), 70) == []
