"""Sampling, prompts and masks with a large vocabulary, beside the naive way, with equal answers.

python benchmarks/models/writing.py [VOCABULARY]
"""

import sys
import tempfile
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer, LlamaConfig, LlamaForCausalLM

from emotui.backends import sampling
from emotui.backends.base import FillMask
from emotui.backends.hf import decoding, load

ROWS, PROMPTS, LENGTH, TIMES = 16, 4, 256, 5
Found = TypeVar("Found")


def timed(call: Callable[[], Found]) -> tuple[float, Found]:
    """The least seconds of several goes, and what came of it."""
    found, least = call(), float("inf")
    for _ in range(TIMES):
        started = time.perf_counter()
        found = call()
        least = min(least, time.perf_counter() - started)
    return least, found


def all_sorted(call: Callable[[], Found]) -> Callable[[], Found]:
    """The same with the whole vocabulary sorted for each token."""

    def whole() -> Found:
        few = sampling.LIKELIEST
        sampling.LIKELIEST = decoding.LIKELIEST = 1 << 40
        try:
            return call()
        finally:
            sampling.LIKELIEST = decoding.LIKELIEST = few

    return whole


def main(vocabulary: int = 152_000) -> None:
    """Print milliseconds, and how many times the naive way takes."""
    draw = np.random.default_rng(1)
    logits = draw.normal(0, 4, (ROWS, vocabulary)).astype(np.float32)
    draws = draw.random(ROWS).tolist()
    hot = torch.from_numpy(logits)
    for name, call in (
        ("a token, llama.cpp", lambda: [sampling.pick(logits[0], 0.7, 0.9, draws[0])]),
        (f"{ROWS} tokens, hf", lambda: decoding.choose(hot, [0.7] * ROWS, [0.9] * ROWS, draws).tolist()),
    ):
        quick, found = timed(call)
        naive, same = timed(all_sorted(call))
        assert found == same
        print(f"{name:22} {quick * 1e3:8.1f} ms; whole vocabulary sorted {naive / quick:.1f} times as long")

    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
    )
    model = LlamaForCausalLM(config).eval()
    ids = torch.from_numpy(draw.integers(0, vocabulary, (PROMPTS, LENGTH)))
    with torch.inference_mode():
        quick, last = timed(lambda: model(input_ids=ids, logits_to_keep=1).logits[:, -1])
        naive, same_last = timed(lambda: model(input_ids=ids).logits[:, -1])
    assert torch.allclose(last, same_last, atol=1e-5)
    told = f"{PROMPTS} prompts of {LENGTH}"
    print(f"{told:22} {quick * 1e3:8.1f} ms; with the logits of every token {naive / quick:.1f} times as long")
    filled(vocabulary)


def filled(vocabulary: int) -> None:
    """Masks of many texts filled together, against one by one."""
    config = BertConfig(
        vocab_size=vocabulary, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128
    )
    words = {f"w{place}": place for place in range(vocabulary - 5)} | {
        name: vocabulary - 5 + place for place, name in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))
    }
    with tempfile.TemporaryDirectory() as folder:
        BertForMaskedLM(config).save_pretrained(folder)
        BertTokenizer(vocab=words).save_pretrained(folder)
        model = load(folder, {"device": "cpu"}, lambda line: None)
        asked = [FillMask(f"w{place} w7 <mask> w9 w{place + 1}", ("w10", "w11", "w12")) for place in range(64)]
        quick, found = timed(lambda: model.fill_mask(asked))
        naive, same = timed(lambda: [model.fill_mask([each])[0] for each in asked])
    for mine, other in zip(found, same, strict=True):
        assert dict(mine.masks[0]).keys() == dict(other.masks[0]).keys()
        assert np.allclose(sorted(dict(mine.masks[0]).values()), sorted(dict(other.masks[0]).values()), atol=1e-5)
    print(f"{'64 masks':22} {quick * 1e3:8.1f} ms; one text after the other {naive / quick:.1f} times as long")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
