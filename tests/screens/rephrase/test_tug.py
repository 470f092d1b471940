"""Rephrase: gold against its best rival, and the words that carry it, as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.lexical import lexical
from emotui.screens.rephrase.attempts import carried
from emotui.screens.rephrase.lines import meaning, session, word_lines
from emotui.screens.rephrase.review import matching
from emotui.screens.rephrase.writing import GOLD_SIDE, MIDDLE, RIVAL_SIDE, bar_lines, sparkline, verdict
from emotui.screens.rephrase.writing import tug_lines as lines
from emotui.screens.widgets.cell_width import width
from emotui.workbench.rephrase.views import CarryingWords, Progress

LOSING = {"gratitude": 0.67, "neutral": 0.31, "joy": 0.02}
WON = {"gratitude": 0.01, "neutral": 0.6, "joy": 0.39}


def drawn(probs: dict[str, float], cells: int = 80) -> str:
    return "".join(part.text for part in lines(probs, "gratitude", 0.98, [], cells)[0])


def test_each_half_names_its_label_and_figure_and_is_full_by_it() -> None:
    line = drawn({"gratitude": 0.25, "neutral": 0.5}, 68)  # 20 cells a half
    left, right = line.split(MIDDLE)
    assert left == f"gratitude .25 {'·' * 15}{GOLD_SIDE * 5}"
    assert right == f"{RIVAL_SIDE * 10}{'·' * 10} .50 neutral"


def test_the_verdict_says_who_wins_and_what_gold_was() -> None:
    said = "".join(part.text for part in verdict(WON, "gratitude", 0.98, 80))
    assert said == "✓ gratitude was .98; neutral wins by .59"
    said = "".join(part.text for part in verdict(LOSING, "gratitude", None, 80))
    assert said == "  neutral is .36 behind"
    told = {
        cells: "".join(part.text for part in verdict(LOSING, "gratitude", None, cells, aim=True)) for cells in (30, 80)
    }
    assert told == {30: said, 80: f"{said}; another has to lead"}


@given(st.floats(0, 1, allow_subnormal=False), st.floats(0, 1, allow_subnormal=False), st.integers(50, 200))
def test_the_halves_fit_and_have_one_scale(gold: float, other: float, cells: int) -> None:
    line = drawn({"gratitude": gold, "neutral": other}, cells)
    assert width(line) <= cells
    left, right = line.split(MIDDLE)
    size = left.count("·") + left.count(GOLD_SIDE)
    assert size == right.count("·") + right.count(RIVAL_SIDE)
    assert left.count(GOLD_SIDE) == round(gold * size)
    assert right.count(RIVAL_SIDE) == round(other * size)


def test_until_something_is_typed_it_is_told_what_the_halves_are_and_then_what_gold_was_after_each_key() -> None:
    def said(history: list[float], cells: int) -> str:
        return "".join(part.text for part in lines(LOSING, "gratitude", 0.98, history, cells)[1])

    aim = "  neutral is .36 behind; another has to lead"
    assert said([0.67], 100) == f"{aim}   ┃ outward: █ gold, ▒ its rival, each half full at 1"
    assert said([0.67], 75) == f"{aim}   █ gold  ▒ its rival"
    assert said([0.67], 60) == aim, "a legend that is cut tells less than none"
    assert "after each key" not in said([0.98, 0.5], 80), "two blocks show no course"
    assert said([0.98, 0.5] * 5, 80).endswith("gratitude after each key █▅█▅█▅█▅█▅")


def told(text: str, label: str) -> list[str]:
    """What is told about a text as nothing but words, without its style."""
    found = lexical(text, label, {"hospital": ("fear", "trust"), "glad": ("joy",)})
    return ["".join(part.text for part in line) for line in meaning((1.0, True), found, WORDS, (), 72, 1, label)]


def test_of_a_label_that_emolex_lacks_it_is_told_which_emotions_cues_count() -> None:
    first, cues, _ = told("I am not in hospital", "gratitude")
    assert first == "similarity 1.00   cue words misleading   negation yes"
    assert cues.rstrip() == "EmoLex (gratitude → joy): no joy word; hospital trust, fear"
    assert told("I am glad", "gratitude")[1].rstrip() == "EmoLex (gratitude → joy): glad joy"
    assert told("I am home", "gratitude")[1] == "EmoLex (gratitude → joy): no cue word left"


def test_what_kind_a_text_is_and_whether_it_is_negated_stands_in_words() -> None:
    first, cues, leaning = told("I am not in hospital", "joy")
    assert first == "similarity 1.00   cue words misleading   negation yes"
    assert cues.rstrip() == "EmoLex: no joy word; hospital trust, fear"
    assert leaning.rstrip() == "leans on, for sadness (log-odds lost without it) sad 2.00  so .20"
    assert told("I am glad", "joy")[0] == "similarity 1.00   cue words explicit   negation no"
    assert told("I am home", "joy")[0] == "similarity 1.00   cue words implicit   negation no"


@pytest.mark.parametrize(
    ("at", "expected"), [((0, 0, 0, 0), "0 succeeded"), ((5, 0, 1, 0), "6 succeeded: 5 at the 1st, 1 at the 3rd")]
)
def test_of_what_succeeded_only_attempts_at_which_something_did_are_counted(
    at: tuple[int, int, int, int], expected: str
) -> None:
    progress = Progress(offered=60, done=6, succeeded_at=at, failed=0, skipped=0, left=54, set_aside=3)
    words = "".join(part.text for line in session(progress, "", 100) for part in line)
    assert f"6 of 60 texts done   {expected}   0 failed   0 skipped   54 to come" in words
    assert "3 more left out: the model errs already" in words


def test_a_sparkline_has_the_last_figures_in_eighths() -> None:
    assert sparkline([0.0, 0.13, 0.5, 1.0], 3) == "▂▅█"
    assert sparkline([0.99], 3) == "█  "


WORDS = CarryingWords(1, "so sad today", "sadness", "sadness", ((0, 2, 0.2), (3, 6, 2.0), (7, 12, -1.0)), (), cut=False)


def test_a_word_that_stands_twice_is_told_by_its_place() -> None:
    twice = CarryingWords(
        1, "Thank and Thank", "joy", "joy", ((0, 5, 0.58), (6, 9, 0.0), (10, 15, 0.82)), (), cut=False
    )
    told = "".join(part.text for part in meaning((1.0, True), None, twice, (), 90, 1)[-1])
    assert told.rstrip().endswith("Thank (2nd) .82  Thank .58")


def test_labels_without_room_are_told_by_their_greatest_probability() -> None:
    probs = {f"label {at}": 0.9 / (at + 1) for at in range(12)}
    last = "".join(part.text for part in bar_lines(probs, "label 0", None, 60, 5)[-1])
    assert last.strip() == "8 others, each at most .18"
    few = probs | {f"label {at}": 0.001 for at in range(4, 12)}
    assert "each below .005" in "".join(part.text for part in bar_lines(few, "label 0", None, 60, 5)[-1])


def test_words_are_shaded_by_how_much_they_carry() -> None:
    assert carried(WORDS, "so sad today") == {"editor--carries-1": [(0, 2)], "editor--carries-3": [(3, 6)]}
    assert carried(None, "so sad today") == {}


@pytest.mark.parametrize(
    ("text", "grey"),
    [("so sad today!", [(0, 2), (3, 6)]), ("oh so sad today", [(3, 5), (6, 9)]), ("so glad today", [(0, 2)]), ("", [])],
)
def test_what_was_carried_before_a_key_is_grey_where_it_still_stands(text: str, grey: list[tuple[int, int]]) -> None:
    assert carried(WORDS, text) == ({"editor--carried": grey} if grey else {})


def test_an_answer_is_found_by_how_it_begins_else_by_what_is_in_it() -> None:
    answers = ("anger", "annoyance", "disgust", "sadness")
    assert matching(answers, "an") == ["anger", "annoyance"]
    assert matching(answers, "NESS") == ["sadness"]
    assert matching(answers, "") == list(answers)
    assert matching(answers, "zz") == []


def leaning(words: CarryingWords, written: str) -> str:
    return "".join(part.text for part in meaning((1.0, True), None, words, (), 72, 1, "sadness", written)[-1])


def test_words_of_the_text_before_are_told_of_as_such_and_those_that_are_gone_no_more() -> None:
    assert leaning(WORDS, "so sad today").startswith("leans on, for sadness")
    assert leaning(WORDS, "so today").rstrip() == "leaned on, for sadness (log-odds lost without it) so .20"
    assert leaning(WORDS, "fine") == "leaned on  … when you rest"
    told = ["".join(part.text for part in line).rstrip() for line in word_lines(WORDS, 72, "so today")]
    assert told[0] == "of the text before; of this one when you rest"
    assert [line.split()[0] for line in told[2:-1]] == ["so", "today"]
