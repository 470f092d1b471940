"""Words, ranges of words, spans and markers: there and back again."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.seer import moved, to_ranges, to_spans, unmarked, words

WORD = st.text("abé'.,-", min_size=1, max_size=4)
GAP = st.sampled_from([" ", "  ", "\n", "\t "])


@st.composite
def texts(draw: st.DrawFn) -> str:
    found = draw(st.lists(WORD, min_size=1, max_size=8))
    gaps = draw(st.lists(GAP, min_size=len(found), max_size=len(found)))
    return "".join(word + gap for word, gap in zip(found, gaps, strict=True))[: -len(gaps[-1])]


@st.composite
def ranges_over(draw: st.DrawFn, n: int) -> list[tuple[int, int]]:
    """Ranges that do not overlap; they may touch."""
    edges = sorted(draw(st.lists(st.integers(0, n), unique=True, max_size=n + 1)))
    kept = [pair for pair in pairwise(edges) if draw(st.booleans())]
    return draw(st.permutations(kept))


@given(texts())
def test_words_are_what_split_gives(text: str) -> None:
    assert [text[start:end] for start, end in words(text)] == text.split()


@given(st.data())
def test_ranges_become_spans_and_the_same_ranges_again(data: st.DataObject) -> None:
    text = data.draw(texts())
    places = words(text)
    ranges = data.draw(ranges_over(len(places)))
    spans = to_spans(ranges, places)
    assert [text[start:end].split() for start, end in spans] == [text.split()[a:b] for a, b in sorted(ranges)]
    assert to_ranges(spans, places) == tuple(sorted(ranges))


@given(st.data())
def test_marked_texts_give_the_spans_that_were_marked(data: st.DataObject) -> None:
    text = data.draw(texts())
    places = words(text)
    spans = to_spans(data.draw(ranges_over(len(places))), places)
    marked = text
    for start, end in reversed(spans):
        marked = f"{marked[:start]}**{marked[start:end]}**{marked[end:]}"
    assert unmarked(marked) == (text, spans)


@given(st.data())
def test_a_span_moves_to_the_same_words_of_a_text_with_other_white_space(data: st.DataObject) -> None:
    text = data.draw(texts())
    other = data.draw(GAP).join(text.split())
    ranges = sorted(data.draw(ranges_over(len(text.split()))))
    spans = moved(to_spans(ranges, words(text)), text, other)
    assert spans == to_spans(ranges, words(other))


def test_a_span_that_cuts_a_word_is_the_range_of_the_whole_word() -> None:
    places = words("so very sad")
    assert to_ranges([(4, 5), (9, 11)], places) == ((1, 2), (2, 3))
    assert to_ranges([(2, 3)], places) == ()


def test_white_space_at_the_ends_of_a_marked_span_is_none_of_it_and_an_empty_pair_marks_nothing() -> None:
    assert unmarked("I am** very happy **now.****") == ("I am very happy now.", ((5, 15),))


@pytest.mark.parametrize(
    ("ranges", "why"),
    [
        ([(2, 2)], "the range [2, 2] holds no word"),
        ([(0, 1), (3, 1)], "the range [3, 1] holds no word"),
        ([(-1, 2)], "the range [-1, 2] holds no word"),
        ([(1, 4)], "the range [1, 4] goes past the last of 3 words"),
    ],
)
def test_a_range_without_words_is_refused(ranges: list[tuple[int, int]], why: str) -> None:
    with pytest.raises(ValueError) as refused:
        to_spans(ranges, words("so very sad"))
    assert str(refused.value) == why


def test_a_marker_without_a_partner_is_refused() -> None:
    with pytest.raises(ValueError, match="a marker has no partner: there are 3"):
        unmarked("**so** **sad")


def test_a_marked_text_that_is_another_says_where_they_part() -> None:
    with pytest.raises(ValueError, match="they part after 'soverys'"):
        moved([(0, 2)], "so very sad", "so very sud")


def test_readable_words_are_those_with_a_letter_digit_or_apostrophe() -> None:
    text = "well -- 't was ... 5 é"
    assert [text[a:b] for a, b in words(text, readable=True)] == ["well", "'t", "was", "5"]
