"""What a grammar leaves of a step's logits (`hf:` with --constrain), beside the naive way and llguidance's own kernels.

    python benchmarks/models/masks.py [--vocabulary 152000] [--rows 16] [--compiled]

Milliseconds of the processor for one step of all rows, one thread; the least of five goes. All ways give equal logits.
`--compiled` adds the kernel as llguidance ships it: torch.compile builds it first, with a C++ compiler, for a minute.
Needs llguidance.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from llguidance import torch as kernels
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from emotui.backends.base import Generate
from emotui.backends.grammars import json_words, one_of, retrieved_line
from emotui.backends.hf.decoding import Grammar, Grammars

_GRAMMARS = {
    "a line of spans": retrieved_line(),
    "two words": json_words(2),
    "one label of two": one_of(["joy", "fear"]),
}
_NEVER = float("-inf")
Way = Callable[[], torch.Tensor]


def main() -> None:
    """Print a line for each way and grammar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=int, default=152_000)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    draw = np.random.default_rng(1)
    tokenizer = _tokenizer(options.vocabulary, draw)
    grammars = Grammars(SimpleNamespace(tokenizer=tokenizer), frozenset([0]))  # type: ignore[arg-type]
    logits = torch.from_numpy(draw.normal(0, 4, (options.rows, options.vocabulary)).astype(np.float32))
    for name, text in _GRAMMARS.items():
        begun = [each for each in grammars.begin([Generate((), grammar=text)] * options.rows) if each is not None]
        ways = _ways(begun, logits, options.compiled)
        found = {way: call() for way, call in ways.items()}
        assert all(torch.equal(each, found["emotui"]) for each in found.values())
        left = int(torch.isfinite(found["emotui"][0]).sum())
        took = {way: _milliseconds(call, 1 if way == "token by token" else 20) for way, call in ways.items()}
        told = "; ".join(f"{way} {ms:.2f} ms ({ms / took['emotui']:.1f} times)" for way, ms in took.items())
        print(f"{name}, {left:,} of {options.vocabulary:,} tokens left: {told}", flush=True)


def _ways(begun: list[Grammar], logits: torch.Tensor, compiled: bool) -> dict[str, Way]:
    rows, vocabulary = logits.shape
    bits = kernels.allocate_token_bitmask(rows, vocabulary)

    def told(grammar: Grammar) -> Any:
        return grammar._matcher.compute_bitmask()

    def each() -> torch.Tensor:
        out = logits.clone()
        for row, grammar in enumerate(begun):
            grammar.narrow(out[row])
        return out

    def token_by_token() -> torch.Tensor:
        out = torch.full_like(logits, _NEVER)
        for row, grammar in enumerate(begun):
            held = told(grammar)
            allowed = [token for token in range(vocabulary) if held[token >> 3] >> (token & 7) & 1]
            out[row, allowed] = logits[row, allowed]
        return out

    def filled() -> torch.Tensor:
        out = logits.clone()
        for row, grammar in enumerate(begun):
            inside = np.unpackbits(np.frombuffer(told(grammar), np.uint8), bitorder="little", count=vocabulary)
            out[row].masked_fill_(torch.from_numpy(inside == 0), _NEVER)
        return out

    def by_kernel(apply: Callable[[torch.Tensor, torch.Tensor], None]) -> Way:
        def run() -> torch.Tensor:
            for row, grammar in enumerate(begun):
                kernels.fill_next_token_bitmask(grammar._matcher, bits, row)
            out = logits.clone()
            apply(out, bits)
            return out

        return run

    plain = kernels.apply_token_bitmask_inplace_kernel._torchdynamo_orig_callable
    ways = {"emotui": each, "token by token": token_by_token, "masked_fill": filled, "kernel": by_kernel(plain)}
    return ways | ({"kernel, compiled": by_kernel(kernels.apply_token_bitmask_inplace)} if compiled else {})


def _milliseconds(call: Way, times: int) -> float:
    least = float("inf")
    for _ in range(5):
        started = time.process_time()
        for _ in range(times):
            call()
        least = min(least, (time.process_time() - started) / times)
    return 1e3 * least


def _tokenizer(vocabulary: int, draw: np.random.Generator) -> PreTrainedTokenizerFast:
    """As many different strings of letters."""
    tokens = ["<end>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    there = set(tokens)
    letters = list('abcdefghijklmnopqrstuvwxyzĠ.,|"[]')
    while len(tokens) < vocabulary:
        token = "".join(draw.choice(letters, size=int(draw.integers(2, 9))))
        if token not in there:
            there.add(token)
            tokens.append(token)
    bare = Tokenizer(models.BPE(vocab={token: place for place, token in enumerate(tokens)}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<end>")


if __name__ == "__main__":
    main()
