"""Token F1, alignment and the score of a sample (SEER, section 6)."""

import random
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from emotui.metrics.assignment import assign
from emotui.metrics.spans import Pair, align, sim_score, span_score, token_f1
from emotui.metrics.tokens import tokens

SPAN = st.lists(st.sampled_from(["so", "sad", "happy", "I", "the", "am", "!", "day"]), max_size=5).map(" ".join)
SPANS = st.lists(SPAN, max_size=4)


def exact_f1(gold: str, predicted: str) -> Fraction:
    g, p = tokens(gold), tokens(predicted)
    if not g or not p:
        return Fraction(int(g == p))
    left, shared = list(p), 0
    for token in g:
        if token in left:
            left.remove(token)
            shared += 1
    return Fraction(2 * shared, len(g) + len(p))


def all_matchings(rows: int, columns: int) -> list[list[tuple[int, int]]]:
    if rows <= columns:
        return [list(enumerate(chosen)) for chosen in permutations(range(columns), rows)]
    return [[(row, column) for column, row in enumerate(chosen)] for chosen in permutations(range(rows), columns)]


def test_token_f1_counts_shared_words_as_multisets() -> None:
    # gold: so so happy today (4 tokens); predicted: so happy happy (3); shared: so, happy.
    assert token_f1("so so happy today", "So happy, happy!") == 4 / 7


def test_token_f1_of_two_spans_without_words_is_1_and_of_one_without_is_0() -> None:
    assert token_f1("the", "...") == 1.0
    assert token_f1("", "") == 1.0
    assert token_f1("the", "sad") == 0.0
    assert token_f1("sad", "!") == 0.0


def test_token_f1_ignores_articles_on_either_side() -> None:
    assert token_f1("a beautiful dream", "beautiful dream") == 1.0


@settings(deadline=None)
@given(SPAN, SPAN)
def test_token_f1_is_symmetric_bounded_and_1_for_the_same(one: str, other: str) -> None:
    assert token_f1(one, other) == token_f1(other, one) == float(exact_f1(one, other))
    assert 0.0 <= token_f1(one, other) <= 1.0
    assert token_f1(one, one) == 1.0


def test_the_alignment_of_the_paper_leaves_the_third_prediction_alone() -> None:
    pairs = align(["so very happy", "sad"], ["a day", "sad", "very happy"])
    assert pairs == (Pair(0, 2, 0.8, None), Pair(1, 1, 1.0, None))


def test_the_greatest_total_wins_over_the_greatest_pair() -> None:
    # Greedy would take x y - x y (1.0) and then 0; crossed it is 2/3 + 2/3.
    pairs = align(["x y", "x"], ["x y", "y"])
    assert [(pair.gold, pair.predicted) for pair in pairs] == [(0, 1), (1, 0)]
    assert span_score(["x y", "x"], ["x y", "y"]) == pytest.approx(2 / 3)


def test_an_unmatched_prediction_lowers_the_score_as_much_as_a_missed_gold_span() -> None:
    assert span_score(["sad"], ["sad", "day"]) == span_score(["sad", "day"], ["sad"]) == 0.5


def test_both_sides_empty_scores_1_and_one_side_empty_0() -> None:
    assert span_score([], []) == 1.0
    assert span_score(["sad"], []) == span_score([], ["sad"]) == 0.0
    assert align([], ["sad"]) == ()
    assert sim_score((), 0, 0) == 1.0
    assert sim_score((), 2, 0) == sim_score((), 0, 2) == 0.0
    assert sim_score(align(["sad"], ["so sad"]), 1, 1) is None  # pairs without cosines


def test_among_equal_f1_totals_the_cosines_decide() -> None:
    gold, predicted = ["sad", "sad"], ["sad", "sad"]
    assert [p.predicted for p in align(gold, predicted, [[0.1, 0.2], [0.2, 0.1]])] == [1, 0]
    assert [p.predicted for p in align(gold, predicted, [[0.2, 0.1], [0.1, 0.2]])] == [0, 1]


def test_spans_that_share_no_word_are_paired_by_cosine() -> None:
    pairs = align(["glad", "blue"], ["sad", "happy"], [[0.3, 0.9], [0.8, 0.2]])
    assert pairs == (Pair(0, 1, 0.0, 0.9), Pair(1, 0, 0.0, 0.8))
    assert sim_score(pairs, 2, 2) == pytest.approx(0.85)
    assert sim_score(pairs, 2, 4) == sim_score(pairs, 4, 2) == pytest.approx(1.7 / 4)


def test_a_cosine_never_outweighs_f1_however_small_the_difference() -> None:
    # 200/299 against 200/300: one token of a hundred more or less, and the worst cosine on the better side.
    common = " ".join(f"w{i}" for i in range(100))
    near, far = (
        f"{common} " + " ".join(f"n{i}" for i in range(99)),
        f"{common} " + " ".join(f"f{i}" for i in range(100)),
    )
    assert align([common], [far, near], [[1.0, -1.0]])[0].predicted == 1


def test_cosines_that_differ_in_the_last_bit_still_decide() -> None:
    low = 0.5
    high = float(np.nextafter(low, 1))
    assert align(["sad"], ["sad", "sad"], [[low, high]])[0].predicted == 1
    assert align(["sad"], ["sad", "sad"], [[high, low]])[0].predicted == 0


def test_totals_that_floating_point_tells_apart_are_seen_as_equal() -> None:
    # Straight 0 + 3/5, crossed 2/5 + 1/5: equal, though 0.4 + 0.2 > 0.6 in floating point. So the cosines decide.
    gold = ["u v k l", "w m n o"]
    predicted = ["w r1 r2 r3 r4 r5", "u v m n o s1"]
    assert 0.4 + 0.2 > 0.6
    assert [p.predicted for p in align(gold, predicted, [[0.9, 0.0], [0.0, 0.9]])] == [0, 1]
    assert [p.predicted for p in align(gold, predicted, [[0.0, 0.9], [0.9, 0.0]])] == [1, 0]


def test_a_cosine_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        align(["sad"], ["day"], [[float("nan")]])


@settings(deadline=None)
@given(SPANS, SPANS)
def test_alignment_is_the_best_of_all_matchings(gold: list[str], predicted: list[str]) -> None:
    pairs = align(gold, predicted)
    assert len(pairs) == min(len(gold), len(predicted))
    assert len({p.gold for p in pairs}) == len({p.predicted for p in pairs}) == len(pairs)
    assert all(p.f1 == float(exact_f1(gold[p.gold], predicted[p.predicted])) for p in pairs)
    total = sum((exact_f1(gold[p.gold], predicted[p.predicted]) for p in pairs), Fraction(0))
    if gold and predicted:
        best = max(
            sum((exact_f1(gold[i], predicted[j]) for i, j in m), Fraction(0))
            for m in all_matchings(len(gold), len(predicted))
        )
        assert total == best
        assert span_score(gold, predicted) == float(best / max(len(gold), len(predicted)))


@settings(deadline=None)
@given(SPANS, SPANS, st.randoms(use_true_random=False))
def test_among_the_best_alignment_has_the_greatest_cosine(
    gold: list[str], predicted: list[str], rng: random.Random
) -> None:
    # Multiples of 1/64: sums in Fraction and in float are the same, so that brute force can compare with ==.
    cosines = [[rng.randint(-64, 64) / 64 for _ in predicted] for _ in gold]

    def rank(matching: list[tuple[int, int]]) -> tuple[Fraction, float]:
        f1 = sum((exact_f1(gold[i], predicted[j]) for i, j in matching), Fraction(0))
        return f1, sum(cosines[i][j] for i, j in matching)

    pairs = align(gold, predicted, cosines)
    if gold and predicted:
        assert rank([(p.gold, p.predicted) for p in pairs]) == max(map(rank, all_matchings(len(gold), len(predicted))))
        assert all(p.sim == cosines[p.gold][p.predicted] for p in pairs)


@settings(deadline=None)
@given(SPANS, SPANS, st.randoms(use_true_random=False))
def test_the_order_of_spans_does_not_change_the_score(
    gold: list[str], predicted: list[str], rng: random.Random
) -> None:
    turned_gold, turned = rng.sample(gold, len(gold)), rng.sample(predicted, len(predicted))
    assert span_score(turned_gold, turned) == span_score(gold, predicted) == span_score(predicted, gold)
    assert 0.0 <= span_score(gold, predicted) <= 1.0
    assert span_score(gold, gold) == 1.0


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 10**30), st.randoms(use_true_random=False))
def test_assignment_of_larger_sizes_agrees_with_scipy(rows: int, columns: int, scale: int, rng: random.Random) -> None:
    # Small whole numbers are exact in scipy's floats; times any factor the best matchings stay the same.
    weights = [[rng.randint(-9, 9) for _ in range(columns)] for _ in range(rows)]
    chosen = assign([[weight * scale for weight in row] for row in weights])
    ours = sum(weights[i][j] for i, j in chosen)
    i, j = linear_sum_assignment(np.array(weights), maximize=True)
    assert ours == np.array(weights)[i, j].sum()
    assert [row for row, _ in chosen] == sorted({row for row, _ in chosen})
    assert len(chosen) == len({column for _, column in chosen}) == min(rows, columns)


def test_assignment_decides_in_the_last_digit_of_numbers_beyond_floating_point() -> None:
    big = 10**40
    weights = [[big if i == j else big + (i == (j + 1) % 7) for j in range(7)] for i in range(7)]
    assert assign(weights) == [(i, (i - 1) % 7) for i in range(7)]


def test_the_price_of_a_column_that_costs_nothing_to_reach_is_exact() -> None:
    # The first row needs its fourth column and the last its second (1 each); 0 is left for the others, in one way.
    weights = [[-1, -1, -1, 1, 0], [0, 0, -1, 0, -1], [0, -1, -1, 0, 0], [0, 1, -1, -1, 0]]
    assert assign(weights) == [(0, 3), (1, 0), (2, 4), (3, 1)]


def test_assignment_of_nothing_is_nothing() -> None:
    assert assign([]) == assign([[]]) == []
