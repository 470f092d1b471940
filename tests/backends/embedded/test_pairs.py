"""Words and pairs of words for Plutchik's eight: what is counted, what a weight means, and that texts stand alone."""

import math

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.backends.embedded.encoder import VOCABULARY
from emotui.backends.embedded.tokens import END, START
from emotui.backends.embedded.weights import SHARE, keys_and_counts, pair_logits
from tools.embedded.pairs import fit_pairs

TEXTS = [[START, 7, 8, END], [START, 7, 9, END], [START, 7, 8, END], [START, 9, 9, 9, END]]
GOLD = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])


def test_single_pieces_and_pairs_with_start_and_end_are_counted() -> None:
    keys, counts = keys_and_counts([START, 9, 9, 9, END])
    expected = {9: 3.0, START * VOCABULARY + 9: 1.0, 9 * VOCABULARY + 9: 2.0, 9 * VOCABULARY + END: 1.0}
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == expected
    assert keys.tolist() == sorted(expected)


def arrays(tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def test_only_what_two_texts_share_is_known() -> None:
    known = fit_pairs(TEXTS, GOLD)["pairs.keys"].tolist()
    row = VOCABULARY
    assert known == sorted([7, 8, 9, START * row + 7, 7 * row + 8, 8 * row + END, 9 * row + END])


def test_logits_are_weights_times_counts_and_rarities_of_length_one() -> None:
    pair = 7 * VOCABULARY + 7
    tensors = {
        "pairs.keys": np.array([7, pair], np.int32),
        "pairs.rarity": np.array([1.0, 2.0], np.float16),
        "pairs.weight": np.array([[1.0], [3.0]], np.float16),
        "pairs.bias": np.array([-1.0], np.float16),
    }
    word, both = 1 + math.log(2), 2.0  # 7 stands twice, the pair once; 5 is not known
    expected = SHARE * ((word * 1 + both * 3) / math.hypot(word, both) - 1)
    assert math.isclose(pair_logits(tensors, [[START, 7, 7, END]]).item(), expected, rel_tol=1e-6)
    assert math.isclose(pair_logits(tensors, [[START, 5, END]]).item(), -SHARE, rel_tol=1e-6)
    assert math.isclose(pair_logits(tensors, [[START, END]]).item(), -SHARE, rel_tol=1e-6)
    assert pair_logits(tensors, []).shape == (0, 1)


def test_the_fit_tells_its_own_texts_apart_and_is_the_same_at_every_run() -> None:
    first, second = fit_pairs(TEXTS, GOLD), fit_pairs(TEXTS, GOLD)
    assert all(torch.equal(first[name], second[name]) for name in first)
    logits = pair_logits(arrays(first), TEXTS)
    assert np.array_equal(logits[:, 0] > logits[:, 1], GOLD[:, 0].numpy() == 1)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.sampled_from([5, 7, 8, 9]), max_size=6), min_size=1, max_size=5))
def test_a_texts_logits_do_not_depend_on_the_others(pieces: list[list[int]]) -> None:
    tensors = arrays(fit_pairs(TEXTS, GOLD))
    ids = [[START, *row, END] for row in pieces]
    alone = np.concatenate([pair_logits(tensors, [row]) for row in ids])
    assert np.array_equal(pair_logits(tensors, ids), alone)
