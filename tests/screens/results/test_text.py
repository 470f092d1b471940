"""What two sources say of a thing that is no span, in lines."""

from emotui.screens.results.two import said_lines
from emotui.workbench.compare.pairs import Marks


def lines(*said: tuple[str, str, str, str], cells: int = 40) -> list[str]:
    return ["".join(part.text for part in line) for line in said_lines(Marks(1, "1", "t", lines=said), cells)]


def test_what_fits_is_one_line_and_longer_words_have_lines_of_their_own_that_lose_nothing() -> None:
    assert lines(("label", "joy", "fear", "")) == ["label: gold joy, ● fear, ◇ –"]
    long = " ".join(f"word{at}" for at in range(12))
    found = lines(("neutral", "neutral", long, "short"))
    assert found[:2] == ["neutral:", "  gold neutral"]
    assert found[-1] == "  ◇ short"
    assert all(len(line) <= 40 for line in found)
    assert " ".join(part.strip() for part in found[2:-1]) == f"● {long}"


def test_a_text_in_which_nobody_marks_anything_stands_behind_what_is_said_of_it() -> None:
    marks = Marks(1, "1", "a text", lines=(("label", "joy", "fear", ""),))
    told = ["".join(part.text for part in line) for line in said_lines(marks, 40, told=True)]
    assert told == ["label: gold joy, ● fear, ◇ –", "text:", "  a text"]


def test_a_text_of_which_nobody_says_anything_says_so() -> None:
    assert lines() == ["gold, ● and ◇: nothing in this text"]


def test_what_would_act_on_a_terminal_is_shown_as_what_it_is() -> None:
    assert "\x1b" not in "".join(lines(("a", "\x1b[31m", "b", "c")))
