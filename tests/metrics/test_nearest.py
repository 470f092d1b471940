"""The passage nearest to a string that is not in the text: against all stretches, and what it costs."""

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.nearest import Nearest, nearest
from emotui.metrics.spans import token_f1
from emotui.metrics.tokens import tokens

WORDS = ["so", "tired", "the", "of", "alone", "I", "felt", "...", "Alone,", "—"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def best_of_all(text: str, string: str) -> tuple[float, int, int] | None:
    """Every stretch of whole words tried: highest F1, then fewest words, then leftmost."""
    words = [word.span() for word in re.finditer(r"\S+", text)]
    tried = [
        (-token_f1(text[words[i][0] : words[j][1]], string), j - i, i)
        for i in range(len(words))
        for j in range(i, len(words))
    ]
    if not tried or not tokens(string) or min(tried)[0] == 0:
        return None
    worse, more, first = min(tried)
    return -worse, words[first][0], words[first + more][1]


@given(TEXTS, TEXTS)
def test_it_is_the_best_of_all_stretches(text: str, string: str) -> None:
    (found,) = nearest(text, [string])
    expected = best_of_all(text, string)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert (found.f1, found.start, found.end) == expected


def test_a_span_with_one_word_changed_is_found_at_its_place() -> None:
    text = "The bus was late. I kept thinking that nobody had noticed I was gone, and I walked on."
    (found,) = nearest(text, ["thinking that no one had noticed I was gone"])
    assert found is not None
    assert text[found.start : found.end] == "thinking that nobody had noticed I was gone,"
    assert found.f1 == 2 * 7 / (8 + 9)


def test_each_string_has_its_own_answer_and_none_where_no_word_is_shared() -> None:
    text = "It rained all day and we laughed."
    found = nearest(text, ["laughed loudly", "despair", "", "the"])
    assert [one and text[one.start : one.end] for one in found] == ["laughed.", None, None, None]


def test_a_word_of_more_tokens_than_the_string_is_a_stretch_of_its_own() -> None:
    # SQuAD cuts the article out from between the two signs: the word has the tokens x€ and €y.
    assert nearest("x€a€y", ["€y"]) == [Nearest(0, 5, 2 / 3)]


def test_the_first_50_000_words_are_looked_at() -> None:
    (last,), (beyond,) = nearest("x " * 49_999 + "joy", ["joy"]), nearest("x " * 50_000 + "joy", ["joy"])
    assert (last, beyond) == (Nearest(99_998, 100_001, 1.0), None)


def test_a_very_long_text_and_a_very_long_string_take_a_bounded_time() -> None:
    text = "I was there and I was glad of it, and so it was that I went on. " * 16_000
    assert len(text) > 1_000_000
    began = time.process_time()
    (found,) = nearest(text, ["I was so glad that I wept"])
    (whole,) = nearest(text[:100_000], [text[:50_000].replace("glad", "sad")])
    assert time.process_time() - began < 8
    assert found is not None
    assert whole is not None
    assert found.f1 == 2 / 3
    assert whole.f1 > 0.9
