"""How fast the four nearest examples of a post are found among 34,000, exactly, once all are embedded.

    python benchmarks/masked/neighbours.py [POSTS]

Printed: the clock's median and the processor's mean of a search, of a loop that computes the same distances one by one
(the first 1,000, times as many as there are), and how long the vectors take to come out of a store.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from emotui.records import MaskedGold
from emotui.store.store import Store
from emotui.tasks.masked.examples import Pool

DIMENSIONS, SEARCHES, LOOPED = 384, 100, 1000


def main() -> None:
    """Print the figures."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 34_000
    drawn = np.random.default_rng(0)
    vectors = drawn.standard_normal((number, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    posts = [MaskedGold(id=str(at), labels=("sad",), text=f"text {at}") for at in range(number)]
    pool = Pool(posts, vectors)
    took, start = [], time.process_time()
    for at in range(SEARCHES):
        begun = time.perf_counter()
        pool.nearest([posts[at]], vectors[at : at + 1])
        took.append(time.perf_counter() - begun)
    processor = (time.process_time() - start) / SEARCHES
    begun = time.perf_counter()
    for row in vectors[:LOOPED]:
        sum((a - b) ** 2 for a, b in zip(vectors[0].tolist(), row.tolist(), strict=True))
    looped = (time.perf_counter() - begun) * number / LOOPED
    median = statistics.median(took)
    print(f"{number} posts: {1000 * median:.1f} ms a search (the longest {1000 * max(took):.1f} ms),")
    print(f"{1000 * processor:.1f} ms of the processor; a loop over all takes {looped / median:,.0f} times as long")
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "w.duckdb")
        digests = [f"{at:032x}" for at in range(number)]
        store.embeddings.keep("model", {key: row.tobytes() for key, row in zip(digests, vectors, strict=True)})
        begun = time.perf_counter()
        known = store.embeddings.known("model", digests)
        got = np.frombuffer(b"".join(known[key] for key in digests), np.float32).reshape(number, -1)
        print(f"out of the store: {1000 * (time.perf_counter() - begun):.0f} ms")
        assert (got == vectors).all()


if __name__ == "__main__":
    main()
