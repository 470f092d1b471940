"""Words, folding and the way back to offsets."""

import re
import string
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emotui.metrics.locating import locate
from emotui.metrics.tokens import fold, normalise, take_apart, token_places, tokens

WEIRD = st.text(
    alphabet=st.one_of(
        st.sampled_from(" \t\n\u00a0aAbtheTHE.,'-_$*İıßΣσςſé\u0301\u0307\u200b\u200d\u202e\u05d0\u0627😀👩🏽“”¿—…"),
        st.characters(),
    ),
    max_size=30,
)


def squad(text: str) -> list[str]:
    """The steps of SQuAD's evaluation script, with Unicode's punctuation."""
    lowered = "".join(c.lower() for c in text)
    kept = "".join(c for c in lowered if c not in string.punctuation and unicodedata.category(c)[0] != "P")
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def test_tokens_are_lower_case_words_without_punctuation_and_articles() -> None:
    assert tokens("The cat, a dog AND an Owl!") == ["cat", "dog", "and", "owl"]


def test_punctuation_inside_a_word_joins_its_parts() -> None:
    assert tokens("don't well-known U.S.") == ["dont", "wellknown", "us"]


def test_unicode_punctuation_goes_too() -> None:
    assert tokens("“So—sad…” ¿qué? l’été") == ["sosad", "qué", "lété"]


def test_ascii_symbols_that_squad_calls_punctuation_go_and_other_symbols_stay() -> None:
    assert tokens("$5 + a<b ~ €5 😀") == ["5", "ab", "€5", "😀"]


def test_an_article_inside_a_word_stays() -> None:
    assert tokens("another theatre than Anna") == ["another", "theatre", "than", "anna"]


def test_an_article_that_punctuation_made_is_removed_as_in_squad() -> None:
    assert tokens("a. (the) 'an'") == []


def test_a_text_of_articles_and_punctuation_has_no_token() -> None:
    assert tokens("The ... a!") == tokens("") == tokens(" \n\t") == []


def test_all_white_space_splits() -> None:
    assert tokens("so\u00a0very\tsad\n\nnow\u2003here") == ["so", "very", "sad", "now", "here"]


@settings(deadline=None)
@given(WEIRD)
@example("a\u0301 the😀 a\x00b")
def test_tokens_are_squads(text: str) -> None:
    expected = [word.replace("ς", "σ") for word in squad(text)]
    assert tokens(text) == expected
    apart = take_apart(text)
    assert (apart.count, apart.unique) == (len(expected), frozenset(expected))


def test_normalise_keeps_articles_and_folds_white_space() -> None:
    assert normalise("  The  desk -\n was, well: THE desk. ") == "the desk was well the desk"


def test_both_small_sigmas_are_one_letter() -> None:
    assert normalise("ΟΔΟΣ") == normalise("οδος") == normalise("οδοσ") == "οδοσ"


@settings(deadline=None)
@given(WEIRD)
def test_fold_agrees_with_normalise_and_points_back_in_order(text: str) -> None:
    folded, origins = fold(text)
    assert folded == normalise(text) == take_apart(text).folded
    assert len(origins) == len(folded)
    assert list(origins) == sorted(origins)
    for character, origin in zip(folded, origins, strict=True):
        assert text[origin].isspace() if character == " " else character in normalise(text[origin])


@settings(deadline=None)
@given(WEIRD)
def test_fold_is_done_after_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_a_span_is_located_without_its_case_and_punctuation() -> None:
    text = "Well -- I was SO happy, really!"
    assert locate(text, ["so happy really"]) == ((14, 30),)
    assert text[14:30] == "SO happy, really"


def test_the_same_span_twice_takes_the_next_place_and_then_none() -> None:
    assert locate("Sad, sad day", ["sad", "SAD!", "sad"]) == ((0, 3), (5, 8), None)


def test_spans_that_differ_may_overlap() -> None:
    text = "so happy, very happy"
    assert locate(text, ["so happy", "happy"]) == ((0, 8), (3, 8))
    assert locate("so happy", ["happy", "so happy", "happy"]) == ((3, 8), (0, 8), None)


def test_a_place_on_word_edges_comes_before_one_inside_a_word() -> None:
    assert locate("heart art", ["art"]) == ((6, 9),)
    assert locate("heart art", ["art", "art", "art"]) == ((6, 9), (2, 5), None)
    assert locate("unafraid, and afraid", ["afraid"]) == ((14, 20),)
    assert locate("unafraid", ["afraid"]) == ((2, 8),)
    assert locate("sad...and glad", ["and"]) == ((6, 9),)
    assert locate("cafe\u0301 cafe", ["cafe"]) == ((6, 10),)  # an accent belongs to its word


def test_an_equal_span_takes_no_place_that_shares_a_character_with_one_that_is_taken() -> None:
    assert locate("hahaha ha", ["haha", "haha", "ha"]) == ((0, 4), None, (7, 9))


def test_a_span_without_a_word_is_nowhere() -> None:
    assert locate("So... what?", ["...", "", " "]) == (None, None, None)


def test_white_space_and_punctuation_between_words_may_differ() -> None:
    text = "oh no -\n\n no"
    assert locate(text, ["oh no no"]) == ((0, len(text)),)


def test_half_of_a_character_that_lower_cases_to_two_is_no_place() -> None:
    assert normalise("İ") == "i\u0307"
    assert locate("İyi", ["i"]) == ((2, 3),)
    assert locate("İyi", ["İY"]) == ((0, 2),)
    assert locate("İyi", ["\u0307yi"]) == (None,)
    assert locate("İ", ["İ"]) == ((0, 1),)


@pytest.mark.parametrize(
    ("text", "span", "place"),
    [
        ("Cafe\u0301 closed, sad", "CLOSED SAD", (6, 17)),  # a combining mark is a character of its own
        ("\u05d0\u05d1\u05d2 \u05d3, so sad", "So Sad", (7, 13)),  # right to left
        ("👩🏽‍🚒 I am 😀 glad", "😀 Glad", (10, 16)),  # an emoji of four code points before it
        ("so\u200b sad", "so\u200b sad", (0, 7)),  # zero width space is neither white space nor punctuation
        ("STRASSE, Straße", "straße", (9, 15)),  # lower case, not case folding: SS is not ß
    ],
)
def test_offsets_are_code_points_of_the_text(text: str, span: str, place: tuple[int, int]) -> None:
    assert locate(text, [span]) == (place,)


@settings(deadline=None)
@given(WEIRD, st.integers(0, 30), st.integers(0, 30))
@example("ΟΔΟΣ ΚΑΛΟΣΗ", 5, 10)
@example("İİ", 0, 1)
def test_what_was_cut_out_of_a_text_is_found_in_it(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    span = text[start:end]
    assert normalise(span) in normalise(text)
    (place,) = locate(text, [span])
    assert (place is None) == (normalise(span) == "")
    if place:
        assert normalise(text[place[0] : place[1]]) == normalise(span)


def word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def rule(text: str, spans: list[str]) -> list[tuple[int, int] | None]:
    """Where the spans stand, by trying every stretch of the text."""
    found: list[tuple[int, int] | None] = []
    for number, span in enumerate(spans):
        every = [(a, b) for a in range(len(text)) for b in range(a + 1, len(text) + 1)]
        same = [
            (a, b)
            for a, b in every
            if normalise(text[a:b]) == normalise(span) != "" and normalise(text[a]) and normalise(text[b - 1])
        ]
        before = [normalise(one) == normalise(span) for one in spans[:number]]
        taken = [place for place, equal in zip(found, before, strict=True) if equal and place]
        free = [(a, b) for a, b in same if all(b <= start or end <= a for start, end in taken)]
        edges = [
            (a, b)
            for a, b in free
            if all(at in (0, len(text)) or not (word(text[at - 1]) and word(text[at])) for at in (a, b))
        ]
        found.append(min(edges or free, default=None))
    return found


@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("aAb .-é\u0301İ7"), max_size=12), st.data())
def test_every_span_stands_where_the_rule_says(text: str, data: st.DataObject) -> None:
    cut = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda at: text[min(at) : max(at)])
    spans = data.draw(st.lists(st.one_of(cut, st.sampled_from(["a", "b a", "zz"])), max_size=4))
    assert list(locate(text, spans)) == rule(text, spans)


def test_scoring_loads_neither_scipy_nor_numpy_nor_a_model() -> None:
    heavy = ("numpy", "scipy", "torch", "transformers", "textual", "duckdb")
    program = f"import sys, emotui.metrics.span_report; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_an_article_beside_a_symbol_is_dropped_and_the_symbol_stays() -> None:
    # SQuAD cuts articles at word boundaries, and a currency's sign is neither a letter nor punctuation.
    assert tokens("a€ day") == ["€", "day"]
    assert tokens("a$ day") == ["day"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("The cat, a dog!", [(4, 7), (11, 14)]),
        ("don't  go.", [(0, 5), (7, 9)]),
        ("a€ joy", [(1, 2), (3, 6)]),
        ("“The” été—a joy", [(6, 11), (12, 15)]),
        (" \tİ sad ", [(2, 3), (4, 7)]),
        ("an. a!", []),
    ],
)
def test_tokens_stand_where_the_text_has_them(text: str, places: list[tuple[int, int]]) -> None:
    starts, ends = token_places(*fold(text))
    assert list(zip(starts, ends, strict=True)) == places


def test_each_character_of_a_folded_text_has_its_offset() -> None:
    folded, origins = fold("'Don't, go")
    assert (folded, list(origins), len(origins), origins[3]) == ("dont go", [1, 2, 3, 5, 7, 8, 9], 7, 5)
    for text, folded, origins in (
        (" so  sad ", "so sad", [1, 2, 3, 5, 6, 7]),
        ("İ!", "i\u0307", [0, 0]),
        (" ", "", []),
    ):
        found = fold(text)
        assert (found[0], list(found[1])) == (folded, origins)


def test_words_that_come_twice_are_shared_as_often_as_both_have_them() -> None:
    twice, thrice, once = (take_apart(text) for text in ("so so sad", "so so so", "sad so"))
    assert (twice.shared(thrice), twice.shared(once), once.shared(twice), once.shared(once)) == (2, 2, 2, 2)
    assert (twice.count, twice.counts, once.counts) == (3, {"so": 2, "sad": 1}, None)
