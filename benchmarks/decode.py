"""Joint decoding of EmoScene's size, timed against plain Python enumeration in the same run.

    python benchmarks/decode.py [--plain-records 60] [--repeats 15]

4,731 scenarios, 8 labels, the paper's 8 alphas. The plain enumeration scores all 256 vectors by equation 6, term by
term, for each record and alpha; it is timed on some of the records and its time a record scaled up (with
`--plain-records 4731` it runs on all of them). Both must give the same vectors. Times of the vectorised code are the
fastest of the repeats, as what else runs on the machine only adds to them; the median stands beside it. A slider's move
is timed at every alpha, and the slowest alpha counts. Prints one JSON document and exits 1 where a goal is missed.
"""

import argparse
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from emotui.metrics.decoding import PAPER_ALPHAS, decode_map, posterior_marginals
from emotui.metrics.ising import Ising, fit_exact, fit_paper
from emotui.metrics.scenes import label_counts

RECORDS, LABELS = 4731, 8
Table = list[list[float]]
GOALS = {"sweep_ms": 50.0, "slider_ms": 33.0, "ratio": 1000.0}


def plain_decode(odds: Table, theta: list[float], pairs: Table, alpha: float) -> list[list[int]]:
    """Equation 6 for every vector of every record, as one would write it down."""
    k = len(theta)
    decoded = []
    for row in odds:
        best, best_score = (0,) * k, float("-inf")
        for vector in itertools.product((0, 1), repeat=k):
            evidence = sum(row[i] * vector[i] for i in range(k))
            biases = sum(theta[i] * vector[i] for i in range(k))
            couplings = sum(pairs[i][j] * vector[i] * vector[j] for i in range(k) for j in range(i + 1, k))
            score = evidence + alpha * (biases + couplings)
            if score > best_score:
                best, best_score = vector, score
        decoded.append(list(best))
    return decoded


def hoisted_decode(odds: Table, theta: list[float], pairs: Table, alpha: float) -> list[list[int]]:
    """The same with what does not depend on the record computed once: what a careful hand makes of plain Python."""
    k = len(theta)
    states = []
    for vector in itertools.product((0, 1), repeat=k):
        on = [i for i in range(k) if vector[i]]
        prior = sum(theta[i] for i in on) + sum(pairs[i][j] for i, j in itertools.combinations(on, 2))
        states.append((alpha * prior, on, vector))
    decoded = []
    for row in odds:
        best, best_score = states[0][2], float("-inf")
        for score, on, vector in states:
            for i in on:
                score += row[i]
            if score > best_score:
                best, best_score = vector, score
        decoded.append(list(best))
    return decoded


def milliseconds(work: Callable[[], object], repeats: int) -> list[float]:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return times


def main() -> int:
    options = argparse.ArgumentParser(description="Time joint decoding against plain Python enumeration.")
    options.add_argument("--plain-records", type=int, default=60)
    options.add_argument("--repeats", type=int, default=15)
    given = options.parse_args()

    draw = np.random.default_rng(0)
    rates = [0.40, 0.30, 0.20, 0.10, 0.20, 0.05, 0.15, 0.40]
    gold = (draw.random((RECORDS, LABELS)) < rates).astype(np.uint8)
    odds = draw.normal(0.0, 3.0, (RECORDS, LABELS)) + 1.0
    prior = fit_paper(gold)
    theta, pairs = prior.theta.tolist(), prior.pairs.tolist()

    def slider(alpha: float) -> tuple[float, float, float]:
        """What a move of the slider asks for: the whole set again, and the figures over it."""
        vectors = decode_map(odds, prior, [alpha])[0]
        right = vectors == gold
        return float(label_counts(gold, vectors).f1.mean()), float(right.mean()), float(right.all(axis=1).mean())

    sweep = milliseconds(lambda: decode_map(odds, prior, PAPER_ALPHAS), given.repeats)
    moves = [milliseconds(partial(slider, alpha), given.repeats) for alpha in PAPER_ALPHAS]
    marginals = milliseconds(lambda: posterior_marginals(odds, prior, 0.5), given.repeats)
    fit = milliseconds(lambda: fit_exact(gold), given.repeats)

    some = odds[: given.plain_records].tolist()
    share = RECORDS / len(some)
    plain_ms, plain = _timed(lambda: [plain_decode(some, theta, pairs, alpha) for alpha in PAPER_ALPHAS])
    hoisted_ms, hoisted = _timed(lambda: [hoisted_decode(some, theta, pairs, alpha) for alpha in PAPER_ALPHAS])
    vectorised = decode_map(some, Ising(prior.theta, prior.pairs), PAPER_ALPHAS).tolist()
    same = plain == vectorised == hoisted

    figures = {
        "records": RECORDS,
        "labels": LABELS,
        "alphas": list(PAPER_ALPHAS),
        "sweep_ms": round(min(sweep), 2),
        "sweep_median_ms": round(statistics.median(sweep), 2),
        "slider_ms": round(max(min(times) for times in moves), 2),
        "slider_median_ms": round(max(statistics.median(times) for times in moves), 2),
        "marginals_ms": round(min(marginals), 2),
        "exact_fit_ms": round(min(fit), 2),
        "plain_records": len(some),
        "plain_ms": round(plain_ms * share),
        "hoisted_ms": round(hoisted_ms * share),
        "ratio": round(plain_ms * share / min(sweep)),
        "ratio_to_hoisted": round(hoisted_ms * share / min(sweep)),
        "same_vectors": same,
    }
    print(json.dumps(figures, indent=1))
    met = figures["sweep_ms"] <= GOALS["sweep_ms"] and figures["slider_ms"] <= GOALS["slider_ms"]
    return 0 if met and same and figures["ratio"] >= GOALS["ratio"] else 1


def _timed(work: Callable[[], list[list[list[int]]]]) -> tuple[float, list[list[list[int]]]]:
    started = time.perf_counter()
    made = work()
    return (time.perf_counter() - started) * 1000, made


if __name__ == "__main__":
    sys.exit(main())
