"""The alternative annotator test: worked by hand, against the authors' steps, and its bounds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp
from scipy.stats import t as student

from emotui.metrics.alternative_annotator import (
    Compared,
    StandIn,
    _weighted_p,
    accuracy,
    negative_rmse,
    ranked,
    rejected,
    similarity,
    stand_in,
    stand_in_tests,
    standardised,
)
from emotui.metrics.paired import wilcoxon_p


def test_alignment_with_the_others_worked_by_hand() -> None:
    assert accuracy("joy", ["joy", "fear", "joy", "awe"]) == 0.5
    assert negative_rmse(3, [1, 5]) == -2
    assert similarity(lambda a, b: float(a[0] == b[0]))("joy", ["jest", "awe"]) == 0.5


def panel(n: int, right: dict[str, float], seed: int = 0) -> dict[str, dict[int, str]]:
    """Annotators (and a model) who say the true label so often."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 4, n)
    return {
        name: {i: "abcd"[t if draw.random() < share else draw.integers(4)] for i, t in enumerate(truth)}
        for name, share in right.items()
    }


def test_a_model_as_good_as_the_best_wins_and_one_that_guesses_loses() -> None:
    said = panel(100, {"a": 0.7, "b": 0.7, "c": 0.7, "good": 1.0, "guess": 0.0})
    people = {name: said[name] for name in "abc"}
    good = stand_in(people, said["good"], accuracy, epsilon=0.1)
    assert (good.winning_rate, good.passed) == (1.0, True)
    guess = stand_in(people, said["guess"], accuracy, epsilon=0.1)
    assert (guess.winning_rate, guess.passed) == (0.0, False)
    assert (good.advantage or 0) > (guess.advantage or 0)
    assert all(one.test == "t" for one in good.annotators)


def test_one_annotator_left_out_worked_by_hand() -> None:
    people = {"a": dict(enumerate("xxyy")), "b": dict(enumerate("xxxx")), "c": dict(enumerate("xyxx"))}
    model = dict(enumerate("xxxy"))
    found = {one.annotator: one for one in stand_in(people, model, accuracy).annotators}
    # Against b and c, a has 1, 1/2, 0, 0 and the model 1, 1/2, 1, 0.
    assert found["a"].advantage == 1.0
    assert found["a"].human_advantage == 0.75
    # Against a and c, b has 1, 1/2, 1/2, 1/2 and the model 1, 1/2, 1/2, 1/2 (y meets a's y in the last).
    assert (found["b"].advantage, found["b"].human_advantage) == (1.0, 1.0)
    # Against a and b, c has 1, 0, 1/2, 1/2 and the model 1, 1, 1/2, 1/2.
    assert (found["c"].advantage, found["c"].human_advantage) == (1.0, 0.75)
    assert all(one.test == "wilcoxon" and one.lost == [] for one in found.values())


def by_the_notebook(people: dict[str, dict[int, str]], model: dict[int, str], epsilon: float) -> tuple[float, float]:
    """Winning rate and advantage probability, as the authors' published steps have them."""
    p_values, advantages = [], []
    for name, own in people.items():
        of_model, of_person = [], []
        for item, answer in own.items():
            others = [said[item] for other, said in people.items() if other != name]
            m, h = (float(np.mean([x == o for o in others])) for x in (model[item], answer))
            of_model.append(m >= h)
            of_person.append(h >= m)
        differences = np.array(of_person, dtype=int) - np.array(of_model, dtype=int)
        p_values.append(ttest_1samp(differences, epsilon, alternative="less").pvalue)
        advantages.append(np.mean(of_model))
    won = false_discovery_control(p_values, method="by") <= 0.05
    return float(won.mean()), float(np.mean(advantages))


@pytest.mark.parametrize("seed", range(6))
def test_the_test_equals_the_authors_steps(seed: int) -> None:
    said = panel(60, {"a": 0.6, "b": 0.7, "c": 0.8, "d": 0.7, "model": 0.7}, seed)
    model = said.pop("model")
    found = stand_in(said, model, accuracy, epsilon=0.15)
    assert (found.winning_rate, found.advantage) == pytest.approx(by_the_notebook(said, model, 0.15))


def test_alignments_that_are_equal_but_for_rounding_are_a_tie() -> None:
    assert 0.1 + 0.2 > 0.3
    people = {"a": dict.fromkeys(range(8), 0.1 + 0.2), "b": dict.fromkeys(range(8), 0.0)}
    model = dict.fromkeys(range(8), 0.3)
    found = stand_in(people, model, lambda answer, others, weights: answer)
    left = next(one for one in found.annotators if one.annotator == "a")
    assert (left.advantage, left.human_advantage, list(left.lost)) == (1.0, 1.0, [])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(deadline=None)
def test_rejections_are_those_of_scipys_adjusted_p_values(p: list[float]) -> None:
    adjusted = false_discovery_control(p, method="by")
    clear = np.abs(adjusted - 0.05) > 1e-9
    assert (rejected(p) == (adjusted <= 0.05))[clear].all()


def test_numbers_are_compared_by_their_distance() -> None:
    people = {name: {i: float(i % 5 + shift) for i in range(40)} for name, shift in {"a": 0, "b": 1, "c": 2}.items()}
    middle = {i: float(i % 5 + 1) for i in range(40)}
    found = {one.annotator: one for one in stand_in(people, middle, negative_rmse).annotators}
    assert (found["a"].advantage, found["a"].human_advantage) == (1.0, 0.0)
    assert (found["b"].advantage, found["b"].human_advantage) == (1.0, 1.0)
    assert found["a"].p == 0.0  # the model is nearer in every item: there is nothing to doubt


def test_items_of_one_annotator_and_items_without_an_answer_do_not_count() -> None:
    people = {"a": {1: "x", 2: "x", 3: "x"}, "b": {1: "x", 2: "y"}}
    found = stand_in(people, {1: "x", 3: "y"}, accuracy)
    assert found.n == 1
    assert [one.n for one in found.annotators] == [1, 1]
    nothing = stand_in({"a": {1: "x"}}, {1: "x"}, accuracy)
    assert (nothing.winning_rate, nothing.passed) == (None, None)
    assert nothing.why is not None


@given(st.sampled_from([6, 20]), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_rates_are_shares_and_a_tie_counts_for_both(n: int, seed: int) -> None:
    said = panel(n, {"a": 0.5, "b": 0.5, "model": 0.5}, seed)
    model = said.pop("model")
    found = stand_in(said, model, accuracy)
    assert 0 <= (found.winning_rate or 0) <= 1
    for one in found.annotators:
        assert (one.advantage or 0) + (one.human_advantage or 0) >= 1
        assert len(one.lost) == round(one.n * (1 - (one.advantage or 0)))


@given(st.lists(st.sampled_from([-1.2, -0.2, 0.8]), min_size=1, max_size=9))
@settings(deadline=None)
def test_the_signed_rank_test_is_over_all_signs_that_the_ranks_may_have(differences: list[float]) -> None:
    sizes = np.abs(differences)
    ranks = np.array([(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes])
    observed = ranks[np.array(differences) > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product([0, 1], repeat=len(ranks))]
    assert wilcoxon_p(np.array(differences), "less") == pytest.approx(
        np.mean([total <= observed + 1e-9 for total in sums])
    )


def one_test(compared: Compared[str], epsilon: float = 0.1) -> StandIn:
    return stand_in_tests({"": compared}, epsilon=epsilon)[""]


def test_a_model_that_always_says_the_frequent_label_passes_by_ties_and_fails_when_labels_are_balanced() -> None:
    draw = np.random.default_rng(4)
    truth = ["no"] * 90 + ["yes"] * 10
    people = {
        name: {at: label if draw.random() < 0.97 else "no" for at, label in enumerate(truth)}
        for name in ("a", "b", "c")
    }
    model = dict.fromkeys(range(100), "no")
    plain = one_test(Compared(people, model, accuracy, label=str), 0.2)
    assert plain.passed
    assert plain.advice == ["90% of people's answers are the same one: ties make passing easy; balance them (C.1)"]
    balanced = one_test(Compared(people, model, accuracy, label=str, balanced=True), 0.2)
    assert balanced.passed is False
    assert {one.test for one in balanced.annotators} == {"weighted t"}
    assert balanced.advice == []


def test_balanced_items_worked_by_hand() -> None:
    # Of the four items that a labelled, the others say x three times: x weighs 4/3, y weighs 4.
    people = {"a": dict(enumerate("xxyx")), "b": dict(enumerate("xxxy"))}
    model = dict(enumerate("xxxx"))
    (found, _) = one_test(Compared(people, model, accuracy, label=str, balanced=True), 0.2).annotators
    # a against b: equal, equal, the model better (weight 4/3), equal (weight 4: neither says y).
    assert found.advantage == 1.0
    assert found.human_advantage == pytest.approx((4 / 3 + 4 / 3 + 4) / 8)
    mean, n = -(4 / 3) / 8, 8**2 / (3 * (4 / 3) ** 2 + 16)
    spread = np.sqrt((4 / 3 * (-1 - mean) ** 2 + (8 / 3 + 4) * mean**2) / 8)
    assert found.p == pytest.approx(student.cdf((mean - 0.2) / (spread / np.sqrt(n)), n - 1))


def test_against_one_expert_the_model_is_compared_with_each_of_the_others() -> None:
    expert = dict(enumerate("xyxy" * 10))
    people = {"good": expert, "guess": dict.fromkeys(range(40), "x")}
    found = one_test(Compared(people, expert, accuracy, expert=expert), 0.0)
    assert {one.annotator: (one.advantage, one.human_advantage) for one in found.annotators} == {
        "good": (1.0, 1.0),
        "guess": (1.0, 0.5),
    }
    # With an epsilon of 0 the model has to be better than people (C.5): it is, than the one who guesses.
    assert {one.annotator: one.won for one in found.annotators} == {"good": False, "guess": True}
    assert found.winning_rate == 0.5
    assert one_test(Compared({"guess": people["guess"]}, expert, accuracy, expert=expert)).passed


def test_annotators_weigh_by_their_quality_in_the_alignment_and_in_the_winning_rate() -> None:
    assert accuracy("x", ["x", "y"], [3, 1]) == 0.75
    assert negative_rmse(0, [0, 2], [3, 1]) == -1
    said = panel(60, {"a": 1.0, "b": 1.0, "c": 0.2, "model": 0.9})
    people = {name: said[name] for name in "abc"}
    plain = one_test(Compared(people, said["model"], accuracy))
    won = [one.annotator for one in plain.annotators if one.won]
    assert won == ["c"]
    trusted = one_test(Compared(people, said["model"], accuracy, quality={"a": 3, "b": 3, "c": 2}))
    assert trusted.winning_rate == pytest.approx(2 / 8)


def test_several_aspects_are_judged_by_all_their_p_together() -> None:
    draw = np.random.default_rng(5)
    aspects = {str(at): panel(40, {"a": 0.6, "b": 0.7, "c": 0.7, "model": 0.8}, at) for at in draw.integers(99, size=4)}
    compared = {key: Compared({n: said[n] for n in "abc"}, said["model"], accuracy) for key, said in aspects.items()}
    found = stand_in_tests(compared, epsilon=0.15)
    together = [one for test in found.values() for one in test.annotators]
    assert [one.won for one in together] == rejected([one.p or 0 for one in together]).tolist()
    alone = {key: stand_in_tests({key: one}, epsilon=0.15)[key] for key, one in compared.items()}
    assert {key: test.advantage for key, test in alone.items()} == {key: test.advantage for key, test in found.items()}


def test_numbers_can_be_compared_as_ranks_or_standardised() -> None:
    assert ranked({"x": 5.0, "y": 1.0, "z": 5.0}) == {"x": 2.5 / 3, "y": 1 / 3, "z": 2.5 / 3}
    assert standardised({1: 2.0, 2: 4.0}) == {1: -1.0, 2: 1.0}
    assert standardised({1: 2.0}) == {1: 0.0}


@given(st.lists(st.lists(st.sampled_from("xyz"), min_size=3, max_size=3), min_size=1, max_size=8))
@settings(deadline=None)
def test_the_majority_is_the_best_model_there_is(rows: list[list[str]]) -> None:
    # Theorem 1 of the paper: its advantage probability is 1.
    people = {name: {at: row[place] for at, row in enumerate(rows)} for place, name in enumerate("abc")}
    majority = {at: max(row, key=row.count) for at, row in enumerate(rows)}
    assert stand_in(people, majority, accuracy).advantage == 1


def test_what_the_paper_warns_of_is_told() -> None:
    said = panel(20, {"a": 0.6, "b": 0.7, "model": 0.8})
    model = said.pop("model")
    advice = " ".join(stand_in(said, model, accuracy, epsilon=0.5).advice)
    for warned in ("two people", "fewer than 30 items of a, b", "20 items", "epsilon 0.5"):
        assert warned in advice
    many = panel(60, {"a": 0.6, "b": 0.7, "c": 0.7, "model": 0.8})
    assert stand_in(many, many.pop("model"), accuracy).advice == []


def test_a_weighted_test_is_certain_where_all_differences_are_equal_and_says_nothing_of_one_item() -> None:
    two = np.ones(2)
    assert _weighted_p(-two, two, 0.2) == (0.0, "weighted t")
    assert _weighted_p(two, two, 0.2) == _weighted_p(0.25 * two, two, 0.25) == (1.0, "weighted t")
    assert _weighted_p(-np.ones(1), np.ones(1), 0.2) == (1.0, "weighted t")


def test_from_30_items_on_the_test_is_students_and_a_share_of_false_discoveries_is_told() -> None:
    for n, test in ((29, "wilcoxon"), (30, "t")):
        said = panel(n, {"a": 0.6, "b": 0.7, "c": 0.7, "model": 0.8})
        found = stand_in(said, said.pop("model"), accuracy)
        assert {one.test for one in found.annotators} == {test}
        assert (found.q, found.epsilon) == (0.05, 0.2)


def test_who_has_no_quality_weighs_1() -> None:
    said = panel(60, {"a": 1.0, "b": 1.0, "c": 0.2, "model": 0.9})
    people = {name: said[name] for name in "abc"}
    trusted = one_test(Compared(people, said["model"], accuracy, quality={"a": 3, "b": 3}))
    assert trusted.winning_rate == pytest.approx(1 / 7)
