"""Gamma: the best alignment against all alignments, the package pygamma-agreement as oracle, and what always holds."""

from collections.abc import Sequence
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.gamma import BLOCK, _disorder, _moved, _offsets, _run, _strata, _Sums, _sums, gamma
from emotui.metrics.gamma_alignment import (
    Alignment,
    Dissimilarity,
    Units,
    _best_division,
    _halves,
    _undivided,
    aligned_in_turn,
    best_alignment,
    positional,
)
from emotui.metrics.set_packing import packed, search, solve
from emotui.metrics.unitizing import MarkedText
from emotui.records import Mark

HOW = Dissimilarity(3, 1)


def as_units(spans: Sequence[tuple[int, int, int]]) -> Units:
    table = np.array(spans, dtype=float).reshape(len(spans), 3)
    return Units(table[:, 0], table[:, 0] + table[:, 1], table[:, 2].astype(np.int64))


def least_disorder(annotators: Sequence[Units]) -> float:
    """Over all ways to divide the units."""
    n = len(annotators)
    pairs = n * (n - 1) / 2
    apart = {(a, b): HOW.between(annotators[a], annotators[b]) for a, b in combinations(range(n), 2)}

    def disorder(group: list[tuple[int, int]]) -> float:
        real = sum(apart[a, b][i, j] for (a, i), (b, j) in combinations(sorted(group), 2))
        return float((real + pairs - len(group) * (len(group) - 1) / 2) / pairs)

    def least(rest: list[tuple[int, int]]) -> float:
        if not rest:
            return 0.0
        first, *others = rest
        by_annotator = [
            [None, *(unit for unit in others if unit[0] == annotator)]
            for annotator in range(n)
            if annotator != first[0]
        ]
        groups = ([first, *(unit for unit in chosen if unit)] for chosen in product(*by_annotator))
        return min(disorder(group) + least([unit for unit in others if unit not in group]) for group in groups)

    return least([(a, i) for a in range(n) for i in range(len(annotators[a]))])


unit_lists = st.lists(st.tuples(st.integers(0, 25), st.integers(1, 9), st.integers(0, 1)), max_size=3)


@given(st.lists(unit_lists, min_size=2, max_size=6))
def test_units_aligned_in_turn_are_each_in_one_alignment_and_two_annotators_at_best(
    spans: list[list[tuple[int, int, int]]],
) -> None:
    annotators = [as_units(sorted(set(some))) for some in spans]
    groups = aligned_in_turn(annotators, HOW)
    there = sorted((at, unit) for group in groups for at, unit in enumerate(group) if unit >= 0)
    assert there == [(at, unit) for at, units in enumerate(annotators) for unit in range(len(units))]
    two = aligned_in_turn(annotators[:2], HOW)
    assert sorted(two) == sorted(best_alignment(annotators[:2], HOW).groups)


def test_thirty_annotators_are_aligned_in_turn_by_what_is_alike() -> None:
    one = as_units([(0, 4, 0), (20, 6, 1)])
    other = as_units([(21, 6, 1)])
    groups = aligned_in_turn([one] * 29 + [other], Dissimilarity())
    assert sorted(groups) == [(0,) * 29 + (-1,), (1,) * 29 + (0,)]


@given(st.lists(unit_lists, min_size=2, max_size=3))
@settings(max_examples=60, deadline=None)
def test_the_best_alignment_has_the_least_disorder_of_all(spans: list[list[tuple[int, int, int]]]) -> None:
    annotators = [as_units(one) for one in spans]
    found = best_alignment(annotators, HOW)
    assert found.disorder == pytest.approx(least_disorder(annotators))
    units = sorted((a, i) for group in found.groups for a, i in enumerate(group) if i >= 0)
    assert units == [(a, i) for a in range(len(annotators)) for i in range(len(annotators[a]))]


def test_two_units_that_nothing_aligns_cost_no_more_than_being_alone() -> None:
    # The first two stand in one place with other labels: 1. Crossed, each two are 13 apart: 1.69 twice. The second two
    # are 26 apart, which is worse than alone, and no reason against aligning the first.
    a, b = as_units([(20, 10, 0), (7, 10, 1)]), as_units([(20, 10, 1), (33, 10, 0)])
    found = best_alignment([a, b], Dissimilarity(1, 1))
    assert sorted(found.groups) == [(-1, 1), (0, 0), (1, -1)]
    assert found.disorder == pytest.approx(3)


def test_the_best_alignment_of_four_annotators_has_the_least_disorder_of_all() -> None:
    draw = np.random.default_rng(3)
    for _ in range(10):
        annotators = [
            as_units([(int(draw.integers(20)), int(draw.integers(1, 9)), int(draw.integers(2))) for _ in range(2)])
            for _ in range(4)
        ]
        assert best_alignment(annotators, HOW).disorder == pytest.approx(least_disorder(annotators))


def test_searching_and_integer_programming_find_packings_of_the_same_gain() -> None:
    draw = np.random.default_rng(8)
    for _ in range(10):
        members = [sorted(draw.choice(10, size=int(draw.integers(2, 4)), replace=False).tolist()) for _ in range(25)]
        gains = (-draw.random(25)).tolist()
        part = range(25)
        by_search, by_program = search(part, members, gains), solve(part, members, gains)
        assert sum(gains[at] for at in by_search) == pytest.approx(sum(gains[at] for at in by_program))
        taken = [unit for at in by_search for unit in members[at]]
        assert len(taken) == len(set(taken))


def test_a_candidate_that_is_not_worth_taking_is_left_whether_it_stands_alone_or_not() -> None:
    assert packed([[0, 1], [2, 3]], [1.0, -1.0]) == [1]
    assert packed([[0, 1], [1, 2], [3]], [1.0, -1.0, 0.5]) == [1]


def test_the_positional_dissimilarity_is_0_for_equal_units_and_1_for_units_that_touch() -> None:
    a = as_units([(0, 10, 0)])
    assert positional(a, a)[0, 0] == 0
    assert positional(a, as_units([(10, 10, 0)]))[0, 0] == 1  # (10 + 10) / (10 + 10), squared
    assert positional(a, as_units([(0, 5, 0)]))[0, 0] == pytest.approx((5 / 15) ** 2)


def text(said: dict[str, list[tuple[int, int, str]]], length: int = 100) -> MarkedText:
    return MarkedText(length, {name: [Mark(*span) for span in spans] for name, spans in said.items()})


SOME = [(5, 12, "joy"), (30, 41, "fear"), (60, 72, "joy")]


@pytest.mark.parametrize("annotators", [2, 3])
def test_annotators_who_mark_the_same_have_a_gamma_of_1(annotators: int) -> None:
    names = [f"r{at}" for at in range(annotators)]
    found = gamma([text(dict.fromkeys(names, SOME))], names)
    assert found.gamma.value == found.cat.value == 1
    assert found.observed == 0
    assert found.by_text == [0]


def test_the_order_of_annotators_does_not_change_the_observed_disorder() -> None:
    said = {"a": SOME, "b": [(6, 13, "joy"), (60, 70, "fear")], "c": [(29, 40, "fear")]}
    observed = {gamma([text(said)], order, precision=0.2).observed for order in permutations(said)}
    assert max(o or 0 for o in observed) - min(o or 0 for o in observed) < 1e-12


def test_disorder_of_two_annotators_worked_by_hand() -> None:
    # One pair of equal place and unlike label (1), and one unit alone (1), over 1.5 units an annotator.
    found = gamma([text({"a": [(0, 10, "joy"), (50, 60, "joy")], "b": [(0, 10, "fear")]})], ["a", "b"], precision=0.2)
    assert found.observed == pytest.approx(2 / 1.5)


def test_the_same_seed_gives_the_same_gamma_and_as_many_samples_as_the_precision_asks_for() -> None:
    said = [text({"a": SOME, "b": [(6, 13, "joy"), (60, 70, "fear")]})]
    first, again = gamma(said, ["a", "b"], seed=3), gamma(said, ["a", "b"], seed=3)
    assert first == again
    assert first.samples > 30
    assert first.precision is not None
    assert first.precision <= 0.0201
    assert gamma(said, ["a", "b"], seed=3, precision=0.5).samples == 30


def test_gamma_counts_texts_that_all_looked_at_and_says_why_it_is_undefined() -> None:
    alone = text({"a": SOME})
    none = gamma([alone], ["a", "b"])
    assert none.gamma.why == "no text was marked by all annotators"
    assert (none.by_text, none.cat_by_text) == ([None], [None])
    assert gamma([alone], ["a"]).gamma.why == "needs two annotators"
    empty = text({"a": [], "b": []})
    assert gamma([empty], ["a", "b"]).gamma.why == "nobody marked anything"
    found = gamma([alone, empty, text({"a": SOME, "b": SOME})], ["a", "b"], precision=0.2)
    assert found.by_text == [None, 0, 0]
    assert found.gamma.n == 2


def test_the_interval_comes_from_drawing_texts() -> None:
    texts = [text({"a": SOME, "b": [(5 + i % 9, 12 + i % 9, "joy"), (30, 41, "fear")]}) for i in range(12)]
    found = gamma(texts, ["a", "b"], resamples=100, precision=0.1).gamma
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_gamma_of_a_label_is_over_the_pairs_that_have_it_worked_by_hand() -> None:
    # At the first place both say joy, at the second joy meets fear, at the third both say fear; all places are equal.
    places = [(0, 10), (30, 40), (60, 70)]
    labels = {"a": ["joy", "joy", "fear"], "b": ["joy", "fear", "fear"]}
    one = text({name: [(*at, label) for at, label in zip(places, own, strict=True)] for name, own in labels.items()})
    same = text({"a": [(0, 10, "awe")], "b": [(0, 10, "awe")]})
    found = gamma([one, same], ["a", "b"], precision=0.2)
    assert found.cat_by_text == [pytest.approx(1 / 3), 0.0]
    assert found.by_label_text == {
        "awe": [None, 0.0],
        "fear": [pytest.approx(1 / 2), None],
        "joy": [pytest.approx(1 / 2), None],
    }
    assert (found.by_label["awe"].value, found.by_label["awe"].n) == (1, 1)
    values = [found.by_label[label].value or 0 for label in ("joy", "fear")]
    assert all(value < (found.cat.value or 0) for value in values)


@pytest.mark.slow
def test_gamma_agrees_with_pygamma_agreement() -> None:
    pygamma = pytest.importorskip("pygamma_agreement")
    core = pytest.importorskip("pyannote.core")
    draw = np.random.default_rng(5)
    np.random.seed(0)
    for n, k, length in ((2, 8, 200), (3, 6, 120), (4, 4, 100)):
        base = [
            (int(draw.integers(0, length - 20)), int(draw.integers(5, 15)), "ab"[draw.integers(2)]) for _ in range(k)
        ]
        continuum = pygamma.Continuum()
        said: dict[str, list[tuple[int, int, str]]] = {}
        for name in (f"r{at}" for at in range(n)):
            continuum.add_annotator(name)
            said[name] = []
            for start, size, label in base:
                if draw.random() < 0.85:
                    start, end = max(0, start + int(draw.integers(-3, 4))), start + size
                    said[name].append((start, end, label))
                    continuum.add(name, core.Segment(float(start), float(end)), label)
        continuum.bound_inf, continuum.bound_sup = 0.0, float(length)
        theirs = continuum.compute_gamma(
            pygamma.CombinedCategoricalDissimilarity(), precision_level=0.02, sampler=pygamma.ShuffleContinuumSampler()
        )
        ours = gamma([text(said, length)], list(said))
        assert ours.observed == pytest.approx(theirs.observed_disorder, rel=1e-5)
        assert ours.expected == pytest.approx(theirs.expected_disorder, rel=0.05)


@pytest.mark.slow
def test_disorder_of_labels_is_that_of_pygamma_agreement_where_every_unit_is_aligned() -> None:
    pygamma = pytest.importorskip("pygamma_agreement")
    core = pytest.importorskip("pyannote.core")
    said = {
        "r0": [(0, 10, "a"), (30, 42, "b"), (60, 70, "a")],
        "r1": [(1, 10, "a"), (31, 40, "a"), (60, 72, "b")],
        "r2": [(0, 12, "b"), (30, 40, "b"), (61, 70, "a")],
    }
    continuum = pygamma.Continuum()
    for name, spans in said.items():
        for start, end, label in spans:
            continuum.add(name, core.Segment(float(start), float(end)), label)
    how = pygamma.CombinedCategoricalDissimilarity()
    best = continuum.get_best_alignment(how)
    ours = gamma([text(said)], list(said), precision=0.2)
    assert ours.cat_by_text == [pytest.approx(best.gamma_k_disorder(how, None), rel=1e-5)]
    for label in "ab":
        assert ours.by_label_text[label] == [pytest.approx(best.gamma_k_disorder(how, label), rel=1e-5)]


def test_a_packing_takes_what_stands_alone_searches_few_units_and_programs_many() -> None:
    # A pair against its two halves (-2 - 2 is less than -3), a candidate of its own, and a chain of 18 units that nine
    # pairs cover in one way only.
    chain = [(10 + unit, 11 + unit) for unit in range(17)]
    members = [(0,), (0, 1), (1,), (5,), *chain]
    assert packed(members, [-2.0, -3.0, -2.0, -1.0, *[-1.0] * 17]) == [0, 2, 3, *range(4, 21, 2)]
    assert packed([(0,), (0, 1), (1,)], [-1.0, -3.0, -1.0]) == packed([(0, 1), (1, 2)], [-1.0, -2.0]) == [1]


def test_of_many_candidates_those_are_left_out_that_two_parts_of_them_replace() -> None:
    # (0, 1) with (2,) alone is worth as much as (0, 1, 2); (1, 3) has no better parts.
    assert _undivided({(0, 1): -0.5, (0, 1, 2): -0.5, (1, 3): -0.25}) == ([(0, 1), (1, 3)], [-0.5, -0.25])
    assert _undivided({(0, 1): -0.5, (0, 1, 2): -0.75}) == ([(0, 1), (0, 1, 2)], [-0.5, -0.75])
    halves = [{one, other} for one, other in _halves(3)]
    assert halves == [{(0, 2), (1,)}, {(0, 1), (2,)}, {(0,), (1, 2)}]
    assert len(_halves(4)) == 7


def test_offsets_are_whole_apart_where_there_is_room_and_anywhere_where_there_is_none() -> None:
    draw = np.random.default_rng(1)
    for _ in range(20):
        found = sorted(_offsets(3, 100.0, 10.0, draw))
        assert all(0 <= offset < 100 and offset == int(offset) for offset in found)
        assert all(b - a >= 10 for a, b in pairwise(found))
    crowded = [_offsets(4, 5.0, 10.0, draw)[1:] for _ in range(40)]
    assert {offset for found in crowded for offset in found} == {0.0, 1.0, 2.0, 3.0, 4.0}


def test_units_that_would_begin_behind_the_end_begin_anew() -> None:
    moved = _moved(as_units([(0, 2, 0), (6, 3, 1)]), 4.0, 10.0)
    assert (moved.starts.tolist(), moved.ends.tolist(), moved.labels.tolist()) == ([4.0, 0.0], [6.0, 3.0], [0, 1])


def test_a_run_is_consecutive_texts_around_the_end_with_enough_units_in_all() -> None:
    few = np.array([3, BLOCK - 3])
    assert _run(few, np.random.default_rng(0)) == [0, 1]
    half = np.array([BLOCK // 2] * 4)
    runs = {tuple(_run(half, np.random.default_rng(seed))) for seed in range(30)}
    assert runs == {(0, 1), (1, 2), (2, 3), (3, 0)}


def test_who_makes_a_random_annotation_is_counted_and_many_are_drawn_freely() -> None:
    assert [(one.makers, one.weight) for one in _strata(2)] == [((0, 0), 0.25), ((0, 1), 0.5), ((1, 1), 0.25)]
    assert sum(one.weight for one in _strata(3)) == pytest.approx(1)
    (free,) = _strata(50)
    assert (free.makers, free.weight) == ((), 1.0)


def test_a_unit_of_three_counts_each_of_its_pairs_half_and_one_text_has_no_interval() -> None:
    units = [as_units([(0, 4, label)]) for label in (0, 0, 1)]
    sums = _sums(units, best_alignment(units, HOW), HOW, 2)
    assert (sums.units, sums.weight.tolist(), sums.unlike.tolist()) == (3, [1.5, 1.5, 1.0], [1.0, 1.0, 1.0])
    assert _disorder(_Sums(3.0, 6, sums.unlike, sums.weight), 2) == 1.0
    text = MarkedText(30, {"a": [Mark(0, 4, "joy")], "b": [Mark(2, 9, "fear")]})
    alone = gamma([text], ["a", "b"], resamples=20).gamma
    whole = gamma([text], ["a", "b"])
    assert whole.observed is not None
    assert whole.expected is not None
    assert whole.gamma.value == pytest.approx(1 - whole.observed / whole.expected)
    assert (alone.low, alone.why) == (None, "no interval: it is over one sample alone")
    assert whole.gamma.why is None


def test_of_equally_good_divisions_the_one_that_aligns_least_is_taken_and_an_empty_place_is_minus_one() -> None:
    # Of three annotators two units alone cost 2 * 3, aligned 2 and what they are apart.
    assert _best_division([0, 1], [{1: 4.0}, {0: 4.0}], 3) == ([[0], [1]], 2.0)
    assert _best_division([0, 1], [{1: 1.0}, {0: 1.0}], 3) == ([[0, 1]], 1.0)
    unit, nothing = as_units([(0, 3, 0)]), as_units([])
    assert best_alignment([unit, nothing], HOW) == Alignment([(0, -1)], 1.0)
    assert best_alignment([nothing, unit], HOW) == Alignment([(-1, 0)], 1.0)
    assert best_alignment([unit, as_units([(50, 3, 0)])], HOW) == Alignment([(0, -1), (-1, 0)], 2.0)


def test_chance_asks_no_random_annotation_of_those_who_mark_nothing() -> None:
    text = MarkedText(length=17, spans={"gold": [Mark(0, 6)], "model": []})
    found = gamma([text], ["gold", "model"])
    # Their one unit is aligned with nothing; by chance two of them are at times.
    assert found.gamma.value is not None
    assert -1 < found.gamma.value < 0
