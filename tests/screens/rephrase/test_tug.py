"""Rephrase: gold against its best rival, and the words that carry it, as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.screens.rephrase.attempts import carried
from emotui.screens.rephrase.review import matching
from emotui.screens.rephrase.writing import AHEAD, BEHIND, MIDDLE, sparkline, verdict
from emotui.screens.rephrase.writing import tug_lines as lines
from emotui.screens.widgets.cell_width import width
from emotui.workbench.rephrase.views import CarryingWords

LOSING = {"gratitude": 0.67, "neutral": 0.31, "joy": 0.02}
WON = {"gratitude": 0.01, "neutral": 0.6, "joy": 0.39}


def drawn(probs: dict[str, float], cells: int = 80) -> str:
    return "".join(part.text for part in lines(probs, "gratitude", 0.98, [], cells)[0])


def test_the_one_who_is_ahead_is_solid_so_that_the_rope_turns_over_on_a_win() -> None:
    before, after = drawn(LOSING), drawn(WON)
    assert before.startswith(f"gratitude {AHEAD}")
    assert f"{BEHIND} neutral  .67 : .31" in before
    assert after.startswith(f"gratitude {BEHIND}")
    assert f"{AHEAD} neutral  .01 : .60" in after


def test_the_verdict_says_who_wins_and_what_gold_was() -> None:
    said = "".join(part.text for part in verdict(WON, "gratitude", 0.98, 80))
    assert said == "✓ gratitude .01, was .98; neutral wins"
    said = "".join(part.text for part in verdict(LOSING, "gratitude", None, 80))
    assert said == "  gratitude .67; neutral is .36 behind"


@given(st.floats(0, 1, allow_subnormal=False), st.floats(0, 1, allow_subnormal=False), st.integers(50, 200))
def test_the_rope_fits_and_the_middle_belongs_to_the_one_who_is_ahead(gold: float, other: float, cells: int) -> None:
    line = drawn({"gratitude": gold, "neutral": other}, cells)
    assert width(line) <= cells
    rope = line.split(" ")[1]
    middle = rope.index(MIDDLE)
    assert rope[middle - 1] == AHEAD if other <= gold else rope[middle + 1] == AHEAD


def test_a_sparkline_has_the_last_figures_in_eighths() -> None:
    assert sparkline([0.0, 0.13, 0.5, 1.0], 3) == "▂▅█"
    assert sparkline([0.99], 3) == "█  "


WORDS = CarryingWords(1, "so sad today", "sadness", "sadness", ((0, 2, 0.2), (3, 6, 2.0), (7, 12, -1.0)), (), cut=False)


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
