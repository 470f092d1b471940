"""A program that commits batches to a store until it is killed: `store_writer.py STORE RUN FIRST LAST BATCH`.

Prints the last sample of every batch after it is committed.
"""

import os
import sys

from emotui.store.rows import ResultRow, ScoreRow
from emotui.store.store import Store


def main(path: str, run: str, first: int, last: int, batch: int) -> None:
    store = Store.open(path)
    score = ScoreRow("words", {"f1": 0.5}, "H", b"{}")
    for start in range(first, last + 1, batch):
        rows = [
            ResultRow(number, 0, 0, "prompt", f"raw {number} " + os.urandom(1000).hex(), None, 0.1, b"{}", score)
            for number in range(start, min(start + batch, last + 1))
        ]
        store.results.commit(run, rows)
        print(rows[-1].sample, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
