"""Which words are taken away, kept alone, or taken at random beside the evidence."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.words import word_places
from emotui.metrics.evidence import (
    SHARES,
    area,
    deleted,
    first_words,
    kept_alone,
    masked,
    random_places,
    ranked_words,
    runs_of_words,
    touched,
    united,
)

TEXT = "I wept, alone, all night."


def test_what_is_deleted_leaves_one_space_and_all_signs_around_it() -> None:
    assert deleted(TEXT, ((2, 6),)) == "I , alone, all night."
    assert deleted("a b c", ((2, 3),)) == "a c"
    assert (deleted("a b c", ((0, 1),)), deleted("a b c", ((4, 5),))) == ("b c", "a b")
    assert (deleted("a", ((0, 1),)), deleted("a b", ())) == ("", "a b")


def test_what_is_masked_has_a_mark_a_word_and_keeps_its_signs() -> None:
    assert masked(TEXT, ((2, 13),), word_places(TEXT)) == "I …, …, all night."
    assert masked(TEXT, (), word_places(TEXT)) == TEXT


def test_what_is_kept_alone_is_the_evidence_in_text_order() -> None:
    assert kept_alone(TEXT, united([(15, 18), (2, 6)])) == "wept all"


def test_stretches_that_overlap_or_adjoin_are_one() -> None:
    assert united([(4, 6), (0, 3), (2, 4), (8, 9)]) == ((0, 6), (8, 9))


def test_all_other_positions_of_one_stretch_are_taken_where_they_are_no_more_than_the_draws() -> None:
    text = "a b c d e"
    places = random_places(((2, 5),), word_places(text), 20, 0, text)  # "b c": words 1 and 2
    assert [text[start:end] for ((start, end),) in places] == ["a b", "c d", "d e"]


def test_evidence_that_leaves_no_other_room_has_no_random_stretch() -> None:
    assert random_places(((0, 5),), word_places("a b c"), 20, 0, "") == []
    assert random_places(((1, 2),), word_places("a ! b"), 20, 0, "") == []  # a space is no word


@given(
    n=st.integers(4, 14),
    lengths=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    seed=st.integers(0, 50),
)
def test_random_stretches_are_as_long_apart_and_elsewhere(n: int, lengths: list[int], seed: int) -> None:
    text = " ".join("w" * (1 + at % 3) for at in range(n))
    words = word_places(text)
    if sum(lengths) + len(lengths) > n:
        return
    places, at = [], 0
    for length in lengths:
        places.append((words[at][0], words[at + length - 1][1]))
        at += length + 1
    found = random_places(tuple(places), words, 10, seed, text)
    assert len(found) <= 10
    for one in found:
        assert touched(one, words) != touched(tuple(places), words)
        assert len(touched(one, words)) == sum(lengths)
        assert united(one) == one
    assert found == random_places(tuple(places), words, 10, seed, text)


def test_arrangements_of_two_single_words_are_equally_likely() -> None:
    text = "a b c d e"
    words = word_places(text)
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for seed in range(400):
        for one in random_places((words[0], words[4]), words, 5, seed, text):
            counts[touched(one, words)] += 1  # type: ignore[index]
    assert counts.pop((0, 4)) == 0  # the evidence itself
    assert sum(counts.values()) == 2000
    # 9 arrangements: 222 each, a standard deviation of 14.
    assert all(abs(count - 2000 / 9) < 5 * 14 for count in counts.values())


def test_an_area_takes_the_words_of_the_strongest_evidence_first() -> None:
    order = ranked_words([(0, 2, 0.1), (4, 6, 0.9)], 8, "x")
    assert order[:4] == [4, 5, 0, 1]
    assert sorted(order) == list(range(8))
    assert [len(first_words(order, share)) for share in SHARES] == [1, 1, 1, 2, 4]
    assert first_words(order, 0.5) == [0, 1, 4, 5]
    words = word_places("a b c d e f g h")
    assert runs_of_words([0, 1, 4, 5], words) == ((0, 3), (8, 11))
    assert first_words([], 0.5) == []


def test_an_area_is_the_mean_drop_over_the_shares() -> None:
    assert area(0.9, [0.9, 0.8, 0.7, 0.5, 0.1]) == pytest.approx((0 + 0.1 + 0.2 + 0.4 + 0.8) / 5)
