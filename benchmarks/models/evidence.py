"""What a variant of a text costs where its evidence is taken away, beside a plain score of a text.

    python benchmarks/models/evidence.py [TEXTS]

200 different texts of the sample data with three spans each, 20 random stretches beside every span (and beside all of
them together), by the embedded model on one thread, in one process. A pair is a batch of a run, both ways one after the
other: its texts scored as a run of labels scores them, then all their variants, as a run of evidence asks them. Seconds
are of the processor, so that busy neighbours count as little as can be; the ratio is the median over pairs.
"""

import sys
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from itertools import product
from statistics import median
from typing import Any

import msgspec
import torch

from emotui.backends import embedded
from emotui.metrics.evidence import DRAWS
from emotui.records import LabelsGold, Mark, SpanSample
from emotui.tasks.evidence.task import Evidence, EvidenceLabels
from emotui.tasks.labels.task import Labels
from emotui.tasks.prompting.settings import configured
from emotui.workbench.runs.plan import BATCH, chosen_way, sample_seed

TEXTS, SPANS, TARGET = 200, 3, 1.0
OPENINGS = ("", "Well: ", "No, ", "And then: ", "Look, ", "So, ", "Yes. ", "Ah, ", "Oh, ", "Hm, ")


def samples() -> list[SpanSample]:
    """Passages with three spans or more, of which the first three count; behind different openings."""
    lines = (files("emotui.sample_data") / "spans_passages.jsonl").read_bytes().splitlines()
    own = [msgspec.json.decode(line, type=SpanSample) for line in lines]
    found = []
    for opening, one in product(OPENINGS, [one for one in own if len(one.places) >= SPANS]):
        n = len(opening)
        spans = tuple(Mark(start + n, end + n) for start, end in one.places[:SPANS])
        found.append(SpanSample(id=opening + one.id, text=opening + one.text, spans=spans))
    return found[: int(sys.argv[1]) if len(sys.argv) > 1 else TEXTS]


class _Counted:
    """The model, with how many texts it was asked about."""

    def __init__(self) -> None:
        self.model: Any = embedded.load("", {}, lambda step: None)
        self.n = 0

    def __call__(self, requests: Sequence[Any]) -> Sequence[Any]:
        self.n += len(requests)
        return list(self.model.classify(requests))


def main() -> None:
    """Print the ratio; exit with 1 where the target is missed."""
    torch.set_num_threads(1)
    asked, golds = _Counted(), samples()
    card = asked.model.card
    way = chosen_way(Evidence(), card, None)
    options = EvidenceLabels().settled(card, tuple, way, {}, 0)
    evidence: Any = configured(Evidence(), way, options, 1)
    labels: Any = configured(Labels(), way, {"labels": options["labels"], "label_set": options.get("label_set")}, 1)
    texts = [LabelsGold(id=one.id, text=one.text) for one in golds]
    seeds = [sample_seed(0, 0, one.id) for one in golds]

    def plain(at: int) -> None:
        some = texts[at : at + BATCH]
        for one, answer in zip(some, labels.ask(some, asked, way, seeds[at : at + BATCH]), strict=True):
            labels.parse(one, answer.raw, way)

    def variants(at: int) -> None:
        evidence.ask(golds[at : at + BATCH], asked, way, seeds[at : at + BATCH])

    def each(work: Callable[[int], None], at: int) -> tuple[float, int]:
        """Seconds of the processor a text that was asked about, and how many there were."""
        before, start = asked.n, time.process_time()
        work(at)
        return (time.process_time() - start) / (asked.n - before), asked.n - before

    # What is loaded at the first question is no part of either. The model keeps answers: it is about another text.
    labels.ask([LabelsGold(id="first", text="We begin.")], asked, way, [0])
    pairs = [(each(plain, at), each(variants, at)) for at in range(0, len(texts), BATCH)]
    ratios = [variant / whole for (whole, _), (variant, _) in pairs]
    n = sum(count for _, (_, count) in pairs)
    print(f"{len(golds)} texts, {SPANS} spans each, {DRAWS} draws: {n:,} variants; {len(pairs)} pairs, one thread")
    print(f"a plain score of a text   {median(one for (one, _), _ in pairs) * 1000:7.3f} ms")
    print(f"a variant                 {median(one for _, (one, _) in pairs) * 1000:7.3f} ms")
    print(f"ratio, median of pairs    {median(ratios):7.3f}   {min(ratios):.3f} to {max(ratios):.3f}")
    print(f"target                    {TARGET:7.3f}   at most")
    if median(ratios) > TARGET:
        sys.exit(1)


if __name__ == "__main__":
    main()
