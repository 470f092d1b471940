"""Hint letters: none begins another, the nearest has the shortest, none is a label's key."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
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


@pytest.mark.parametrize(
    ("hints", "drawn"),
    [({0: "a", 2: "s", 5: "dk"}, "asamdcold"), ({5: "k"}, "I amkcold"), ({6: "dk"}, "I am cdld")],
)
def test_the_letter_that_is_next_stands_in_the_space_before_its_word_and_covers_none(
    hints: dict[int, str], drawn: str
) -> None:
    """Of two letters the second comes when the first is typed; a word without a space before it is covered by one."""
    text = "I am cold"
    view = PassageView(text=text, hints=hints)
    passage = Passage(lambda *_: False)
    passage.view, passage._hinted = view, tuple(view.hints)
    passage._broken = break_lines(view.text, 20)
    styles: list[str] = []
    passage._style = lambda name: styles.append(name) or Style()  # type: ignore[method-assign, func-returns-value]
    found = passage._with_hints([Segment(view.text)], 0)
    assert "".join(segment.text for segment in found) == drawn
    assert [name for name in styles if name] == [
        "hint-on" if len(code) > 1 else "hint-beside" for code in hints.values()
    ]


def test_where_there_is_room_the_letters_stand_in_a_row_under_their_words() -> None:
    passage = Passage(lambda *_: False)
    passage.view = PassageView(text="I am not cold", hints={0: "a", 2: "s", 5: "dk", 9: "dl"})
    passage._hinted = tuple(passage.view.hints)
    passage._broken = break_lines(passage.view.text, 9)
    passage._tiers = Tiers(passage._broken)
    passage._style = lambda name: Style()  # type: ignore[method-assign]
    passage._tiers.put([passage._hint_marks()])
    rows = [passage._tiers.row(y) for y in range(passage._tiers.n)]
    drawn = [
        "".join(part.text for part in (passage._text_row(row.line) if row.tier < 0 else passage._hint_row(row)))
        for row in rows
    ]
    passage._hints_under = True
    assert [line.rstrip() for line in drawn[1::2]] == ["a s  dk", "dl"]


@pytest.mark.parametrize(("most", "under"), [(4, True), (3, False)])
def test_the_rows_of_letters_are_there_only_where_they_fit(most: int, under: bool) -> None:
    passage = Passage(lambda *_: False)
    passage.most_rows = most
    passage.view = PassageView(text="I am not cold", hints={0: "a", 9: "s"}, tiers=())
    passage._broken_for = ("I am not cold", (), 8)
    passage._broken = break_lines("I am not cold", 9)
    passage._tiers = Tiers(passage._broken)
    passage._lay_out()
    assert (passage._hints_under, passage.rows) == (under, 4 if under else 2)
