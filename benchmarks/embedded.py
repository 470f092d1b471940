"""Speed of the embedded model on one thread, each figure as a ratio to plain MiniLM in the same run.

    python benchmarks/embedded.py [--repeats N]

Plain MiniLM is `transformers.BertModel` with the same weights, the mean over tokens, its tokenizer called directly.
Calls alternate between the two sides. Times are of the processor (one thread), so that busy neighbours count as little
as can be; from start to first answer it is the time on the clock, since a child process does the work.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from emotui.backends import embedded
from emotui.backends.base import Classify
from emotui.backends.embedded.base_files import base_files
from emotui.backends.host import ModelProcess
from tools.embedded.data import sample_passages

SHORT = "I can't believe you did that for me!"
TEXTS = 1000

BY_HAND = """
import sys, torch, transformers
torch.set_num_threads(1)
model = transformers.BertModel.from_pretrained(sys.argv[1]).eval()
tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
with torch.inference_mode():
    model(**tokenizer("I can't believe you did that for me!", return_tensors="pt")).last_hidden_state.mean(1)
"""


def folder() -> str:
    """Where the base model lies."""
    return str(base_files().model.parent)


def alternating(
    first: Callable[[], object], second: Callable[[], object], repeats: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Median seconds of each, called in turns."""

    def seconds(work: Callable[[], object]) -> float:
        start = clock()
        work()
        return clock() - start

    pairs = [(seconds(first), seconds(second)) for _ in range(repeats)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def texts() -> list[str]:
    """A thousand different short texts, made of the sample data's."""
    own = [passage.text for passage in sample_passages() if passage.group == "spans_sentences"]
    pairs = itertools.product(("", "Well: ", "No, ", "And then: ", "Look, ", "So, ", "Yes. ", "Ah, "), own)
    return [before + text for before, text in itertools.islice(pairs, TEXTS)]


def main() -> None:
    """Print the table of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    from tokenizers import Tokenizer
    from transformers import BertModel

    plain = BertModel.from_pretrained(folder()).eval()
    tokenizer = Tokenizer.from_file(f"{folder()}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    backend = embedded.load("", {}, lambda _: None)

    def encode(text: str) -> torch.Tensor:
        with torch.inference_mode():
            ids = torch.tensor([tokenizer.encode(text).ids])
            mean: torch.Tensor = plain(ids).last_hidden_state.mean(1)
            return mean

    for _ in range(3):
        backend.classify([Classify(SHORT)])
        encode(SHORT)
    ours, theirs = alternating(
        lambda: backend.classify([Classify(SHORT)]), lambda: encode(SHORT), repeats, time.process_time
    )
    print(
        f"classify one short text      {ours * 1e3:8.1f} ms   plain encode {theirs * 1e3:.1f} ms   {ours / theirs:.2f}x"
    )

    requests = [Classify(text) for text in texts()]
    together, apart = alternating(
        lambda: backend.classify(requests),
        lambda: [backend.classify([request]) for request in requests],
        max(3, repeats // 10),
        time.process_time,
    )
    print(
        f"1,000 texts in one call      {together:8.2f} s    one by one {apart:.2f} s   {apart / together:.2f}x the rate"
    )

    def first_answer() -> None:
        with ModelProcess("embedded") as process:
            process.ask([Classify(SHORT)])

    child, by_hand = alternating(
        first_answer,
        lambda: subprocess.run([sys.executable, "-c", BY_HAND, folder()], check=True, capture_output=True),
        max(3, repeats // 10),
        time.perf_counter,
    )
    print(f"start to first answer        {child:8.2f} s    by hand {by_hand:.2f} s   {child / by_hand:.2f}x")


if __name__ == "__main__":
    main()
