"""The nucleus among few likeliest tokens is the nucleus of the whole vocabulary, ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.backends import sampling
from emotui.backends.sampling import pick

LOGITS = st.lists(st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, 7.0, float("-inf")]), min_size=1, max_size=40).filter(
    lambda logits: max(logits) > float("-inf")
)
CHANCES = st.floats(0, 1, exclude_max=True)


def by_all(logits: list[float], temperature: float, top_p: float, draw: float) -> int:
    """The definition: sort everything, keep the fewest likeliest, and see where the draw falls."""
    values = np.array(logits)
    shares = np.exp((values - values.max()) / temperature)
    shares /= shares.sum()
    left, kept = top_p, set()
    for token in sorted(range(len(shares)), key=lambda token: (-shares[token], token)):
        if left > 1e-12:
            kept.add(token)
        left -= shares[token]
    total, reached = sum(shares[token] for token in kept), 0.0
    for token in sorted(kept):
        reached += shares[token]
        if reached > draw * total:
            return token
    return max(token for token in kept if shares[token] > 0)


@given(LOGITS, st.sampled_from([0.7, 1.0]), st.sampled_from([0.05, 0.3, 0.61, 0.9, 0.999]), CHANCES)
@settings(max_examples=200, deadline=None)
def test_few_likeliest_tokens_give_the_pick_of_all(logits: list[float], heat: float, top_p: float, draw: float) -> None:
    with pytest.MonkeyPatch.context() as patched:
        whole = pick(np.array(logits), heat, top_p, draw)
        patched.setattr(sampling, "LIKELIEST", 4)
        assert pick(np.array(logits), heat, top_p, draw) == whole
    shares = np.exp((np.array(logits) - max(logits)) / heat)
    if min(abs(np.cumsum(np.sort(shares / shares.sum())[::-1]) - top_p)) > 1e-9:
        assert whole == by_all(logits, heat, top_p, draw)


def test_a_batch_of_a_torch_model_picks_what_each_row_would_pick_alone() -> None:
    torch = pytest.importorskip("torch")
    from emotui.backends.hf import decoding

    draw = np.random.default_rng(7)
    for width, likeliest in ((300, 16), (300, 299), (12, 16)):
        logits = np.round(draw.normal(0, 3, (64, width)), 1)  # with ties
        draws, nucleus = draw.random(64), draw.choice([0.2, 0.9, 0.99], 64)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(decoding, "LIKELIEST", likeliest)
            found = decoding.choose(torch.tensor(logits), [0.8] * 64, nucleus.tolist(), draws.tolist())
        alone = [pick(row, 0.8, top_p, one) for row, top_p, one in zip(logits, nucleus, draws, strict=True)]
        assert found.tolist() == alone
