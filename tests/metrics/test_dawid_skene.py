"""Dawid and Skene's estimate: their own example, the likelihood by brute force, and suspicion of gold."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from emotui.metrics.dawid_skene import DawidSkene, dawid_skene, log_likelihood
from emotui.metrics.suspicion import AGREED, THIN, VIEW, WRONG, suspicions

# Dawid and Skene 1979, Table 1: 45 patients; the first anaesthetist saw each three times, the other four once.
PATIENTS = """
111 1 1 1 1|333 4 3 3 4|112 2 1 2 2|222 3 1 2 1|222 3 2 2 2|222 3 3 2 2|122 2 1 1 1|333 3 4 3 3|222 2 2 2 3
232 2 2 2 3|444 4 4 4 4|222 3 3 4 3|111 1 1 1 1|222 3 2 1 2|121 1 1 1 1|111 2 1 1 1|111 1 1 1 1|111 1 1 1 1
222 2 2 2 1|222 1 3 2 2|222 2 2 2 2|222 2 2 2 1|222 3 2 2 2|221 2 2 2 2|111 1 1 1 1|111 1 1 1 1|232 2 2 2 2
111 1 1 1 1|111 1 1 1 1|112 1 1 2 1|111 1 1 1 1|333 3 2 3 3|111 1 1 1 1|222 2 2 2 2|222 3 2 3 2|433 4 3 4 3
221 2 2 3 2|232 3 2 3 3|333 3 4 3 2|111 1 1 1 1|111 1 1 1 1|121 2 1 1 1|232 2 2 2 2|121 1 1 1 1|222 2 2 2 2
"""


def anaesthetists() -> np.ndarray:
    rows = [row.split() for line in PATIENTS.split("\n") for row in line.split("|") if row]
    counts = np.zeros((len(rows), 5, 4))
    for patient, row in enumerate(rows):
        for observer, said in enumerate(row):
            for digit in said:
                counts[patient, observer, int(digit) - 1] += 1
    return counts


def test_the_anaesthetists_have_the_published_shares_of_classes() -> None:
    found = dawid_skene(anaesthetists())
    assert found.converged
    assert found.prior == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=5e-3)
    # Nobody doubts the first patient; the third one is the example of a doubtful one in the paper's Table 4.
    assert found.classes[0] == pytest.approx([1, 0, 0, 0], abs=1e-6)
    assert found.classes[2].argmax() == 1


def random_counts(seed: int, items: int = 12, annotators: int = 3, classes: int = 2) -> np.ndarray:
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, classes, items)
    counts = np.zeros((items, annotators, classes))
    for i in range(items):
        for k in range(annotators):
            if draw.random() < 0.9:
                counts[i, k, truth[i] if draw.random() < 0.75 else draw.integers(classes)] = 1
    return counts[counts.sum(axis=(1, 2)) > 0]


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_is_the_sum_over_all_classes_of_every_item(seed: int) -> None:
    counts = random_counts(seed)
    found = dawid_skene(counts)
    rates = np.nan_to_num(found.confusion)
    plain = sum(
        np.log(
            sum(
                found.prior[j] * np.prod([rates[k, j] ** counts[i, k] for k in range(counts.shape[1])])
                for j in range(2)
            )
        )
        for i in range(len(counts))
    )
    assert found.log_likelihood == pytest.approx(plain)
    assert log_likelihood(counts, found.prior, rates) == pytest.approx(plain)


@pytest.mark.parametrize("seed", range(2))
def test_no_step_from_the_estimate_raises_the_likelihood(seed: int) -> None:
    counts = random_counts(seed, items=30)
    found = dawid_skene(counts, steps=20_000, tolerance=1e-14)

    def shares(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        odds = np.exp(logits - logits.max())
        prior = odds[:2] / odds[:2].sum()
        rates = odds[2:].reshape(3, 2, 2)
        return prior, rates / rates.sum(axis=2, keepdims=True)

    start = np.log(np.concatenate([found.prior, np.nan_to_num(found.confusion, nan=0.5).ravel()]).clip(1e-9))
    climbed = minimize(lambda logits: -log_likelihood(counts, *shares(logits)), start, method="BFGS")
    assert -climbed.fun == pytest.approx(found.log_likelihood, abs=1e-4)


def test_the_likelihood_never_falls_from_step_to_step() -> None:
    counts = random_counts(7, items=40)
    likelihoods = [dawid_skene(counts, steps=steps, tolerance=0).log_likelihood for steps in range(1, 25)]
    assert all(b >= a - 1e-9 for a, b in pairwise(likelihoods))


def test_annotators_who_always_agree_are_believed_and_the_order_of_annotators_changes_nothing() -> None:
    agreed = np.zeros((4, 3, 2))
    for item, label in enumerate([0, 1, 1, 0]):
        agreed[item, :, label] = 1
    found = dawid_skene(agreed)
    assert found.classes == pytest.approx(agreed[:, 0])
    assert found.confusion == pytest.approx(np.broadcast_to(np.eye(2), (3, 2, 2)))
    counts = random_counts(1)
    for order in permutations(range(3)):
        assert dawid_skene(counts[:, order]).classes == pytest.approx(dawid_skene(counts).classes, abs=1e-5)


def test_an_item_without_a_vote_has_the_prior_and_no_votes_at_all_is_an_error() -> None:
    counts = np.concatenate([random_counts(2), np.zeros((1, 3, 2))])
    found = dawid_skene(counts)
    assert found.classes[-1] == pytest.approx(found.prior)
    with pytest.raises(ValueError, match="nobody said anything"):
        dawid_skene(np.zeros((3, 2, 2)))


def test_a_cut_estimate_says_that_it_has_not_converged() -> None:
    found = dawid_skene(random_counts(3, items=40), steps=1)
    assert (found.converged, found.steps) == (False, 1)


def test_gold_that_all_contradict_is_likely_wrong_and_where_votes_are_divided_it_is_a_matter_of_view() -> None:
    labels = ["fear", "joy"]
    said = ["jjj", "jjf", "ffj", "fff", "jjj", "fff", "j"]
    counts = np.zeros((len(said), 3, 2))
    for item, row in enumerate(said):
        for annotator, letter in enumerate(row):
            counts[item, annotator, "fj".index(letter)] = 1
    gold = ["fear", "fear", "fear", "fear", "joy", None, "fear"]
    found = suspicions(gold, counts, labels, dawid_skene(counts))
    assert {one.item: one.kind for one in found} == {0: WRONG, 1: VIEW, 2: AGREED, 3: AGREED, 4: AGREED, 6: THIN}
    worst = found[0]
    assert (worst.item, worst.votes, worst.for_gold, worst.rival) == (0, [("joy", 3)], 0, "joy")
    assert worst.suspicion > 0.9
    assert [one.item for one in found if one.kind == VIEW] == [1]


def test_gold_is_wrong_by_most_votes_and_what_is_most_suspicious_stands_first() -> None:
    labels, said = ["awe", "fear", "joy"], ["jj", "jjj", "aj", "fj", "f"]
    counts = np.zeros((len(said), 3, 3))
    for item, row in enumerate(said):
        for annotator, letter in enumerate(row):
            counts[item, annotator, "afj".index(letter)] = 1
    classes = np.array([[0.1, 0.2, 0.7], [0, 0.05, 0.95], [0.3, 0.2, 0.5], [0, 0.6, 0.4], [0.1, 0.9, 0]])
    estimate = DawidSkene(classes, classes.mean(axis=0), np.full((3, 3, 3), np.nan), -1.0, 1, converged=True)
    found = suspicions(["fear"] * 5, counts, labels, estimate)
    assert [(one.item, one.kind, one.rival, one.probability) for one in found] == [
        (1, WRONG, "joy", 0.95),
        (0, WRONG, "joy", 0.7),
        (2, VIEW, "joy", 0.5),
        (3, VIEW, "joy", 0.4),
        (4, AGREED, "awe", 0.1),
    ]
    assert [one.suspicion for one in found] == pytest.approx([0.95, 0.8, 0.8, 0.4, 0.1])


def test_a_gold_label_that_nobody_ever_gives_has_probability_0() -> None:
    counts = np.zeros((2, 2, 1))
    counts[:, :, 0] = 1
    found = suspicions(["awe", "joy"], counts, ["joy"], dawid_skene(counts))
    assert [(one.gold, one.kind, one.suspicion) for one in found] == [("awe", WRONG, 1.0), ("joy", AGREED, 0.0)]


def test_what_nobody_voted_on_is_not_suspicious_and_without_another_label_there_is_no_rival() -> None:
    counts = np.array([[[1, 0], [1, 0], [1, 0]], [[0, 1], [0, 1], [0, 1]], [[0, 0], [0, 0], [0, 0]]])
    found = suspicions(["joy", "joy", "joy"], counts, ["joy", "fear"], dawid_skene(counts))
    assert {one.item for one in found} == {0, 1}
    wrong = next(one for one in found if one.item == 1)
    assert (wrong.rival, wrong.probability) == ("fear", pytest.approx(1.0))
    only = np.array([[[1], [1]]])
    (alone,) = suspicions(["joy"], only, ["joy"], dawid_skene(only))
    assert (alone.rival, alone.probability) == (None, None)
