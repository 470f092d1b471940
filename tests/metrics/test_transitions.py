"""Transitions between adjacent sentences (SEER, appendix C)."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.transitions import TransitionCounts, ordered, row_shares

LABELS = st.sampled_from(["neutral", "happy", "sad", "wistful", None])


def test_every_adjacent_pair_is_counted_once_and_none_across_passages() -> None:
    counts = TransitionCounts()
    counts.add(7, ["neutral", "neutral", "happy", "neutral", "neutral"])
    counts.add(9, ["happy", "neutral"])
    assert counts.labels == ("neutral", "happy")
    assert counts.matrix() == [[2, 1], [2, 0]]
    assert counts.seen["happy", "neutral"] == (2, [7, 9])
    assert row_shares(counts.matrix()) == [[2 / 3, 1 / 3], [1.0, 0.0]]


def test_a_sentence_without_a_label_ends_no_pair() -> None:
    counts = TransitionCounts()
    counts.add(1, ["happy", None, "happy"])
    assert (counts.labels, counts.pairs, counts.unlabelled) == ((), 0, 2)


@given(st.lists(st.lists(LABELS, max_size=6), max_size=6))
def test_counts_are_those_of_all_pairs_listed_one_by_one(passages: list[list[str | None]]) -> None:
    counts = TransitionCounts()
    for number, labels in enumerate(passages):
        counts.add(number, labels)
    listed = [(number, p[i], p[i + 1]) for number, p in enumerate(passages) for i in range(len(p) - 1)]
    known = [(number, a, b) for number, a, b in listed if a is not None and b is not None]
    expected = Counter((a, b) for _, a, b in known)
    matrix = counts.matrix()
    for i, one in enumerate(counts.labels):
        for j, other in enumerate(counts.labels):
            assert matrix[i][j] == expected[one, other]
            held = counts.seen.get((one, other), (0, []))[1]
            assert held == sorted({number for number, a, b in known if (a, b) == (one, other)})
    assert counts.pairs == len(known)
    assert counts.unlabelled == len(listed) - len(known)


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), max_size=3))
def test_a_row_of_shares_sums_to_one_or_is_undefined(rows: list[list[int]]) -> None:
    for row, shares in zip(rows, row_shares(rows), strict=True):
        known = [share for share in shares if share is not None]
        assert known == [] if sum(row) == 0 else abs(sum(known) - 1) < 1e-12


def test_known_labels_stand_in_the_papers_order_and_others_after_them() -> None:
    assert ordered({"zest", "sad", "neutral", "awe", "happy"}) == ("neutral", "happy", "sad", "awe", "zest")
