"""The alternative annotator test: worked by hand, against the authors' steps, and its bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp

from emotui.metrics.alternative_annotator import accuracy, negative_rmse, rejected, similarity, stand_in


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


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_rates_are_shares_and_a_tie_counts_for_both(seed: int) -> None:
    said = panel(12, {"a": 0.5, "b": 0.5, "model": 0.5}, seed)
    model = said.pop("model")
    found = stand_in(said, model, accuracy)
    assert 0 <= (found.winning_rate or 0) <= 1
    for one in found.annotators:
        assert (one.advantage or 0) + (one.human_advantage or 0) >= 1
        assert len(one.lost) == round(one.n * (1 - (one.advantage or 0)))
