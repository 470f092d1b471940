"""What a workspace of a million samples costs.

    python benchmarks/store.py [--samples N] [--sources K] [--seconds S]
    python benchmarks/store.py --migrate

Everything lies in a temporary folder. Each question is asked in a process of its own that holds nothing but the store,
once and then five times; the table has the first, the median and the slowest of the five, their processor time, and
the memory of that process after them.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from emotui.store import questions
from emotui.store.query import Bounds, ListQuery
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.store.store import Store

EMOTIONS = ("happy", "sad", "disgust", "contempt", "fear", "angry", "surprise", "neutral")
TIMES = 5
_BATCH = 20_000
RUN = "benchmark"
SAID = b'{"spans":["made up"],"offsets":[[0,7]],"labels":["fear"],"strengths":[0.5]}'


def words(draw: random.Random) -> list[str]:
    """A vocabulary of 5,000 made-up words."""
    return ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(5_000)]


def samples(n: int) -> Iterator[SampleRow]:
    """Passages of 15 words, each with one to three emotions."""
    draw = random.Random(7)
    known = words(draw)
    for number in range(n):
        text = " ".join(draw.choices(known, k=15))
        emotions = tuple(draw.choices(EMOTIONS, k=draw.randint(1, 3)))
        record = f'{{"id":"s{number:07d}","text":"{text}","spans":[[0,5]],"emotion":"{emotions[0]}"}}'
        yield SampleRow(f"s{number:07d}", text, emotions[0], "negative", emotions, ("negative",), record.encode())


def results(start: int, stop: int, draw: random.Random) -> list[ResultRow]:
    """A scored answer for each sample."""
    detail = b'{"f1":0.5,"pairs":[{"gold":0,"predicted":0,"f1":0.5,"sim":0.7}],"located":[[0,5]],"invalid":null}'
    return [
        ResultRow(
            *(number, 0, 0, "Mark the evidence.", '["made up"]', None, 0.02, SAID),
            ScoreRow("words", {"f1": draw.random(), "sim": draw.random()}, draw.choice(("", "H", "MX")), detail),
        )
        for number in range(start, stop)
    ]


def sql(store: Store, query: str) -> object:
    """A question of one's own."""
    return questions.ask(store.path, query)


QUESTIONS: dict[str, Callable[[Store, int], object]] = {
    "open, first page": lambda store, n: store.list_rows.page(store.listing.order(ListQuery(1))[:50], RUN),
    "jump to the end": lambda store, n: store.list_rows.page(store.listing.order(ListQuery(1))[-50:], RUN),
    "a page (50 rows, all over)": lambda store, n: store.list_rows.page(range(1, n + 1, max(1, n // 50))[:50], RUN),
    "filter by emotion": lambda store, n: store.listing.order(ListQuery(1, emotions=("fear", "sad"))),
    "search a word": lambda store, n: store.listing.order(ListQuery(1, text="Abc")),
    "search and filter": lambda store, n: store.listing.order(ListQuery(1, text="abc", emotions=("fear",))),
    "sort by id, descending": lambda store, n: store.listing.order(ListQuery(1, sort="id", descending=True)),
    "sort by emotion": lambda store, n: store.listing.order(ListQuery(1, sort="emotion")),
    "sort by length": lambda store, n: store.listing.order(ListQuery(1, sort="length")),
    "sort by F1": lambda store, n: store.listing.order(ListQuery(1, run=RUN, sort="f1")),
    "filter by mark": lambda store, n: store.listing.order(ListQuery(1, run=RUN, marks="H")),
    "filter by F1": lambda store, n: store.listing.order(ListQuery(1, run=RUN, bounds=(Bounds("f1", 0.2, 0.3),))),
    "evidence of a sample": lambda store, n: (
        store.samples.records([n // 2]),
        list(store.results.of_run(RUN, [n // 2])),
    ),
    "runs": lambda store, n: store.runs.all(),
    "anything new? (nothing is)": lambda store, n: store.marker(),
    "people inside gold": lambda store, n: store.samples.annotators(1),
    "SQL: texts by emotion": lambda store, n: sql(store, "SELECT emotion, count(*) FROM texts GROUP BY ALL"),
    "SQL: mean of every value": lambda store, n: sql(
        store, "SELECT run, name, avg(value) FROM score_values GROUP BY ALL"
    ),
    "SQL: spans of every source": lambda store, n: sql(
        store, "SELECT source, label, count(*) FROM said WHERE part = 'span' GROUP BY ALL"
    ),
}


def ask(path: Path, name: str, n: int) -> None:
    """One question, in this process: prints first, median and slowest in ms, processor time in ms, memory in MB.

    The first asking loads DuckDB and numpy and opens the store too. Processor time is the median over all threads; on
    a machine that others use it says more than the clock.
    """
    question = QUESTIONS[name]
    begun = time.perf_counter()
    store = Store.open(path)
    question(store, n)
    first = time.perf_counter() - begun
    taken, worked = [], []
    for _ in range(TIMES):
        begun, before = time.perf_counter(), time.process_time()
        question(store, n)
        taken.append(time.perf_counter() - begun)
        worked.append(time.process_time() - before)
    memory = psutil.Process().memory_info().rss / 2**20
    median, processor = sorted(taken)[TIMES // 2], sorted(worked)[TIMES // 2]
    print(f"{first * 1000:.1f} {median * 1000:.1f} {max(taken) * 1000:.1f} {processor * 1000:.1f} {memory:.0f}")


def write(path: Path, seconds: float, n: int) -> None:
    """Commit batches of 32 without a pause; prints how many a second and the slowest in ms."""
    store, draw, taken, begun, at = Store.open(path), random.Random(1), [], time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        rows = results(at % n + 1, at % n + 33, draw)
        before = time.perf_counter()
        store.results.commit("shared", rows)
        taken.append(time.perf_counter() - before)
        at += 32
    spent = time.perf_counter() - begun
    print(f"{len(taken) / spent:.1f} {sorted(taken)[len(taken) // 2] * 1000:.1f} {max(taken) * 1000:.1f}")


def read(path: Path, seconds: float, n: int) -> None:
    """Read pages of 50 without a pause; prints as `write` does."""
    store, draw, taken = Store.open(path), random.Random(2), []
    store.list_rows.page([1], "shared")
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        at = draw.randint(1, max(1, n - 50))
        before = time.perf_counter()
        store.list_rows.page(range(at, at + 50), "shared")
        taken.append(time.perf_counter() - before)
    spent = time.perf_counter() - begun
    print(f"{len(taken) / spent:.1f} {sorted(taken)[len(taken) // 2] * 1000:.1f} {max(taken) * 1000:.1f}")


def child(*args: object) -> "subprocess.Popen[str]":
    """This module again, in a process of its own."""
    command = [sys.executable, __file__, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def sharing(path: Path, n: int, seconds: float) -> None:
    """Print how a writer and readers fare alone and together."""
    print(f"\n{'sharing, ' + f'{seconds:g} s each':34} {'a second':>9} {'median ms':>10} {'slowest ms':>10}")
    for title, kinds in (
        ("a writer alone (batches of 32)", ["write"]),
        ("a reader alone (pages of 50)", ["read"]),
        ("a writer and a reader", ["write", "read"]),
        ("a writer and two readers", ["write", "read", "read"]),
        ("two writers and a reader", ["write", "write", "read"]),
    ):
        print(title)
        processes = [(kind, child(kind, path, n, seconds)) for kind in kinds]
        for kind, process in processes:
            rate, median, slowest = map(float, process.communicate()[0].split())
            print(f"  {kind:32} {rate:9.1f} {median:10.1f} {slowest:10.1f}")


def migrate() -> None:
    """Print how long a store of version 3 takes to be brought up to date."""
    import duckdb

    statements = Path(__file__).parents[1] / "tests" / "store" / "store_version_3.sql"
    with tempfile.TemporaryDirectory(prefix="emotui-benchmark-") as folder:
        path = Path(folder) / "old.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute(statements.read_text())
        begun = time.perf_counter()
        Store.open(path)
        print(f"100,000 scores of version 3 brought up to date in {time.perf_counter() - begun:.2f} s")


def main() -> None:
    """Build the workspace, print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=1_000_000)
    options.add_argument("--sources", type=int, default=1, help="runs and files that say spans of every text")
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--migrate", action="store_true", help="only bring 100,000 scores of version 3 up to date")
    chosen = options.parse_args()
    if chosen.migrate:
        migrate()
        return
    n: int = chosen.samples
    with tempfile.TemporaryDirectory(prefix="emotui-benchmark-") as folder:
        path = Path(folder) / "workspace.duckdb"
        begun = time.perf_counter()
        made = sum(1 for _ in samples(n))
        making = time.perf_counter() - begun
        store = Store.open(path)
        begun = time.perf_counter()
        store.datasets.add("million", "spans", samples(n), "benchmark", "benchmark")
        adding = time.perf_counter() - begun
        draw = random.Random(3)
        begun = time.perf_counter()
        for name in (RUN, *(f"source {number}" for number in range(2, chosen.sources + 1))):
            store.runs.start(name, "identity", "spans", "none", 1, {}, n, "model" if name == RUN else "file")
            for start in range(1, n + 1, _BATCH):
                store.results.commit(name, results(start, min(start + _BATCH, n + 1), draw))
        committing = (time.perf_counter() - begun) / chosen.sources
        print(f"{made:,} samples added in {adding:.1f} s (of which {making:.1f} s make them up),")
        print(f"as many results of each of {chosen.sources} sources committed in {committing:.1f} s;")
        print(f"the file has {path.stat().st_size / 2**20:.0f} MB;")
        print(f"memory of the process that did it: {psutil.Process().memory_info().rss / 2**20:.0f} MB;")
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
        print(f"{'question':34} {'first ms':>9} {'median ms':>10} {'slowest ms':>10} {'CPU ms':>7} {'RSS MB':>7}")
        for name in QUESTIONS:
            said, _ = child("ask", path, n, name).communicate()
            first, median, slowest, worked, memory = map(float, said.split())
            print(f"{name:34} {first:9.1f} {median:10.1f} {slowest:10.1f} {worked:7.0f} {memory:7.0f}", flush=True)
        store.runs.start("shared", "identity", "spans", "none", 1, {}, n)
        sharing(path, n, chosen.seconds)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask", path, n, name]:
            ask(Path(path), name, int(n))
        case ["write", path, n, seconds]:
            write(Path(path), float(seconds), int(n))
        case ["read", path, n, seconds]:
            read(Path(path), float(seconds), int(n))
        case _:
            main()
