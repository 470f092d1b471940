"""Decoding a long conversation over turns, against plain Python in the same run.

    python benchmarks/soundness/turns.py [--turns 1000] [--plain-turns 5] [--repeats 9]

8 labels, so 256 states a turn. Plain Python goes over all pairs of states of each step, for some turns, and its time is
scaled up; its marginals must be the same. Times are the fastest of the repeats. Prints one JSON document.
"""

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from itertools import product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from emotui.metrics.turn_prior import TurnPrior, best_path, forward, turn_marginals

LABELS = 8


def plain_marginals(odds: list[list[float]], prior: TurnPrior) -> list[list[float]]:
    """Forward and backward as one would write them down."""
    states = list(product((0, 1), repeat=LABELS))
    theta, pairs, turns = prior.theta.tolist(), prior.pairs.tolist(), prior.turns.tolist()

    def within(state: tuple[int, ...]) -> float:
        on = [i for i in range(LABELS) if state[i]]
        return sum(theta[i] for i in on) + sum(pairs[i][j] for i in on for j in on if i < j)

    own = [within(state) for state in states]
    step = [
        [
            math.exp(sum(turns[i][j] for i in range(LABELS) if one[i] for j in range(LABELS) if other[j]))
            for other in states
        ]
        for one in states
    ]
    nodes = [
        [
            math.exp(sum(row[i] for i in range(LABELS) if state[i]) + prior)
            for state, prior in zip(states, own, strict=True)
        ]
        for row in odds
    ]
    ahead = [nodes[0]]
    for node in nodes[1:]:
        row = [sum(ahead[-1][a] * step[a][b] for a in range(len(states))) * node[b] for b in range(len(states))]
        total = sum(row)
        ahead.append([value / total for value in row])
    behind = [1.0] * len(states)
    found: list[list[float]] = []
    for t in range(len(odds) - 1, -1, -1):
        weights = [a * b for a, b in zip(ahead[t], behind, strict=True)]
        total = sum(weights)
        found.insert(
            0, [sum(w for w, state in zip(weights, states, strict=True) if state[i]) / total for i in range(LABELS)]
        )
        row = [sum(step[a][b] * behind[b] * nodes[t][b] for b in range(len(states))) for a in range(len(states))]
        largest = max(row)
        behind = [value / largest for value in row]
    return found


def fastest(call: Callable[[], object], repeats: int) -> float:
    """Milliseconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1000 * min(times)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--plain-turns", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    prior = TurnPrior(
        rng.normal(0, 0.5, LABELS),
        np.triu(rng.normal(0, 0.5, (LABELS, LABELS)), 1),
        rng.normal(0, 0.5, (LABELS, LABELS)),
    )
    odds = rng.normal(0, 2, (given.turns, LABELS))
    started = time.perf_counter()
    plain = plain_marginals(odds[: given.plain_turns].tolist(), prior)
    plain_ms = 1000 * (time.perf_counter() - started) * given.turns / given.plain_turns
    assert np.allclose(turn_marginals([odds[: given.plain_turns]], prior, 1.0, 1.0)[0], plain)
    marginals = fastest(lambda: turn_marginals([odds], prior, 1.0, 1.0), given.repeats)
    nodes, step = np.exp(rng.normal(size=(given.turns, 1, 2**LABELS))), np.exp(prior.steps())
    short = [odds[start : start + 10] for start in range(0, given.turns, 10)]
    print(
        json.dumps(
            {
                "turns": given.turns,
                "labels": LABELS,
                "forward_ms": round(fastest(lambda: forward(nodes, step), given.repeats), 1),
                "marginals_ms": round(marginals, 1),
                "best_path_ms": round(fastest(lambda: best_path([odds], prior, 1.0, 1.0), given.repeats), 1),
                "marginals_in_tens_ms": round(
                    fastest(lambda: turn_marginals(short, prior, 1.0, 1.0), given.repeats), 1
                ),
                "plain_ms": round(plain_ms),
                "ratio": round(plain_ms / marginals),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
