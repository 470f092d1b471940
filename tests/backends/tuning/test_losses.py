"""The loss of section 5.1, against the equation written out in NumPy."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from emotui.backends.tuning.classifier import pairwise_kl, terms
from emotui.backends.tuning.recipe import KL_TERMS

NUMBERS = st.floats(-6, 6, allow_nan=False, width=64)


def softmax(logits: Any) -> Any:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def kl(p: Any, q: Any) -> float:
    return float(sum(p[c] * math.log(p[c] / q[c]) for c in range(len(p))))


def written_out(probs: Any, kind: str) -> float:
    """D_i, sign by sign: both sums from 0 to n, the second from where the first is."""
    pairs = [(j, k) for j in range(len(probs)) for k in range(j, len(probs))]
    total = 0.0
    for j, k in pairs:
        there, back = kl(probs[j], probs[k]), kl(probs[k], probs[j])
        total += (there + back) / 2 if kind == "symmetric" else there
    return total / len([pair for pair in pairs if pair[0] < pair[1]]) if kind == "mean" else total


def test_two_texts_by_hand() -> None:
    log_probs = torch.tensor([[0.5, 0.5], [0.25, 0.75]], dtype=torch.float64).log()
    there = 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)
    back = 0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.5)
    assert float(pairwise_kl(log_probs)) == pytest.approx(there, rel=1e-12)
    assert float(pairwise_kl(log_probs, "mean")) == pytest.approx(there, rel=1e-12)
    assert float(pairwise_kl(log_probs, "symmetric")) == pytest.approx((there + back) / 2, rel=1e-12)


def test_three_texts_make_three_pairs_the_earlier_one_left() -> None:
    probs = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8]])
    expected = kl(probs[0], probs[1]) + kl(probs[0], probs[2]) + kl(probs[1], probs[2])
    log_probs = torch.tensor(probs).log()
    assert float(pairwise_kl(log_probs)) == pytest.approx(expected, rel=1e-12)
    assert float(pairwise_kl(log_probs, "mean")) == pytest.approx(expected / 3, rel=1e-12)


@settings(max_examples=30)
@given(logits=arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 5)), elements=NUMBERS))
@pytest.mark.parametrize("kind", ["sum", "mean", "symmetric"])
def test_every_reading_equals_the_equation_written_out(kind: str, logits: Any) -> None:
    found = float(pairwise_kl(torch.tensor(logits).log_softmax(-1), kind))
    assert found == pytest.approx(written_out(softmax(logits), kind), rel=1e-9, abs=1e-12)
    assert found >= -1e-12


@settings(max_examples=30)
@given(logits=arrays(np.float64, (4, 3), elements=NUMBERS), order=st.permutations(range(4)))
def test_the_symmetric_reading_does_not_know_the_order_of_attempts(logits: Any, order: list[int]) -> None:
    one, other = (torch.tensor(rows).log_softmax(-1) for rows in (logits, logits[order]))
    assert float(pairwise_kl(one, "symmetric")) == pytest.approx(float(pairwise_kl(other, "symmetric")), abs=1e-9)


@pytest.mark.parametrize("kind", ["sum", "mean", "symmetric"])
def test_texts_that_a_model_sees_alike_cost_nothing(kind: str) -> None:
    alike = torch.tensor([[0.2, 0.3, 0.5]] * 4, dtype=torch.float64).log()
    assert float(pairwise_kl(alike, kind)) == 0.0
    assert float(pairwise_kl(alike[:1], kind)) == 0.0


@settings(max_examples=30)
@given(logits=arrays(np.float64, (8, 3), elements=NUMBERS), gold=arrays(np.int64, 3, elements=st.integers(0, 2)))
@pytest.mark.parametrize("kind", KL_TERMS)
def test_a_batch_is_the_sum_over_its_originals_and_over_those_with_rephrasings(
    kind: str, logits: Any, gold: Any
) -> None:
    """Three originals; the first has two rephrasings (rows 3, 4), the second none, the third three (rows 5, 6, 7)."""
    groups = [[0, 3, 4], [1], [2, 5, 6, 7]]
    probs = softmax(logits)
    expected_ce = -sum(math.log(probs[row][label]) for row, label in enumerate(gold))
    expected_kl = 0.0 if kind == "none" else sum(written_out(probs[rows], kind) for rows in groups if len(rows) > 1)
    ce, term = terms(torch.tensor(logits), torch.tensor(gold), groups, kind)
    assert float(ce) == pytest.approx(expected_ce, rel=1e-9, abs=1e-9)
    assert float(term) == pytest.approx(expected_kl, rel=1e-9, abs=1e-9)


def test_rephrasings_are_pulled_together_from_both_sides_and_cost_no_cross_entropy() -> None:
    logits = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    ce, term = terms(logits, torch.tensor([0]), [[0, 1]])
    (from_kl,) = torch.autograd.grad(term, logits, retain_graph=True)
    assert (from_kl.abs().sum(1) > 0).all()
    (from_ce,) = torch.autograd.grad(ce, logits)
    assert from_ce[0].abs().sum() > 0
    assert from_ce[1].abs().sum() == 0


def test_a_label_weight_multiplies_its_cross_entropy() -> None:
    logits = torch.zeros((2, 2), dtype=torch.float64)
    ce, _ = terms(logits, torch.tensor([0, 1]), [], weights=torch.tensor([3.0, 0.5], dtype=torch.float64))
    assert float(ce) == pytest.approx(3.5 * math.log(2), rel=1e-12)
