"""Intervals beside the figures of a run, against the loop over resamples that one would write down, in pairs.

    python benchmarks/soundness/intervals.py [--texts 100 1000 4000] [--labels 8] [--pairs 5]

N texts with several of K labels: all figures of `emotui score labels` with their 95% intervals. The loop draws the same
texts and adds up the columns of each figure over them, resample by resample; what is made of the sums is the same. Each
pair is one and then the other, in turns first; processor time, the median of the pairs, and how far the ends of all
intervals are apart at most.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from unittest.mock import patch

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from emotui.metrics import resampling
from emotui.metrics.beside import intervals, vectors
from emotui.metrics.figure import Interval
from emotui.metrics.resampling import drawn_by

Ends = dict[str, Interval]


def one_by_one(
    columns: np.ndarray, groups: np.ndarray | None, seed: int, resamples: int, n_groups: int | None = None
) -> np.ndarray:
    """`resampling.resampled_sums` as a loop: each resample, and in it each column, by itself."""
    x = np.asarray(columns, dtype=np.float64)
    if groups is not None:
        x = resampling.grouped_sums(x, groups, n_groups)
    each = np.ascontiguousarray(x.T)
    sums = [
        [column[row].sum() for column in each] for block in resampling.draws(len(x), resamples, seed) for row in block
    ]
    return np.array(sums).reshape(resamples, x.shape[1])


def data(n: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Gold and what is said: two (n, labels)."""
    draw = np.random.default_rng(n)
    gold = draw.random((n, labels)) < np.linspace(0.05, 0.4, labels)
    return gold, gold ^ (draw.random((n, labels)) < 0.1)


def ours(gold: np.ndarray, said: np.ndarray) -> Ends:
    """By the name of a figure its interval."""
    resampling._kept_counts.cache_clear()  # each time as if it were the first
    names = [f"label {at}" for at in range(gold.shape[1])]
    return intervals([vectors(gold, said, names, drawn_by(None, len(gold)))])


def naive(gold: np.ndarray, said: np.ndarray) -> Ends:
    """The same, resample by resample."""
    with patch.object(resampling, "resampled_sums", one_by_one):
        return ours(gold, said)


def timed(work: Callable[[np.ndarray, np.ndarray], Ends], n: int, labels: int) -> tuple[float, Ends]:
    """Seconds of processor time, and what came of it."""
    gold, said = data(n, labels)
    begun = time.process_time()
    found = work(gold, said)
    return time.process_time() - begun, found


def apart(one: Ends, other: Ends) -> float:
    """How far ends are apart at most."""
    assert one.keys() == other.keys()
    ends = [(getattr(one[name], side), getattr(other[name], side)) for name in one for side in ("low", "high")]
    assert all((a is None) == (b is None) for a, b in ends)
    return max((abs(a - b) for a, b in ends if a is not None), default=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, nargs="+", default=[100, 1000, 4000])
    parser.add_argument("--labels", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    timed(naive, 40, options.labels)  # what is imported for the first interval is no part of it
    print(f"{options.labels} labels; processor time, medians of {options.pairs} pairs")
    print(f"{'texts':>9}{'resamples':>11}{'naive':>10}{'emotui':>10}{'times':>8}{'least':>8}{'most':>8}{'apart':>10}")
    for n in options.texts:
        taken: dict[str, list[float]] = {"naive": [], "ours": []}
        found: dict[str, Ends] = {}
        for pair in range(options.pairs):
            order = [("naive", naive), ("ours", ours)]
            for name, work in order if pair % 2 else reversed(order):
                seconds, found[name] = timed(work, n, options.labels)
                taken[name].append(seconds)
        times = [slow / quick for slow, quick in zip(taken["naive"], taken["ours"], strict=True)]
        medians = [statistics.median(taken[name]) for name in ("naive", "ours")]
        cells = f"{medians[0]:9.2f}s{medians[1]:9.2f}s{statistics.median(times):8.1f}{min(times):8.1f}{max(times):8.1f}"
        resamples = resampling.resamples_for(n)
        print(f"{n:9,}{resamples:11,}{cells}{apart(found['naive'], found['ours']):10.0e}", flush=True)


if __name__ == "__main__":
    main()
