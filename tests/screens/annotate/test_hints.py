"""Hint letters: none begins another, the nearest has the shortest, none is a label's key."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from emotui.screens.annotate.lines import Tiers, break_lines
from emotui.screens.annotate.marking import Marking, alphabet, codes, hints
from emotui.screens.annotate.passage import Passage, PassageView
from emotui.screens.annotate.units import TextUnits


@given(st.integers(0, 700), st.integers(4, 26))
def test_no_code_begins_another_and_there_are_as_few_letters_as_can_be(n: int, size: int) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"[:size]
    found = codes(n, letters)
    assert len(found) == len(set(found)) == n
    ordered = sorted(found)
    assert not any(after.startswith(before) for before, after in itertools.pairwise(ordered))
    assert [len(code) for code in found] == sorted(len(code) for code in found)
    if n <= size:
        assert all(len(code) == 1 for code in found)
    elif n <= size * size:
        # Each letter that is grown gives way to `size` codes: no more of them grow than have to.
        assert sum(len(code) == 1 for code in found) == size - -(-(n - size) // (size - 1))
        assert max(map(len, found)) == 2


def test_the_nearest_has_the_shortest_and_the_first_letter() -> None:
    assert hints([0, 10, 20, 30], 19, "abc") == {"a": 20, "b": 10, "ca": 30, "cb": 0}


def test_words_of_one_letter_have_the_shortest_so_that_codes_do_not_touch() -> None:
    #  "I saw a cat and I ran"
    found = hints([0, 2, 6, 8, 12, 16, 18], 12, "abcd")
    assert {code: start for code, start in found.items() if len(code) == 1} == {"a": 16, "b": 6, "c": 0}


def test_hints_never_use_a_key_of_a_label_and_take_digits_where_letters_are_few() -> None:
    assert not set(alphabet("SHa")) & set("sha")
    assert alphabet("abcdefghijklmnopqrstuvw") == "yxz1234567890"


@given(st.integers(2, 60), st.integers(0, 59), st.integers(0, 59))
def test_words_keep_their_letters_from_the_start_to_the_end(n: int, first: int, last: int) -> None:
    first, last = sorted((first % n, last % n))
    marking = Marking(TextUnits(" ".join(["word"] * n)))
    starts = [5 * place for place in range(n)]
    marking.show_hints(starts, "asdf")
    dealt = {start: code for code, start in marking.hints.items()}
    for letter in dealt[5 * first]:
        marking.type_hint(letter)
    assert marking.hints == {dealt[start]: start for start in starts if start >= 5 * first}
    for letter in dealt[5 * last]:
        marking.type_hint(letter)
    assert marking.selection == (5 * first, 5 * last + 4)


def laid_out(text: str, columns: int, dealt: dict[int, str], typed: str = "") -> Passage:
    """A passage with these letters under its words, and so many cells a line."""
    left = {at: code[len(typed) :] for at, code in dealt.items() if code.startswith(typed)}
    passage = Passage(lambda *_: False)
    passage.view = PassageView(text=text, hints=left, dealt=dealt)
    passage._broken_for, passage._broken = (text, (), 8), break_lines(text, columns)
    passage._tiers = Tiers(passage._broken)
    passage._style = lambda name: Style()  # type: ignore[method-assign]
    passage._lay_out()
    return passage


def drawn(passage: Passage) -> list[str]:
    rows = [passage._tiers.row(y) for y in range(passage.rows)]
    parts = [passage._text_row(row.line) if row.tier < 0 else passage._hint_row(row) for row in rows]
    return ["".join(part.text for part in line).strip("\n").rstrip()[1:] for line in parts]


def test_the_letters_stand_in_a_row_under_their_words() -> None:
    dealt = {0: "a", 2: "s", 5: "dk", 9: "dl"}
    assert drawn(laid_out("I am not cold", 9, dealt)) == ["I am not", "a s  dk", "cold", "dl"]


def test_what_is_left_to_type_stays_in_the_rows_that_there_were() -> None:
    dealt = {0: "a", 2: "s", 5: "dk", 9: "dl"}
    assert drawn(laid_out("I am not cold", 9, dealt, "d")) == ["I am not", "     k", "cold", "l"]


@pytest.mark.parametrize(
    ("start", "most", "found"),
    [(0, 8, "a b c d"), (4, 8, "a b c d"), (0, 4, "a b "), (0, 5, "a b "), (2, 4, "b c "), (6, 4, "d"), (0, 1, "a ")],
)
def test_letters_go_to_as_many_lines_as_have_room_for_them(start: int, most: int, found: str) -> None:
    passage = laid_out("a b c d", 2, {})
    first, last = passage.lettered(start, most)
    assert passage.view.text[first:last] == found
