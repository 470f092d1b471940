"""The statistics of comparisons at their stated sizes.

    python benchmarks/comparing.py [--repeats 5]

10,000 resamples over 5,000 pairs, and 50 sources of 5,000 samples on one axis (their means and intervals, 2,000
resamples, and those of each one's difference from the first). Times are the fastest of the repeats, in one thread.
Prints one JSON document and exits 1 where a goal is missed.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from emotui.metrics.paired import compared
from emotui.metrics.permutation import one_hot, permutation_f1
from emotui.metrics.resampling import drawn_by, interval_of, mean_replicates

GOALS = {"pair_ms": 1000.0, "sources_ms": 500.0}


def fastest_ms(do: Callable[[], object], repeats: int) -> float:
    """Milliseconds of the fastest of the repeats."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        do()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def main() -> None:
    """Measure, print, and say by the exit status whether the goals are met."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeats", type=int, default=5)
    repeats = arguments.parse_args().repeats
    draw = np.random.default_rng(0)
    scores = draw.random((5000, 50))
    passages = np.repeat(np.arange(1000), 5)
    gold, first, second = (one_hot(draw.integers(0, 7, 5000), 7) for _ in range(3))

    def many() -> None:
        differences = scores - scores[:, :1]
        for one in mean_replicates(np.concatenate([scores, differences[:, 1:]], axis=1), drawn_by(None, len(scores))):
            interval_of(one)

    found = {
        "pair_ms": fastest_ms(lambda: compared(scores[:, 0], scores[:, 1]), repeats),
        "pair_grouped_ms": fastest_ms(lambda: compared(scores[:, 0], scores[:, 1], passages), repeats),
        "sources_ms": fastest_ms(many, repeats),
        "permutation_f1_ms": fastest_ms(lambda: permutation_f1(gold, first, second), 1),
    }
    met = {name: found[name] <= goal for name, goal in GOALS.items()}
    print(json.dumps({"times": {name: round(ms, 1) for name, ms in found.items()}, "goals": GOALS, "met": met}))
    sys.exit(0 if all(met.values()) else 1)


if __name__ == "__main__":
    main()
