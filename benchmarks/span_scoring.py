"""How quickly span predictions are scored, against the straightforward way, in one process and with equal results.

    python benchmarks/span_scoring.py
    python benchmarks/span_scoring.py --profile

The straightforward way goes through the samples one by one: `collections.Counter` for every pair of spans, then scipy's
`linear_sum_assignment`. It computes F1 and nothing else, and so does `span_score`.
`score_samples` finds all that a screen shows besides (pairs, places in the text, hallucination, fixation, misses), in
Python objects, and is timed for comparison. Sim is left out: it is a model's time.

Times are of the processor (one thread everywhere), so that busy neighbours count as little as can be.
"""

import cProfile
import pstats
import random
import re
import string
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from statistics import median

import numpy as np
from scipy.optimize import linear_sum_assignment

from emotui.metrics.span_scoring import score_samples
from emotui.metrics.spans import span_score
from emotui.records import SpanPrediction, SpanSample, marks_at

SAMPLES, SPANS, ROUNDS = 1200, 3, 15
TEXT = (
    "I could not believe how much it hurt to see the empty house after all those years, and yet something in me was "
    "glad that it was over; nobody called, nobody wrote, and I laughed until I cried because what else can a person do "
    "when a whole world breaks apart so quietly, so politely, on an ordinary Tuesday with the kettle still warm."
)
WORDS = TEXT.split()
PUNCTUATION = {c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "P"} | set(
    string.punctuation
)


def tokens(text: str) -> list[str]:
    """SQuAD's normalisation as its evaluation script goes about it, with Unicode's punctuation."""
    kept = "".join(c for c in text.lower() if c not in PUNCTUATION)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def token_f1(gold: str, predicted: str) -> float:
    gold_tokens, predicted_tokens = Counter(tokens(gold)), Counter(tokens(predicted))
    if not gold_tokens or not predicted_tokens:
        return float(gold_tokens == predicted_tokens)
    shared = (gold_tokens & predicted_tokens).total()
    return 2 * shared / (gold_tokens.total() + predicted_tokens.total())


def straightforward(gold: list[str], predicted: list[str]) -> float:
    if not gold or not predicted:
        return float(gold == predicted)
    scores = np.array([[token_f1(g, p) for p in predicted] for g in gold])
    rows, columns = linear_sum_assignment(scores, maximize=True)
    return float(scores[rows, columns].sum()) / max(len(gold), len(predicted))


def made_up(rng: random.Random) -> tuple[SpanSample, SpanPrediction]:
    """A passage with three gold spans and three predicted ones: shifted, cut, elsewhere, or not in the text at all."""
    chosen = [rng.choice(WORDS) for _ in range(60)]
    starts, at = [], 0
    for word in chosen:
        starts.append(at)
        at += len(word) + 1
    text = " ".join(chosen)

    def span(first: int, length: int) -> tuple[int, int]:
        last = min(first + length, len(chosen)) - 1
        return starts[first], starts[last] + len(chosen[last])

    places = [(i * 20 + rng.randrange(8), rng.randint(2, 8)) for i in range(SPANS)]
    predicted = []
    for first, length in places:
        start, end = span(
            max(0, first + rng.choice((-2, -1, 0, 0, 1, 12))), max(1, length + rng.choice((-3, -1, 0, 0, 2)))
        )
        predicted.append(text[start:end] if rng.random() > 0.1 else f"{text[start:end]} indeed")
    rng.shuffle(predicted)
    number = str(rng.getrandbits(60))
    spans = tuple(span(first, length) for first, length in places)
    return SpanSample(id=number, text=text, spans=marks_at(spans)), SpanPrediction(id=number, spans=tuple(predicted))


def timed(name: str, work: Callable[[], object], slow: float | None = None) -> float:
    """Best seconds of the rounds, printed with the median and how many times as quick as `slow` that is."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    if name:
        ratio = f"{slow / min(times):8.1f} times as quick" if slow else ""
        print(f"{name:28}{min(times) * 1e3:8.1f} ms ({median(times) * 1e3:.1f}){ratio}")
    return min(times)


def profile(gold: list[SpanSample], predicted: list[SpanPrediction], keywords: frozenset[str]) -> None:
    """Where `score_samples` spends its time, as shares of the whole."""
    profiler = cProfile.Profile()
    profiler.runcall(score_samples, gold, predicted, None, keywords)
    rows = [(row[3], name, row[1]) for (file, _, name), row in profiler_rows(profiler) if "metrics" in file]
    whole = max(seconds for seconds, _, _ in rows)
    for seconds, name, calls in sorted(rows, reverse=True):
        if not name.startswith("<") and seconds > 0.04 * whole:
            print(f"{seconds / whole:5.0%}  {name} ({calls} calls)")


def profiler_rows(profiler: cProfile.Profile) -> list[tuple[tuple[str, int, str], tuple[int, int, float, float]]]:
    """((file, line, name), (own calls, calls, own seconds, seconds with all that it calls)) each."""
    found = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    return [(place, row[:4]) for place, row in found.items()]


def main() -> int:
    rng = random.Random(20)
    made = [made_up(rng) for _ in range(SAMPLES)]
    gold, predicted = [sample for sample, _ in made], [prediction for _, prediction in made]
    sides = [([s.text[a:b] for a, b in s.places], list(p.spans or ())) for s, p in made]
    keywords = frozenset(("glad", "hurt", "cried"))

    expected = np.array([straightforward(g, p) for g, p in sides])
    details = score_samples(gold, predicted, None, keywords)
    found = ([span_score(g, p) for g, p in sides], [detail.f1 for detail in details])
    worst = max(float(np.abs(expected - scores).max()) for scores in found)
    if worst > 1e-12:
        print(f"the results differ, by up to {worst}")
        return 1
    print(f"{SAMPLES} samples, {SPANS} spans a side; best (median) of {ROUNDS} rounds; scores equal to {worst:.0e}")

    if "--profile" in sys.argv[1:]:
        profile(gold, predicted, keywords)
        return 0
    slow = timed("straightforward", lambda: [straightforward(g, p) for g, p in sides])
    timed("span_score, F1 one by one", lambda: [span_score(g, p) for g, p in sides], slow)
    timed("score_samples, all details", lambda: score_samples(gold, predicted, None, keywords), slow)
    rounds = [timed("", lambda: score_samples(gold[:1], predicted[:1], None, keywords)) for _ in range(20)]
    print(f"{'score_samples, one sample':28}{min(rounds) * 1e3:8.3f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
