"""What parsing and scoring add to a run of the embedded model over 1,000 samples, as a share of asking it.

    python benchmarks/spans_overhead.py
    python benchmarks/spans_overhead.py --profile

One process, one thread, in the batches of a run. Asking: the embedded model marks the evidence in 1,000 different texts
(half of them sentences, half passages of several). Parsing and scoring: its kept answers, by the code of a run
(`Spans.parse`, `Spans.score`), up to the rows that the store takes. Sim's embeddings are the same model's work and are
timed apart: what is held against the target is all that is not the model. Times are of the processor, so that busy
neighbours count as little as can be.
"""

import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from itertools import product
from statistics import median

import msgspec
import numpy as np
import torch

from emotui.backends import embedded
from emotui.backends.base import Embed
from emotui.records import Sentence, SpanSample, marks_at
from emotui.tasks.spans.task import Spans, ask, raw
from emotui.tasks.task import Parsed
from emotui.workbench.runs.plan import BATCH

SAMPLES, ROUNDS, TARGET = 1000, 5, 0.02
OPENINGS = ("", "Well: ", "No, ", "And then: ", "Look, ", "So, ", "Yes. ", "Ah, ")


def samples() -> list[SpanSample]:
    """A thousand different texts, made of the sample data's, with their gold spans; sentences and passages in turn."""
    kinds = []
    for name in ("spans_sentences.jsonl", "spans_passages.jsonl"):
        lines = (files("emotui.sample_data") / name).read_bytes().splitlines()
        own = [msgspec.json.decode(line, type=SpanSample) for line in lines]
        kinds.append([behind(opening, sample) for opening, sample in product(OPENINGS, own)][: SAMPLES // 2])
    return [sample for pair in zip(*kinds, strict=True) for sample in pair]


def behind(opening: str, sample: SpanSample) -> SpanSample:
    """The sample with an opening in front of its text."""
    n = len(opening)
    return SpanSample(
        id=opening + sample.id,
        text=opening + sample.text,
        spans=marks_at((start + n, end + n) for start, end in sample.places),
        emotion=sample.emotion,
        valence=sample.valence,
        sentences=tuple(
            Sentence(start=one.start + n, end=one.end + n, emotion=one.emotion, valence=one.valence)
            for one in sample.sentences
        ),
    )


def seconds(work: Callable[[], object]) -> float:
    """Of the processor."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print the shares; exit with 1 where the target is missed."""
    torch.set_num_threads(1)
    model = embedded.load("", {}, lambda step: None)
    golds = samples()
    batches = [golds[at : at + BATCH] for at in range(0, len(golds), BATCH)]
    kept: list[list[str]] = []

    def asking() -> None:
        kept.clear()
        kept.extend([raw(found) for found in model.extract([ask(one) for one in batch])] for batch in batches)

    embedding = 0.0

    def embed(texts: Sequence[str]) -> "np.ndarray":
        nonlocal embedding
        start = time.process_time()
        vectors = np.asarray(model.embed([Embed(text) for text in texts]))
        embedding += time.process_time() - start
        return vectors

    task = Spans()

    def scoring(with_sim: bool) -> None:
        for batch, answers in zip(batches, kept, strict=True):
            parsed = [Parsed(one, 0, task.parse(one, answer, "")) for one, answer in zip(batch, answers, strict=True)]
            task.score(parsed, embed if with_sim else None)

    asked = seconds(asking)
    if "--profile" in sys.argv:
        with cProfile.Profile() as profile:
            scoring(True)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    scoring(True)
    plain = median(seconds(lambda: scoring(False)) for _ in range(ROUNDS))
    with_sim, of_model = [], []
    for _ in range(ROUNDS):
        embedding = 0.0
        whole = seconds(lambda: scoring(True))
        with_sim.append(whole - embedding)
        of_model.append(embedding)
    print(f"{SAMPLES} samples asked once, scored {ROUNDS} times (median); seconds of the processor on one thread")
    print(f"asking the embedded model            {asked:8.3f}")
    print(f"parsing and scoring, without Sim     {plain:8.3f}   {plain / asked:6.2%} of it")
    print(f"parsing and scoring, with Sim        {median(with_sim):8.3f}   {median(with_sim) / asked:6.2%} of it")
    print(f"Sim's embeddings, by the model       {median(of_model):8.3f}   {median(of_model) / asked:6.2%} of it")
    run = asked + median(of_model)
    share = median(with_sim) / (run + median(with_sim))
    print(f"share of a run that is not the model {share:17.2%}   target: under {TARGET:.0%}")
    if share >= TARGET:
        sys.exit(1)


if __name__ == "__main__":
    main()
