"""The caret, the selection and borders over texts of many scripts."""

import regex
from hypothesis import given
from hypothesis import strategies as st

from emotui.screens.annotate.marking import CHARACTER, CLAUSE, SENTENCE, WORD, Marking
from emotui.screens.annotate.units import TextUnits
from emotui.workbench.annotate.answers import SpanMark

TEXTS = st.text(st.sampled_from(list("ab'., !?\né\u0301\u200d👩👧🇩昨日はเมื่ล")), min_size=1, max_size=40)
MOVES = st.lists(st.tuples(st.sampled_from([WORD, CHARACTER, CLAUSE, SENTENCE, "v"]), st.sampled_from([-1, 1])))


@given(TEXTS, MOVES)
def test_wherever_keys_lead_what_would_be_marked_is_whole_graphemes_of_the_text(
    text: str, moves: list[tuple[str, int]]
) -> None:
    marking = Marking(TextUnits(text))
    borders = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    for unit, step in moves:
        if unit == "v":
            marking.begin()
        else:
            marking.move(unit, step)
        stretch = marking.stretch
        if stretch is not None:
            assert 0 <= stretch[0] < stretch[1] <= len(text)
            assert set(stretch) <= borders
            assert text[stretch[0] : stretch[1]].strip()


@given(TEXTS)
def test_moving_on_by_words_visits_every_word_once_and_back_again(text: str) -> None:
    marking = Marking(TextUnits(text))
    words = marking.units.words(0, len(text))
    seen = [marking.caret]
    while marking.move(WORD, 1):
        seen.append(marking.caret)
    assert not words or seen == words
    while marking.move(WORD, -1):
        pass
    assert not words or marking.caret == words[0]


@given(TEXTS, st.data())
def test_a_border_moves_to_another_word_and_never_past_the_other_border(text: str, data: st.DataObject) -> None:
    marking = Marking(TextUnits(text))
    words = marking.units.words(0, len(text))
    if not words:
        return
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    span = SpanMark(id="a", start=words[first][0], end=words[last][1])
    for border in ("start", "end"):
        for step in (-1, 1):
            place = marking.moved(span, border, step)
            goal = (first + step, last) if border == "start" else (first, last + step)
            possible = 0 <= goal[0] <= goal[1] < len(words)
            assert place == ((words[goal[0]][0], words[goal[1]][1]) if possible else None)
