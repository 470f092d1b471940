"""Which words move which answers: against a loop, and by what must hold of any drops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from emotui.metrics.word_effects import word_effects


def brute(words: list[str], texts: list[int], drops: np.ndarray, groups: dict[int, object], word: str) -> np.ndarray:
    """(g, k): by group of texts the drop without a word, less the mean drop without the text's other words."""
    own: dict[object, list[np.ndarray]] = {}
    for at, (one, text) in enumerate(zip(words, texts, strict=True)):
        others = [drops[i] for i in range(len(words)) if texts[i] == text and i != at]
        if one == word and others:
            own.setdefault(groups.get(text, text), []).append(drops[at] - np.mean(others, axis=0))
    return np.array([np.mean(rows, axis=0) for rows in own.values()])


def _drawn(seed: int, texts: int = 12) -> tuple[list[str], list[int], np.ndarray]:
    draw = np.random.default_rng(seed)
    words, at = [], []
    for text in range(texts):
        for word in sorted(set(draw.choice(list("abcdef"), 4).tolist())):
            words.append(word)
            at.append(text)
    return words, at, draw.normal(size=(len(words), 3))


def test_effects_are_those_of_a_loop_and_tests_those_of_scipy() -> None:
    words, texts, drops = _drawn(1)
    shared = [None, "p", "p", None]
    groups: dict[int, object] = {1: "p", 2: "p"}
    found = word_effects(words, texts, drops, ("joy", "fear", "calm"), shared, least=3)
    assert found == sorted(found, key=lambda one: (-abs(one.above), one.word, one.label))
    assert {one.word for one in found} == {w for w in words if len(brute(words, texts, drops, groups, w)) >= 3}
    for one in found:
        rows = brute(words, texts, drops, groups, one.word)[:, ("joy", "fear", "calm").index(one.label)]
        test = ttest_1samp(rows, 0)
        assert one.n == len(rows)
        assert one.above == pytest.approx(rows.mean())
        assert (one.low, one.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
        assert one.q >= test.pvalue - 1e-12


def test_a_word_that_alone_moves_an_answer_is_found_and_the_others_are_not() -> None:
    words = ["weep", "house", "went"] * 8
    texts = [at for at in range(8) for _ in range(3)]
    drops = np.zeros((24, 2))
    drops[::3] = [0.7, -0.7]
    found = word_effects(words, texts, drops, ("sadness", "neutral"))
    top = found[0]
    assert (top.word, top.label, top.n, top.q) == ("weep", "neutral", 8, 0.0)
    assert (top.drop, top.above, top.low, top.high) == pytest.approx((-0.7, -0.7, -0.7, -0.7))
    house = next(one for one in found if (one.word, one.label) == ("house", "sadness"))
    assert house.drop == 0
    assert house.above == pytest.approx(-0.35)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.floats(-5, 5))
def test_what_all_words_of_a_text_do_alike_is_no_effect_of_any(seed: int, offset: float) -> None:
    words, texts, drops = _drawn(seed)
    per_text = np.random.default_rng(seed).normal(size=(max(texts) + 1, 1)) + offset
    plain = word_effects(words, texts, drops, tuple("xyz"), least=2)
    moved = word_effects(words, texts, drops + per_text[texts], tuple("xyz"), least=2)
    assert {(a.word, a.label): pytest.approx(a.above, abs=1e-9) for a in plain} == {
        (b.word, b.label): b.above for b in moved
    }


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_rows_decides_nothing(seed: int) -> None:
    words, texts, drops = _drawn(seed)
    order = np.random.default_rng(seed).permutation(len(words)).tolist()
    first = word_effects(words, texts, drops, tuple("xyz"), least=2)
    again = word_effects([words[i] for i in order], [texts[i] for i in order], drops[order], tuple("xyz"), least=2)
    assert {(a.word, a.label): pytest.approx(a.above, abs=1e-9) for a in first} == {
        (b.word, b.label): b.above for b in again
    }


def test_nothing_taken_away_and_texts_with_one_word_give_nothing() -> None:
    assert word_effects([], [], np.zeros((0, 2)), ("a", "b")) == []
    assert word_effects(["a"] * 6, list(range(6)), np.ones((6, 1)), ("x",)) == []
