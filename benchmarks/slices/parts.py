"""How long figures by slice and found rules take: 5,000 samples with 30 columns of their own, two sources.

    python benchmarks/slices/parts.py [SAMPLES] [COLUMNS]

Printed: seconds to read the facets from the store for the first time, and then of figures in every part, of one source
and of two, and of the search for rules; beside them one pass over the same records by a JSON reader as a baseline.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from emotui.records import Mark, SpanSample
from emotui.store.rows import ResultRow, ScoreRow
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import Workspace

WORDS = [
    "the",
    "bus",
    "house",
    "never",
    "rain",
    "garden",
    "friend",
    "terrible",
    "lovely",
    "angry",
    "glad",
    "not",
    "waiting",
    "door",
    "letter",
    "table",
    "lost",
    "winter",
]
VALUES = 8


def samples(n: int, columns: int) -> list[SpanSample]:
    """Texts of 20 words with columns of eight values, every third one of numbers."""
    draw = random.Random(0)
    return [
        SpanSample(
            id=f"s{at}",
            text=" ".join(draw.choices(WORDS, k=20)),
            spans=(Mark(0, 7),),
            emotion=draw.choice(("sad", "happy", "angry", "fear")),
            valence=draw.choice(("positive", "negative")),
            meta={
                f"column {number}": draw.random() if number % 3 == 0 else f"value {draw.randrange(VALUES)}"
                for number in range(columns)
            },
        )
        for at in range(n)
    ]


def timed(what: str, do: Callable[[], object]) -> None:
    """Do it and print how long it took."""
    start, worked = time.perf_counter(), time.process_time()
    do()
    print(f"{what}: {time.perf_counter() - start:.2f} s, {time.process_time() - worked:.2f} s of a core's work")


def main() -> None:
    """Print the times."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    columns = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        opened = Workspace.open(Path(folder) / "w.duckdb")
        dataset = add_samples(opened.store, "spans", "many", samples(n, columns), "many").dataset
        numbers = opened.store.samples.file_order(dataset)
        for run in ("a", "b"):
            opened.store.runs.start(run, run, "spans", run, dataset, {}, n)
            rows = [
                ResultRow(number, 0, 0, None, None, None, 0.0, b"{}", ScoreRow("c", {"f1": draw.random()}, "", b"{}"))
                for number in numbers
            ]
            opened.store.results.commit(run, rows)
        records = [record for _, record in opened.store.samples.of_dataset(dataset)]
        timed("one pass over the records by json", lambda: [json.loads(record) for record in records])
        timed("one pass by msgspec", lambda: [msgspec.json.decode(record) for record in records])
        slicing = opened.slicing()
        timed("facets, the first time", lambda: slicing.facets(dataset).names())
        timed("figures in every part, one source", lambda: slicing.parts(dataset, "a"))
        timed("figures in every part, two sources", lambda: slicing.parts(dataset, "a", "b"))
        timed("rules, one source", lambda: slicing.found(dataset, "a"))
        timed("rules, two sources", lambda: slicing.found(dataset, "a", "b"))
        opened.close()


if __name__ == "__main__":
    main()
