"""Words, clauses, sentences and graphemes of texts in many scripts."""

import itertools
from collections.abc import Callable

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from emotui.records import Span
from emotui.screens.annotate.units import TextUnits

TEXTS = st.text(st.sampled_from(list("ab'.,!? \n-—é\u0301\u200d👩👧🇩🇪昨日はをカー界เมื่อวนक्षाىل、。")), max_size=60)


def _all(units: TextUnits, following: Callable[[int], Span | None]) -> list[str]:
    found, at = [], -1
    while (unit := following(at)) is not None:
        found.append(units.text[unit[0] : unit[1]])
        at = unit[0]
    return found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I can't go, U.S. well-known!", ["I", "can't", "go", "U.S", "well-known"]),
        ("昨日は友達と、iPhoneを買った。", ["昨日は", "友達と", "iPhone", "を", "買った"]),
        ("我昨天和朋友一起去看电影。", ["我", "昨天", "和", "朋友", "一起", "去", "看", "电影"]),
        ("เมื่อวานฉันไปดูหนัง", ["เมื่อวาน", "ฉัน", "ไป", "ดู", "หนัง"]),
        ("العربية جميلة، نعم", ["العربية", "جميلة", "نعم"]),
        ("so 👨‍👩‍👧 e\u0301te\u0301", ["so", "👨‍👩‍👧", "e\u0301te\u0301"]),
        ("... !", []),
        ("", []),
    ],
)
def test_words_of_scripts_with_and_without_spaces(text: str, words: list[str]) -> None:
    units = TextUnits(text)
    assert _all(units, units.next_word) == words


def test_a_sentence_ends_after_its_closing_quote_and_not_at_an_abbreviation() -> None:
    units = TextUnits("Mr. Smith said: “No.” She left, of course. 本当？ はい。")
    assert _all(units, units.next_sentence) == ["Mr. Smith said: “No.”", "She left, of course.", "本当？", "はい。"]
    assert _all(units, units.next_clause)[:4] == ["Mr. Smith said:", "“No.”", "She left,", "of course."]


def test_told_sentences_are_believed() -> None:
    units = TextUnits("one. two three", [(0, 8), (9, 14)])
    assert _all(units, units.next_sentence) == ["one. two", "three"]


@given(TEXTS)
def test_words_are_in_order_do_not_overlap_and_begin_and_end_on_graphemes(text: str) -> None:
    units = TextUnits(text)
    borders = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    words = units.words(0, len(text))
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(words))
    assert all(start < end for start, end in words)
    assert {edge for word in words for edge in word} <= borders
    assert _all(units, units.next_word) == [text[start:end] for start, end in words]


@given(TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_a_snapped_stretch_is_whole_graphemes_around_what_was_asked_for(text: str, one: int, other: int) -> None:
    units = TextUnits(text)
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    found = units.snapped(one, other)
    if found is None:
        assert not text[start:end].strip()
        return
    borders = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    assert set(found) <= borders
    assert found[1] >= start + len(text[start:end].rstrip())
    assert units.snapped(*found) == found
    by_word = units.snapped_to_words(one, other)
    assert by_word is not None
    assert units.snapped_to_words(*by_word) == by_word


@given(TEXTS, st.integers(0, 60))
def test_every_offset_has_a_word_a_clause_and_a_sentence_near_it_where_there_are_any(text: str, at: int) -> None:
    units = TextUnits(text)
    assert (units.word_at(at) is None) == (not units.words(0, len(text)))
    assert (units.sentence_at(at) is None) == (not text.strip())
    grapheme = units.grapheme_at(at)
    assert grapheme is None or grapheme[0] <= min(at, len(text) - 1) < grapheme[1]


def test_a_long_text_is_cut_into_blocks_and_its_words_are_those_of_the_whole() -> None:
    text = "The bus let me off, a little before six. 昨日は友達と映画を見た。\n" * 300
    units = TextUnits(text)
    assert len(units.words(0, len(text))) == 300 * len(TextUnits(text[: len(text) // 300]).words(0, 400))
    word = units.word_at(len(text) // 2)
    assert word is not None
    following = units.next_word(word[0])
    assert following is not None
    assert units.previous_word(following[0]) == word
